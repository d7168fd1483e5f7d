# SPDX-License-Identifier: BSD-3-Clause
"""Victims and load of which one is killed, or all get a signal, after some points: these are kept, and the rest is resumed."""

import re
import signal
from pathlib import Path

import h5py
import numpy as np
import pytest
from processes import PATIENCE, remove_what_killed_ranks_left, wait_until
from refusals import refuses
from results import COMPLETE, FAILED, Results, complete_points
from running_launch import start

pytestmark = pytest.mark.slow

POINTS = 8
MEASURED = (COMPLETE, FAILED)  # where ranks share a core a victim may get nothing at all
WORDS = ["--provider", "net", "--poll", "yield", "--victims", "0:1", "--phase", "100ms", "--alternations", "1", "-o", "a.h5"]
LONG = [*WORDS, "--sizes", "64..176+16", "--levels", "100", "--timeout", "20s"]
VICTIM, LOAD = 1, 3


def in_the_middle(start, file: Path):
    """Two points are complete, and there are more."""
    launch = start(4, *LONG, command="interference")
    assert wait_until(lambda: complete_points(file, "interference") >= 2 or launch.launcher.poll() is not None, PATIENCE)
    assert launch.launcher.poll() is None, launch.err.read_text()
    return launch


def kept_of(file: Path) -> dict[int, tuple[float, ...]]:
    """The points that were measured, and the figures that a resume may not change."""
    results = Results(file)
    kept = [i for i, state in enumerate(results.states("interference")) if state in MEASURED]
    assert 2 <= len(kept) < POINTS
    return {i: tuple(results.columns[name][i] for name in ("alone_mean", "loaded_mean", "load_gbps")) for i in kept}


def is_resumed(start, file: Path, kept: dict[int, tuple[float, ...]]) -> None:
    again = start(4, *LONG, "--resume", command="interference")
    assert again.end() == 0, again.err.read_text()
    after = Results(file)
    states = after.states("interference")
    assert len(states) == POINTS and set(states) <= set(MEASURED), states
    assert [i for i, segment in enumerate(after.columns["segment"]) if segment == 0] == sorted(kept)
    for i, values in kept.items():
        np.testing.assert_equal(tuple(after.columns[name][i] for name in ("alone_mean", "loaded_mean", "load_gbps")), values)


@pytest.mark.parametrize("rank", [VICTIM, LOAD], ids=["a victim", "a rank of the load"])
def test_a_killed_rank_is_named_and_the_rest_is_resumed(start, needs_provider, foreign_shared_memory, tmp_path, rank):
    needs_provider("net")
    file = tmp_path / "a.h5"
    launch = in_the_middle(start, file)
    launch.kill(signal.SIGKILL, [rank])
    assert launch.end() != 0
    remove_what_killed_ranks_left(foreign_shared_memory)
    (segment,) = Results(file).segments
    if segment.end_reason == "running":  # the launcher was faster than the others, and has named it
        assert re.search(rf"\[\[\d+,1\],{rank}\]", launch.err.read_text())
    else:
        assert segment.end_reason == "peer-lost" and f"rank {rank} (" in segment.message
    is_resumed(start, file, kept_of(file))


def test_a_signal_in_the_middle(start, needs_provider, tmp_path):
    needs_provider("net")
    file = tmp_path / "a.h5"
    launch = in_the_middle(start, file)
    launch.kill(signal.SIGTERM, [0, 1, 2, 3])
    assert launch.end() != 0
    # The launcher ends who has not ended by itself a moment after the first.
    assert set(launch.statuses().values()) == {128 + signal.SIGTERM}
    (segment,) = Results(file).segments
    assert segment.end_reason == "signal"
    is_resumed(start, file, kept_of(file))


def test_an_older_file_is_not_resumed_and_says_why(launch, needs_provider, tmp_path):
    """Before victims could stream, their times had another name."""
    needs_provider("net")
    words = [*WORDS, "--sizes", "64", "--levels", "100"]
    made = launch(4, "interference", *words)
    assert made.returncode == 0, made.stderr
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file["raw"].move("victim_time", "round_trip")
    refuses(
        launch(4, "interference", *words, "--resume"),
        "a.h5 can't be resumed: it is of an older a2aperf, which called samples 'round_trip' that have another name now. "
        "Name a new file with -o",
        tmp_path,
        ["a.h5"],
    )
