# SPDX-License-Identifier: BSD-3-Clause
"""Every finder finds what was put there, and nothing in files where there is nothing."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from a2aperf import counted, loading, results, summary
from a2aperf.explain import apart, behind, cost, equal, stragglers, timer
from a2aperf.explain.finders import FINDERS, explain
from a2aperf.explain.finding import Finding, percent
from a2aperf.explain.modes import modes
from a2aperf.oversubscription import oversubscription
from a2aperf.raw_ops import RawOps
from conftest import Outcome
from nulls import machine
from nulls.machine import Truth
from support import synthetic
from support.edited import edited
from support.synthetic import TABLE_SIZES, Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
QUIET = Setup(sizes=TABLE_SIZES, ops=100)


def findings(folder: Path, setup: Setup, kind: str) -> list[Finding]:
    path = synthetic.write_launch(folder / "run.h5", setup)
    return explain(loading.load([path]).measured(("measure", "sentinel")), (kind,))


def with_effects(**effects: Any) -> Setup:
    return replace(QUIET, effects=Effects(**effects))


# The table of 2019 -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def in_2019(table_2019: Path) -> dict[str, list[Finding]]:
    found = loading.load([table_2019]).measured()
    return {finder.kind: explain(found, (finder.kind,)) for finder in FINDERS}


def test_2019_has_one_bimodal_row(in_2019: dict[str, list[Finding]]) -> None:
    (one,) = in_2019["modes"]
    assert one.where.startswith("100 ranks, 1000 B")
    assert "min 327 µs, but p50 1831 µs" in one.text
    assert "263 µs at 80 ranks, 410 µs at 120 ranks" in one.text
    assert one.n == 100


def test_2019_has_its_tails_at_1000_bytes(in_2019: dict[str, list[Finding]]) -> None:
    far, above = in_2019["tails"]
    assert far.where == "1000 B; ranks 20, 40, 60, 80, 120, 140, 160, 180"
    assert "in 10 of 12 rows" in far.text
    assert "sustained 0.576 of 2.25 Gbit/s" in far.text
    assert above.numbers == {"rows": 128, "of": 247}


def test_2019_has_a_timer_behind_134_rows(in_2019: dict[str, list[Finding]]) -> None:
    (one,) = in_2019["timer"]
    assert "in 134 of 247 rows p99 - p50 lies between 2.5 ms and 3.5 ms" in one.text
    assert (one.n, one.unit) == (134, "rows")


def test_2019_has_a_step_between_40_and_45_kb(in_2019: dict[str, list[Finding]]) -> None:
    (one,) = [x for x in in_2019["steps"] if x.numbers["below"] == 40000]
    assert one.numbers["above"] == 45000
    assert one.numbers["ranks"] == "20, 40"
    assert "36.3 to 31.68 at 20 ranks, 35.16 to 30.29 at 40 ranks" in one.text
    assert "no known threshold lies there" in one.text


def test_2019_loses_bandwidth_at_60_kb(in_2019: dict[str, list[Finding]]) -> None:
    (one,) = [x for x in in_2019["scale"] if x.numbers["message_size"] == 60000]
    assert "gbps_compat falls from 33.78 at 20 ranks to 11.21 at 180" in one.text
    assert "could lose 47 % at most (nodes are not recorded)" in one.text
    assert "knee between 60 (21.66) and 80" in one.text


def test_2019_is_told_by_the_command(a2a: A2A, table_2019: Path) -> None:
    told = a2a("explain", table_2019)
    assert told.status == 0 and "\x1b" not in told.out
    for words in ("134 of 247 rows", "33.78", "min 327 µs", "36.3 to 31.68", "(--all)"):
        assert words in " ".join(told.out.split())
    listed = json.loads(a2a("explain", table_2019, "--json", "--kind", "timer").out)
    assert [one["kind"] for one in listed] == ["timer"]
    assert listed[0]["numbers"]["rows"] == 134


# Raw samples -------------------------------------------------------------------------------------


def test_a_quiet_launch_has_only_a_cost_and_small_samples(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "run.h5", replace(QUIET, sentinel=True))
    found = explain(loading.load([path]).measured(("measure", "sentinel")))
    assert {one.kind for one in found} == {"cost", "samples"}


def test_modes_are_told_with_their_shares(tmp_path: Path) -> None:
    found = findings(tmp_path, with_effects(bimodal=(0.4, 2.0)), "modes")
    assert len(found) == len(TABLE_SIZES)
    for one in found:
        slow, fast = float(one.numbers["median_1"]), float(one.numbers["median_0"])
        assert slow / fast == pytest.approx(2.0, rel=0.05)
        assert float(one.numbers["share_1"]) == pytest.approx(0.4, abs=0.16)


def test_a_timer_is_a_delay_that_size_does_not_change(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, with_effects(timer=(0.05, 3e6)), "timer")
    assert re.search(r"of \(p99 - p50\) / p50 no more than \d+ rows are as much alike; ", one.text)
    assert re.search(r"\d+ ops are late by that, and \d+ by .* ms to .* ms$", one.text)
    assert float(one.numbers["from_ns"]) < 3e6 < float(one.numbers["to_ns"])


def test_tails_in_proportion_to_the_op_are_no_timer(tmp_path: Path) -> None:
    assert findings(tmp_path, with_effects(bimodal=(0.05, 4.0)), "timer") == []


def test_a_step_names_the_threshold_it_matches(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, with_effects(steps={20000: 1.5}), "steps")
    assert (one.numbers["below"], one.numbers["above"]) == (15000, 20000)
    assert "psm2 eager from PIO to SDMA (16384 B)" in one.text


def test_a_step_is_found_where_launches_lack_different_sizes(tmp_path: Path) -> None:
    sizes = (1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000)
    files = []
    for number, lacking in enumerate((128000, 4000, 64000, 1000)):
        setup = Setup(
            sizes=tuple(size for size in sizes if size != lacking),
            ops=30,
            seed=number,
            effects=Effects(steps={16000: 2.0}, launch_spread=0.01),
        )
        files.append(synthetic.write_launch(tmp_path / f"{number}.h5", setup))
    (one,) = [x for x in explain(loading.load(files).measured()) if x.kind == "steps"]
    assert (one.numbers["below"], one.numbers["above"]) == (8000, 16000)


def test_a_variable_moves_the_threshold(tmp_path: Path) -> None:
    moved = replace(
        with_effects(steps={20000: 1.5}), environment={"PSM2_MQ_EAGER_SDMA_SZ": "30000"}
    )
    (one,) = findings(tmp_path, moved, "steps")
    assert "no known threshold lies there" in one.text


def test_a_straggler_is_named_with_its_node_and_chance(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, with_effects(straggler=(3, 0.5)), "stragglers")
    assert "rank 3 (node002) finished last in" in one.text
    assert "significantly more often than expected (12 %" in one.text
    assert 0.5 < float(one.numbers["share"]) < 0.6
    assert float(one.numbers["chance"]) < 1e-6


@pytest.mark.parametrize("setup", [QUIET, with_effects(straggler=(3, 0.9))])  # last by a tenth
def test_equal_ranks_do_not_end_apart(tmp_path: Path, setup: Setup) -> None:
    assert findings(tmp_path, setup, "apart") == []


@pytest.mark.parametrize(
    ("times", "rank", "side"),
    [([100, 98, 195, 97], 2, "receives"), ([185, 188, 93, 190], 2, "sends")],
)
def test_a_rank_that_ends_apart_is_named(times: list[int], rank: int, side: str) -> None:
    received = np.array([times] * 12, dtype=np.int64) * 1_000_000
    ((found, what, factor, ops),) = apart.apart(received)
    assert (found, what, ops) == (rank, side, 12)
    ordered = sorted(times)
    assert factor == pytest.approx(
        ordered[-1] / ordered[-2] if side == "receives" else ordered[1] / ordered[0]
    )
    received[:2] = 100_000_000  # in two of twelve ops nobody is apart
    assert apart.apart(received) == []


def test_two_ranks_are_not_told_apart() -> None:
    assert apart.apart(np.array([[100, 300]] * 20, dtype=np.int64)) == []


def slow_ops(*slow: list[int]) -> NDArray[np.int64]:
    """Ends of 200 ops of four ranks, ns; a few of them slow."""
    ends = np.full((200, 4), 100_000, dtype=np.int64)
    ends[: len(slow)] = slow
    return ends


def test_slow_ops_point_at_who_is_late_alone_and_at_whom_all_wait_for() -> None:
    alone, spared = [100_000, 100_000, 900_000, 100_000], [900_000, 900_000, 100_000, 900_000]
    nobody = [[900_000] * 4, [900_000, 900_000, 100_000, 100_000]]
    op, who, times = behind.blamed(slow_ops(alone, spared, *nobody), 2.0)
    assert list(op) == [0, 1]
    assert list(who) == [2, 2]
    assert list(times) == [900_000, 900_000]
    assert len(behind.blamed(slow_ops([190_000] * 4), 2.0)[0]) == 0  # not twice the median
    two = np.array([[100, 900]] * 20)  # who are not told apart
    assert len(behind.blamed(two, 2.0)[0]) == 0


@pytest.mark.parametrize(
    ("blamed", "points", "rank"),
    [
        ([2] * 9 + [0], 1, 2),
        ([2] * 4, 1, None),  # too few
        ([0, 1, 2, 3] * 10 + [2], 1, None),  # by chance
        ([0] * 30 + [1] * 20 + [2] * 30 + [3] * 20, 1, None),  # not most of them
        ([2] * 7, 1, 2),
        ([2] * 7, 1000, None),  # one of so many points
    ],
)
def test_a_rank_is_behind_them_beyond_chance(
    blamed: list[int], points: int, rank: int | None
) -> None:
    op = 5 * np.arange(len(blamed))
    block = equal.blocks(5 * len(blamed), 1.0)[op]
    assert behind.most_blamed(op, np.array(blamed), block, 4, points) == rank


def test_a_pause_of_many_ops_counts_once() -> None:
    op, who = np.arange(40), np.full(40, 2)
    assert behind.most_blamed(op, who, equal.blocks(40, 1.0)[op], 4, 1) is None
    assert behind.most_blamed(5 * op, who, equal.blocks(200, 1.0)[5 * op], 4, 1) == 2
    assert behind.most_blamed(5 * op, who, equal.blocks(200, 20.0)[5 * op], 4, 1) is None


def test_a_rank_behind_the_slow_ops_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert findings(tmp_path, QUIET, "behind") == []
    real = results.Results.raw

    def pausing(self: results.Results, file: str, point: int) -> RawOps:
        raw = real(self, file, point)
        received = raw.recv_done.copy()
        received[::10, 5] += 50_000_000
        return replace(raw, recv_done=received)

    monkeypatch.setattr(results.Results, "raw", pausing)
    (one,) = explain(loading.load([tmp_path / "run.h5"]).measured(), ("behind",))
    assert one.text.startswith("rank 5 (node003) is behind 10 of the 10 slow ops (more than 2 ")
    assert one.numbers == {"rank": 5, "ops": 10, "slow": 10, "beyond": 2.0}


def test_a_rank_behind_the_slowest_ops_is_named_where_others_are_behind_more_of_twice_the_median(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synthetic.write_launch(tmp_path / "run.h5", QUIET)
    real = results.Results.raw

    def busy(self: results.Results, file: str, point: int) -> RawOps:
        raw = real(self, file, point)
        received = raw.recv_done.copy()
        half = len(received) // 2
        for op in range(0, half, 3):  # whoever: half of the median more
            received[op, (op // 3) % 5] += int(1.5 * np.median(raw.end.max(axis=1)))
        received[half::8, 5] += 50_000_000
        return replace(raw, recv_done=received)

    monkeypatch.setattr(results.Results, "raw", busy)
    (one,) = explain(loading.load([tmp_path / "run.h5"]).measured(), ("behind",))
    assert one.text.startswith("rank 5 (node003) is behind")
    assert one.numbers["beyond"] == 4.0


@pytest.mark.parametrize(("factor", "words"), [(2.0, "receives slowly"), (0.4, "sends slowly")])
def test_a_node_whose_ranks_are_apart_together_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, factor: float, words: str
) -> None:
    """No rank of it is apart from the other one there; they share its link."""
    synthetic.write_launch(tmp_path / "run.h5", QUIET)
    found = loading.load([tmp_path / "run.h5"]).measured()
    assert explain(found, ("apart",)) == []
    real = results.Results.raw

    def shared(self: results.Results, file: str, point: int) -> RawOps:
        raw = real(self, file, point)
        received = raw.recv_done.copy()
        (facts,) = self.launches.values()
        own = facts.node_of_rank == 1
        taken = (received[:, own] - raw.begin[:, own]) * factor
        received[:, own] = raw.begin[:, own] + taken.astype(np.int64)
        return replace(raw, recv_done=received)

    monkeypatch.setattr(results.Results, "raw", shared)
    (one,) = explain(loading.load([tmp_path / "run.h5"]).measured(), ("apart",))
    assert one.text.startswith("node node002 (median of its 2 ranks) ") and words in one.text
    assert one.nodes == ("node002",)


def test_a_descheduled_rank_is_named(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, with_effects(descheduled=(2,)), "descheduled")
    assert "1 of 8 ranks" in one.text and "rank 2, node002" in one.text


@pytest.mark.parametrize("poll", ["yield", "throttle=16"])
def test_a_rank_that_yields_is_not_called_preempted_alone(tmp_path: Path, poll: str) -> None:
    yielding = replace(with_effects(descheduled=(2,)), attributes={"poll": poll})
    (one,) = findings(tmp_path, yielding, "descheduled")
    assert one.text.startswith("1 of 8 ranks yielded their core or were preempted: up to ")
    assert "involuntary" not in one.text


def test_switches_that_came_with_all_counters_are_not_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = synthetic.write_launch(tmp_path / "run.h5", with_effects(descheduled=(2,)))
    found = loading.load([path]).measured()
    alone = loading.load([path]).measured()
    rows = found.points[["file", "point"]].itertuples(index=False, name=None)
    expected = {key: alone.switches(*key) for key in rows}
    monkeypatch.delattr(counted, "involuntary_switches")
    (one,) = explain(found, ("descheduled",))
    assert "1 of 8 ranks" in one.text
    for key, of_ranks in expected.items():
        np.testing.assert_array_equal(found.switches(*key), of_ranks)


def test_more_ranks_than_cores_are_told_beside_it(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "run.h5", with_effects(descheduled=(0, 1)))
    found = loading.load([path]).measured()
    (launch,) = found.launches.values()
    launch.rank_facts["binding"] = ["0-1", "1", *["2"] * 6]  # the second node has one CPU for two
    (one,) = explain(found, ("descheduled",))
    assert one.text.endswith("oversubscribed: 2 ranks on 1 core of node002 (3 of 4 nodes)")


def test_threads_that_share_a_cpu_with_the_poller_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = synthetic.write_launch(tmp_path / "run.h5", with_effects(descheduled=(5,)))
    found = loading.load([path]).measured()
    real = results.Results.counters

    def bound(self: results.Results, file: str, point: int) -> Any:
        counters = real(self, file, point)
        assert counters is not None
        return replace(counters, thread_affinity=["0-3;0-3", *["1;1;1"] * 7])

    monkeypatch.setattr(results.Results, "counters", bound)
    texts = [one.text for one in explain(found, ("descheduled",))]
    # Seven ranks are bound so, but only rank 5 changes places.
    assert any("in 1 of 8 ranks all threads are bound to one CPU (rank 5" in t for t in texts)


def test_a_rate_above_the_link_is_told(tmp_path: Path) -> None:
    found = findings(tmp_path, replace(QUIET, link_rate_gbps=50.0), "link")
    (one,) = found
    assert one.text.startswith(f"{one.numbers['points']} points leave a node faster than its link")
    (tmp_path / "alone").mkdir()
    of_one_size = replace(QUIET, link_rate_gbps=50.0, sizes=(60000,))
    (alone,) = findings(tmp_path / "alone", of_one_size, "link")
    assert alone.text.startswith("1 point leaves a node faster than its link: at most ")
    assert "faster than its link" in one.text and float(one.numbers["largest_share"]) > 1
    assert "stated" not in one.text
    (tmp_path / "stated").mkdir()
    stated = replace(QUIET, link_rate_gbps=50.0, attributes={"asked_link_rate": 50.0})
    (one,) = findings(tmp_path / "stated", stated, "link")
    assert "of it, which was stated)" in one.text


def test_drift_shows_in_the_sentinels(tmp_path: Path) -> None:
    drifting = replace(with_effects(drift=0.2), sentinel=True)
    (one,) = findings(tmp_path, drifting, "drift")
    assert float(one.numbers["change"]) == pytest.approx(0.2, abs=0.03)


def test_slow_noise_is_no_drift() -> None:
    slow = Truth(sentinels=True, sizes=machine.SIZES[::2], slow=(0.03, 300.0))
    for seed in range(20):
        found = explain(machine.measured(slow, np.random.default_rng(seed)), ("drift",))
        if found:
            assert all(one.abstains for one in found)
            assert "no drift (insufficient samples)" in found[0].text
            return
    pytest.fail("the sentinels never differed")


def test_ops_thrown_away_are_told(tmp_path: Path) -> None:
    found = findings(tmp_path, with_effects(late_share=0.25), "samples")
    (one,) = [one for one in found if "began late" in one.text]
    assert re.search(r"; there rank \d \(node00\d\) began last in \d+ of \d+ of them", one.text)


def test_few_ops_are_told(tmp_path: Path) -> None:
    texts = [one.text for one in findings(tmp_path, replace(QUIET, ops=5), "samples")]
    assert any("p90 is the largest sample" in text for text in texts)
    assert any("interval of the median" in text for text in texts)


def test_on_one_node_the_ranks_per_node_are_the_scale(a2a: A2A, tmp_path: Path) -> None:
    files = [
        synthetic.write_launch(
            tmp_path / f"k{k}.h5",
            Setup(nodes=1, ppn=k, seed=k, effects=Effects(slowdown=k / 4)),
        )
        for k in (4, 8, 16)
    ]
    (lost, *_) = explain(loading.load(files).measured(), ("scale",))
    assert "4" in lost.text and "16" in lost.text
    assert "per node" not in lost.where
    assert "per node" not in a2a("explain", *files).out
    assert "setting" not in a2a("history", *files).out.splitlines()[2]


def test_scale_is_judged_over_files(tmp_path: Path) -> None:
    sizes = (1000, 60000)
    paths = [
        synthetic.write_launch(
            tmp_path / f"{nodes}.h5",
            Setup(
                nodes=nodes,
                sizes=sizes,
                seed=nodes,
                effects=Effects(slowdown=2.0 if nodes > 8 else 1.0),
            ),
        )
        for nodes in (4, 8, 16)
    ]
    found = explain(loading.load(paths).measured(), ("scale",))
    assert "knee between 16" in found[0].text and "32" in found[0].text


def perfect(tmp_path: Path, nodes: int) -> Path:
    """16 ranks a node that fill 98 % of their link, whatever their number."""
    setup = Setup(nodes=nodes, ppn=16, sizes=(1000, 60000), ops=20, seed=nodes, alpha_ns=0.0)
    ranks = setup.ranks
    ideal = (ranks - 16) / (ranks - 1)  # of the model's bytes, those that leave the node
    effects = Effects(slowdown=ideal, noise=0.001)
    setup = replace(setup, per_message_ns=0.0, port_gbps=98.0, effects=effects)
    return synthetic.write_launch(tmp_path / f"{nodes}.h5", setup)


def test_a_perfect_network_loses_nothing_with_scale(tmp_path: Path) -> None:
    found = loading.load([perfect(tmp_path, nodes) for nodes in (2, 4, 16)])
    per_rank = found.points[found.points["message_size"] == 60000].sort_values("ranks")["gbps_rank"]
    assert per_rank.iloc[-1] / per_rank.iloc[0] == pytest.approx(0.548, abs=0.005)
    assert explain(found.measured(), ("scale", "link")) == []
    (said,) = [x for x in summary.sentences(found) if x.startswith("From 32 to 256 ranks")]
    said = said.replace("\u00a0", " ")
    assert "the rate per node through its network ports at 60 kB goes from 98." in said


def test_summary_and_findings_have_one_number(table_2019: Path) -> None:
    found = loading.load([table_2019])
    (said, *_) = [text for text in summary.sentences(found) if text.startswith("From 20 to 180")]
    assert "falls from 33.78 to 11.21\u00a0Gbit/s (−67\u00a0%)" in said
    texts = [one.text for one in explain(found.measured(), ("scale",))]
    (of_size,) = [text for text in texts if text.startswith("60000 B")]
    assert "falls from 33.78 at 20 ranks to 11.21 at 180 (-67 %)" in of_size


CROWD = {"cores_of_ranks": "1", "cores_usable": "64"}  # for two ranks


def test_where_ranks_share_cores_that_is_said_first_and_nobody_is_accused(
    a2a: A2A, tmp_path: Path
) -> None:
    alone = with_effects(straggler=(3, 0.5))
    crowd = replace(alone, node_facts=CROWD)
    named = synthetic.write_launch(tmp_path / "alone.h5", alone)
    crowded = synthetic.write_launch(tmp_path / "crowd.h5", crowd)
    assert "finished last" in a2a("explain", named).out
    told = a2a("explain", crowded).out
    assert told.splitlines()[2].endswith(
        "oversubscribed: 2 ranks on 1 core of node001 (4 of 4 nodes) [n = 1 launch]"
    )
    assert "rank 3" not in told and "finished last" not in told
    first, second, *_ = summary.sentences(loading.load([crowded]))
    assert first == "Oversubscribed: 2 ranks on 1 core of node001 (4 of 4 nodes)."
    assert second.startswith("1 launch in 1 file")


def test_oversubscription_is_known_from_what_is_recorded(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "run.h5", replace(QUIET, nodes=1, ppn=4))
    (launch,) = loading.load([path]).launches.values()
    facts, ranks = launch.node_facts, launch.rank_facts
    assert oversubscription(launch) == ""
    facts["cores_usable"] = ["2"]  # each rank is bound to a CPU of its own
    assert oversubscription(launch) == ""
    ranks["binding"] = [""] * 4
    assert oversubscription(launch) == "oversubscribed: 4 ranks on 2 cores"
    facts["cores_of_ranks"] = ["3"]
    assert oversubscription(launch) == "oversubscribed: 4 ranks on 3 cores"
    facts["cores_of_ranks"] = ["4"]
    assert oversubscription(launch) == ""
    told = "oversubscribed: 2 threads each of 4 ranks on 4 cores"
    assert oversubscription(replace(launch, threads=2)) == told
    facts["cores_of_ranks"], facts["cores_usable"] = ["0"], [""]
    assert oversubscription(launch) == ""


def test_a_loss_within_the_clocks_error_hides_none_beyond_it() -> None:
    rng = np.random.default_rng(1)
    late = rng.normal(1.0, 0.01, (100, 4))
    late[:, 2] += 0.1
    small, large = {"clock_error": 500.0, "message_size": 1}, {"clock_error": 500.0}
    ends = [(small, (1e3 * late).astype(np.int64)), (large, (1e6 * late).astype(np.int64))]
    (one,) = stragglers.last(ends, 1.0)
    assert (one.rank, one.worst) == (2, large)
    assert stragglers.last(ends[:1], 1.0) == []


@pytest.mark.parametrize("exits", [True, False])
def test_last_is_said_where_a_common_clock_carries_it(tmp_path: Path, exits: bool) -> None:
    setup = replace(with_effects(straggler=(3, 0.5)), sync="barrier")
    path = synthetic.write_launch(tmp_path / "run.h5", setup)
    if not exits:
        with edited(path) as file:
            del file["raw/exit"]
    found = explain(loading.load([path]).measured(), ("stragglers",))
    assert len(found) == exits


def test_ops_that_depend_too_much_are_not_judged(tmp_path: Path) -> None:
    (one,) = explain(
        machine.measured(Truth(memory=0.97), np.random.default_rng(1)), ("stragglers",)
    )
    assert one.abstains and "insufficient samples" in one.text


def test_a_mean_above_the_median_shows_no_fast_mode(table_2019: Path) -> None:
    found = loading.load([table_2019]).measured()
    row = found.points["message_size"].eq(1000) & found.points["ranks"].eq(100)
    assert len(explain(found, ("modes",))) == 1
    found.points.loc[row, "time_mean"] = found.points.loc[row, "time_p50"] * 1.01
    assert explain(found, ("modes",)) == []


def test_a_share_is_told_as_nothing_only_where_it_is() -> None:
    assert [percent(x) for x in (0.0, 1e-6, 0.001, 0.0994)] == [
        "0.0 %", "less than 0.1 %", "0.1 %", "9.9 %",
    ]  # fmt: skip


def test_few_outliers_are_no_mode() -> None:
    rng = np.random.default_rng(3)
    times = np.concatenate([rng.normal(100, 1, 20_000), rng.normal(900, 5, 60)])
    assert len(modes(rng.permutation(times))) == 1
    more = np.concatenate([times, rng.normal(900, 5, 600)])
    assert len(modes(rng.permutation(more))) == 2


# The finders' own arithmetic ---------------------------------------------------------------------


UNIMODAL: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "normal": lambda rng, n: rng.normal(100, 2, n),
    "lognormal": lambda rng, n: 100 * rng.lognormal(0, 0.5, n),
    "exponential": lambda rng, n: 100 + rng.exponential(20, n),
    "uniform": lambda rng, n: rng.uniform(100, 200, n),
    "heavy": lambda rng, n: 100 + rng.pareto(1.5, n),
    "rounded": lambda rng, n: np.round(rng.normal(100, 3, n)),
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", UNIMODAL)
@pytest.mark.parametrize("n", [50, 100, 1000])
def test_a_single_mode_is_rarely_taken_for_two(shape: str, n: int) -> None:
    rng = np.random.default_rng(8)
    trials = 400 if n < 1000 else 100
    wrong = sum(len(modes(UNIMODAL[shape](rng, n).astype(float))) > 1 for _ in range(trials))
    assert wrong <= 0.01 * trials


@pytest.mark.parametrize(("share", "factor"), [(0.5, 1.3), (0.2, 1.3), (0.2, 3.0), (0.4, 1.15)])
def test_two_modes_are_found(share: float, factor: float) -> None:
    rng = np.random.default_rng(9)
    found = 0
    for _ in range(100):
        times = rng.normal(100, 2, 200)
        times[rng.random(200) < share] *= factor
        parts = modes(times)
        found += len(parts) == 2 and abs(parts[1].share - share) < 0.12
    assert found >= 95


def test_a_far_and_wide_second_mode_is_found() -> None:
    # As on a busy machine: most ops take microseconds, some a time slice of 20 to 40 ms.
    rng = np.random.default_rng(2)
    times = np.concatenate([rng.lognormal(0.5, 0.15, 85), rng.uniform(20e3, 41e3, 15)])
    for order in (times, rng.permutation(times)):
        fast, slow = modes(order)
        assert (fast.count, slow.count) == (85, 15)


def test_modes_hold_all_ops_in_order() -> None:
    rng = np.random.default_rng(1)
    times = np.concatenate([rng.normal(m, 1, 100) for m in (100, 150, 300)])
    parts = modes(rng.permutation(times))
    assert [part.count for part in parts] == [100, 100, 100]
    assert [round(part.median, -1) for part in parts] == [100, 150, 300]
    assert all(a.high < b.low for a, b in itertools.pairwise(parts))
    assert len(modes(np.full(100, 5.0))) == 1
    assert len(modes(np.array([1.0, 2.0]))) == 1


def launches_of(
    rng: np.random.Generator,
    scales: tuple[float, ...],
    launches: int,
    spread: float,
    noise: float,
    noisy: tuple[float, float] = (0.0, 0.0),
) -> cost.Fit:
    """The fit of launches at each scale: 5000 ns an op, 800 a message, 0.2 a byte.

    `noisy`: a scale, and how far its launches differ.
    """
    size = np.array(TABLE_SIZES, dtype=np.float64)
    parts = []
    for number, ranks in enumerate(np.repeat(scales, launches)):
        time = 5000 + (ranks - 1) * (800 + size * 0.2)
        differ = noisy[1] if ranks == noisy[0] else spread
        time = time * rng.lognormal(0, differ) * rng.lognormal(0, noise, len(size))
        parts.append((np.full_like(size, ranks), size, time, np.full(len(size), number)))
    ranks, size, time, launch = (np.concatenate(values) for values in zip(*parts, strict=True))
    found = cost.fit(ranks, size, time, launch)
    assert found is not None
    return found


@pytest.mark.parametrize("scales", [(20.0, 40.0, 80.0), (40.0,)])
def test_the_cost_of_a_message_is_recovered(scales: tuple[float, ...]) -> None:
    found = launches_of(np.random.default_rng(3), scales, 4, 0.0, 0.02)
    assert abs(found.per_byte - 0.2) <= found.half[2] * 1.5
    assert found.residual == pytest.approx(0.02, abs=0.006)
    if len(scales) > 1:
        assert abs(found.per_message - 800) <= found.half[1] * 1.5
        assert found.crossing == pytest.approx(4000, rel=0.15)
    else:
        assert found.once == pytest.approx(5000 + 39 * 800, rel=0.03)
        assert np.isnan(found.crossing)


@pytest.mark.parametrize("scales", [(20.0, 40.0, 80.0), (40.0,)])
@pytest.mark.parametrize(("launches", "spread"), [(3, 0.02), (8, 0.02), (4, 0.0)])
def test_the_interval_of_the_cost_covers_it(
    scales: tuple[float, ...], launches: int, spread: float
) -> None:
    rng = np.random.default_rng(4)
    fits = [launches_of(rng, scales, launches, spread, 0.01) for _ in range(400)]
    hits = {"byte": np.mean([abs(f.per_byte - 0.2) <= f.half[2] for f in fits])}
    if len(scales) > 1:
        hits["message"] = np.mean([abs(f.per_message - 800) <= f.half[1] for f in fits])
        hits["op"] = np.mean([abs(f.once - 5000) <= f.half[0] for f in fits])
    assert all(share >= 0.92 for share in hits.values()), hits
    assert hits["byte"] <= 0.985


@pytest.mark.parametrize("noisy", [20.0, 80.0])
@pytest.mark.parametrize("launches", [3, 8])
def test_the_interval_of_the_cost_bears_a_noisy_scale(noisy: float, launches: int) -> None:
    rng = np.random.default_rng(5)
    scales = (20.0, 40.0, 80.0)
    fits = [launches_of(rng, scales, launches, 0.005, 0.01, (noisy, 0.1)) for _ in range(400)]
    assert np.mean([abs(f.per_message - 800) <= f.half[1] for f in fits]) >= 0.92
    assert np.mean([abs(f.once - 5000) <= f.half[0] for f in fits]) >= 0.92


def test_a_scale_with_too_few_launches_leaves_no_interval_of_the_message() -> None:
    found = launches_of(np.random.default_rng(3), (20.0, 40.0, 80.0), 2, 0.02, 0.01)
    assert np.isnan(found.half[:2]).all() and np.isfinite(found.half[2])


@pytest.mark.parametrize("launches", [1, 2])
def test_too_few_launches_have_no_interval(launches: int) -> None:
    found = launches_of(np.random.default_rng(3), (40.0,), launches, 0.02, 0.01)
    assert np.isnan(found.half).all() and found.launches == launches


def test_a_fit_says_nothing_that_is_not_sane(tmp_path: Path) -> None:
    for launches in (1, 3):
        files = [
            synthetic.write_launch(
                tmp_path / f"{launches}-{seed}.h5",
                replace(with_effects(slowdown=3.0**seed), seed=seed),
            )
            for seed in range(launches)
        ]
        (one,) = explain(loading.load(files).measured(), ("cost",))
        assert "e+" not in one.text and "nan" not in one.text and "inf" not in one.text
        words = "1 launch: insufficient samples for an interval" if launches == 1 else "or more)"
        assert words in one.text


def test_a_model_that_misses_its_points_by_far_is_not_told(tmp_path: Path) -> None:
    """A fit may then name a best rate below one that was measured."""
    slow_in_the_middle = {8000: 20.0, 60000: 1.0}
    path = synthetic.write_launch(tmp_path / "a.h5", with_effects(steps=slow_in_the_middle))
    assert explain(loading.load([path]).measured(), ("cost",)) == []


@pytest.mark.parametrize("ppn", [1, 2, 16])
def test_the_cost_on_a_perfect_network_is_told_without_complaint(ppn: int) -> None:
    truth = Truth(nodes=(2, 4, 8), ppn=ppn, launches=3, ops=20, noise=0.002, lateness=0.002)
    found = explain(machine.measured(truth, np.random.default_rng(1)), ("cost",))
    assert len(found) == (1 if ppn == 1 else 3)  # ranks that share a link cost more the more
    assert all("hold" not in one.text for one in found)
    assert all(float(one.numbers["residual"]) < 0.02 for one in found)


def test_a_fit_needs_sizes() -> None:
    few = np.array([1000.0, 2000.0, 3000.0])
    assert cost.fit(np.full(3, 8.0), few, few, np.zeros(3, dtype=np.int64)) is None


def test_a_run_that_chance_does_not_give_counts_as_one_op() -> None:
    rng = np.random.default_rng(6)
    chosen = rng.integers(8, size=100)
    assert equal.longest_run(chosen, 8) == 1
    assert equal.longest_run(np.where(rng.random(100) < 0.9, 3, chosen), 8) == 1  # always slow
    chosen[40:60] = 5
    assert 20 <= equal.longest_run(chosen, 8) <= 22
    assert equal.longest_run(np.full(100, 2), 8) == 1


def test_bursts_accuse_nobody() -> None:
    bursts = Truth(bursts=0.004, burst=20)
    few = replace(bursts, sizes=machine.SIZES[:3])
    abstained = 0
    for seed in range(40):
        for truth in (bursts, few):
            found = explain(machine.measured(truth, np.random.default_rng(seed)), ("stragglers",))
            assert all(one.abstains for one in found), found
            abstained += bool(found)
    assert abstained


def test_chance_of_independent_ops_is_binomial() -> None:
    def chance(times: int, ops: int, ranks: int) -> float:
        who = np.arange(ops) % ranks
        return equal.chance(equal.counted(who, np.arange(ops), ranks), times)

    assert chance(100, 100, 2) == pytest.approx(2 * 0.5**100)
    assert chance(0, 100, 8) == 1.0
    rng = np.random.default_rng(5)
    most = rng.multinomial(100, [1 / 8] * 8, size=40_000).max(axis=1)
    beyond = np.array([chance(last, 100, 8) < 0.01 for last in range(101)])
    assert beyond[most].mean() <= 0.01


def test_chance_in_blocks_is_that_of_all_names() -> None:
    counts = np.array([[3, 1, 0], [2, 2, 0], [1, 0, 3]])
    sums = [a + b + c for a in counts[0] for b in counts[1] for c in counts[2]]
    for times in range(9):
        exact = np.mean([total >= times for total in sums])
        assert equal.chance(counts, times) == pytest.approx(min(1.0, 3 * exact))


def test_chance_in_very_many_blocks() -> None:
    """Where block after block took minutes: the sum of so many is normal."""
    counts = np.random.default_rng(4).multinomial(4, np.full(4, 0.25), size=60_000)
    mean, deviation = counts.mean(axis=1).sum(), math.sqrt(counts.var(axis=1).sum())
    for far in (1.0, 3.0, 4.5):
        expected = 4 * float(stats.norm.sf(far))
        times = math.ceil(mean + far * deviation + 0.5)
        assert equal.chance(counts, times) == pytest.approx(min(1.0, expected), rel=0.05)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 0.95])
def test_the_correlation_time_is_that_of_the_lateness(rho: float) -> None:
    rng = np.random.default_rng(6)
    shocks = rng.normal(0, 1, (20, 400, 8))
    for i in range(1, 400):
        shocks[:, i] = rho * shocks[:, i - 1] + np.sqrt(1 - rho**2) * shocks[:, i]
    ends = [(1e6 * (10 + one)).astype(np.int64) for one in shocks]
    found = equal.correlation_time(ends)
    assert found == pytest.approx((1 + rho) / (1 - rho), rel=0.35)
    offset = [one + 1_000_000 * np.arange(8) for one in ends]
    assert equal.correlation_time(offset) == pytest.approx(found, rel=0.3)


def test_the_window_of_delays_is_cited_with_two_digits() -> None:
    start, count = timer.window(np.array([2.5, 3.0, 3.5, 40.0, -1.0, 0.0]) * 1e6)
    assert (start, count) == (2.5e6, 3)
    assert timer.window(np.array([-1.0])) == (0.0, 0)


def test_bad_input(a2a: A2A, tmp_path: Path, launch: Path) -> None:
    a2a("explain").refused("FILE")
    a2a("explain", tmp_path / "none.h5").refused("no such file")
    a2a("explain", launch, "--kind", "ghosts").refused("ghosts", "timer")
    a2a("explain", launch, "--where", "ppn=77").refused("leaves no point")
