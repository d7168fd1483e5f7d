# SPDX-License-Identifier: BSD-3-Clause
"""The two ways of `a2aperf echo` apart, as far as the clocks of client and server carry it."""

import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from flow_files import require_true_trips, require_true_ways
from processes import PATIENCE
from results import COMPLETE, NO_MOMENT, Results

SUPPORT = Path(__file__).resolve().parents[1] / "support"
WORDS = ["--poll", "yield", "-o", "a.h5"]
NOT_TOLD = "the way there and the way back are not told apart"
TOLD = ("request_came", "answer_begin")


def test_figures_that_the_clocks_do_not_carry_are_absent(program, needs_provider, tmp_path):
    """Server and client have different clocks; each way is as good as those, there and back are the round trip."""
    needs_provider("tcp")
    outcome = subprocess.run(
        [SUPPORT / "mpirun.sh", "-t", str(PATIENCE), "2", SUPPORT / "in_time_namespaces.sh", "0,1000", program, "echo",
         "--provider", "tcp", "--sizes", "8,1MiB", "--ops", "120", *WORDS],
        cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if outcome.returncode == 77:
        pytest.skip(outcome.stdout)
    assert outcome.returncode == 0, outcome.stderr
    columns = Results(tmp_path / "a.h5").columns
    bound, middle = columns["way_bound"], columns["time_p50"]
    assert (bound == columns["clock_error"]).all() and (bound > 0).all()
    is_told = bound <= 0.05 * middle
    assert (NOT_TOLD in outcome.stderr) == (not is_told.all())
    for name in ("way_there_p50", "way_back_p50"):
        assert np.isnan(columns[name][~is_told]).all()
        assert (np.isnan(columns[name]) | (columns[name] > bound)).all()
    assert not np.isnan(columns["server_p50"]).any()  # by one clock
    with h5py.File(tmp_path / "a.h5") as file:
        for point, ticks in enumerate(file["ticks"][()]):
            begin, trip, came, answer = (
                file[f"raw/{name}"][point, :ticks, 0] for name in ("request_begin", "round_trip", *TOLD)
            )
            there, server, back = came - begin, answer - came, begin + trip - answer
            assert (there + server + back == trip).all()
            assert (server >= 0).all()
            # A client's round trip is of its own clock, which here is the common one.
            assert min(there.min(), back.min()) >= -bound[point]


@pytest.mark.parametrize(("pair", "asks"), [("0:1", 0), ("1:0", 1)])
def test_either_end_may_have_the_common_clock(program, needs_provider, tmp_path, pair, asks):
    needs_provider("tcp")
    outcome = subprocess.run(
        [SUPPORT / "mpirun.sh", "-t", str(PATIENCE), "2", SUPPORT / "in_time_namespaces.sh", "5,0", program, "echo",
         "--provider", "tcp", "--pairs", pair, "--sizes", "8", "--ops", "50", *WORDS],
        cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if outcome.returncode == 77:
        pytest.skip(outcome.stdout)
    assert outcome.returncode == 0, outcome.stderr
    columns = Results(tmp_path / "a.h5").columns
    with h5py.File(tmp_path / "a.h5") as file:
        came = file["raw/request_came"][0, :50, asks] - file["raw/request_begin"][0, :50, asks]
    assert np.abs(came).max() < 1e9, "an offset got into the moments"
    assert came.min() >= -columns["way_bound"][0]


def test_a_file_that_is_older_goes_on_without_what_servers_tell(launch, needs_provider, tmp_path):
    """A point that it has stays as it is, and nothing is said of its ways."""
    needs_provider("shm")
    words = ["echo", "--provider", "shm", "--sizes", "8,64", "--ops", "150", *WORDS]
    assert launch(2, *words).returncode == 0
    require_true_ways(tmp_path / "a.h5", [0])
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        checksums.make_older(file)
        for name in [one for one in file if one.startswith("way_")] + ["server_p50", *(f"raw/{one}" for one in TOLD)]:
            del file[name]
        file["state"][1] = 0
    outcome = launch(2, *words, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    assert "1 point measured, 1 before" in outcome.stderr
    assert NOT_TOLD not in outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE] * 2
    require_true_trips(tmp_path / "a.h5", [0])
    with h5py.File(tmp_path / "a.h5") as file:
        assert not any(f"raw/{name}" in file for name in TOLD)
    assert list(np.isnan(results.columns["way_there_p50"])) == [True, False]
    assert list(results.columns["way_trips"]) == [-1, 150]


def test_a_request_that_has_no_answer_has_no_ways(launch, needs_provider, tmp_path):
    """At the end of a time some are under way."""
    needs_provider("shm")
    words = ["echo", "--provider", "shm", "--sizes", "8", "--duration", "200ms", "--outstanding", "7", *WORDS]
    assert launch(2, *words, "--max-samples", "100000").returncode == 0
    require_true_ways(tmp_path / "a.h5", [0])
    with h5py.File(tmp_path / "a.h5") as file:
        kept = file["raw/round_trip"][0, : file["ticks"][0], 0]
        assert ((kept != NO_MOMENT) == (file["raw/answer_begin"][0, : kept.size, 0] != NO_MOMENT)).all()
