# SPDX-License-Identifier: BSD-3-Clause
"""Our all-to-all against the bare loop: a row for each mode, window and size, and mistakes are one line."""

import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"


@pytest.fixture(scope="module")
def loop(program: Path) -> Path:
    path = program.resolve().parents[2] / "test/benchmark/alltoall-loop"
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


def launch(loop: Path, ranks: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [MPIRUN, "-t", str(PATIENCE), str(ranks), loop, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize("provider", ["shm", "net"])
def test_a_row_for_each_mode_window_and_size(loop: Path, provider: str) -> None:
    """The loop has looked at the bytes that it moved, injected ones and others."""
    done = launch(loop, 3, provider, "2", "8,20000", "tagged,msg,write-imm", "all,1")
    assert done.returncode == 0, done.stderr
    header, *rows = done.stdout.splitlines()
    assert header.split()[:7] == ["provider", "mode", "win", "ranks", "B", "ours", "us"]
    told = [row.split() for row in rows]
    assert [row[1:5] for row in told] == [
        [mode, window, "3", size] for mode in ("tagged", "msg", "write-imm") for window in ("all", "1") for size in ("8", "20000")
    ]
    for row in told:
        ratio, low, high, lowest, highest = (float(row[at]) for at in (6, 7, 9, 10, 12))
        assert 0 <= lowest <= low <= ratio <= high <= highest
        assert float(row[5]) > 0 and row[-1] == "2"


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (1, ["shm"], "expected two ranks or more"),
        (2, ["shm", "1", "8", "write"], "the loop has tagged, msg and write-imm, not write"),
        (2, ["shm", "1", "8", "tagged", "some"], "a window is a number above 0 or 'all', not 'some'"),
    ],
)
def test_a_mistake_is_told(loop: Path, ranks: int, words: list[str], said: str) -> None:
    done = launch(loop, ranks, *words)
    assert done.returncode != 0
    assert said in done.stderr and done.stdout.count("\n") <= 1
