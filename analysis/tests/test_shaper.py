# SPDX-License-Identifier: BSD-3-Clause
"""What `tc` says of the shares of paths: texts as it prints them."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import h5py
import pytest

from a2aperf import arbitration, shaper
from conftest import DATA, Outcome
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
        TEXT + "filter parent 1: protocol all pref 9 fw chain 0 handle 0x1 classid 1:2 ",
        TEXT + "filter parent 1: protocol ip pref 9 flower chain 0 ",
        TEXT + "filter parent 1: protocol ipv6 pref 9 u32 chain 0 order 2048 *flowid 1:2 ",
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


LABEL = "the label weights 0.333, 0.333, 0.333"


def _as_read(path: Path, provider: str = "net", **change: object) -> None:
    """What the launch itself read of e0, by which all paths leave their node."""
    with edited(path) as file:
        segment = file["segments/0"]
        segment.attrs["provider"] = provider
        read = "$ tc class show dev e0\n" + QDISC + CLASSES.replace("66Mbit", "33Mbit") + FILTERS
        facts = {"nic": ["e0", "e0"], "nic_arbitration": [read, ""], **change}
        for name in ("nic", "nic_arbitration"):
            if name in segment["node_facts"]:
                del segment[f"node_facts/{name}"]
            segment[f"node_facts/{name}"] = facts[name]
        file["paths/port"][...] = [facts.get("port", "e0")] * 6
        file["paths/destination"][...] = facts.get("destination", [1] * 6)


@pytest.mark.parametrize(
    ("change", "is_said"),
    [
        ({}, True),
        ({"provider": "shm"}, False),
        ({"port": "e1"}, False),  # they leave by another adapter
        ({"destination": [1, 1, 0, 1, 1, 0]}, False),  # what stays on the node does not leave it
        ({"nic_arbitration": ["", QDISC + CLASSES + FILTERS]}, False),  # of the receiving node
    ],
)
def test_what_the_launch_read_of_the_port(
    a2a: Run, tmp_path: Path, change: dict[str, Any], is_said: bool
) -> None:
    path = native_paths.write(tmp_path / "q.h5")
    _as_read(path, **change)
    text = " ".join(a2a("explain", path).out.split())
    assert ("by classes of tc 0.500, 0.250, 0.250: agree" in text) == is_said


def test_what_is_given_stands_above_what_the_launch_read(a2a: Run, tmp_path: Path) -> None:
    path = native_paths.write(tmp_path / "q.h5")
    _as_read(path)
    with edited(path) as file:
        segment = file["segments/0"]
        for name in ("label_name", "label_value"):
            if name in segment:
                del segment[name]
        segment["label_name"] = ["weights"]
        segment["label_value"] = ["low-latency:1,bulk:2"]
    text = " ".join(a2a("explain", path).out.split())
    assert LABEL in text
    assert "classes of tc" not in text


def test_tables_of_a_port_that_the_launch_read(a2a: Run, tmp_path: Path) -> None:
    path = native_paths.write(tmp_path / "q.h5")
    tables = (DATA / "qos-default.txt").read_text()
    read = "\n".join(arbitration.without_names(tables))
    _as_read(path, "psm2", port="hfi1_0/1", nic=["hfi1_0"] * 2, nic_arbitration=[read, read])
    with edited(path) as file:
        del file["paths/class_requested"]
        file["paths/class_requested"] = ["sl0", "sl1", "sl1"] * 2
    assert "by SL2VL and VLArb 0.500, 0.250, 0.250: agree" in " ".join(
        a2a("explain", path).out.split()
    )


def test_a_long_fact_is_told_in_one_line(a2a: Run, tmp_path: Path) -> None:
    one, other = (native_paths.write(tmp_path / name) for name in ("a.h5", "b.h5"))
    _as_read(one)
    _as_read(other, nic_arbitration=[QDISC, ""])
    told = a2a("compare", one, other).out + a2a("report", one, "-o", tmp_path / "r.html").out
    shown = told + (tmp_path / "r.html").read_text()
    assert re.search(r"nic.arbitration", shown)
    assert "lines, CRC-32 " in shown
    assert "direct_packets_stat" not in shown


@pytest.mark.parametrize("text", [TEXT, BANDS, QDISC, TEXT + "class drr 2:1 root quantum 1514 ",
                                  TEXT + "filter parent 1: protocol ip pref 9 flower chain 0 ",
                                  BANDS + "qdisc fq 5: parent 1:1 limit 10000p "])  # fmt: skip
def test_without_names_it_says_the_same(text: str) -> None:
    made = "\n".join(shaper.without_names(text.replace("htb 1:2 ", "htb 1:2 dev e0 ")))
    assert shaper.of_text(made) == shaper.of_text(text)
    assert "e0" not in made and "0a4d0002" not in made


def test_an_anonymised_copy_says_the_same_of_shares(a2a: Run, tmp_path: Path) -> None:
    path = native_paths.write(tmp_path / "q.h5")
    _as_read(path)
    copy = tmp_path / "copy.h5"
    assert a2a("export", path, "--anonymize", "-o", copy).status == 0
    assert "by classes of tc 0.500, 0.250, 0.250: agree" in " ".join(
        a2a("explain", copy).out.split()
    )
    with h5py.File(copy) as file:
        assert "0a4d0002" not in file["segments/0/node_facts/nic_arbitration"].asstr()[0]
