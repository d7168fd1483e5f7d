# SPDX-License-Identifier: BSD-3-Clause
"""One emulated cluster for all tests here, and a folder with a study in it for each."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cluster import Cluster, why_not
from processes import PATIENCE
from study import JOBS, ROOT, Study


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first, so that nobody is left alone with one at the end: tests are handed out one by one."""
    items.sort(key=lambda item: item.path.stem != "test_failures")


@pytest.fixture(scope="session")
def analysis() -> Path:
    """The command a2a, which the jobs look for beside them."""
    path = Path(os.environ.get("A2A", ROOT / ".venv/bin/a2a"))
    assert path.is_file(), f"{path} is missing: test/run.sh slurm installs it"
    return path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    reason = why_not()
    if reason:
        pytest.skip(f"no Slurm can be started here: {reason}")
    cluster = Cluster(20)
    yield cluster
    cluster.end()


@pytest.fixture
def study(cluster: Cluster, program: Path, analysis: Path, tmp_path: Path) -> Iterator[Study]:
    study = Study(cluster, tmp_path, {"A2APERF": str(program), "A2A": str(analysis)})
    yield study
    for id in study.submitted:  # a test that failed may have left one
        cluster.run("scancel", id)
        cluster.wait(id, 60)


@pytest.fixture
def script(tmp_path: Path):
    """Runs a script of jobs/ by hand, without a job: script("alltoall.sbatch", "--plan", "20")."""

    def run(name: str, *words: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "A2APERF"))}
        return subprocess.run(
            ["bash", JOBS / name, *words], cwd=tmp_path, env=kept | dict(env or {}), capture_output=True, text=True,
            timeout=PATIENCE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    return run
