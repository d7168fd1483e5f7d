# SPDX-License-Identifier: BSD-3-Clause
"""What `tc` says of the shares of paths: texts as it prints them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path

import pytest

from a2aperf import shaper
from conftest import Outcome
from support import native_paths
from support.edited import edited

Run = Callable[..., Outcome]

QDISC = """\
qdisc htb 1: root refcnt 3 r2q 10 default 0x1 direct_packets_stat 0 direct_qlen 1000
qdisc bfifo 9137: parent 1:2 limit 64Mb
"""
CLASSES = """\
class htb 1:1 parent 1:fff prio 0 rate 1Mbit ceil 100Mbit burst 1600b cburst 1600b
class htb 1:2 parent 1:fff leaf 9137: prio 1 rate 33Mbit ceil 100Mbit burst 1592b cburst 1600b
class htb 1:3 parent 1:fff prio 1 rate 66Mbit ceil 100Mbit burst 1584b cburst 1600b
class htb 1:fff root rate 100Mbit ceil 100Mbit burst 1600b cburst 1600b
"""
FILTERS = """\
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 *flowid 1:1 not_in_hw
  match 00000000/0000ff00 at 0
filter parent 1: protocol ip pref 2 u32 chain 0 fh 801::800 order 2048 key ht 801 bkt 0 *flowid 1:2 not_in_hw
  match 00280000/00fc0000 at 0
filter parent 1: protocol ip pref 2 u32 chain 0 fh 801::801 order 2049 key ht 801 bkt 0 *flowid 1:3 not_in_hw
  match 00b80000/00fc0000 at 0
filter parent 1: protocol ip pref 2 u32 chain 0 fh 801::802 order 2050 key ht 801 bkt 0 *flowid 1:2 not_in_hw
  match 0a4d0002/ffffffff at 16
"""  # noqa: E501
TEXT = QDISC + CLASSES + FILTERS
BANDS = """\
qdisc tbf 1: root refcnt 3 rate 100Mbit burst 64Kb lat 5.36s
qdisc pfifo_fast 2: parent 1: bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
"""
RATE = 95e6 / 8


def shares(
    text: str, *names: str, limits: tuple[float, ...] = (), rate: float = RATE
) -> list[float] | None:
    got = shaper.of_text(text).shares(names, limits or (inf,) * len(names), rate)
    return None if got is None else [one / rate for one in got]


def test_classes_of_htb_by_their_rates() -> None:
    assert shares(TEXT, "bulk", "low-latency") == pytest.approx([1 / 3, 2 / 3])
    assert shares(TEXT, "dscp10", "low-latency", "low-latency") == pytest.approx([1 / 3] * 3)
    with_statistics = TEXT.replace("at 0\n", "at 0 (success 5 )\n")
    assert shares(with_statistics, "bulk", "low-latency") == pytest.approx([1 / 3, 2 / 3])
    assert shares(FILTERS + CLASSES + QDISC, "bulk", "low-latency") == pytest.approx([1 / 3, 2 / 3])


def test_details_of_classes_change_nothing() -> None:
    """`tc -d`, and a rate in other units."""
    details = TEXT.replace("rate 33Mbit ceil", "quantum 1514 rate 33000Kbit overhead 24 ceil")
    details = details.replace("rate 66Mbit", "quantum 3028 rate 0.066Gbit")
    details += "class fq_codel 9137:2a parent 9137:\n"  # a flow within a class
    assert shares(details, "bulk", "low-latency") == pytest.approx([1 / 3, 2 / 3])


def test_what_no_filter_takes_is_in_the_default_class() -> None:
    assert shares(TEXT, "scavenger", "low-latency", rate=67e6 / 8) == pytest.approx(
        [1 / 67, 66 / 67]
    )
    assert shares(TEXT, "", "best-effort") == pytest.approx([0.5, 0.5])
    assert shares(TEXT.replace("default 0x1", "default 0"), "", "bulk") is None


def test_beyond_what_is_assured_a_lower_turn_goes_first() -> None:
    early = TEXT.replace("prio 1 rate 33Mbit", "prio 0 rate 10Mbit").replace("66Mbit", "20Mbit")
    assert shares(early, "bulk", "low-latency", rate=90e6 / 8) == pytest.approx([7 / 9, 2 / 9])
    alike = early.replace("prio 0 rate 10Mbit", "prio 1 rate 10Mbit")
    assert shares(alike, "bulk", "low-latency", rate=90e6 / 8) == pytest.approx([1 / 3, 2 / 3])


def test_a_ceiling_and_what_a_path_carries_alone_leave_the_rest_to_others() -> None:
    low = TEXT.replace("rate 66Mbit ceil 100Mbit", "rate 19Mbit ceil 19Mbit")
    assert shares(low, "bulk", "low-latency") == pytest.approx([0.8, 0.2])
    limits = (inf, RATE / 10)
    assert shares(TEXT, "bulk", "low-latency", limits=limits) == pytest.approx([0.9, 0.1])


def test_bands_go_one_before_the_other() -> None:
    assert shares(BANDS, "bulk", "low-latency") == [0, 1]
    assert shares(BANDS, "bulk", "low-latency", limits=(inf, RATE / 4)) == [0.75, 0.25]
    assert shares(BANDS, "bulk", "scavenger") == [0.5, 0.5]
    assert shares(BANDS, "", "dscp26") == [1, 0]  # which the kernel takes for bulk


@pytest.mark.parametrize(
    "text",
    [
        "",
        QDISC,
        QDISC + FILTERS,
        CLASSES.replace("class htb 1:3", "class htb 1:3 dev e1") + FILTERS + QDISC,
        TEXT.replace("1:3 parent 1:fff", "1:3 parent 1:ffe"),
        "qdisc pfifo_fast 2: root bands 3 priomap 1 2 9 2 1 2 0 0 1 1 1 1 1 1 1 1",
        CLASSES.replace("rate 33Mbit", "rate much") + FILTERS + QDISC,
        TEXT + "class drr 2:1 root quantum 1514",
        QDISC + BANDS.splitlines()[1],  # of one class: which one these texts do not say
        BANDS + "qdisc prio 5: parent 1:1 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
        "qdisc fq_codel 0: root refcnt 2 limit 10240p flows 1024 quantum 1514",
    ],
)
def test_of_what_is_not_understood_nothing_is_said(text: str) -> None:
    assert shares(text, "bulk", "low-latency") is None


def test_a_filter_that_looks_at_more_takes_no_path() -> None:
    """What it says of addresses or ports may be of other packets."""
    more = TEXT.replace("  match 00b80000/00fc0000 at 0", "  match 00b80000/00fc0000 at 0\n"
                        "  match 00001389/0000ffff at nexthdr+0")  # fmt: skip
    assert shares(more, "bulk", "low-latency", rate=34e6 / 8) == pytest.approx([33 / 34, 1 / 34])


@pytest.mark.parametrize(("provider", "is_said"), [("net", True), ("shm", False)])
def test_a_text_that_is_attached(a2a: Run, tmp_path: Path, provider: str, is_said: bool) -> None:
    """The parts of a device in files of their own; the measured paths carry 2 : 1 : 1."""
    path = native_paths.write(tmp_path / "q.h5")
    with edited(path) as file:
        segment = file["segments/0"]
        segment.attrs["provider"] = provider
        for name in ("attachment_name", "attachment_text"):
            if name in segment:
                del segment[name]
        segment["attachment_name"] = ["qdisc.txt", "classes.txt", "filters.txt"]
        segment["attachment_text"] = [QDISC, CLASSES.replace("66Mbit", "33Mbit"), FILTERS]
    text = " ".join(a2a("explain", path).out.split())
    said = "by classes of tc 0.500, 0.250, 0.250: agree"
    assert (said in text) == is_said
