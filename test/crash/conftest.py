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


@pytest.fixture(scope="session")
def a2a() -> Path:
    """The command of the analysis; A2A names it, test/run.sh installs it in build."""
    path = Path(os.environ.get("A2A", ROOT / "build/a2a/bin/a2a"))
    if not path.is_file():
        pytest.skip(f"{path} is missing: test/run.sh python installs it")
    return path
