# SPDX-License-Identifier: BSD-3-Clause
"""Ops without a common start: what their file says, what follows from it, and that nothing takes them for others."""

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from results import COMPLETE, SKIPPED, Results

WORDS = ("--sync", "none", "--provider", "shm", "--sizes", "100,60000", "--warmup", "2", "--poll", "yield", "-o", "a.h5")


A2A = os.environ.get("A2A", str(Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))


def a2a(folder, *words):
    return subprocess.run([A2A, *words], cwd=folder, capture_output=True, text=True, check=False)


def whole_time(file: h5py.File, point: int) -> float:
    """Counted moment by moment: how many ops are under way."""
    attempts = int(file["attempts"][point])
    raw = {name: file["raw"][name][point, :attempts] for name in ("begin", "send_done", "recv_done", "exit", "start")}
    zero = raw["start"][:, None] + raw["exit"]
    first = (zero + raw["begin"]).min(axis=1)
    last = (zero + np.maximum(raw["send_done"], raw["recv_done"])).max(axis=1)
    moments = sorted([(time, 1) for time in first] + [(time, -1) for time in last])
    whole, running, since = 0, 0, 0
    for time, change in moments:
        if running > 0:
            whole += int(time) - since
        running, since = running + change, int(time)
    return float(whole)


def test_rates_are_of_all_ops_and_nobody_is_last(launch, needs_provider, tmp_path):
    needs_provider("shm")
    ranks, ops = 3, 40
    outcome = launch(ranks, "alltoall", *WORDS, "--mode", "tagged,write-imm,msg,read,write", "--ops", str(ops))
    assert outcome.returncode == 0, outcome.stderr
    assert "ops follow one another" in outcome.stdout and "Gbit/s one way over all ops" in outcome.stdout
    results = Results(tmp_path / "a.h5")
    assert set(results.words("role")) == {"pipelined"}
    assert results.segments[0].attributes["sync"] == "none"
    assert set(results.words("post")) == {"inside"}
    states = list(zip(results.words("mode"), results.columns["state"], strict=True))
    assert {mode for mode, state in states if state == COMPLETE} == {"tagged", "write-imm"}
    assert {mode for mode, state in states if state == SKIPPED} == {"msg", "read", "write"}
    with h5py.File(tmp_path / "a.h5") as file:
        for point in np.flatnonzero(results.columns["state"] == COMPLETE):
            assert results.columns["ops"][point] == ops
            whole = results.columns["whole_time"][point]
            assert whole == whole_time(file, point)
            bits = 8 * (ranks - 1) * int(results.columns["message_size"][point]) * ops
            assert results.columns["gbps_rank"][point] == pytest.approx(bits / whole)
            assert results.columns["gbps_sustained"][point] == pytest.approx(bits / whole)
            assert results.columns["last_rank"][point] == -1
            assert np.isnan(results.columns["span_p50"][point])
    checked = a2a(tmp_path, "check", "a.h5")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "write-imm" in a2a(tmp_path, "table", "a.h5").stdout
    for words in (("explain", "a.h5"), ("compare", "a.h5", "--by", "mode"), ("history", "a.h5"), ("plot", "sizes", "a.h5", "-o", "a.png")):
        refused = a2a(tmp_path, *words)
        assert refused.returncode == 2, words
        assert "have no common start" in refused.stderr, words


@pytest.mark.parametrize(
    ("words", "status", "why"),
    [
        (["--baseline", "mpi"], 2, "--sync none and --baseline exclude each other"),
        (["--complete-at", "sender"], 2, "use --complete-at receiver"),
        (["--format", "compat"], 2, "--sync none and --format compat exclude each other"),
        (["--traffic", "incast"], 3, "could run ahead of it without end"),
    ],
)
def test_what_needs_a_common_start_is_refused(launch, needs_provider, tmp_path, words, status, why):
    needs_provider("shm")
    outcome = launch(2, "alltoall", *WORDS, *words)
    assert outcome.returncode == status
    assert why in outcome.stderr
    assert not (tmp_path / "a.h5").exists()
