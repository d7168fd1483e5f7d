# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf pairs`: every ordered pair of ranks in the matrix, which is what the raw samples give."""

import csv
import io
import json
import os

import h5py
import numpy as np
import pytest
from pairs_file import check_matrix, distances, measured
from results import COMPLETE, SKIPPED, Results

CALM = ["--poll", "yield", "-o", "a.h5", "--force"]


@pytest.fixture
def measure(launch, tmp_path):
    def run(ranks: int, *words: str, provider: str = "shm", sync: str = "barrier"):
        outcome = launch(ranks, "pairs", "--provider", provider, "--sync", sync, *CALM, *words)
        assert outcome.returncode == 0, outcome.stderr
        return Results(tmp_path / "a.h5"), outcome

    return run


@pytest.mark.parametrize(
    ("provider", "ranks", "mode"),
    [
        ("shm", 2, "tagged"), ("tcp", 3, "tagged"), ("net", 4, "write-imm"), ("net", 3, "read"), ("shm", 3, "write"),
        ("tcp", 7, "tagged"),
    ],
)
def test_every_pair(measure, needs_provider, tmp_path, provider, ranks, mode):
    full_name = needs_provider(provider)
    results, outcome = measure(ranks, "--mode", mode, "--ops", "5", "--warmup", "1", provider=provider)
    assert results.attributes["layout"] == "compact"
    assert results.attributes["title"].startswith("pairs of ranks")
    assert set(results.words("provider")) == {full_name}
    assert set(results.words("role")) == {"pair"} and set(results.words("schedule")) == {"shift"}
    assert distances(results) == [d for d in range(1, ranks) for _ in range(2)]
    assert list(results.columns["message_size"]) == [8, 1 << 20] * (ranks - 1)
    assert results.states("pair") == [COMPLETE] * len(results)
    assert results.segments[0].end_state == 1
    check_matrix(tmp_path / "a.h5")
    off_diagonal = ~np.eye(ranks, dtype=bool)
    for matrix in measured(tmp_path / "a.h5"):
        assert (matrix == off_diagonal).all()
    # Every size's line, and for so few ranks the matrices themselves.
    for size in ("8", "1048576"):
        assert [line.split()[1] for line in outcome.stdout.splitlines() if line.split()[:1] == [size]][0] == str(
            ranks * (ranks - 1)
        )
    assert f"2 sizes x (1 + 5) ops on {ranks} ranks" in outcome.stderr


def test_a_sample_of_the_steps(measure, tmp_path):
    results, outcome = measure(7, "--steps", "3", "--sizes", "1000", "--suspects", "0", "--seed", "4")
    assert distances(results) == [1, 6]
    assert results.segments[0].attributes["seed"] == "4"
    check_matrix(tmp_path / "a.h5")
    (matrix,) = measured(tmp_path / "a.h5")
    r = np.arange(7)
    expected = np.zeros((7, 7), dtype=bool)
    expected[r, (r + 1) % 7] = expected[r, (r + 6) % 7] = True
    assert (matrix == expected).all()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["pairs/suspect_source"].shape == (0,)
    assert "2 of 6 steps" in outcome.stderr


def test_steps_in_a_shuffled_order_are_the_seed_s(measure):
    words = ["--sizes", "8,1000", "--ops", "2", "--order", "shuffled"]
    first, _ = measure(5, *words, "--seed", "8")
    again, _ = measure(5, *words, "--seed", "8")
    order = list(first.columns["order"])
    assert sorted(order) == list(range(8)) and order != list(range(8))
    assert order == list(again.columns["order"])
    assert [b - a for a, b in zip(order[::2], order[1::2], strict=True)] == [1] * 4  # a step's sizes together


def test_one_place_serves(measure, tmp_path):
    # 4 ranks x 2 buffers x 1 place of 100 kB, and one unexpected message each; an all-to-all by write-imm would need
    # four places.
    results, _ = measure(4, "--sizes", "100000,900000", "--mode", "write-imm", "--memory-limit", "1300kB")
    assert results.states("pair") == [COMPLETE, SKIPPED] * 3
    assert list(results.columns["buffer_slots"])[::2] == [1] * 3
    assert "--memory-limit" in results.words("skip_reason")[1]
    check_matrix(tmp_path / "a.h5")


def test_started_by_the_clock(measure, tmp_path):
    results, outcome = measure(2, "--sizes", "1000", sync="clock")
    assert results.segments[0].attributes["sync"] == "clock"
    assert list(results.columns["late_limit"]) == [-1]
    assert list(results.columns["ops"]) == [10]
    assert "start: clock" in outcome.stdout
    check_matrix(tmp_path / "a.h5")


def test_a_pair_to_a_line(measure, tmp_path):
    keys = ["message_size", "source", "destination", "source_node", "destination_node", "ops", "time_p50", "time_min",
            "gbps", "share", "isolated_gbps"]  # fmt: skip
    for style in ("csv", "json"):
        _, outcome = measure(3, "--sizes", "8,1000", "--format", style, "--quiet")
        assert not [line for line in outcome.stderr.splitlines() if "ops on" in line]
        if style == "csv":
            rows = list(csv.DictReader(io.StringIO(outcome.stdout)))
        else:
            rows = json.loads(outcome.stdout)
        assert [list(row) for row in rows] == [keys] * 12
        with h5py.File(tmp_path / "a.h5") as file:
            times = file["pairs/time_p50"][()]
            for row in rows:
                size = [8, 1000].index(int(row["message_size"]))
                assert float(row["time_p50"]) == times[size, int(row["source"]), int(row["destination"])]


def test_verified_and_nothing_timed(launch, tmp_path):
    outcome = launch(3, "pairs", "--provider", "shm", "--poll", "yield", "--verify-only")
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "4 points verified, every byte of every message\n"
    assert list(tmp_path.iterdir()) == []


def test_no_message_takes_no_time_where_ranks_share_cores(measure, tmp_path):
    """With a barrier start a message may be there before its receiver began: both ends are on the common clock."""
    results, outcome = measure(7, "--ops", "20", "--sizes", "8,1MiB")
    check_matrix(tmp_path / "a.h5")
    early = 0
    for point in range(len(results)):
        samples = results.samples(point)
        early += int((samples["recv_done"] <= 1).sum())
        assert (samples["zero"][:, 0] == 0).all()
        source = np.arange(7)
        destination = (source + int(results.columns["distance"][point])) % 7
        arrived = samples["zero"] + samples["recv_done"]
        assert (arrived[:, destination] - samples["zero"][:, source] > 1).all()
    assert early > 0, "nothing came early: the case was not met"
    with h5py.File(tmp_path / "a.h5") as file:
        assert np.nanmin(file["pairs/time_min"][()]) > 1
    cores = len(os.sched_getaffinity(0))
    if cores < 7:
        assert outcome.stdout.startswith(f"# oversubscribed: 7 ranks on {cores} core")
        assert "no pair is judged" in outcome.stdout and "stands out" not in outcome.stdout
