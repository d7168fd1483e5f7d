# SPDX-License-Identifier: BSD-3-Clause
"""What uneven traffic asks of ranks, nodes and links, with answers known beforehand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from a2aperf import drawing, loading, schema
from a2aperf.chart import Axis, Chart, Figure, Heat
from a2aperf.curves import Options
from a2aperf.errors import InputError
from a2aperf.explain import series
from a2aperf.explain.finding import Finding
from a2aperf.launch import Launch
from a2aperf.raw_ops import RawOps
from a2aperf.results import Results
from a2aperf.workloads.alltoall import drawn, matrices, one_way, redrawn, uneven, verify
from support import synthetic
from support.edited import edited
from support.synthetic import Setup

INCAST = np.array([[0] * 4, [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
NODES = [0, 0, 1, 1]


def test_the_size_is_the_mean_of_all_pairs_and_what_has_a_share_has_a_byte() -> None:
    assert matrices.bytes_of(INCAST, 1000).tolist() == (4000 * INCAST).tolist()
    small = np.zeros((3, 3), np.int64)
    small[0] = [0, 1, 1000]
    assert matrices.bytes_of(small, 1)[0].tolist() == [0, 1, 6]


def test_weights_that_only_large_numbers_hold_are_multiplied_exactly() -> None:
    matrix = np.zeros((2, 2), np.int64)
    matrix[0, 1], matrix[1, 0] = 2**40, 2**40 - 1
    size = 2**40 + 1
    exact = [(w * 2 * size + (2**41 - 1) // 2) // (2**41 - 1) for w in (2**40, 2**40 - 1)]
    assert matrices.bytes_of(matrix, size)[[0, 1], [1, 0]].tolist() == exact


def test_loads_and_bound_of_an_incast() -> None:
    loads = matrices.Loads.of(matrices.bytes_of(INCAST, 1000), NODES)
    assert (loads.total, loads.messages, loads.largest) == (12000, 3, 4000)
    assert loads.rank == matrices.Busiest("rank-receives", 0, 12000)
    assert loads.rank.words == "rank 0 receives"
    assert loads.rank_across.amount == 8000
    assert loads.left.tolist() == [0, 8000]
    assert loads.halves == 8000
    time, busiest = loads.bound(10, 10)
    assert time == pytest.approx(6400)
    assert busiest.kind == "node-sends"  # of equals the first kind
    assert loads.bound(10, 20)[0] == pytest.approx(6400)
    assert loads.bound(10, 20)[1].words == "rank 0 receives"
    assert np.isnan(loads.bound(np.nan, np.nan)[0])


def test_nothing_that_stays_on_a_node_has_a_bound() -> None:
    inside = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    assert np.isnan(matrices.Loads.of(inside, NODES).bound(10, 10)[0])
    assert np.isnan(matrices.Loads.of(INCAST, [0] * 4).bound(10, 10)[0])


def test_beside_the_uniform_traffic_of_the_same_cell() -> None:
    cell = dict.fromkeys(uneven.CELL, 1)
    points = pd.DataFrame(
        [
            {**cell, "traffic": "uniform", "imbalance": 1.0, "time_p50": 100.0},
            {**cell, "traffic": "incast", "imbalance": 4.0, "time_p50": 800.0},
            {**cell, "window": 2, "traffic": "incast", "imbalance": 4.0, "time_p50": 800.0},
        ]
    )
    beside = uneven.beside_uniform(points)
    assert beside.iloc[:2].tolist() == [1.0, 0.5]
    assert np.isnan(beside.iloc[2])  # no uniform point has that window


def _matrix(*messages: tuple[int, int]) -> list[list[int]]:
    return [[int((source, to) in messages) for to in range(4)] for source in range(4)]


def _launch(gbps: float, rails: int = 1, of_rank: int = -1) -> Launch:
    attributes = {"rails": rails, "rank_rails": of_rank, "link_rate_gbps": gbps}
    return cast(Launch, SimpleNamespace(node_of_rank=NODES, attributes=attributes))


def test_links_of_a_rank_are_those_of_all_its_adapters() -> None:
    """Of older files one; the bound is of whoever has most to move over what it has."""
    assert matrices.link_rates(_launch(10)) == (10, 10)
    assert matrices.link_rates(_launch(10, 4)) == (10, 40)
    assert matrices.link_rates(_launch(10, 4, 1)) == (10, 40)
    assert matrices.link_rates(_launch(10, 4, 2)) == (20, 40)
    assert np.isnan(matrices.link_rates(_launch(np.nan, 4, 2))).all()
    loads = matrices.Loads.of(matrices.bytes_of(INCAST, 1000), NODES)
    bounds = [loads.bound(*matrices.link_rates(_launch(10, 2, of)))[0] for of in (1, 2)]
    assert bounds == [pytest.approx(6400), pytest.approx(3200)]


def test_of_ops_with_matrices_of_their_own_means_are_told_and_the_median_share() -> None:
    """The figures of test/unit/stats/summary_test.cpp."""
    stack = np.array([_matrix((2, 0)), _matrix((0, 2), (1, 3)), _matrix((0, 1))])
    end = np.array([19_200, 9_600, 40_000, 12_800, 96_000])[:, None] * np.ones((1, 4), np.int64)
    begin, start = np.zeros((5, 4), np.int64), np.arange(5)
    raw = RawOps(begin, end, end, start, np.array([True, False, True, True, True]))
    assert redrawn.of_ops(raw, 3).tolist() == [0, 2, 0, 1]
    found = redrawn.figures(redrawn.Asked.of(stack, 1000, _launch(10)), raw, "rank")
    assert np.isnan(found.pop("busiest_index"))
    assert found == {
        "largest_message": 12000,
        "imbalance": pytest.approx((4 + 4 + 4 + 2) / 4),
        "node_imbalance": pytest.approx(2),
        "busiest": "none",
        "bound": pytest.approx(9600),
        "bound_share": pytest.approx(0.5),
    }
    unknown = redrawn.figures(redrawn.Asked.of(stack, 1000, _launch(np.nan)), raw, "rank")
    assert np.isnan(unknown["bound"])
    assert np.isnan(unknown["bound_share"])


def _rates(ends: list[int], draws: list[list[list[int]]]) -> dict[str, float]:
    loads = [matrices.Loads.of(matrices.bytes_of(np.array(one), 1000), NODES) for one in draws]
    times = np.array(ends, float)
    row = pd.Series({"ranks": 4, "time_p50": np.median(times), "time_mean": times.mean()})
    return verify.rates(row, loads, _launch(10), times)


def test_rates_of_ops_that_ask_for_different_things_are_medians_of_the_ops() -> None:
    """The figures of test/unit/stats/summary_test.cpp."""
    one, within, two = _matrix((2, 0)), _matrix((0, 1)), _matrix((0, 2), (1, 3))
    found = _rates([19_200, 40_000, 12_800, 96_000], [one, within, one, two])
    assert found["gbps_aggregate"] == pytest.approx(8 * 12000 / 19200)
    assert found["msg_rate"] == pytest.approx(1e9 / 19200)
    assert found["gbps_node_net_max"] == pytest.approx(8 * 12000 / 19200)
    assert found["gbps_sustained"] == pytest.approx(8 * 12000 / 42000 / 4)
    perfect = _rates([9600, 4800, 4800], [one, two, two])
    assert perfect["gbps_node_net_max"] == pytest.approx(8 * 12000 / 4800)
    nothing = _rates([9600], [within])
    assert nothing["gbps_node_net"] == 0


def test_what_ops_with_matrices_of_their_own_lost_is_by_their_means() -> None:
    row = {
        **dict.fromkeys(uneven.CELL, 1), "traffic": "permutation/op", "series": "permutation",
        "busiest": "none", "busiest_index": -1, "imbalance": 1.5, "node_imbalance": 1.2, "ops": 9,
        "bound": 200.0, "bound_share": 0.9, "time_p50": 100.0, "time_mean": 250.0,
        "traffic_draws": 32,
    }  # fmt: skip
    uniform = row | {"traffic": "uniform", "bound": 100.0, "time_mean": 100.0, "traffic_draws": 1}
    larger = row | {"message_size": 2, "bound_share": 0.8}
    rows = uneven.with_uniform(pd.DataFrame([uniform, row, larger])).iloc[1:]
    found = uneven.of_bound("permutation/op", rows)
    assert "the median op reached 90 % of its own" in found.text
    assert "where 0.05 µs of 0.25 µs are not the traffic's" in found.text
    assert "asks 2 times as much of them and took 2.5 times as long" in found.text


def test_ops_that_rightly_differ_are_not_called_modes_or_tails() -> None:
    points = pd.DataFrame({"traffic_draws": [1.0, 32.0, np.nan], "point": [0, 1, 2]})
    seen: list[list[int]] = []
    found = SimpleNamespace(
        points=points,
        select=lambda rows: SimpleNamespace(points=points[rows]),
    )

    def find(results: Results) -> list[Finding]:
        seen.append(list(results.points["point"]))
        return []

    uneven.of_alike_ops(find)(cast(Results, found))
    assert seen == [[0, 2]]


def test_who_has_most_is_not_named_where_each_op_has_another() -> None:
    row = {"traffic": "zipf=1.2/op", "series": "zipf=1.2/op", "busiest": "none",
           "busiest_index": -1, "imbalance": 1.8, "traffic_draws": 32, "ranks": 4, "ops": 9,
           "message_size": 1000, "beside": 0.9, "messages": 0.2}  # fmt: skip
    found = uneven.of_messages("zipf=1.2/op", pd.DataFrame([row]))
    assert "the busiest rank of an op has 1.8 times the mean to move" in found.text
    alike = uneven.of_messages("zipf=1.2/op", pd.DataFrame([row | {"imbalance": 1.0}]))
    assert "all ranks have the same to move in each op" in alike.text
    assert matrices.draws({}) == matrices.draws({"traffic_draws": np.nan}) == 1


def test_older_files_have_uniform_traffic() -> None:
    assert matrices.is_uniform({})
    assert matrices.is_uniform({"traffic": "uniform"})
    assert not matrices.is_uniform({"traffic": "zipf=1.2"})


def test_nodes_are_judged_where_all_have_the_same_to_do() -> None:
    points = pd.DataFrame({"traffic": ["uniform", "hot-node=4x"], "point": [0, 1]})
    assert matrices.have_equal_ranks(points).tolist() == [True, False]
    assert matrices.have_equal_ranks(points[["point"]]).tolist() == [True, True]  # an older file


def _explained(took: float, uniform: float) -> Finding:
    """Of a node that is sent most: 2.5 times what the uniform traffic asks of a node's links."""
    points = pd.DataFrame(
        {
            **{name: [1, 1] for name in uneven.CELL},
            "traffic": ["uniform", "hot-node=4x"],
            "series": ["uniform", "hot-node=4x"],
            "busiest": ["node-sends", "node-receives"],
            "busiest_index": [0, 2],
            "imbalance": [1.0, 2.5],
            "node_imbalance": [1.0, 2.5],
            "ops": [9, 9],
            "bound": [100.0, 250.0],
            "time_p50": [uniform, took],
        }
    )
    points["bound_share"] = points["bound"] / points["time_p50"]
    return uneven.of_bound("hot-node=4x", uneven.with_uniform(points).iloc[1:])


def test_what_takes_longer_by_what_it_asks_is_the_traffics_whatever_the_links_carry() -> None:
    for rate in (1.0, 0.01):  # of what is known of the links
        found = _explained(took=251 / rate, uniform=100 / rate)
        assert "node 2 receives most, 2.5 times the mean" in found.text
        assert (
            "asks 2.5 times as much of them and took 2.51 times as long: the difference is the "
            "traffic's, not the network's" in found.text
        )


def test_what_takes_longer_than_it_asks_is_not_called_the_traffics() -> None:
    found = _explained(took=500.0, uniform=100.0)
    assert "took 5 times as long: 0.25 µs more than that alone explains" in found.text
    assert "not the network's" not in found.text
    faster = _explained(took=110.0, uniform=100.0)
    assert "took only 1.1 times as long: what it asks of links that are alike" in faster.text


def test_links_that_carry_more_than_their_rate_have_no_share_of_it() -> None:
    beaten = _explained(took=125.0, uniform=100.0)
    assert (
        "at the rate that the links are said to have that alone takes 0.25 µs at 1 B, and the op "
        "took 0.125 µs: they carry more than that" in beaten.text
    )
    assert "reached" not in beaten.text and "on these links" not in beaten.text
    near = _explained(took=245.0, uniform=100.0)  # as far as rates are known
    assert "that alone takes 0.25 µs at 1 B on these links, and 102 % of it was" in near.text


def test_what_is_faster_than_its_bound_lost_nothing() -> None:
    points = pd.DataFrame(
        {**dict.fromkeys(uneven.CELL, 1), "traffic": "x", "series": "x", "busiest": "none",
         "busiest_index": -1, "imbalance": 1.5, "node_imbalance": 1.2, "ops": 9,
         "message_size": [1, 2], "bound": [100.0, 200.0], "bound_share": [1.03, 1.02],
         "time_p50": [97.0, 196.0]}
    )  # fmt: skip
    text = uneven.of_bound("x", uneven.with_uniform(points)).text
    assert "103 % of it was reached; least at 2 B, 102 %" in text
    assert "-" not in text and "not the traffic's" not in text


def test_what_the_busiest_moved_is_told_by_bytes_and_by_messages() -> None:
    rows = pd.DataFrame(
        {"traffic": ["incast"] * 2, "series": ["incast"] * 2, "busiest": ["rank-receives"] * 2,
         "busiest_index": [0, 0], "imbalance": [4.0, 4.0], "ranks": [4, 4], "ops": [9, 9],
         "message_size": [1, 1000], "beside": [4.0, 0.9], "messages": [0.98, 0.2]}
    )  # fmt: skip
    found = uneven.of_messages("incast", rows)
    assert "rank 0 receives most, 4 times the mean" in found.text
    assert found.where == "4 ranks, 1 B to 1000 B, incast"
    assert uneven.of_messages("incast", rows[:1]).where == "4 ranks, 1 B, incast"
    assert found.text.endswith("the busiest moved 90 to 400 % by bytes, 20 to 98 % by messages")
    assert found.weight == pytest.approx(0.1)  # what misses both, where that is most
    rows["imbalance"] = 1.0
    assert "all ranks have the same to move" in uneven.of_messages("shift=1", rows).text
    without = uneven.of_messages(
        "incast", rows.assign(messages=np.nan)
    )  # a file without the matrix
    assert without.text.endswith("moved 90 to 400 % by bytes")
    many = uneven.of_messages("incast", rows.assign(beside=[450.054, 2.0]))
    assert "moved 200 to 45\u2009005 % by bytes" in many.text


def test_the_matrices_of_four_panels_are_whole_and_their_first_source_is_on_top() -> None:
    ticks = tuple((float(rank), str(rank)) for rank in range(4))
    names = tuple(str(rank) for rank in range(4))
    place = np.arange(4.0)
    heat = Heat(INCAST.astype(float), place, place, "bytes over the mean", 1.0, 0.0, names)
    matrix = Chart(
        title="incast",
        subtitle="3 messages an op",
        x=Axis("Destination (rank)", ticks=ticks),
        y=Axis("Source (rank)", ticks=ticks),
        heat=heat,
    )
    beside = Chart(title="reached", x=Axis("mean"), y=Axis("% of the rate, at the busiest rank"))
    page = drawing.draw(Figure("traffic", "", (matrix, matrix, matrix, beside)))
    renderer = FigureCanvasAgg(page).get_renderer()  # type: ignore[no-untyped-call]
    for panel in page.axes:
        box = panel.get_tightbbox(renderer)
        assert box is not None
        assert page.bbox.x0 + 2 <= box.x0, panel.get_ylabel()
        assert box.x1 <= page.bbox.x1, panel.get_ylabel()
    limited = replace(matrix, y=replace(matrix.y, limits=(-0.5, 3.5)))
    for one in (matrix, limited):  # as in a table, and as on the page for browsers
        low, high = drawing.draw(Figure("traffic", "", (one,))).axes[0].get_ylim()
        assert low > high


def test_no_name_of_traffic_reaches_into_the_next_panel() -> None:
    """All that `moe` was asked for is its name."""
    place = np.arange(4.0)
    heat = Heat(INCAST.astype(float), place, place, "bytes over the mean", 1.0, 0.0, tuple("0123"))
    names = (
        "moe(experts=16,top=2,capacity=1.25,tokens=256)/op",
        "incast",
        "a-long-name.csv",
        "zipf=1.2",
    )
    charts = tuple(
        Chart(
            name, Axis("Destination (rank)"), Axis("Source (rank)"), "3 messages an op", heat=heat
        )
        for name in names
    )
    for count in (2, 3, 4):
        page = drawing.draw(Figure("traffic", "", charts[:count]))
        renderer = FigureCanvasAgg(page).get_renderer()  # type: ignore[no-untyped-call]
        places = [panel.get_window_extent(renderer) for panel in page.axes]
        titles = [
            (own, text.get_window_extent(renderer))
            for panel, own in zip(page.axes, places, strict=True)
            for text in panel.get_children()
            if isinstance(text, Text) and text.get_text().startswith(("moe", "inc", "a-l", "zip"))
        ]
        assert len(titles) == count
        for own, box in titles:
            assert own.y1 <= box.y0
            assert box.y1 <= page.bbox.y1
            assert box.x1 <= page.bbox.x1
            others = [*places, *(other for _, other in titles)]
            assert not any(box.overlaps(other) for other in others if other not in (own, box))


def test_matrices_of_several_files_become_one_group() -> None:
    """Those of fewer ranks are the first rows and columns; what two files have is there once."""
    assert matrices.GROUP.joining
    small = {"weight": np.array([[[0, 1], [2, 0]]])}
    drawn = {"weight": np.array([INCAST, 2 * INCAST])}
    joined, begins = matrices.GROUP.joining.joined([small, drawn, small, dict(drawn)])
    assert begins == [0, 1, 0, 1]
    assert joined["weight"].shape == (3, 4, 4)
    assert joined["weight"][0].tolist() == [[0, 1, 0, 0], [2, 0, 0, 0], [0] * 4, [0] * 4]
    assert np.array_equal(joined["weight"][1:], drawn["weight"])


def test_what_would_be_too_large_is_not_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "_MOST_BYTES", 3 * 16 * 8 - 1)
    assert matrices.GROUP.joining
    one, other = {"weight": np.array([INCAST])}, {"weight": np.array([INCAST, INCAST])}
    matrices.GROUP.joining.joined([other, other])
    with pytest.raises(MemoryError, match="3 matrices of 4 ranks"):
        matrices.GROUP.joining.joined([one, other])


@pytest.mark.parametrize("place", [(0, 1, 2), (0, 2, 0)])
def test_a_share_beyond_the_ranks_of_a_point_is_not_its_matrix(place: tuple[int, int, int]) -> None:
    stored = np.zeros((1, 4, 4), np.int64)
    stored[0, :2, :2] = [[0, 1], [1, 0]]
    row = pd.Series(
        {"traffic": "x", "traffic_matrix": 0, "ranks": 2, "traffic_draws": 1, "file": "a.h5"}
    )
    results = cast(Results, SimpleNamespace(group=lambda *of: stored))
    found = matrices.weights(results, row)
    assert found is not None
    assert found.tolist() == [[0, 1], [1, 0]]
    stored[place] = 1
    assert matrices.weights(results, row) is None


def test_which_traffic_goes_one_way() -> None:
    ring = np.roll(np.eye(4, dtype=int), 1, axis=1)
    pairs = np.kron(np.eye(2, dtype=int), 1 - np.eye(2, dtype=int))
    for sent in (ring, pairs, INCAST + INCAST.T):
        assert not matrices.goes_one_way(sent[None])
        assert matrices.goes_one_way(np.stack([sent, INCAST]))
    one = pairs.copy()
    one[1, 2] = 1  # beside ways there and back
    for sent in (INCAST, INCAST.T, one):
        assert matrices.goes_one_way(sent[None])


@pytest.mark.parametrize(
    ("sync", "sent", "is_told"),
    [("barrier", INCAST, False), ("clock", INCAST, True), ("barrier", INCAST + INCAST.T, True)],
)
def test_nothing_follows_from_times_that_a_barrier_leaves_out(
    monkeypatch: pytest.MonkeyPatch, sync: str, sent: np.ndarray, is_told: bool
) -> None:
    same = {
        **dict.fromkeys(uneven.CELL, 1),
        "launch": "a#0",
        "ranks": 4,
        "ops": 9,
        "busiest_index": 0,
    }
    uniform = {**same, "traffic": "uniform", "imbalance": 1.0, "time_p50": 100.0, "busiest": "none"}
    other = {"traffic": "x", "imbalance": 4.0, "time_p50": 10.0, "busiest": "rank-receives"}
    points = pd.DataFrame([uniform, {**same, **other}]).assign(bound=np.nan, bound_share=np.nan)
    monkeypatch.setattr(series, "named", lambda _: points["traffic"])
    monkeypatch.setattr(matrices, "in_turn", lambda *_: sent[None])
    launches = {"a#0": SimpleNamespace(attributes={"sync": sync})}
    (found,) = uneven.find(cast(Results, SimpleNamespace(points=points, launches=launches)))
    assert "rank 0 receives most, 4 times the mean" in found.text
    assert found.where == "4 ranks, 1 B, x"
    monkeypatch.setattr(series, "named", lambda _: points["traffic"].where(points.index < 0, ""))
    (alone,) = uneven.find(cast(Results, SimpleNamespace(points=points, launches=launches)))
    assert alone.where == "4 ranks, 1 B"
    assert ("4\u2009000 % by bytes" in found.text) == is_told
    assert ("ops start at a barrier" in found.text) != is_told


def _launched(sync: str, long_name: str = "", uniform: bool = True) -> Results:
    """A uniform point and one of other traffic, whose bound it is said to have reached 80 times."""
    same = {**dict.fromkeys(uneven.CELL, 1), "launch": "a#0", "file": "a.h5", "ranks": 4, "ops": 9,
            "role": "measure", "state": "complete", "traffic_draws": 1, "traffic_digest": "1",
            "busiest_index": 0}  # fmt: skip
    rows = [
        {**same, "point": 0, "traffic": "uniform", "imbalance": 1.0, "time_p50": 100.0,
         "bound": np.nan, "bound_share": np.nan, "gbps_rank": 3.0},
        {**same, "point": 1, "traffic": "x", "imbalance": 4.0, "time_p50": 10.0, "bound": 800.0,
         "bound_share": 80.0, "gbps_rank": 90.0, "ratio": 5.0, "ratio_low": 4.0, "ratio_high": 6.0,
         "traffic_matrix": 0},
    ]  # fmt: skip
    points = pd.DataFrame(rows if uniform else rows[1:])
    launch = cast(Launch, SimpleNamespace(attributes={"sync": sync}, path=Path("a.h5")))
    launches = {"a#0": launch}
    columns = {
        name: schema.Column(name, "float64", long_name)
        for name in ("bound_share", "gbps_rank", "ratio")
    }
    return Results(points, launches, {}, columns=columns)


@pytest.mark.parametrize(
    ("sync", "sent", "is_told"),
    [("barrier", INCAST, False), ("clock", INCAST, True), ("none", INCAST, True),
     ("barrier", INCAST + INCAST.T, True)],
)  # fmt: skip
def test_what_a_barrier_does_not_carry_is_left_out(
    monkeypatch: pytest.MonkeyPatch, sync: str, sent: np.ndarray, is_told: bool
) -> None:
    """Of an older file; one whose program left it out itself and has it is said to be wrong."""
    monkeypatch.setattr(matrices, "in_turn", lambda found, row: sent[None])
    older = one_way.without_rates(_launched(sync))
    assert older.points["bound_share"].notna().tolist() == [False, is_told]
    assert older.points["gbps_rank"].notna().tolist() == [True, is_told]
    for name in ("ratio", "ratio_low", "ratio_high"):
        assert older.points[name].notna().tolist() == [False, is_told]
    assert older.untold == ()
    left_out = () if is_told else (f"a.h5: rates and ratios of 1 point left out: {one_way.WHY}",)
    assert older.older == left_out
    newer = one_way.without_rates(_launched(sync, "absent where ops start at a barrier and …"))
    figures = () if is_told else (
        "bound_share is 80", "gbps_rank is 90", "ratio is 5", "ratio_low is 4", "ratio_high is 6",
    )  # fmt: skip
    said = tuple(f"point 1: {figure}, and {one_way.WHY}" for figure in figures)
    assert newer.untold == said and newer.older == ()
    resumed = _launched(sync, "absent where ops start at a barrier and …")
    resumed = replace(resumed, launches={**resumed.launches, "a#1": resumed.launches["a#0"]})
    assert one_way.without_rates(resumed).untold == ()


def test_a_file_whose_program_left_out_its_rates_alone_has_no_ratio_either(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matrices, "in_turn", lambda found, row: INCAST[None])
    found = _launched("barrier", "absent where ops start at a barrier and …")
    columns = {**found.columns, "ratio": schema.Column("ratio", "float64", "")}
    points = found.points.assign(bound_share=np.nan, gbps_rank=[3.0, np.nan])
    read = one_way.without_rates(replace(found, points=points, columns=columns))
    assert read.untold == () and read.points["ratio"].isna().all()
    assert read.older == (f"a.h5: ratios of 1 point left out: {one_way.WHY}",)


def test_a_lost_matrix_leaves_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(found: Results, row: pd.Series) -> None:
        raise InputError("damaged")

    monkeypatch.setattr(matrices, "in_turn", lost)
    assert one_way.without_rates(_launched("barrier")).points["bound_share"].iloc[1] == 80


def test_traffic_of_which_the_file_names_no_matrix_ends_nothing(tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(nodes=2, sizes=(1000,)))
    with edited(path) as file:
        points = len(file["state"])
        file.create_dataset(matrices.TRAFFIC, data=["hot-rank=3x"] * points)
        file.create_dataset("traffic_matrix", data=[schema.UNKNOWN] * points)
        for name in (matrices.TRAFFIC, "traffic_matrix"):
            file[name].attrs["long_name"] = name
        file["traffic_matrix"].attrs["_FillValue"] = schema.UNKNOWN
        file["segments/0"].attrs["sync"] = "barrier"
    found = loading.load([path])
    assert not one_way.are_untold(found).any()
    assert all(matrices.in_turn(found, row) is None for _, row in found.points.iterrows())


@pytest.mark.parametrize("sync", ["barrier", "clock"])
def test_the_figure_shows_no_rate_that_a_barrier_does_not_carry(
    monkeypatch: pytest.MonkeyPatch, sync: str
) -> None:
    monkeypatch.setattr(matrices, "in_turn", lambda found, row: INCAST[None])
    monkeypatch.setattr(matrices, "weights", lambda found, row: INCAST)
    for has_bound in (True, False):
        found = _launched(sync)
        if not has_bound:
            found = replace(found, points=found.points.assign(bound_share=np.nan))
        figure = drawn.figure(found, Options())
        titles = [chart.title for chart in figure.charts]
        told = (f"1 point without a rate: {one_way.WHY}",)
        if sync == "barrier":
            assert (titles, figure.left_out) == (["x"], told)
        else:
            assert (titles[0], titles[-1], figure.left_out) == ("x", "Imbalance and rate", ())


def test_what_a_file_says_of_its_rates_is_its_own(tmp_path: Path) -> None:
    """By it a program that leaves out what nothing carries is known."""
    path = synthetic.write_launch(tmp_path / "a.h5", Setup(nodes=2, ppn=1, sizes=(8,), ops=12))
    said = "payload; absent where ops start at a barrier and messages go one way"
    with edited(path) as file:
        file["gbps_rank"].attrs["long_name"] = said
    found = loading.load([path])
    assert found.columns["gbps_rank"].long_name == said
    assert one_way._leaves_out(found, "msg_rate")
    assert not one_way._leaves_out(found, "bound_share")


def test_a_time_that_a_barrier_does_not_carry_is_no_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finders of speeds see the other points alone, and none where there is no other."""
    monkeypatch.setattr(matrices, "in_turn", lambda found, row: INCAST[None])
    seen: list[list[int]] = []

    def find(found: Results) -> list[Finding]:
        seen.append(found.points["point"].tolist())
        return []

    for sync in ("barrier", "clock"):
        one_way.of_told(find)(_launched(sync))
    one_way.of_told(find)(_launched("barrier", uniform=False))
    assert seen == [[0], [0, 1]]
