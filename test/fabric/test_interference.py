# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf interference`: round trips alone and under load, and what is made of them."""

import functools
import os
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from loop_files import nearest
from refusals import refuses
from results import COMPLETE, NO_MOMENT, Results

CALM = ["--poll", "yield", "-o", "a.h5"]
SHORT = ["--phase", "40ms", "--alternations", "6", "--gap", "200us"]
A2A = Path(os.environ.get("A2A", Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))
STUDENT = 2.5706  # 97.5 %, 5 degrees of freedom


@pytest.fixture
def interference(launch):
    def run(ranks: int, *words: str, provider: str = "tcp"):
        outcome = launch(ranks, "interference", "--provider", provider, *CALM, *words)
        assert outcome.returncode == 0, outcome.stderr
        return outcome

    return run


def rows_of(file: Path, point: int) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    with h5py.File(file) as opened:
        count = opened["ticks"][point]
        names = ("sample_begin", "sample_phase", "sample_kind", "victim_time", "load_received", "load_time")
        raw = {name: opened[f"raw/{name}"][point, :count] for name in names}
        raw |= {name: opened[f"raw/{name}"][point, 0] for name in ("rank_role", "messages_sent", "messages_received", "class_granted")}
        return raw, {name: data[point] for name, data in opened.items() if isinstance(data, h5py.Dataset) and data.ndim == 1}


def is_true(file: Path, point: int) -> None:
    """Kinds and figures follow from what each rank noted."""
    raw, row = rows_of(file, point)
    length, alternations = int(row["phase_length"]), int(row["alternations"])
    trips = raw["victim_time"] != NO_MOMENT
    begin, phase, kind = (raw[f"sample_{name}"][trips] for name in ("begin", "phase", "kind"))
    times = raw["victim_time"][trips]
    # A moment of the common clock is as good as that: within a microsecond of an edge either phase will do.
    inside = np.abs((begin + length // 2) % length - length // 2) > 1000
    assert (begin // length == phase)[inside].all() and (phase >= 1).all() and (phase <= 2 * alternations).all()
    loaded = ((phase - 1) % 4 == 1) | ((phase - 1) % 4 == 2)
    assert set(kind) <= {0, 2, 3} and (kind[kind > 0] == np.where(loaded, 3, 2)[kind > 0]).all()
    settled = begin % length >= length // 5
    near = np.abs(begin % length - length // 5) <= 1000
    assert ((kind > 0) == settled)[inside & ~near].all()
    assert row["ops"] == (kind == 3).sum() and row["alone_trips"] == (kind == 2).sum()
    of = [[times[(kind == k) & ((phase - 1) // 2 == i)] for i in range(alternations)] for k in (2, 3)]
    assert row["silent_phases"] == sum(x.size == 0 for side in of for x in side)
    if row["silent_phases"]:
        assert np.isnan(row["impact_mean"])
        return
    percentiles = {name: functools.partial(nearest, q=q) for name, q in {"p50": 0.5, "p99": 0.99, "p999": 0.999}.items()}
    for name, value in {"mean": np.mean, **percentiles}.items():
        alone, under = (np.log([value(x) for x in side]) for side in of)
        if np.isnan(alone).any() or np.isnan(under).any():  # it would be the longest of a phase
            assert all(np.isnan(row[f"{of_what}_{name}"]) for of_what in ("alone", "loaded", "impact"))
            continue
        ratios = under - alone
        assert row[f"alone_{name}"] == pytest.approx(np.exp(alone.mean()))
        assert row[f"loaded_{name}"] == pytest.approx(np.exp(under.mean()))
        assert row[f"impact_{name}"] == pytest.approx(np.exp(ratios.mean()))
        reach = STUDENT * ratios.std(ddof=1) / np.sqrt(alternations)
        assert row[f"impact_{name}_low"] == pytest.approx(np.exp(ratios.mean() - reach), rel=0.01)
        assert row[f"impact_{name}_high"] == pytest.approx(np.exp(ratios.mean() + reach), rel=0.01)
    assert np.isnan(row["impact_p999"]) or min(x.size for side in of for x in side) > 1000


@pytest.mark.parametrize("provider", ["shm", "tcp", "net"])
def test_figures_follow_from_what_ranks_noted(interference, needs_provider, tmp_path, provider):
    needs_provider(provider)
    file = tmp_path / "a.h5"
    words = ["--mode", "tagged,msg", "--levels", "0,100", "--load-size", "4KiB"]
    for phase in ("40ms", "200ms", "1s"):  # in short ones a rank may have had no core
        interference(4, *SHORT[2:], *words, "--phase", phase, "--force", provider=provider)
        if all(rows_of(file, point)[0]["messages_sent"].all() for point in range(4)):
            break
    results = Results(file)
    assert list(results.columns["state"]) == [COMPLETE] * 4
    assert set(results.words("role")) == {"interference"}
    assert set(results.words("victim_pairs")) == {"0:1"}
    for point, level in enumerate([0, 100, 0, 100]):
        is_true(file, point)
        raw, row = rows_of(file, point)
        assert row["load_level"] == level
        assert list(raw["rank_role"]) == [1, 2, 3, 3]
        assert level > 0 or row["load_gbps"] == 0, "at level 0 nothing is sent beside victims"
        # All that was sent came: of each side by itself.
        sent, received = raw["messages_sent"], raw["messages_received"]
        assert sent[:2].sum() == received[:2].sum() > 0 and sent[2:].sum() == received[2:].sum() > 0
    checksums.require_right(file)


def test_tails_follow_from_what_ranks_noted(interference, tmp_path):
    """Of more than a thousand round trips in each phase; on a busy machine that takes longer phases."""
    for phase in ("100ms", "500ms", "2s", "8s"):
        interference(4, "--alternations", "6", "--gap", "10us", "--levels", "10", "--load-size", "8", "--phase", phase, "--force", provider="shm")
        is_true(tmp_path / "a.h5", 0)
        _, row = rows_of(tmp_path / "a.h5", 0)
        if np.isfinite(row["impact_p999"]):
            break
    else:
        pytest.skip("ranks had their cores for too short: no phase of 8 s has more than 1000 round trips")
    assert all(np.isfinite(row[f"{of_what}_{name}"]) for of_what in ("alone", "loaded", "impact") for name in ("p99", "p999"))
    assert row["alone_p999"] >= row["alone_p99"] >= row["alone_p50"]
    if A2A.exists():
        done = subprocess.run([A2A, "check", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout.endswith("sound\n"), done.stdout + done.stderr


def test_a_level_is_a_share_of_the_full_rate(interference, tmp_path):
    """The full rate is that of the first phase, in which a rank may have had no core: one of some launches shows it."""
    words = ["--phase", "200ms", "--alternations", "2", "--levels", "10", "--load", "permutation", "--load-size", "64"]
    shares = []
    while not any(0 < share < 0.2 for share in shares) and len(shares) < 4:
        interference(4, *words, "--force")
        _, row = rows_of(tmp_path / "a.h5", 0)
        shares.append(row["load_gbps"] / row["load_full_gbps"])
    assert any(0 < share < 0.2 for share in shares), shares


@pytest.mark.parametrize("load", ["incast", "hotspot", "stream"])
def test_every_pattern_moves(launch, tmp_path, load):
    words = ["--alternations", "1", "--levels", "100", "--load", load, "--load-size", "64", "--force"]
    for phase in ("100ms", "1s", "10s"):  # until the ranks, which share cores, have moved in one
        outcome = launch(5, "interference", "--provider", "tcp", *CALM, *words, "--phase", phase)
        if outcome.returncode == 0 and "no load came" not in outcome.stderr:
            break
    assert outcome.returncode == 0, outcome.stderr
    raw, row = rows_of(tmp_path / "a.h5", 0)
    assert list(raw["rank_role"]) == [1, 2, 3, 3, 3] if load != "stream" else list(raw["rank_role"]) == [1, 2, 3, 0, 3]
    of_load = raw["rank_role"] == 3
    assert raw["messages_sent"][of_load].sum() == raw["messages_received"][of_load].sum() > 0
    assert np.isnan(row["impact_mean_low"]), "one alternation has no interval"


@pytest.mark.parametrize("mode", ["tagged", "msg"])
def test_a_stream_as_the_victim(interference, tmp_path, mode):
    """Its receivers keep times, and nothing is told that did not come."""
    interference(4, *SHORT, "--mode", mode, "--levels", "0", "--victim-kind", "stream", "--victim-window", "4", "--sizes", "4KiB")
    is_true(tmp_path / "a.h5", 0)
    raw, row = rows_of(tmp_path / "a.h5", 0)
    assert list(raw["rank_role"]) == [1, 2, 3, 3] and row["victim_pairs"] == b"1:0"
    sent, received = raw["messages_sent"], raw["messages_received"]
    assert sent[0] == received[1] == 0 and sent[1] == received[0] > 0
    # Slices of a phase follow one another without a gap: as many windows as fit their times, so many messages came.
    begin, phase, kind, time = (
        raw[name][:, 0][raw["victim_time"][:, 0] != NO_MOMENT] for name in ("sample_begin", "sample_phase", "sample_kind", "victim_time")
    )
    slices = np.diff(begin)
    assert (slices >= row["request_gap"]).all()
    follows = (np.diff(phase) == 0) & (np.diff(kind) == 0)
    messages = (4 * slices / time[:-1])[follows]
    assert np.allclose(messages, np.round(messages), rtol=2 / time.min(), atol=0) and messages.sum() <= received[0]
    assert row["gbps"] == pytest.approx(4 * 4096 * 8 / row["loaded_p50"], nan_ok=True)


def test_a_slice_of_a_stream_lies_in_what_counts_of_its_phase(launch, tmp_path):
    """It is at least as long as the gap, here two thirds of a phase: it begins so early that it ends there."""
    for phase_ms in (30, 300, 3000):  # beside other work none may begin in a short one
        words = ["--phase", f"{phase_ms}ms", "--gap", f"{phase_ms * 2 // 3}ms", "--alternations", "6", "--levels", "0"]
        outcome = launch(4, "interference", "--provider", "tcp", *CALM, "--force", "--victim-kind", "stream", *words)
        if "no op of any point was valid" not in outcome.stderr:
            break
    assert outcome.returncode == 0, outcome.stderr
    phase_ns = 1_000_000 * phase_ms
    raw, row = rows_of(tmp_path / "a.h5", 0)
    there = raw["victim_time"][:, 0] != NO_MOMENT
    begin, phase = (raw[name][:, 0][there] for name in ("sample_begin", "sample_phase"))
    since = begin - phase_ns * phase
    assert (since >= phase_ns / 5).all(), "what is not settled lasts for less than the gap"
    assert (since + row["request_gap"] <= phase_ns).all()


@pytest.mark.parametrize("provider, mode", [("shm", "tagged"), ("tcp", "msg"), ("net", "tagged")])
def test_an_all_to_all_as_the_victim(interference, needs_provider, tmp_path, provider, mode):
    """All of those named take part; an op ends with what comes from the slowest, on every one of them."""
    needs_provider(provider)
    asked = ["--victims", "3:0,0:1", "--victim-kind", "all-to-all", "--sizes", "0,4KiB"]
    interference(5, *SHORT, "--mode", mode, "--levels", "0", *asked, "--load", "stream", provider=provider)
    for point, size in enumerate((0, 4096)):
        is_true(tmp_path / "a.h5", point)
        raw, row = rows_of(tmp_path / "a.h5", point)
        assert list(raw["rank_role"]) == [1, 1, 3, 1, 3] and row["victim_pairs"] == b"0,1,3"
        assert (row["victim_kind"], row["victim_window"]) == (b"all-to-all", 2)
        victims = [0, 1, 3]
        sent, received = raw["messages_sent"][victims], raw["messages_received"][victims]
        assert sent.sum() == received.sum() > 0 and (sent % 2 == 0).all()
        times, begins = raw["victim_time"][:, victims], raw["sample_begin"][:, victims]
        is_op = times != NO_MOMENT
        # Nobody is ahead by more than one op, and the last may have been cut off by the end.
        ops = is_op.sum(axis=0)
        assert ops.max() - ops.min() <= 1 and (sent // 2 - ops <= 1).all()
        common = slice(0, ops.min())
        ends = (begins + times)[common]
        # An op is over nowhere before it has begun everywhere, and the next begins nowhere before this one is over there.
        assert (ends.min(axis=1) >= begins[common].max(axis=1) - 1000).all()
        assert (begins[1 : ops.min()] >= ends[:-1]).all()
        assert row["gbps"] == pytest.approx(2 * size * 8 / row["loaded_p50"], nan_ok=True)


def test_a_load_rank_that_is_in_no_pair_does_nothing(interference, tmp_path):
    """Of three that stream the one in the middle: it keeps no time, and nothing of it is lost."""
    interference(6, "--phase", "200ms", "--alternations", "1", "--levels", "100", "--victim-kind", "stream", "--load", "stream", provider="shm")
    raw, row = rows_of(tmp_path / "a.h5", 0)
    assert (raw["rank_role"][4], raw["messages_sent"][4], raw["messages_received"][4]) == (0, 0, 0)
    assert (raw["victim_time"][:, 4] == NO_MOMENT).all() and row["ticks_lost"] == 0


def test_a_class_of_the_load_is_granted_or_not(interference, tmp_path):
    """Of load ranks alone: over TCP their connections have its DSCP. tcp has no service levels, and shm no classes."""
    short = ["--phase", "100ms", "--alternations", "1", "--levels", "100"]
    for provider, asked, granted in (("tcp", "dscp10", 1), ("tcp", "sl1", 0), ("shm", "bulk", 0)):
        outcome = interference(4, *short, "--load-class", asked, "--force", provider=provider)
        why = {"sl1": "tcp is told no service level", "bulk": "shm does not name it in what it gives"}.get(asked, "")
        said = f"warning: the load's class {asked} is not granted to every rank of it: {why}"
        assert (said in outcome.stderr) == (not granted) and outcome.stderr.count("load's class") == 1 - granted, outcome.stderr
        raw, row = rows_of(tmp_path / "a.h5", 0)
        assert (row["load_class"], row["load_class_granted"], row["load_class_trouble"]) == (asked.encode(), granted, why.encode())
        checksums.require_right(tmp_path / "a.h5")
        again = interference(4, *short, "--load-class", asked, "--resume", provider=provider).stderr
        assert (said in again) == (not granted), "the reason is that of the file"
        assert list(raw["class_granted"]) == [NO_MOMENT] * 2 + [granted] * 2
    assert "load's class" not in interference(4, *short, "--force").stderr
    _, row = rows_of(tmp_path / "a.h5", 0)
    assert (row["load_class"], row["load_class_granted"], row["load_class_trouble"]) == (b"", -1, b"")


def test_victims_of_ones_choice_may_share_a_server(interference, tmp_path):
    interference(5, "--phase", "200ms", "--alternations", "1", "--levels", "100", "--victims", "0:4,2:4")
    raw, _ = rows_of(tmp_path / "a.h5", 0)
    assert list(raw["rank_role"]) == [1, 3, 1, 3, 2]


def test_what_cannot_be_asked_for(launch, tmp_path):
    for words, says in {
        ("--placement", "other"): "--placement other needs 2 nodes, and there is 1",
        ("--placement", "here"): "unknown placement 'here'",
        ("--victims", "0:1", "--placement", "same"): "--victims and --placement exclude each other",
        ("--victims", "0:1,1:2"): "rank 1 is a client and a server",
        ("--victims", "0:1,2:1"): "leaves 1 of 4 ranks for the load, and it needs 2",
        ("--victims", "0:9"): "--victims names rank 9, and there are 4 ranks",
        ("--victims", "0:1,1:2", "--victim-kind", "stream"): "rank 1 is a sender and a receiver",
        ("--victim-kind", "alltoall"): "unknown victim-kind 'alltoall'",
        ("--gap", "20ms", "--phase", "20ms"): "--gap: as long as a phase or longer, so that some phases would have no time",
        ("--gap", "16ms", "--phase", "20ms", "--victim-kind", "stream"): "--gap: of a stream it fits into no phase",
        ("--victim-window", "4"): "--victim-window is of streams: it needs --victim-kind stream",
        ("--load-class", "gold"): "unknown class 'gold'",
        ("--levels", "101"): "'101' is not a whole number from 0 to 100",
        ("--phase", "1ms"): "'1ms' is below 10 ms",
        ("--gap", "1us"): "'1us' is below 10 µs",
        ("--phase", "10min"): "a victim could have 25200001 times in a point, and at most 1000000 are kept",
        ("--mode", "read"): "for interference expected one of tagged, msg",
    }.items():
        refuses(launch(4, "interference", "--provider", "tcp", *CALM, *words), says, tmp_path, [])
