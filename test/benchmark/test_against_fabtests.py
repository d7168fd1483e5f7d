# SPDX-License-Identifier: BSD-3-Clause
"""The comparison with fabtests, without fabtests: what it is against is in its first line, and mistakes are one line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE

SCRIPT = Path(__file__).resolve().parent / "against_fabtests.py"


@pytest.fixture(scope="module")
def loop(program: Path) -> Path:
    path = program.resolve().parents[2] / "test/benchmark/bare-loop"
    if not path.is_file():
        pytest.skip(f"{path} is not built")
    return path


def compare(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_a_tiny_comparison_with_the_loop(program: Path, loop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    done = compare(
        program, "--loop", loop, "--providers", "shm", "--sizes", "4096", "--window", "4", "--pairs", "1", "--seconds", "0.02", "--first", "50"
    )
    assert done.returncode == 0, done.stderr
    first, header, unit, *rows = done.stdout.splitlines()
    assert first == "against this project's own minimal loop (bare_loop.cpp), not fabtests: no --fabtests was given"
    assert header.split()[:6] == ["contest", "B", "window", "ours", "loop", "ratio"]
    assert unit.strip() == "Gbit/s one way"
    assert [row.split()[:4] for row in rows] == [["shm", mode, "4096", "4"] for mode in ("tagged", "write-imm")]
    for row in rows:
        ours, theirs, ratio = map(float, row.split()[4:7])
        assert ours > 0 and theirs > 0
        assert ratio == pytest.approx(ours / theirs, rel=0.01, abs=0.001)  # three decimals are told


@pytest.mark.parametrize("mode", ["tagged", "write-imm"])
@pytest.mark.parametrize(("messages", "warmup"), [(1, 0), (7, 3), (8, 4)])
def test_the_loop_ends_also_within_a_window(program: Path, loop: Path, mode: str, messages: int, warmup: int) -> None:
    """And its figures are those of fabtests: of the messages that were timed."""
    mpirun = SCRIPT.parents[1] / "support" / "mpirun.sh"
    done = subprocess.run(
        [mpirun, "-t", str(PATIENCE), "2", loop, "shm", mode, "1000", "4", str(messages), str(warmup)],
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = {name: float(value) for name, value in re.findall(r"([\w/]+): ([\d.]+)", done.stdout)}
    assert (told["xfer_size"], told["iterations"], told["total"]) == (1000, messages, 1000 * messages)
    assert told["usec/xfer"] == pytest.approx(told["time"] * 1e6 / messages, rel=0.05, abs=1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--contests", "echo"], "the contest echo needs --fabtests: the minimal loop has tagged and write-imm only"),
        (["--contests", "tagged,swap"], "--contests has no 'swap': expected some of tagged, write-imm, write, read, echo"),
        (["--fabtests", "/nowhere"], "--fabtests /nowhere has no fi_rdm_tagged_bw"),
        (["--loop", "/nowhere/loop"], "neither --fabtests nor /nowhere/loop: build it (ninja test/benchmark/bare-loop)"),
    ],
)
def test_a_mistake_is_one_line(program: Path, words: list[str], said: str) -> None:
    done = compare(program, *words)
    assert done.returncode == 2
    assert done.stdout == "" and done.stderr.splitlines()[-1].endswith(f"error: {said}")


def test_the_loop_refuses_what_makes_no_sense(loop: Path) -> None:
    mpirun = SCRIPT.parents[1] / "support" / "mpirun.sh"
    for words in (["shm", "read", "8", "1", "1", "0"], ["shm", "tagged", "0", "1", "1", "0"], ["shm"]):
        done = subprocess.run([mpirun, "-t", str(PATIENCE), "2", loop, *words], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 2
        assert "bare-loop PROVIDER tagged|write-imm SIZE WINDOW MESSAGES WARMUP" in done.stderr
