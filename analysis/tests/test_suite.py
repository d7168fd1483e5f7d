# SPDX-License-Identifier: BSD-3-Clause
"""Interconnects side by side: the plan, and what is said of launches whose truth is known."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import halves, loading
from a2aperf.errors import InputError
from a2aperf.studies import interconnects, suited
from a2aperf.studies.interconnects import Interconnect
from a2aperf.suite import outcome, ranking
from a2aperf.suite.rounds import rounds_for
from conftest import Outcome
from support import native_open_loop, synthetic
from support.edited import edited
from support.native_open_loop import Loop
from support.synthetic import Effects, Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]

# Which ones ---------------------------------------------------------------------------------------

PROVIDERS = """\
libfabric 1.17.0

provider  full name    domain  endpoints      modes        inject  largest  link  NIC   NUMA
shm       shm          shm     RDM            msg tagged   4096 B  any      -     -     -
tcp       tcp;ofi_rxm  lo      MSG RDM        msg tagged   64 B    any      -     lo    -
tcp       tcp;ofi_rxm  eth0    MSG RDM        msg tagged   64 B    any      -     eth0  -
net       net          lo      MSG RDM        msg tagged   64 B    any      -     lo    -
psm2      psm2         hfi1_0  MSG            msg tagged   64 B    any      -     hfi1  -

not here:
  opx      Omni-Path, successor of psm2: no hfi1_* device in /sys/class/infiniband
"""


def test_names_of_interconnects() -> None:
    made = interconnects.named("tcp@eth0=1GigE,tcp@ib0,verbs@mlx4_0=IB,tcp,shm")
    assert [one.label for one in made] == ["1GigE", "tcp-ib0", "IB", "tcp", "shm"]
    assert made[0].options == ["--provider=tcp", "--nic=eth0"]
    assert made[4].options == ["--provider=shm"]
    assert interconnects.named(",".join(one.spelled for one in made)) == made


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tcp", "two or more"),
        ("", "expected PROVIDER"),
        ("tcp@eth0,tcp@=x", "expected PROVIDER"),
        ("tcp,shm=a b", "expected PROVIDER"),
        ("tcp=x,shm=x", "label 'x' is there twice"),
        ("tcp=a,tcp=b", "interconnect 'tcp' is there twice"),
    ],
)
def test_a_list_that_is_none(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        interconnects.named(text)


def test_what_a_node_offers() -> None:
    """Of each provider one interface, the loopback only where there is no other."""
    assert interconnects.offered(PROVIDERS, True) == [
        ("shm", "", ""), ("tcp", "eth0", ""), ("net", "lo", ""),
    ]  # fmt: skip
    assert [name for name, *_ in interconnects.offered(PROVIDERS, False)] == ["tcp", "net"]


# The plan -----------------------------------------------------------------------------------------

ACROSS = [Interconnect("a", "tcp", "eth0"), Interconnect("b", "shm"), Interconnect("c", "net")]
ASKED = suited.Request(ACROSS, suited.chosen(""), 6, 1, "", False, ())


def rows(asked: suited.Request) -> list[list[str]]:
    return [line.split("\t") for line in suited.rows(asked).splitlines()]


def test_each_round_has_every_launch_once_and_the_second_of_two_is_mirrored() -> None:
    keys = suited.chosen("")
    assert len(keys) >= 3
    made = rows(ASKED)
    by_round: dict[str, dict[str, list[str]]] = {}
    for label, _, turn, words in made:
        by_round.setdefault(turn, {}).setdefault(words.split()[0], []).append(label)
    assert list(by_round) == [str(turn) for turn in range(6)]
    for turn, of in by_round.items():
        assert sorted(of) == sorted(keys)
        assert all(sorted(labels) == ["a", "b", "c"] for labels in of.values())
        if int(turn) % 2:
            before = by_round[str(int(turn) - 1)]
            assert all(of[key] == before[key][::-1] for key in keys)
    orders = {tuple(of[key]) for of in by_round.values() for key in keys}
    assert len(orders) > 2
    assert suited.rows(ASKED) == suited.rows(ASKED) != suited.rows(replace(ASKED, seed=2))


def test_settings_and_sizes_of_a_row() -> None:
    asked = replace(ASKED, sizes="8,1KiB", passed=["--ops", "7", "--poll=yield"])
    for label, settings, _, words in rows(asked):
        own = next(one for one in ACROSS if one.label == label)
        assert settings == ";".join(own.options)  # none has one itself
        assert words.split().count("--sizes=8,1KiB") == 1
        assert "--ops" not in words
    assert any("--ops=" in row[3] for row in rows(ASKED))


def test_a_layer_over_a_provider_is_part_of_its_name() -> None:
    (layered, _) = across = interconnects.named("tcp;ofi_rxm@lo=rxm,shm")
    assert layered.options == ["--provider=tcp;ofi_rxm", "--nic=lo"]
    settings = {label: words for label, words, *_ in rows(replace(ASKED, across=across))}
    assert settings == {"rxm": r"--provider=tcp\;ofi_rxm;--nic=lo", "shm": "--provider=shm"}


@pytest.mark.parametrize(
    "given", ["--duration 50ms", "--ops=7", "-i 7", "-i7", "--precision 1%", "--config run.toml"]
)
def test_a_length_that_is_given_stands_instead_of_any_other(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text('sync = "none"\n ops = 7 # few\n', encoding="utf-8")
    asked = replace(ASKED, passed=given.split())
    assert not any("--ops=" in words or "--duration=" in words for *_, words in rows(asked))


def test_an_open_loop_is_one_of_the_set_at_one_rate() -> None:
    own = [words.split() for _, _, _, words in rows(ASKED) if words.startswith("open-loop ")]
    assert len(own) == ASKED.launches * len(ACROSS)
    assert all(words.count("--rate=10k") == 1 for words in own)
    passed = rows(replace(ASKED, passed=["--rate=1k"]))
    assert not any("--rate=10k" in words for *_, words in passed)


def test_a_folder_keeps_its_plan(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    made = suited.prepare(ASKED, folder)
    text = made.rows.read_text()
    assert suited.before(folder) == ACROSS
    again = suited.prepare(ASKED, folder)
    assert again.fresh == ()
    again.undo()
    assert made.rows.read_text() == text
    with pytest.raises(InputError, match="another suite"):
        suited.prepare(replace(ASKED, launches=7), folder)
    made.undo()
    assert not folder.exists()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": "x"}', "\0"])
def test_a_damaged_plan_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / suited.NAME).write_text(text)
    with pytest.raises(InputError, match="no plan of interconnects"):
        suited.prepare(ASKED, tmp_path)


def test_how_many_launches_it_takes() -> None:
    assert [rounds_for(count) for count in (2, 3, 5, 8)] == [5, 6, 7, 8]
    assert suited.launches_for(3, True) == 7
    assert suited.launches_for(3, False) == suited.LAUNCHES


def test_workloads_that_are_not_there() -> None:
    with pytest.raises(InputError, match="'ring': expected"):
        suited.chosen("ring")
    with pytest.raises(InputError, match="twice"):
        suited.chosen(",".join(suited.chosen("")[:1] * 2))


# What is said -------------------------------------------------------------------------------------

SIZES = (1000, 8000, 60000)
QUICK = Setup(nodes=2, ppn=1, sizes=SIZES, ops=20, sync="barrier", provider="tcp",
              effects=Effects(launch_spread=0.01, noise=0.01))  # fmt: skip
TRUTH = {
    # T = α + (R−1)(o + B·g): the first is ahead at 1000 B, the second at 60000 B.
    "latency": replace(QUICK, alpha_ns=2_000.0, port_gbps=10.0),
    "bandwidth": replace(QUICK, alpha_ns=20_000.0, port_gbps=80.0, provider="verbs"),
    "slow": replace(QUICK, alpha_ns=40_000.0, port_gbps=5.0, provider="net"),
}


def study(folder: Path, truth: dict[str, Setup], launches: int = 6, without: int = 0) -> Path:
    """In the order of a plan of one workload."""
    across = [Interconnect(name, "tcp", name) for name in truth]
    asked = suited.Request(across, suited.chosen("")[:1], launches, 3, "", False, ())
    folder.mkdir()
    for number, (label, *_) in enumerate(rows(asked)[without:]):
        one = truth[label]
        synthetic.write_launch(
            folder / f"{number:03}.h5",
            replace(one, seed=number, labels={ranking.LABEL: label},
                    started=one.started + timedelta(minutes=number)),
        )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("suite") / "known", TRUTH)


@pytest.fixture(scope="module")
def told(known: Path) -> dict[str, Any]:
    made = outcome.judge(loading.load(sorted(known.glob("*.h5"))))
    return dict(json.loads(outcome.as_json(made)))


def test_the_ranking_and_the_crossing_are_found(told: dict[str, Any]) -> None:
    cells = {one["message_size"]: one["interconnects"] for one in told["workloads"][0]["cells"]}
    places = {size: {name: (x["best_place"], x["worst_place"]) for name, x in of.items()}
              for size, of in cells.items()}  # fmt: skip
    assert places[1000] == {"latency": (1, 1), "bandwidth": (2, 2), "slow": (3, 3)}
    assert places[60000] == {"latency": (2, 2), "bandwidth": (1, 1), "slow": (3, 3)}
    assert all(x["launches"] == 6 for of in cells.values() for x in of.values())
    crossed = told["workloads"][0]["crossovers"]
    assert [sorted(one["between"]) for one in crossed] == [["bandwidth", "latency"]]
    assert crossed[0]["sizes"][0] >= 1000
    assert crossed[0]["sizes"][1] <= 60000
    leading = {size: one["leading"] for one in told["workloads"][0]["recommendations"]
               for size in one["sizes"]}  # fmt: skip
    assert (leading[1000], leading[60000]) == (["latency"], ["bandwidth"])


def test_the_words(known: Path, a2a: A2A, tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    told = a2a("suite", known, "--plot", picture).out.replace("\xa0", " ")
    assert "latency ahead of slow at every size" in told
    assert "they cross between" in told
    assert re.search(
        r"take at 1 kB to 8 kB: latency, ahead of every other, by \d+ % where it is least "
        r"\(intervals from \d+ %\)",
        " ".join(told.split()),
    )  # an estimate bounds nothing: not 'or more'
    assert "rests on 6 launches of each" in told
    assert "CPU s/GB" in told
    assert "node CPU s/GB" in told
    assert "node CPU s/s" in told
    assert "1 CPU s/s: one CPU that was busy all the time" in told
    assert "node CPU is what all CPUs of the nodes were busy with" in told
    ET.parse(picture)


def test_settings_are_told_apart_as_they_were_asked_for(a2a: A2A, tmp_path: Path) -> None:
    two = {name: TRUTH[name] for name in ("latency", "slow")}
    short = {name: replace(one, modes=("tagged", "write-imm"), sizes=SIZES[:1])
             for name, one in two.items()}  # fmt: skip
    folder = study(tmp_path / "modes", short)
    told = a2a("suite", folder).out.replace("\xa0", " ")
    for mode in ("tagged", "write-imm"):
        assert f"\nmode {mode}: latency ahead of slow at every size" in told
        assert f"take at 1 kB, mode {mode}: latency" in told
    cell = ranking.Cell("measure", 8, (("window", 0), ("mode", "tagged"), ("chunk", None)))
    assert cell.setting == "window all, mode tagged, chunk -"


def test_the_cost_is_that_of_the_counters(known: Path, told: dict[str, Any]) -> None:
    """Every rank sends to all others in each op."""
    found = loading.load(sorted(known.glob("*.h5")))
    own = {key for key, one in found.launches.items() if one.labels[ranking.LABEL] == "slow"}
    cell = told["workloads"][0]["cells"][0]
    here = found.points[(found.points["message_size"] == cell["message_size"])
                        & found.points["launch"].isin(list(own))]  # fmt: skip
    costs = []
    for row in here.itertuples():
        counters = found.counters(str(row.file), int(row.point))
        assert counters is not None
        spent = sum(counters.per_rank[x].sum() for x in ("user_time", "system_time"))
        moved = int(row.attempts) * row.ranks * (row.ranks - 1) * cell["message_size"]
        costs.append(float(spent) / moved)
    assert len(costs) == 6
    cpu = cell["interconnects"]["slow"]["per_gb"]["cpu"]
    assert cpu["median"] == pytest.approx(float(np.median(costs)))
    assert (cpu["least"], cpu["most"]) == pytest.approx((min(costs), max(costs)))


def test_the_node_and_the_ranks_beside_each_other(told: dict[str, Any]) -> None:
    """Of ranks that poll nine tenths of a CPU each, and somebody else one CPU of each node."""
    setup = TRUTH["slow"]
    for cell in told["workloads"][0]["cells"]:
        spent = cell["interconnects"]["slow"]["per_second"]
        assert spent["cpu"]["median"] == pytest.approx(0.9 * setup.ranks, rel=1e-3)
        whole = (0.9 * setup.ppn + 1.0) * setup.nodes
        assert spent["node_cpu"]["median"] == pytest.approx(whole, rel=1e-3)
        assert {"switches", "interrupts", "softirqs"} <= spent.keys()
        per_gb = cell["interconnects"]["slow"]["per_gb"]
        assert per_gb["node_cpu"]["median"] > per_gb["cpu"]["median"]
        assert "resident" in per_gb
        assert "resident" not in spent


def test_files_of_an_older_program_have_costs_of_a_gigabyte_alone(a2a: A2A, tmp_path: Path) -> None:
    folder = study(tmp_path / "older", {name: TRUTH[name] for name in ("latency", "slow")}, 5)
    for path in folder.glob("*.h5"):
        with edited(path) as file:
            for name in [one for one in file["counters"] if "node_" in one or "wall" in one]:
                del file["counters"][name]
            file["counters/interrupts"][...] = -1  # the driver has none
    said = a2a("suite", folder).out
    assert "CPU s/GB" in said
    assert "node CPU" not in said
    assert "switches/s" not in said
    assert "interrupts/" not in said
    assert "for a second" not in said
    told = json.loads(a2a("suite", folder, "--json").out)
    spent = told["workloads"][0]["cells"][0]["interconnects"]["slow"]
    assert "cpu" in spent["per_gb"]
    assert "node_cpu" not in spent["per_gb"]
    assert spent["per_second"] == {}


def test_few_launches_rank_nothing_and_say_how_many_it_takes(a2a: A2A, tmp_path: Path) -> None:
    told = a2a("suite", study(tmp_path / "few", TRUTH, 5))
    few = "from 5 launches over each of 3 interconnects nothing can be decided: it takes 6"
    assert f"note: alltoall: {few}" in told.out
    assert "ahead of" not in told.out
    assert "nobody is decided to be behind" in told.out


def test_an_interval_that_tells_nothing_is_not_shown(tmp_path: Path) -> None:
    """Of two launches that are unlike it spans orders of magnitude."""
    wide = replace(QUICK, effects=Effects(launch_spread=0.7, noise=0.01))
    files = sorted(study(tmp_path / "wide", {"one": wide, "other": QUICK}, 2).glob("*.h5"))
    made = outcome.judge(loading.load(files))
    head = [one.heading for one in made.parts[0].table.columns]
    rows = [{name: cell.text for name, cell in zip(head, row, strict=True)}
            for row in made.parts[0].table.rows]  # fmt: skip
    shown = {row["interconnect"]: row["95 % interval"] for row in rows}
    assert "to" not in shown["one"]
    assert "to" in shown["other"]


def test_a_rate_that_an_interconnect_does_not_keep_is_told(tmp_path: Path) -> None:
    """Its latencies are no property of it."""
    for which, (name, rate) in enumerate((("slow", 200_000), ("fast", 50_000))):
        for number in range(2):
            path = tmp_path / f"{name}{number}.h5"
            loops = [Loop(rate, size) for size in (64, 4096, 8192)]
            native_open_loop.write(path, [*loops[:2], replace(loops[2], rate=50_000)])
            with edited(path) as file:
                file["rate"][...] = 10_000
                file["segments/0"].attrs["time_origin"] += (2 * which + number) * 10**11
                labels = {"label_name": [ranking.LABEL], "label_value": [name]}
                for key, values in labels.items():
                    if key in file["segments/0"]:
                        del file["segments/0"][key]
                    file["segments/0"][key] = values
    made = outcome.judge(loading.load(sorted(tmp_path.glob("*.h5"))))
    told = [note for note in made.notes if "was not kept" in note]
    assert [note.replace("\xa0", " ") for note in told] == [
        "open-loop over slow: at 64 B and 4 KiB the rate was not kept in 2 of 2 launches, where "
        "latencies grow with the length of a point"
    ]


def test_equal_ones_are_no_different_or_undecided(tmp_path: Path) -> None:
    same = {name: replace(QUICK, seed=9) for name in ("one", "other")}
    found = loading.load(sorted(study(tmp_path / "same", same, 8).glob("*.h5")))
    made = outcome.judge(found)
    text = "\n".join(outcome.lines(made))
    assert "ahead of" not in text
    assert all(not part.advice for part in made.parts)


def test_all_launches_are_used_and_a_missing_one_is_seen(a2a: A2A, tmp_path: Path) -> None:
    told = json.loads(a2a("suite", study(tmp_path / "x", TRUTH, 8, without=1), "--json").out)
    for cell in told["workloads"][0]["cells"]:
        assert sorted(x["launches"] for x in cell["interconnects"].values()) == [7, 8, 8]


def test_a_damaged_file_of_a_folder_is_left_out_and_told(a2a: A2A, tmp_path: Path) -> None:
    folder = study(tmp_path / "x", TRUTH, 8)
    broken = sorted(folder.glob("*.h5"))[0]
    broken.write_bytes(broken.read_bytes()[:5000])
    outcome_of = a2a("suite", folder, "--json")
    assert outcome_of.status == 3
    assert outcome_of.err.startswith("a2a: left out: ") and broken.name in outcome_of.err
    for cell in json.loads(outcome_of.out)["workloads"][0]["cells"]:
        assert sorted(x["launches"] for x in cell["interconnects"].values()) == [7, 8, 8]


def test_files_that_say_nothing_of_interconnects(a2a: A2A, tmp_path: Path) -> None:
    path = synthetic.write_launch(tmp_path / "a.h5", QUICK)
    outcome_of = a2a("suite", path)
    assert outcome_of.status == 2
    assert "--label interconnect=NAME" in outcome_of.err


@pytest.mark.parametrize(
    "words",
    [("x.h5", "-n", "2"), ("x.h5", "--across", "shm,tcp"), ("-n", "2", "--json"), ()],
)
def test_one_use_at_a_time(a2a: A2A, words: tuple[str, ...]) -> None:
    outcome_of = a2a("suite", *words)
    assert outcome_of.status == 2
    assert len(outcome_of.err.splitlines()) == 1


# What contradicts itself --------------------------------------------------------------------------


def test_a_rate_above_the_link_is_pointed_out(a2a: A2A, tmp_path: Path) -> None:
    fast = {name: replace(one, link_rate_gbps=1.0) for name, one in TRUTH.items()}
    told = json.loads(a2a("suite", study(tmp_path / "fast", fast), "--json").out)
    assert any("faster than its link" in one for one in told["contradictions"])


def test_no_rate_above_the_link_no_contradiction(told: dict[str, Any]) -> None:
    assert told["contradictions"] == []


def test_halves_on_two_nodes(known: Path) -> None:
    found = loading.load([sorted(known.glob("*.h5"))[0]])
    points = found.points.assign(gbps=[1.0, 2.0, 200.0], link_rate_gbps=100.0, rails=1)
    told = list(halves.above_link(found, points))
    assert len(told) == 1
    assert "200 Gbit/s from one node to the other at 60\xa0kB" in told[0]
    launch = next(iter(found.launches.values()))
    assert halves.are_apart(launch)
    one_node: Any = replace(launch, node_of_rank=launch.node_of_rank * 0)
    assert not halves.are_apart(one_node)


def test_one_label_over_two_providers_is_told(a2a: A2A, tmp_path: Path) -> None:
    folder = study(tmp_path / "mixed", TRUTH)
    odd = next(path for path in sorted(folder.glob("*.h5"))
               if loading.load([path]).points["provider"].iloc[0] == "tcp")  # fmt: skip
    with edited(odd) as file:
        file["segments/0"].attrs["provider"] = "net"
        file["provider"][...] = "net"
    told = a2a("suite", folder).out
    assert "its launches went over different providers (net and tcp)" in told


# The page -----------------------------------------------------------------------------------------


def test_the_report_has_them(a2a: A2A, tmp_path: Path) -> None:
    """Adapters of different kinds are no different clusters here, and nothing else is compared."""
    truth = {name: replace(one, node_facts={"nic_driver": name}) for name, one in TRUTH.items()}
    page = tmp_path / "page.html"
    folder = study(tmp_path / "study", truth)
    assert a2a("report", folder, "-o", page).status == 0
    text = page.read_text().replace("\xa0", " ")
    assert '<section id="interconnects">' in text
    assert "Latency ahead of slow at every size" in text
    assert "Take at 60 kB: bandwidth" in text
    assert '<section id="comparison">' not in text
