# SPDX-License-Identifier: BSD-3-Clause
"""Imported texts that do not tell a median, or of how many ops: what commands say of them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import DATA, Outcome

Run = Callable[..., Outcome]
PLAIN = "osu_alltoall-plain.txt"
"""A mean of nobody knows how many ops."""
RATE = "perftest-write-bw.json"
"""A rate alone."""


@pytest.fixture
def imported(a2a: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Imports a sample text, in the working folder."""
    monkeypatch.chdir(tmp_path)

    def make(name: str) -> str:
        out = Path(name).with_suffix(".h5").name
        ranks = ("--ranks", "4") if name.startswith("osu") else ()
        assert a2a("import", DATA / name, *ranks, "-o", out).status == 0
        return out

    return make


@pytest.mark.parametrize(("name", "count"), [(PLAIN, "3 points"), (RATE, "1 point")])
def test_no_median_to_draw(a2a: Run, imported: Callable[..., str], name: str, count: str) -> None:
    file = imported(name)
    drawn = a2a("plot", "latency", file, "-o", "a.svg")
    drawn.refused(f"nothing to draw: {count} without a median time not drawn")
    assert not Path("a.svg").exists()


def test_medians_are_drawn_beside_points_without(a2a: Run, imported: Callable[..., str]) -> None:
    files = imported(PLAIN), imported("osu_alltoall-fz.txt")
    drawn = a2a("plot", "latency", *files, "-o", "a.svg")
    assert drawn.status == 0 and "a2a: 3 points without a median time not drawn" in drawn.err
    assert "3 points without a median time not drawn" in Path("a.svg").read_text()


def test_a_report_of_a_rate_alone(a2a: Run, imported: Callable[..., str]) -> None:
    assert a2a("report", imported(RATE), "-o", "a.html").status == 0
    assert "Bandwidth against message size" in Path("a.html").read_text()


def test_how_many_ops_is_unknown(a2a: Run, imported: Callable[..., str]) -> None:
    file = imported(PLAIN)
    assert a2a("explain", file).out == "nothing stands out\n"
    assert a2a("report", file, "-o", "a.html").status == 0
    page = Path("a.html").read_text()
    assert ", 3 message sizes (1\u00a0KiB to 4\u00a0KiB), n unknown.</li>" in page
    assert "Best rate" not in page and "Shortest op" not in page


def test_how_many_ops_is_known_of_some_points(a2a: Run, imported: Callable[..., str]) -> None:
    files = imported(PLAIN), imported("osu_alltoall-fz.txt")
    told = a2a("explain", *files)
    words = " ".join(told.out.split())
    assert told.status == 0 and "nan" not in words
    assert "no 95 % interval of the p99 exists in 7 of 10 points (n = 200;" in words
    assert "the mean lies above p90 in 6 of 7 rows" in words  # three tell no p90
    assert a2a("report", *files, "-o", "a.html").status == 0
    n = "n\u00a0=\u00a0200 ops per point{}, of 3 points unknown"
    page = Path("a.html").read_text()
    assert n.format("") in page and n.format(" and launch") in page


def test_a_rate_alone_is_of_no_median(a2a: Run, imported: Callable[..., str]) -> None:
    a2a("report", imported(RATE), "-o", "a.html")
    page = Path("a.html").read_text()
    assert (
        "Best rate: 98.0\u00a0Gbit/s per rank, one way, at 64\u00a0KiB with 2 ranks.</li>" in page
    )
    assert "Shortest op" not in page


@pytest.mark.parametrize("name", [PLAIN, RATE])
def test_no_history_without_a_time(a2a: Run, imported: Callable[..., str], name: str) -> None:
    file = imported(name)
    a2a("history", file).refused("no point tells a time that could be judged")
    a2a("plot", "history", file, "-o", "a.svg").refused("no point tells")


@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("perftest-send-lat.json", "scaling", "ranks per node unknown"),
        (PLAIN, "scaling", "n unknown"),
        (PLAIN, "sizes", "n unknown"),
    ],
)
def test_no_figure_of_nothing(
    a2a: Run, imported: Callable[..., str], name: str, kind: str, why: str
) -> None:
    drawn = a2a("plot", kind, imported(name), "-o", "a.svg")
    drawn.refused(f"nothing to draw of {kind} here; ", why)
    assert not Path("a.svg").exists()


def test_no_figure_of_what_has_no_place_on_its_axis(a2a: Run, imported: Callable[..., str]) -> None:
    file = imported("loopback-32-buffers.txt")
    where = ("--by", "mode", "--where", "message_size=0")
    drawn = a2a("plot", "compare", file, *where, "-o", "a.svg")
    drawn.refused("nothing to draw of compare here; messages of 0 B are not drawn")
