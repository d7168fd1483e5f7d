# SPDX-License-Identifier: BSD-3-Clause
"""The command a2a, for tests of studies that it launches."""

import os
from pathlib import Path

import pytest
from run_study import RunStudy

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def analysis() -> Path:
    """The command a2a."""
    candidates = [os.environ.get("A2A", ""), ROOT / "build/a2a/bin/a2a", ROOT / ".venv/bin/a2a"]
    found = [Path(one) for one in candidates if one and Path(one).is_file()]
    if not found:
        pytest.skip("the analysis is not installed")
    return found[0]


@pytest.fixture
def run_study(program: Path, analysis: Path, tmp_path: Path) -> RunStudy:
    """For `a2a run`."""
    return RunStudy(tmp_path, program, analysis)
