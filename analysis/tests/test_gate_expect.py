# SPDX-License-Identifier: BSD-3-Clause
"""`a2a gate --expect link`: ceilings whose answer is known, and factors that nobody knows."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import link_rate, loading
from a2aperf.gating import ceiling, given
from a2aperf.gating.ceiling import Shape
from conftest import Outcome
from support import synthetic
from support.synthetic import Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
PCIE = {"nic_pcie_width": "16", "nic_pcie_speed": "8.0 GT/s PCIe", "nic_mtu": "8192"}
OMNI_PATH = Setup(ops=20, sizes=(1000, 60000), node_facts=PCIE)
TOPOLOGY = "SwitchName=a Level=0 Nodes=node[001-003]\nSwitchName=b Level=0 Nodes=node[004-006]\n"


def checks(a2a: A2A, file: Path, expect: str) -> tuple[int, dict[str, dict[str, Any]]]:
    outcome = a2a("gate", file, "--expect", expect, "--json")
    made = json.loads(outcome.out)
    assert outcome.status == made["status"]
    return outcome.status, {one["check"]: one for one in made["checks"]}


def test_rates_are_read_as_the_program_reads_them() -> None:
    table = Path(__file__).parents[2] / "test/unit/config/rates.inc"
    examples = re.findall(r'^\{"(.*)", (.*)\},$', table.read_text(), re.MULTILINE)
    assert len(examples) > 30
    for text, gbps in examples:
        wanted = pytest.approx(float(gbps)) if float(gbps) else None
        assert link_rate.rate_of(text) == wanted, text


def test_every_factor_has_its_bound_and_its_source(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "a.h5", OMNI_PATH)
    status, made = checks(a2a, file, "link,least=50%")
    assert status == 0 and set(made) == {"link", "framing", "pcie", "expected"}
    known = {"link": 100.0, "framing": 100 * 8192 / 8252, "pcie": 16 * 8 * 128 / 130}
    for name, gbps in known.items():
        assert made[name]["ceiling_gbps"] == pytest.approx(gbps)
        assert made[name]["measured"] == pytest.approx(made[name]["gbps"] / gbps)
        assert "the file" in made[name]["why"]
        # A bound from above is not judged: a tenth of it is no fault, and no proof of health.
        assert (made[name]["verdict"], made[name]["status"]) == ("bound", None)
    assert made["expected"]["verdict"] == "ok"
    assert made["expected"]["ceiling_gbps"] == pytest.approx(known["framing"])
    # 2 of the 7 peers of 8 ranks on 4 nodes: one is on the same node.
    assert "86 % of what each of 2 ranks sends leaves the node" in made["expected"]["why"]
    stated = replace(OMNI_PATH, attributes={"asked_link_rate": 100.0}, seed=2)
    other = synthetic.write_launch(tmp_path / "b.h5", stated)
    why = checks(a2a, other, "link,least=50%")[1]["link"]["why"]
    assert "100 Gbit/s, as stated with --link-rate" in why and "the file" not in why
    both = json.loads(a2a("gate", file, other, "--expect", "link", "--json").out)
    (why,) = [one["why"] for one in both["checks"] if one["check"] == "link"]
    assert "the file, in some launches as stated with --link-rate" in why
    status, made = checks(a2a, file, "link,least=100%")
    assert status == 2 and made["expected"]["verdict"] == "critical"
    status, made = checks(a2a, file, "link,rate=50")
    assert status == 3 and "one of the factors is wrong" in made["expected"]["why"]


@pytest.mark.parametrize(
    ("setup", "lacking", "gives"),
    [
        (replace(OMNI_PATH, link_rate_gbps=float("nan")), ["link", "framing"], "rate=100,mtu=8192"),
        (replace(OMNI_PATH, node_facts={**PCIE, "nic_mtu": ""}), ["framing"], "mtu=8192"),
        (replace(OMNI_PATH, node_facts={"nic_mtu": "8192"}), ["pcie"], "pcie=none"),
        (replace(OMNI_PATH, provider="cxi"), ["framing"], "headers=60"),
        (replace(OMNI_PATH, nodes=1), ["memory"], ""),
    ],
)
def test_what_is_not_known_is_never_ok(
    a2a: A2A, tmp_path: Path, setup: Setup, lacking: list[str], gives: str
) -> None:
    file = synthetic.write_launch(tmp_path / "a.h5", setup)
    status, made = checks(a2a, file, "link,least=1%")
    assert status == 3
    assert [name for name, one in made.items() if one["verdict"] == "unknown"] == [
        *lacking, "expected"
    ]  # fmt: skip
    for name in lacking:
        assert name in made["expected"]["why"] and made[name]["measured"] is None
    if not gives:
        status, made = checks(a2a, file, "link,least=1%,memory=100")
        assert status == 0 and made["memory"]["ceiling_gbps"] == pytest.approx(8 * 50 / 2)
        return
    status, made = checks(a2a, file, f"link,least=50%,{gives}")
    assert status == 0, made
    assert made["expected"]["ceiling_gbps"] == pytest.approx(100 * 8192 / 8252)


def shape(**of: Any) -> Shape:
    one = {"provider": "tcp", "ranks": 8, "nodes": 4, "ppn": 2, "rails": 1.0, "rate": 100.0}
    return Shape(**{**one, "launches": [], **of})


@pytest.mark.parametrize(
    ("of", "told", "name", "gbps"),
    [
        ({}, "mtu=9000", "framing", 100 * 8948 / 9038),
        ({"rails": 2.0}, "mtu=1500", "framing", 200 * 1448 / 1538),
        ({}, "mtu=4096,headers=26", "framing", 100 * 4096 / 4122),
        ({"rails": 2.0}, "pcie=63", "pcie", 126.0),
        ({"rails": np.nan}, "rate=100,rails=2", "link", 200),
        ({"rails": 1.0}, "rails=2,pcie=63", "pcie", 126.0),
        # Two leaves of two nodes: 2 of 3 peers are beyond, through half the links.
        ({}, "mtu=9000,headers=0,taper=2:1,leaf=2", "taper", 100 / (2 * 2 / 3)),
        # A leaf of sixteen with four nodes in use: nothing goes beyond it.
        ({}, "mtu=9000,headers=0,taper=2:1,leaf=16", "taper", float("inf")),
        # Each byte is read and written: of 80 GB/s 40 are copied, by 8 ranks to 7 others.
        ({"nodes": 1, "ppn": 8}, "memory=80,copies=1", "memory", 8 * 40 / 8),
        ({"nodes": 1, "ppn": 8, "provider": "shm"}, "memory=80GB/s,copies=2", "memory", 8 * 20 / 8),
    ],
)
def test_known_ceilings(of: dict[str, Any], told: str, name: str, gbps: float) -> None:
    wanted = given.read(f"link,{told}")
    assert wanted
    (found,) = [one for one in ceiling.factors(shape(**of), wanted) if one.name == name]
    assert found.gbps == pytest.approx(gbps), found
    assert "as given" in found.source


def test_what_is_lacking_is_asked_for_and_not_what_is_given() -> None:
    """A rate alone is no help where nobody knows how many adapters a node uses."""
    for told, lacking in (
        ("rate=100", "how many adapters a node uses is not recorded: rails=… gives it"),
        ("rails=2", "no rate of every link is recorded: rate=… gives it"),
    ):
        wanted = given.read(f"link,pcie=63,{told}")
        assert wanted
        of = {"rails": np.nan, "rate": np.nan}
        made = {one.name: one for one in ceiling.factors(shape(**of), wanted)}
        assert np.isnan(made["link"].gbps)
        assert made["link"].source == lacking
        assert np.isnan(made["pcie"].gbps) == (told == "rate=100")
    wanted = given.read("link,rate=100,mtu=9000,headers=26")
    assert wanted
    made_of = ceiling.factors(shape(rails=np.nan), wanted)
    (framing,) = [one for one in made_of if one.name == "framing"]
    assert framing.source.startswith("the number of links is not known; 99.71 % is payload")
    assert made["pcie"].source == "2 rails (as given) of 63 Gbit/s, as given"


def test_a_taper_of_a_link_whose_rate_is_not_known_is_not_known() -> None:
    wanted = given.read("link,rate=100,taper=2:1,leaf=2")
    assert wanted
    made = {one.name: one for one in ceiling.factors(shape(), wanted)}
    assert np.isnan(made["framing"].gbps) and np.isnan(made["taper"].gbps)
    assert made["taper"].source.startswith("what a link carries of payload is not known; 2 to 1")
    framed = given.read("link,mtu=9000,headers=26")
    assert framed
    made = {one.name: one for one in ceiling.factors(shape(rate=np.nan), framed)}
    assert np.isnan(made["framing"].gbps)
    assert made["framing"].source.startswith("the link's rate is not known; 99.71 % is payload")


@pytest.mark.parametrize(
    ("asked", "payload"),
    [("4096", 4096), ("5", 4096), ("0x800", 2048), ("10240", 8192), ("9000", 8192), ("", 8192)],
)
def test_the_mtu_of_psm2_may_be_lowered(tmp_path: Path, asked: str, payload: int) -> None:
    """By a number of B or libpsm2's number for it; what is neither is 8192 to it."""
    setup = replace(OMNI_PATH, environment={"PSM2_MTU": asked})
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)])
    wanted = given.read("link,mtu=8192")
    assert wanted
    of = shape(provider="psm2", launches=list(found.launches.values()))
    (framing,) = [one for one in ceiling.factors(of, wanted) if one.name == "framing"]
    assert framing.gbps == pytest.approx(100 * payload / (payload + 60))
    assert ("PSM2_MTU makes" in framing.source) == (payload < 8192)


def test_switches_that_a_job_has_noted(a2a: A2A, tmp_path: Path) -> None:
    """Three nodes on a leaf, of four in use: three below one, one below the other."""
    setup = replace(OMNI_PATH, attachments={"job-1.txt": TOPOLOGY})
    file = synthetic.write_launch(tmp_path / "a.h5", setup)
    _, made = checks(a2a, file, "link,taper=2,least=1%")
    # Three nodes share 1.5 links, for a third of what they send; one alone has 1.5 for all of it.
    framed = 100 * 8192 / 8252
    assert made["taper"]["ceiling_gbps"] == pytest.approx(1.5 * framed)
    assert "2 leaves, the file" in made["taper"]["why"]
    setup = replace(OMNI_PATH, seed=1)
    file = synthetic.write_launch(tmp_path / "b.h5", setup)
    status, made = checks(a2a, file, "link,taper=2,least=1%")
    assert status == 3 and "which nodes share a switch" in made["taper"]["why"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cable", "expected link, such as"),
        ("link,speed=3", "unknown 'speed=3': expected one of least, rate, rails, mtu"),
        ("link,rate=fast", "rate=fast: expected the rate of one link, such as 100Gbit/s"),
        ("link,rate=1,rate=2", "rate is given twice"),
        ("link,least=120%", "expected the share of the ceiling"),
        ("link,taper=1:2", "expected ports down to ports up"),
        ("link,mtu=0", "such as 9000"),
        ("link,memory=0", "such as 100GB/s"),
    ],
)
def test_refusals(a2a: A2A, tmp_path: Path, text: str, said: str) -> None:
    outcome = a2a("gate", tmp_path / "a.h5", "--expect", text)
    assert outcome.status == 3 and not outcome.out
    assert said in outcome.err and outcome.err.count("\n") == 1


def test_a_factor_that_is_exceeded_is_never_ok(a2a: A2A, tmp_path: Path) -> None:
    """Also where another one is lacking, and nothing is said of the sum."""
    file = synthetic.write_launch(tmp_path / "a.h5", replace(OMNI_PATH, provider="cxi"))
    status, made = checks(a2a, file, "link,least=1%,memory=1GB/s")
    assert status == 3 and made["expected"]["measured"] is None
    assert made["memory"]["verdict"] == "unknown" and made["memory"]["measured"] > 1.02
    assert made["memory"]["why"].endswith("more than there can be, so this is wrong")
    assert made["link"]["verdict"] == "bound"


def test_a_bound_is_no_check_in_the_sum_and_for_monitors(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic.write_launch(tmp_path / "a.h5", OMNI_PATH)
    xml, prom = tmp_path / "a.xml", tmp_path / "a.prom"
    expect = ("--expect", "link,least=1%,pcie=none")
    outcome = a2a("gate", file, *expect, "--junit", xml, "--prometheus", prom)
    head, *rows = outcome.out.splitlines()
    assert head == "OK: 1 ok of 1 check; one launch: only limits are checked"
    assert [row.split()[:2] for row in rows] == [
        ["bound", "link"], ["bound", "framing"], ["bound", "pcie"], ["ok", "expected"]
    ]  # fmt: skip
    suite = ET.fromstring(xml.read_text("utf-8"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("4", "0", "3")
    text = prom.read_text("utf-8")
    assert re.findall(r'check_status{.*check="(\w+)"', text) == ["expected"]
    assert re.findall(r'check_limit{.*check="(\w+)"', text) == ["link", "framing", "expected"]
