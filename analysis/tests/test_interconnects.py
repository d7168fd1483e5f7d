# SPDX-License-Identifier: BSD-3-Clause
"""Published figures of interconnects: read by their named columns, and held against themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from a2aperf import contradictions, loading, printed
from a2aperf.contradictions import Figure
from a2aperf.errors import InputError
from a2aperf.importers import named_columns
from conftest import DATA, Outcome

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]
TEXT = DATA / "interconnects-2011.txt"


def parsed(text: str) -> list[dict[str, object]]:
    return named_columns.parse(Path("study.txt"), text)[0].rows


def against(*figures: Figure, **rankings: str) -> list[str]:
    told = {int(size.removeprefix("at_")): names.split(",") for size, names in rankings.items()}
    return [one.text for one in contradictions.of(figures, told)]


def test_the_published_study(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.h5"
    outcome = a2a("import", TEXT, "-o", path)
    assert outcome.status == 0
    assert "3 tables with 29 rows of 5 interconnects; 5 contradictions" in outcome.out
    assert a2a("check", path).out.endswith("sound\n")
    points = loading.load([path]).points
    assert set(points["role"]) == {"interconnects"}
    rates = points[points["interconnect"] == "IB RDMA"]
    assert rates["byte_rate"].dropna().tolist() == [93e6, 276e6, 812e6, 4294e6]
    assert rates["payload"].isna().tolist() == [False] * 3 + [True, False, True]
    assert points["msg_rate"].max() == 1_546_674
    latency = points.set_index("interconnect")["time_mean"].dropna()
    assert latency.to_dict() == {"IB RDMA": 49e3, "RoCE": 69e3, "IPoIB": 100e3, "1GigE": 130e3}
    (launch,) = loading.load([path]).launches.values()
    assert launch.attributes["counted"].startswith("messages × queues")


def test_what_contradicts_itself_in_it(a2a: Run, tmp_path: Path) -> None:
    outcome = a2a("import", TEXT, "-o", tmp_path / "i.h5")
    told = outcome.err.splitlines()
    assert len(told) == 5
    assert "1GigE: 3 of 5 rates are above the line rate" in told[0]
    assert "10GigE: 1 of 5 rates" in told[1]
    assert "RoCE: 91.0 MB/s at 64" in told[2] and "1\u2009191\u2009374/s" in told[2]
    assert "IB RDMA: 93.0 MB/s at 64" in told[3] and "1\u2009226\u2009407/s" in told[3]
    assert "8 of 10 pairs stand the other way round" in told[4]
    explained = a2a("explain", tmp_path / "i.h5").out
    assert explained.count("•") == 5 and "contradict physics or one another" in explained


def test_table_plot_and_report(a2a: Run, tmp_path: Path) -> None:
    path, page = tmp_path / "i.h5", tmp_path / "page.html"
    a2a("import", TEXT, "-o", path)
    heading, *rows = a2a("table", path).out.splitlines()
    assert "interconnect" in heading and "ranks" not in heading and len(rows) == 29
    assert a2a("plot", "ranking", path, "-o", tmp_path / "x.svg").status == 0
    assert a2a("report", path, "-o", page).status == 0
    assert "Interconnects side by side" in page.read_text(encoding="utf-8")
    a2a("compare", path, "--by", "interconnect").refused("published figures of interconnects")


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("1GigE", 1), ("10GbE", 10), ("10 Gbit Ethernet", 10), ("2.5GbE", 2.5), ("IB QDR", 32),
        ("RoCE", None), ("IPoIB", None), ("IB RDMA", None), ("ib-fdr", 54.5), ("Fabric 10", None),
    ],
)  # fmt: skip
def test_line_rates_by_name(name: str, rate: float | None) -> None:
    assert contradictions.line_rate(name) == rate


def test_nothing_is_said_where_nothing_is_wrong() -> None:
    figures = [
        Figure("1GigE", 64, byte_rate=40e6),
        Figure("1GigE", 1024, byte_rate=125.9e6),  # a per cent above 1 Gbit/s: rounding
        Figure("1GigE", None, byte_rate=125.9e6),
        Figure("1GigE", 8, msg_rate=620e3),
        Figure("unknown", 64, byte_rate=1e12),
        Figure("10GigE", 64, byte_rate=60e6),
    ]
    assert against(*figures, at_64="10GigE,1GigE", at_8="1GigE,10GigE") == []


def test_a_told_line_rate_stands_above_the_name() -> None:
    assert against(Figure("1GigE", 64, byte_rate=200e6, link_rate=10.0)) == []
    (text,) = against(Figure("RoCE", 64, byte_rate=2031e6, link_rate=10.0))
    assert "above the line rate of 10.0 Gbit/s" in text
    (text,) = against(Figure("RoCE", 64, byte_rate=2600e6, link_rate=10.0))
    assert "more than both directions together" in text


def test_more_than_the_most() -> None:
    (text,) = against(Figure("x", 64, byte_rate=6e6), Figure("x", None, byte_rate=4e6))
    assert "are more than the most of all sizes" in text


def test_a_latency_below_what_the_line_takes() -> None:
    assert against(Figure("1GigE", 32768, latency=530e3, hops=2)) == []
    assert against(Figure("1GigE", 32768, latency=300e3)) == []
    assert against(Figure("unknown", 32768, latency=1e3)) == []
    (text,) = against(Figure("1GigE", 32768, latency=300e3, hops=2))
    assert text.replace("\u00a0", " ") == (
        "a latency of 300 µs at 32 KiB: a line of 1.00 Gbit/s takes 524 µs to pass as much "
        "2 times one after the other"
    )


def test_a_larger_message_that_is_faster() -> None:
    small = Figure("x", 8, latency=90e3, hops=2)
    (text,) = against(small, Figure("x", 32768, latency=80e3, hops=2))
    assert "of 90.0 µs at 8\u00a0B: the larger message would be there sooner" in text
    for other in (
        Figure("x", 32768, latency=87e3, hops=2),  # as latencies are measured
        Figure("x", 32768, latency=80e3, hops=1),
        Figure("x", 32768, latency=80e3, hops=2, offered=1e4),
        Figure("y", 32768, latency=80e3, hops=2),
    ):
        assert against(small, other) == []


def test_messages_times_their_size_against_the_line_and_the_bytes() -> None:
    messages = Figure("10GigE", 1024, msg_rate=2_000_000)
    above, more = against(messages, Figure("10GigE", 1024, byte_rate=1129e6))
    assert "16.4 Gbit/s (2\u2009000\u2009000 messages/s at 1\u00a0KiB) the highest" in above
    assert more.endswith("and the throughput of that size is 1\u2009129 MB/s")
    assert (
        against(replace(messages, msg_rate=1_150_000), Figure("10GigE", 1024, byte_rate=1129e6))
        == []
    )
    other = Figure("10GigE", 2048, byte_rate=1129e6)
    assert against(replace(messages, msg_rate=1_200_000), other) == []


@pytest.mark.parametrize(
    ("values", "units", "value", "off"),
    [
        ([85, 90, 100, 130], (1.0,), 90, 0.5),
        ([1.2, 12, 120], (1.0,), 120, 5),  # two digits each
        ([1.25, 12, 120], (1.0,), 120, 0.5),
        ([0.25, 3.4], (1.0,), 3.4, 0.05),
        ([1e6], (1.0,), 1e6, 50e3),
        ([5e6], (1.0, 1e6, 1e9), 5e6, 0.5e6),
        ([1.5625e9, 1e9], (1.0, 1e6, 1e9, 1e9 / 8), 1e9, 6.25e6),  # 12.5 and 8.0 Gbit/s
    ],
)
def test_what_rounding_allows(
    values: list[float], units: tuple[float, ...], value: float, off: float
) -> None:
    assert printed.half_unit(values, units)(value) == pytest.approx(off)


@pytest.mark.nulls
@pytest.mark.parametrize("digits", [2, 3, 4])
def test_sound_tables_as_they_are_printed_contradict_nothing(digits: int) -> None:
    """In every second table MB are MiB."""
    rng = np.random.default_rng(digits)

    def shown(value: float, unit: float) -> float:
        return float(f"{value / unit:.{digits}g}") * unit

    for study in range(300):
        line = float(rng.choice([1.0, 10.0]))
        own, hops = rng.uniform(1e3, 1e5), int(rng.integers(1, 4))
        binary = 2**20 / 1e6 if study % 2 else 1.0
        figures = []
        for size in (8, 64, 1024, 32768, 1 << 20):
            needed = size * 8 / line
            latency = hops * (own * np.exp(rng.normal(0, 0.01)) + needed)
            passed = 1e9 / max(own / 20, needed / 0.99)  # messages/s
            figures += [
                Figure(f"{line:g}GigE", size, latency=shown(latency, 1e3), hops=hops),
                Figure(f"{line:g}GigE", size, byte_rate=shown(size * passed / binary, 1e6)),
                Figure(f"{line:g}GigE", size, msg_rate=shown(passed, 1.0)),
            ]
        assert against(*figures) == []


def test_what_larger_messages_do_bounds_no_smaller_ones() -> None:
    rate = Figure("x", 64, byte_rate=64e6)  # a million messages/s
    assert against(rate, Figure("x", 4096, msg_rate=100e3)) == []
    (text,) = against(rate, Figure("x", 8, msg_rate=500e3), Figure("x", 4096, msg_rate=9e6))
    assert "of messages of that size or less the most is" in text
    (text,) = against(rate, Figure("x", msg_rate=500e3))
    assert "and the most of all is" in text


def test_a_row_that_contradicts_itself() -> None:
    (text,) = against(Figure("FooNet", 64, byte_rate=93e6, msg_rate=1e6))
    assert text == (
        "93.0 MB/s at 64\u00a0B are 1\u2009453\u2009125 messages/s, "
        "and the same row has 1\u2009000\u2009000/s"
    )
    assert against(Figure("FooNet", 64, byte_rate=64e6, msg_rate=1e6)) == []


def test_a_table_may_have_bars_around_it_tabs_and_other_units() -> None:
    bars = (
        "| interconnect | size (KiB) | throughput (Gbit/s) |\n| --- | --- | --- |\n| a | 4 | 8 |\n"
    )
    tabs = "interconnect\tsize (B)\tlatency (us)\tline rate (Gbit/s)\nb\t8\t3.5\t40\nc\t-\t\t-\n"
    first, second, third = parsed(bars + "\n" + tabs)
    assert (first["payload"], first["byte_rate"]) == (4096, 1e9)
    assert (second["time_mean"], second["line_rate"]) == (3500.0, 40.0)
    assert set(third) == {"ranks", "interconnect", "message_size"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("interconnect | color\na | 1", "line 1, column 16: column 'color': expected one of size"),
        ("interconnect | size (m)\na | 1", "line 1, column 16: column 'size (m)': expected unit"),
        ("interconnect | size (B) | size (B)\na | 1 | 1", "is there twice"),
        ("interconnect | size (B)\na | 1 | 2", "line 2, column 1: expected 2 cells"),
        ("interconnect | size (B)\na | many", "line 2, column 5: expected a number, found 'many'"),
        ("interconnect | size (B)\na | 0", "expected a positive number, found '0'"),
        ("interconnect\tsize (B)\n\t4", "a row without an interconnect"),
        ("interconnect | size (B)\n", "no row found"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"study\.txt") as refused:
        parsed(text)
    assert said in str(refused.value)


def test_columns_that_no_table_has_are_unknown(tmp_path: Path, a2a: Run) -> None:
    (tmp_path / "s.txt").write_text("interconnect | throughput (MB/s)\nx | 5\n")
    assert a2a("import", tmp_path / "s.txt", "-o", tmp_path / "s.h5").status == 0
    points = loading.load([tmp_path / "s.h5"]).points
    assert pd.isna(points["payload"].iloc[0]) and pd.isna(points["hops"].iloc[0])


def test_what_a_figure_leaves_out_is_counted(a2a: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.h5"
    a2a("import", TEXT, "-o", path)
    drawn = a2a("plot", "ranking", path, "-o", tmp_path / "x.svg")
    assert drawn.err == "a2a: 14 rows without a rate at a size not drawn\n"
