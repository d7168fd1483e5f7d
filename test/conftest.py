# SPDX-License-Identifier: BSD-3-Clause
"""The program, launched or not, for every test. A2APERF names it; test/run.sh sets that."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from processes import PATIENCE, remove_what_killed_ranks_left, shared_memory

ROOT = Path(__file__).resolve().parent.parent
MPIRUN = ROOT / "test" / "support" / "mpirun.sh"

Outcome = subprocess.CompletedProcess[str]


def pytest_configure() -> None:
    """Where root allows, a /dev/shm of its own for every process that runs tests, and for what it starts.

    What a test has killed leaves files there until the test ends, and any launch beside it would remove and tell them.
    """
    new_namespace, is_recursive, is_private = 0x20000, 0x4000, 1 << 18  # of unshare(2) and mount(2)
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0 and libc.unshare(new_namespace) == 0:
        libc.mount(b"none", b"/", None, is_recursive | is_private, None)
        libc.mount(b"tmpfs", b"/dev/shm", b"tmpfs", 0, b"mode=1777")
        # As test/support/without_symbols.sh does, which says why.
        bind = 0x1000
        libc.mount(b"/dev/null", b"/proc/kallsyms", None, bind, None)
    keep_to_one_core()


def keep_to_one_core() -> None:
    """Workers beside each other take turns at the cores.

    Ranks of a launch wait for one another. On one core they hand it over; on two that others want as well each of them
    polls through its time while the other is not let in: launches of two ranks then take 2.5 times the CPU.
    """
    if worker := os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[int(worker) % len(cores)]})


@pytest.fixture(scope="session")
def program() -> Path:
    """The built program."""
    path = Path(os.environ.get("A2APERF", ROOT / "build/release/src/app/a2aperf"))
    assert path.is_file(), f"{path} is missing: build it, or name it in A2APERF"
    return path


@pytest.fixture(scope="session")
def foreign_shared_memory() -> set[Path]:
    """What was there before any test."""
    return shared_memory()


@pytest.fixture(autouse=True)
def tidy_shared_memory(foreign_shared_memory: set[Path]) -> Iterator[None]:
    """Many tests kill ranks; process ids come round within one run of all tests."""
    yield
    remove_what_killed_ranks_left(foreign_shared_memory)


@pytest.fixture(scope="session")
def a2a() -> Path:
    """The command of the analysis; A2A names it, test/run.sh installs it in build."""
    path = Path(os.environ.get("A2A", ROOT / "build/a2a/bin/a2a"))
    if not path.is_file():
        pytest.skip(f"{path} is missing: test/run.sh python installs it")
    return path


@pytest.fixture
def a2aperf(program: Path, tmp_path: Path) -> Callable[..., Outcome]:
    """Runs the program without MPI in a folder of its own: a2aperf("alltoall", "--list")."""

    def run(*words: str) -> Outcome:
        return subprocess.run(
            [program, *words], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
        )

    return run


@pytest.fixture
def launch(program: Path, tmp_path: Path) -> Callable[..., Outcome]:
    """Launches the program on this machine in a folder of its own: launch(2, "alltoall", "--ops", "3")."""

    def run(ranks: int, *words: str, seconds: int = PATIENCE) -> Outcome:
        return subprocess.run(
            [MPIRUN, "-t", str(seconds), str(ranks), program, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=seconds + 20,
            stdin=subprocess.DEVNULL,
        )

    return run


@pytest.fixture(scope="session")
def offered(program: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Full names of the providers that are here, and the reasons for those that are not."""
    outcome = subprocess.run([program, "providers"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    there, _, missing = outcome.stdout.partition("\nnot here:\n")
    rows = [line.split() for line in there.split("\n\n")[1].splitlines()[1:]]
    reasons = [line.split(maxsplit=1) for line in missing.splitlines()]
    return {row[0]: row[1] for row in rows}, {row[0]: row[1] for row in reasons}


@pytest.fixture
def needs_provider(offered) -> Callable[[str], str]:
    """The provider's full name; the test is skipped, with the reason, where it is missing."""
    there, missing = offered

    def look(name: str) -> str:
        if name not in there:
            pytest.skip(f"{name} is not here: {missing.get(name, 'unknown to the program')}")
        return there[name]

    return look
