# SPDX-License-Identifier: BSD-3-Clause
"""Every option that changes what is measured or how, seen in the file that it leads to."""

import csv
import io
import json
import os

import h5py
import numpy as np
import pytest
from memory import gives_huge_pages
from results import COMPLETE, SKIPPED, STOP_RULE, Results, has_plausible_moments, has_true_statistics

QUICK = ["--provider", "shm", "--ops", "5", "--warmup", "1", "--sync", "barrier", "--poll", "yield", "--no-sentinel"]


@pytest.fixture
def measure(launch, tmp_path):
    """Measures with the words behind those of QUICK (the last of two wins) and reads the file back."""

    def run(ranks: int, *words: str):
        names = {word for word in words if word.startswith("--")}
        kept, i = [], 0
        while i < len(QUICK):
            width = 1 if QUICK[i] == "--no-sentinel" else 2
            is_replaced = QUICK[i] in names or (QUICK[i] == "--ops" and "--precision" in names)
            kept += [] if is_replaced else QUICK[i : i + width]
            i += width
        outcome = launch(ranks, "alltoall", *kept, "-o", "a.h5", *words)
        assert outcome.returncode == 0, outcome.stderr
        return Results(tmp_path / "a.h5"), outcome

    return run


def is_sound(results: Results) -> None:
    for point in np.flatnonzero(results.columns["state"] == COMPLETE):
        has_true_statistics(results, point)


SCHEDULES = ["shift", "xor", "permutation", "random", "naive", "node-shift", "greedy", "coloured", "node-aware"]


@pytest.mark.parametrize("ranks", [3, 4])
def test_schedules(measure, ranks):
    results, outcome = measure(ranks, "--sizes", "1000", "--schedule", ",".join(SCHEDULES))
    assert results.words("schedule") == SCHEDULES
    states = dict(zip(SCHEDULES, results.states(), strict=True))
    assert states.pop("xor") == (COMPLETE if ranks == 4 else SKIPPED)
    assert states.pop("node-aware") == SKIPPED  # one host
    assert results.words("skip_reason")[-1] == "node-aware needs two nodes or more: within one it forwards nothing"
    assert set(states.values()) == {COMPLETE}
    if ranks == 3:
        assert "power of two" in results.words("skip_reason")[1]
        assert f"skipped: {results.words('skip_reason')[1]}" in outcome.stdout
    is_sound(results)


def test_windows_and_posting_inside(measure):
    results, _ = measure(4, "--sizes", "1000,60000", "--window", "1,2,all", "--post", "inside")
    assert list(results.columns["window"]) == [1, 1, 2, 2, 0, 0]
    assert set(results.words("post")) == {"inside"}
    assert results.states() == [COMPLETE] * 6
    is_sound(results)


def test_the_rules_of_2019(measure):
    results, _ = measure(3, "--sizes", "1000,60000", "--complete-at", "sender", "--percentile", "index")
    assert results.attributes["complete_at"] == "sender"
    assert results.attributes["percentile_rule"] == "index"
    assert (results.columns["time_p99"] == results.columns["time_max"]).all()
    is_sound(results)


@pytest.mark.parametrize(("poll", "provider"), [("spin", "shm"), ("yield", "net"), ("block", "net"), ("block", "tcp"), ("throttle=3", "shm")])
def test_polling(measure, needs_provider, poll, provider):
    needs_provider(provider)
    kind = "huge" if gives_huge_pages() else "default"
    results, _ = measure(2, "--provider", provider, "--sizes", "1000", "--poll", poll, "--memory", kind)
    assert results.segments[0].attributes["poll"] == poll
    assert results.words("polling") == [""]
    assert results.segments[0].attributes["memory"] == kind
    assert results.states() == [COMPLETE]
    is_sound(results)


def test_ways_to_poll_are_measured_in_one_launch(measure):
    results, outcome = measure(3, "--sizes", "8,1000", "--poll", "spin,throttle=2,yield", "--ops", "3")
    assert results.words("polling") == ["spin"] * 2 + ["throttle=2"] * 2 + ["yield"] * 2
    assert results.segments[0].attributes["poll"] == "spin,throttle=2,yield"
    assert results.states() == [COMPLETE] * 6
    assert "tagged shift all poll throttle=2" in outcome.stdout
    is_sound(results)


def test_a_shuffled_order_is_the_seed_s(measure):
    words = ["--sizes", "1000..8000+1000", "--ops", "2", "--order", "shuffled", "--shuffle-ranks"]
    first, _ = measure(3, *words, "--seed", "7")
    again, _ = measure(3, *words, "--seed", "7", "--force")
    other, _ = measure(3, *words, "--seed", "8", "--force")
    assert sorted(first.columns["order"]) == list(range(8))
    assert list(first.columns["order"]) != list(range(8))
    assert list(first.columns["order"]) == list(again.columns["order"])
    assert list(first.columns["order"]) != list(other.columns["order"])
    assert (np.argsort(first.columns["started"]) == np.argsort(first.columns["order"])).all()
    segment = first.segments[0]
    assert (segment.attributes["order"], segment.attributes["seed"]) == ("shuffled", "7")
    assert sorted(segment.rank_order) == [0, 1, 2]
    assert segment.rank_order == again.segments[0].rank_order
    assert any(run.segments[0].rank_order != [0, 1, 2] for run in (first, other))


def test_places_are_shared_under_a_memory_limit(measure):
    # 4 ranks x 2 buffers x 2 places of 60 kB.
    results, outcome = measure(4, "--sizes", "60000", "--mode", "tagged,write-imm,read,write", "--memory-limit", "1MB")
    assert results.states() == [COMPLETE, SKIPPED, COMPLETE, SKIPPED]
    assert all(1 <= results.columns["buffer_slots"][point] < 4 for point in (0, 2))
    assert "--memory-limit" in results.words("skip_reason")[1]
    assert "write-imm needs R x B" in outcome.stdout and "write needs R x B" in outcome.stdout
    is_sound(results)


def test_windows_in_bytes_hold_what_fits_at_each_size(measure):
    results, outcome = measure(4, "--sizes", "1000,3000", "--mode", "tagged,read", "--window", "2,4kB,1B,all")
    assert list(results.columns["window"]) == [2, 2, 4, 1, 1, 1, 0, 0] * 2
    assert list(results.columns["window_bytes"]) == [0, 0, 4000, 4000, 1, 1, 0, 0] * 2
    assert "tagged shift 4kB (4)" in outcome.stdout and "tagged shift 4kB (1)" in outcome.stdout
    assert results.states() == [COMPLETE] * 16
    is_sound(results)


@pytest.mark.parametrize("provider", ["tcp", "shm", "net"])
def test_messages_are_cut_and_dealt_in_every_mode(measure, needs_provider, provider):
    needs_provider(provider)
    results, outcome = measure(
        3, "--provider", provider, "--sizes", "1000,3001", "--chunk", "1000", "--endpoints", "1,2", "--window", "2", "--mode",
        "tagged,msg,write-imm,write,read", "--ops", "2",
    )  # fmt: skip
    assert results.states() == [COMPLETE] * 20, results.words("skip_reason")
    assert list(results.columns["chunk"]) == [1000] * 20
    assert list(results.columns["chunks"]) == [1, 4] * 10
    assert list(results.columns["endpoints"]) == [1, 1, 2, 2] * 5
    assert "chunk 1kB (not cut)" in outcome.stdout and "chunk 1kB (4) endpoints 2" in outcome.stdout
    is_sound(results)


@pytest.mark.parametrize("provider", ["tcp", "shm", "net"])
def test_endpoints_have_one_queue_in_every_mode(measure, needs_provider, provider):
    needs_provider(provider)
    results, outcome = measure(
        3, "--provider", provider, "--sizes", "1000,3001", "--chunk", "1000", "--endpoints", "1,2", "--queues", "each,one",
        "--mode", "tagged,msg,write-imm,write,read", "--ops", "20",
    )  # fmt: skip
    assert results.states() == [COMPLETE] * 30, results.words("skip_reason")
    assert list(results.columns["endpoints"]) == [1, 1, 2, 2, 2, 2] * 5
    assert results.words("queues") == ["each"] * 4 + ["one"] * 2 + (["each"] * 4 + ["one"] * 2) * 4
    assert "chunk 1kB (4) endpoints 2 (one queue)" in outcome.stdout
    is_sound(results)


ALL_THAT_ENDPOINTS_DO = pytest.mark.parametrize(
    "words",
    [
        ("--endpoints", "3", "--window", "all,3", "--trace", "--post", "inside"),
        ("--endpoints", "2", "--sync", "none", "--mode", "write-imm"),
        ("--endpoints", "2", "--traffic", "zipf=1.2,incast", "--redraw", "op"),
        ("--endpoints", "2", "--baseline", "mpi"),
        ("--endpoints", "2", "--sizes", "60000", "--memory-limit", "3MB", "--mode", "tagged,read"),
    ],
    ids=["traced", "pipelined", "uneven", "beside MPI", "shared places"],
)


@pytest.mark.parametrize("provider", ["tcp", "shm", "net"])
@ALL_THAT_ENDPOINTS_DO
def test_one_queue_serves_all_that_endpoints_do(measure, needs_provider, provider, words):
    needs_provider(provider)
    sizes = () if "--sizes" in words else ("--sizes", "8,30000")
    results, _ = measure(4, "--provider", provider, *sizes, "--queues", "one", "--ops", "20", *words)
    assert (results.columns["state"] == COMPLETE).all(), results.words("skip_reason")
    ours = [point for point, role in enumerate(results.words("role")) if role != "baseline"]
    assert {results.words("queues")[point] for point in ours} == {"one"}
    if not {"--sync", "--traffic"} & set(words):  # whose rates are others
        is_sound(results)


@pytest.mark.parametrize("provider", ["tcp", "shm", "net"])
def test_endpoints_have_a_thread_each_in_every_mode(measure, needs_provider, tmp_path, provider):
    needs_provider(provider)
    results, outcome = measure(
        3, "--provider", provider, "--sizes", "1000,3001", "--chunk", "1000", "--endpoints", "1,2", "--threads", "one,each",
        "--mode", "tagged,msg,write-imm,write,read", "--ops", "20",
    )  # fmt: skip
    assert results.states() == [COMPLETE] * 30, results.words("skip_reason")
    assert list(results.columns["endpoints"]) == [1, 1, 2, 2, 2, 2] * 5
    threads = results.words("threads")
    assert threads == (["one"] * 4 + ["each"] * 2) * 5
    assert "chunk 1kB (4) endpoints 2 threads each" in outcome.stdout
    with h5py.File(tmp_path / "a.h5") as file:  # they are there while ops are counted
        counted = file["counters/threads"][()]
    is_each = np.array(threads) == "each"
    assert (counted[is_each].max(axis=0) == counted[~is_each].max(axis=0) + 1).all()
    is_sound(results)


@pytest.mark.parametrize("provider", ["tcp", "shm", "net"])
@ALL_THAT_ENDPOINTS_DO
def test_threads_do_all_that_endpoints_do(measure, needs_provider, provider, words):
    needs_provider(provider)
    sizes = () if "--sizes" in words else ("--sizes", "8,30000")
    results, outcome = measure(4, "--provider", provider, *sizes, "--threads", "each", "--ops", "20", *words)
    assert (results.columns["state"] == COMPLETE).all(), results.words("skip_reason")
    ours = [point for point, role in enumerate(results.words("role")) if role != "baseline"]
    assert {results.words("threads")[point] for point in ours} == {"each"}
    assert f"oversubscribed: {words[1]} threads each of 4 ranks" in outcome.stdout + outcome.stderr or (os.cpu_count() or 1) >= 4 * int(words[1])
    if not {"--sync", "--traffic"} & set(words):  # whose rates are others
        is_sound(results)


def test_ranks_that_may_run_on_the_same_few_cores_put_no_thread_on_one(measure, monkeypatch):
    """Each may run on a part of the machine, which is not its own."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:1 core:64 pu:1")
    monkeypatch.setenv("HWLOC_THISSYSTEM", "1")
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cpus)[:2])
    try:
        results, outcome = measure(3, "--sizes", "8", "--endpoints", "2", "--threads", "each")
    finally:
        os.sched_setaffinity(0, cpus)
    assert results.states() == [COMPLETE]
    assert not results.columns["pinned_threads"].any()
    # Where the cores are too few for all that is said instead.
    is_told = "note: not every thread of every rank got a core of its own at 1 of 1 point, most at 8 B: 2 threads of a rank without" in outcome.stderr
    assert is_told != ("oversubscribed: 2 threads each of 3 ranks" in outcome.stderr)


def test_endpoints_with_one_queue_have_one_thread(measure):
    words = ("--sizes", "8", "--endpoints", "2", "--queues", "each,one", "--threads", "one,each")
    results, _ = measure(3, *words)
    assert results.states() == [COMPLETE, COMPLETE, COMPLETE, SKIPPED]
    assert "one domain, which belongs to one thread at a time" in results.words("skip_reason")[3]


def test_what_is_known_to_be_faster_is_told_where_it_was_not_measured(measure, needs_provider):
    needs_provider("tcp")
    words = ("--provider", "tcp;ofi_rxm", "--sizes", "8KiB,64KiB", "--ops", "3", "--force")
    for modes, is_told in (("tagged", True), ("msg", True), ("tagged,write-imm", False)):
        _, outcome = measure(2, *words, "--mode", modes)
        told = [line for line in outcome.stderr.splitlines() if line.startswith("note: above 16 KiB write-imm is known")]
        assert len(told) == is_told
        assert all(" 1.8 to 2.3 times as fast as tagged at 60 kB " in line for line in told)


def test_reads_are_outstanding_up_to_the_window(measure):
    results, _ = measure(4, "--sizes", "1,60000", "--mode", "read", "--window", "1,2,all", "--schedule", "shift,random")
    assert results.states() == [COMPLETE] * len(results) == [COMPLETE] * 12
    assert not results.columns["inject"].any()
    is_sound(results)


def test_verify_only_writes_nothing(launch, tmp_path):
    outcome = launch(3, "alltoall", "--provider", "shm", "--sizes", "1,60000", "--mode", "tagged,write-imm",
                     "--poll", "yield", "--verify-only")  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == "4 points verified, every byte of every message\n"
    assert list(tmp_path.iterdir()) == []


def test_precision_ends_by_its_rules(measure):
    results, _ = measure(2, "--sizes", "1000", "--precision", "0.01%", "--min-ops", "10", "--max-ops", "40")
    assert results.columns["stop_rule"][0] in (STOP_RULE["precision"], STOP_RULE["max-ops"])
    assert 10 <= results.columns["ops"][0] <= 40
    easy, _ = measure(2, "--sizes", "1000", "--precision", "50%", "--min-ops", "10", "--max-ops", "1000", "--force")
    low, high, p50 = (easy.columns[f"time_p50{end}"][0] for end in ("_low", "_high", ""))
    if easy.columns["stop_rule"][0] == STOP_RULE["precision"]:
        assert (high - low) / 2 <= 0.5 * p50
    is_sound(easy)


def test_who_reached_the_precision_is_told_row_by_row(measure):
    words = ["--precision", "50%", "--min-ops", "30", "--max-ops", "30", "--baseline", "mpi"]
    results, outcome = measure(2, "--sizes", "8,64,512,1000,4096,8192", *words)
    low, high, p50 = (results.columns[f"time_p50{end}"] for end in ("_low", "_high", ""))
    is_precise = np.maximum(high - p50, p50 - low) <= 0.5 * p50
    expected = np.where(is_precise, STOP_RULE["precision"], STOP_RULE["max-ops"])
    assert list(results.columns["stop_rule"]) == list(expected)
    assert outcome.stdout.count("--precision not reached") == np.count_nonzero(~is_precise)


def test_time_budget(measure):
    results, _ = measure(2, "--sizes", "1000", "--ops", "1000000", "--time-budget", "200ms")
    assert results.columns["stop_rule"][0] == STOP_RULE["time-budget"]
    assert 0 < results.columns["ops"][0] < 1000000
    assert results.shapes["begin"][1] == results.columns["attempts"][0]  # what was not used is gone
    is_sound(results)


def test_baseline_beside_it(measure):
    results, outcome = measure(2, "--sizes", "1000,60000", "--ops", "80", "--baseline", "mpi", "--format", "wide")
    assert results.words("role") == ["measure", "baseline"] * 2
    assert results.words("engine") == ["a2aperf", "mpi"] * 2
    assert list(results.columns["partner"]) == [1, 0, 3, 2]
    assert "OMPI_MCA_pml=ob1" in results.segments[0].attributes["baseline_transport"]
    p50, ratio = results.columns["time_p50"], results.columns["ratio"]
    for own, baseline in ((0, 1), (2, 3)):
        assert results.words("post")[own] == "inside"
        assert ratio[own] == pytest.approx(p50[baseline] / p50[own])
        assert ratio[baseline] == pytest.approx(p50[own] / p50[baseline])
        assert results.columns["ratio_low"][own] <= results.columns["ratio_high"][own]
        samples = results.samples(baseline)
        assert (samples["send_done"] == samples["recv_done"]).all()
    assert "ratio" in outcome.stdout
    is_sound(results)


def test_a_late_start_is_kept_and_counted(launch, tmp_path):
    words = ["--provider", "shm", "--sizes", "1000", "--ops", "30", "--warmup", "1", "--sync", "clock", "--no-sentinel"]
    outcome = launch(2, "alltoall", *words, "-o", "a.h5")
    results = Results(tmp_path / "a.h5")
    assert outcome.returncode == (0 if results.columns["ops"][0] else 1), outcome.stderr
    assert results.segments[0].attributes["sync"] == "clock"
    samples = results.samples(0)
    late = samples["begin"].max(axis=1) > results.columns["late_limit"][0]
    assert (samples["valid"] == ~late).all()
    assert results.columns["invalid"][0] == late.sum()
    assert results.columns["ops"][0] + late.sum() == results.columns["attempts"][0] <= 60
    assert results.columns["late_limit"][0] >= 1000
    if results.columns["ops"][0]:
        is_sound(results)
        spans = (np.maximum(samples["send_done"], samples["recv_done"]).max(axis=1) - samples["begin"].min(axis=1))
        assert results.columns["span_p50"][0] == results.percentile(spans[samples["valid"]], 0.5)


def test_the_sentinel_is_first_and_last(launch, tmp_path):
    words = [word for word in QUICK if word != "--no-sentinel"]
    assert launch(2, "alltoall", *words, "--sizes", "1000,2000", "-o", "a.h5").returncode == 0
    results = Results(tmp_path / "a.h5")
    assert results.words("role") == ["sentinel", "measure", "measure", "sentinel"]
    assert list(results.columns["order"]) == [0, 1, 2, 3]
    assert results.columns["message_size"][0] == results.columns["message_size"][3]


def test_formats_and_labels(measure):
    for style in ("table", "wide", "compat", "csv", "json"):
        results, outcome = measure(2, "--sizes", "1000,2000", "--format", style, "--label", "firmware=10.9",
                                   "--label", "room=north", "--force")  # fmt: skip
        assert results.segments[0].labels == {"firmware": "10.9", "room": "north"}
        if style == "csv":
            rows = list(csv.DictReader(io.StringIO(outcome.stdout)))
            assert [row["message_size"] for row in rows] == ["1000", "2000"]
        elif style == "json":
            assert [row["message_size"] for row in json.loads(outcome.stdout)] == [1000, 2000]
        else:
            lines = [line.split() for line in outcome.stdout.splitlines()]
            assert len([words for words in lines if {"1000", "2"} <= set(words)]) == 1, outcome.stdout
            assert len([words for words in lines if {"2000", "2"} <= set(words)]) == 1, outcome.stdout


def test_plausible_on_the_way(measure):
    results, _ = measure(3, "--sizes", "1,1MiB", "--mode", "write-imm", "--window", "1")
    for point in range(len(results)):
        has_plausible_moments(results, point)


def test_require(launch, tmp_path, monkeypatch):
    monkeypatch.setenv("FI_SHM_DISABLE_CMA", "1")
    words = ["alltoall", *QUICK, "--sizes", "8", "-o", "a.h5", "--require"]
    refused = launch(2, *words, "FI_SHM_DISABLE_CMA=0")
    assert refused.returncode == 2
    lines = [line for line in refused.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert len(lines) == 1 and "FI_SHM_DISABLE_CMA" in lines[0]
    assert list(tmp_path.iterdir()) == []
    assert launch(2, *words, "FI_SHM_DISABLE_CMA=1").returncode == 0
    assert Results(tmp_path / "a.h5").segments[0].environment["FI_SHM_DISABLE_CMA"] == "1"


def test_a_variable_that_libfabric_does_not_know_is_told(measure, monkeypatch):
    monkeypatch.setenv("FI_SHM_DISABLE_CMA", "1")
    results, outcome = measure(2, "--sizes", "8")
    assert "does not know" not in outcome.stderr
    assert results.segments[0].attributes["ignored_environment"] == ""
    monkeypatch.setenv("FI_SHM_DISABEL_CMA", "1")
    results, outcome = measure(2, "--sizes", "8", "--force")
    assert "does not know FI_SHM_DISABEL_CMA: setting it changes nothing" in outcome.stderr
    assert results.segments[0].attributes["ignored_environment"] == "FI_SHM_DISABEL_CMA"


@pytest.mark.parametrize(("modes", "is_told"), [("read", False), ("tagged,write", False), ("read,write", True)])
def test_the_order_of_writes_costs_shm_its_direct_reads(measure, modes, is_told):
    results, outcome = measure(2, "--sizes", "1000,60000", "--mode", modes)
    assert ("warning: in a launch with mode write, shm serves read without its direct copy" in outcome.stderr) == is_told
    assert set(results.states()) == {COMPLETE}
    is_sound(results)


def test_a_trace_keeps_when_each_message_arrived(measure, launch, tmp_path):
    words = ["--sizes", "1000,60000", "--mode", "tagged,write-imm,read,write", "--baseline", "mpi", "--trace"]
    results, _ = measure(3, *words)
    arrival, of_a_message = results.raw["arrival"], ~np.eye(3, dtype=bool)
    for point, role in enumerate(results.words("role")):
        attempts = results.columns["attempts"][point]
        times, last = arrival[point, :attempts], results.samples(point)["recv_done"]
        if role == "baseline":  # MPI does not tell
            assert (times == -1).all()
            continue
        assert (times[:, ~of_a_message] == -1).all()
        assert (times[:, of_a_message] >= 0).all()
        assert (times.max(axis=2) <= last).all()
    is_sound(results)
    refused = launch(3, "alltoall", *QUICK, *words[:-1], "--resume", "-o", "a.h5")
    assert refused.returncode == 2
    assert "it keeps when each message arrived (--trace) and this launch does not" in refused.stderr
    assert "arrival" not in measure(3, "--sizes", "1000", "--force")[0].raw
