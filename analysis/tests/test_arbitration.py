# SPDX-License-Identifier: BSD-3-Clause
"""Tables of a port as texts: read, kept in their short form, and held against opensm.conf."""

from __future__ import annotations

import pytest

from a2aperf import arbitration
from a2aperf.arbitration import Arbitration, Reader
from conftest import DATA
from support.shared_link import MODIFIED


def test_tables_of_the_published_notes() -> None:
    found = arbitration.of_text((DATA / "qos-default.txt").read_text())
    assert found.sl2vl == (0, 1, 2, 3) * 4
    assert found.low == tuple((lane, 0x20) for lane in range(8))
    assert found.high == tuple((lane, 0) for lane in range(8))
    assert found.limit == 4
    assert arbitration.sums(found.high) == {}


def test_lines_of_opensm_conf() -> None:
    found = arbitration.of_text(MODIFIED)
    assert found.sl2vl == (0, 1, 2, 3) * 4
    assert found.high is not None
    assert found.low is not None
    assert arbitration.sums(found.high) == {0: 8 * 255}
    assert arbitration.sums(found.low) == {1: 7 * 128, 2: 64}
    assert found.limit == 255


@pytest.mark.parametrize("text", [MODIFIED, (DATA / "qos-default.txt").read_text()])
def test_the_short_form_says_the_same(text: str) -> None:
    found = arbitration.of_text(text)
    assert arbitration.of_settings(found.settings()) == found


def test_without_names_tables_say_the_same() -> None:
    text = (DATA / "qos-default.txt").read_text()
    made = arbitration.without_names("DR path slid 65535; dlid 65535; 0\n" + text)
    assert arbitration.of_text("\n".join(made)) == arbitration.of_text(text)
    assert not any("Lid" in line or "path" in line for line in made)


def test_tables_of_several_rows_and_twice() -> None:
    rows = (
        "# High priority VL Arbitration Table:\n"
        "VL    : |0x0 |0x1 |\nWEIGHT: |0x4 |0x8 |\nVL    : |0x2 |\nWEIGHT: |0xff|\n"
    )
    assert arbitration.of_text(rows).high == ((0, 4), (1, 8), (2, 255))
    assert arbitration.of_text(rows + rows).high == ((0, 4), (1, 8), (2, 255))


def test_lines_for_channel_adapters_stand_above_the_general_ones() -> None:
    for text in (
        "qos_high_limit 3\nqos_ca_high_limit 9\n",
        "qos_ca_high_limit 9\nqos_high_limit 3\n",
    ):
        assert arbitration.of_text(text).limit == 9
    assert arbitration.of_text("qos_swe_high_limit 9\n").limit is None


def test_what_opensm_writes_where_nobody_set_anything_says_nothing() -> None:
    """As its own file of defaults has them, below the general lines or above."""
    general = "qos_high_limit 0\nqos_vlarb_high 0:4,1:0\nqos_vlarb_low 0:0,1:4\nqos_sl2vl 0,1\n"
    unset = (
        "qos_ca_max_vls 0\nqos_ca_high_limit -1\nqos_ca_vlarb_high (null)\n"
        "qos_ca_vlarb_low (null)\nqos_ca_sl2vl (null)\n"
    )
    known = arbitration.of_text(general)
    assert known == Arbitration((0, 1), ((0, 4), (1, 0)), ((0, 0), (1, 4)), 0)
    for text in (general + unset, unset + general):
        reader = Reader()
        assert all(reader.line(line) for line in text.splitlines())
        assert (reader.found, reader.oddities) == (known, [])
    of_host = "qos_ca_vlarb_low 0:64,1:4\n"  # of one name alone
    for text in (general + of_host + unset, of_host + general):
        assert arbitration.of_text(text) == Arbitration((0, 1), known.high, ((0, 64), (1, 4)), 0)
    assert arbitration.of_text(unset.replace("_ca", "")) == Arbitration()


def test_what_is_not_understood_is_not_known_and_told() -> None:
    reader = Reader()
    for line in ("qos_vlarb_low 0:300", "qos_sl2vl 0,77", "qos_high_limit many"):
        assert reader.line(line)
    assert reader.found == Arbitration()
    assert len(reader.oddities) == 3
    assert not reader.line("Tests with default settings, VL 0 and SL 1")


def test_damaged_tables_are_told_or_notes() -> None:
    reader = Reader()
    assert reader.line("ports: in  0, out  0: | 0| 29 3|")
    assert (reader.found, len(reader.oddities)) == (Arbitration(), 1)
    assert reader.line("# Low priority VL Arbitration Table:")
    assert not reader.line("VL    : |0x0 |0xyz |")
    assert reader.line("VL    : |035 |")


def test_a_port_that_has_something_else_than_was_asked_for() -> None:
    reader = Reader()
    for line in ("qos_high_limit 255", "VLHighLimit:.....................4"):
        reader.line(line)
    assert reader.found.limit == 4
    assert reader.disagreements() == ["opensm.conf has vl_high_limit 255, the port 4"]
