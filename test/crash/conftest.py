# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose writing is noted."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def preload_recorder(program: Path) -> Callable[..., dict[str, str]]:
    """The environment in which a process notes what it does to the files of a folder (recorder.cpp)."""
    library = program.parents[2] / "test" / "crash" / "libcrash-recorder.so"
    assert library.is_file(), f"{library} is not built"

    def environment(folder: Path, log: Path, kill: str = "") -> dict[str, str]:
        return {
            "LD_PRELOAD": str(library),
            "A2APERF_TEST_CRASH_FOLDER": str(folder.resolve()),
            "A2APERF_TEST_CRASH_LOG": str(log),
            "A2APERF_TEST_CRASH_KILL": kill or "0",
        }

    return environment
