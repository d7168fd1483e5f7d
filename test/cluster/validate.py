#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes what is measured in docs/validation.md, and its figure, anew, from the tests of this folder.

    analysis/.venv/bin/python test/cluster/validate.py            measures, in some twelve minutes, and writes
    analysis/.venv/bin/python test/cluster/validate.py --draw     writes from the last measurement

Root, for the clusters; the built program; and the package a2a with its dependencies, for the figure
(analysis/run-checks.sh makes that environment). Nothing else should run meanwhile.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from a2aperf import style

TOP = Path(__file__).resolve().parents[2]
RESULTS = TOP / "build" / "validation.xml"
FIGURE = TOP / "docs" / "figures" / "validation.svg"
PAGE = TOP / "docs" / "validation.md"
LAUNCHES = TOP / "build" / "validation-psm2"
COMPARISON = TOP / "build" / "validation-psm2.json"
A_SIDE = 8
Facts = dict[str, str]


def measure() -> None:
    """Runs the tests with every link; RESULTS holds what they tell, also of those that failed."""
    python = TOP / ".venv" / "bin" / "python"
    words = [python, "-m", "pytest", TOP / "test/cluster", "-q", "-rs", "--tb=short", "--junitxml", RESULTS]
    subprocess.run(words, env=os.environ | {"A2APERF_VALIDATION": "1"}, check=False, stdout=sys.stderr)


def compare_psm2() -> None:
    """The receive thread on and off by turns, A B B A, over psm2's shared memory; COMPARISON holds what is made of it."""
    shutil.rmtree(LAUNCHES, ignore_errors=True)
    LAUNCHES.mkdir(parents=True)
    program = os.environ.get("A2APERF", TOP / "build/release/src/app/a2aperf")
    support = TOP / "test" / "support"
    words = ["--sizes", "1000,60000", "--ops", "500", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "-q"]
    for i, value in enumerate("0110" * (A_SIDE // 2)):
        subprocess.run(
            [support / "with_psm2.sh", support / "mpirun.sh", "-t", "60", "2", program, "alltoall", "--provider", "psm2",
             *words, "-o", LAUNCHES / f"{i:02}.h5"],
            env=os.environ | {"PSM2_RCVTHREAD": value}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    # Its exit status tells programs of the verdict: other than 0 is no failure here.
    said = subprocess.run(
        [TOP / ".venv/bin/a2a", "compare", *sorted(LAUNCHES.glob("*.h5")), "--by", "PSM2_RCVTHREAD", "--json"],
        check=False, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    COMPARISON.write_text(said.stdout)


def read() -> list[Facts]:
    """The facts of each test, with its outcome."""
    told = []
    for case in ElementTree.parse(RESULTS).iter("testcase"):
        facts = {item.get("name", ""): item.get("value", "") for item in case.iter("property")}
        if case.find("skipped") is not None:
            raise SystemExit(f"{case.get('name')} was skipped: {case.find('skipped').get('message')}")
        bad = case.find("failure") is not None or case.find("error") is not None
        told.append(facts | {"outcome": "failed" if bad else "passed"})
    return told


def error(link: Facts) -> float:
    """In percent, against the nearer end of what is known; 0 between the ends."""
    net, low, high = (float(link[name]) for name in ("net_mbit", "low", "high"))
    return (net / min(max(net, low), high) - 1) * 100


def draw(links: list[Facts]) -> None:
    """Share of the link's rate that came out as payload, against what framing leaves."""
    shapes = sorted({(int(link["hosts"]), int(link["ranks_per_host"])) for link in links})
    rates = sorted({float(link["mbit"]) for link in links})
    with plt.rc_context({"svg.hashsalt": "a2aperf", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(style.PAGE_WIDTH, 2.6), layout="constrained")
        low, high = (100 * float(links[0][end]) / float(links[0]["mbit"]) for end in ("low", "high"))
        axes.axhspan(low * 0.98, high * 1.02, color=style.GRID, lw=0, label="known answer ± 2%")
        axes.axhspan(low, high, color=style.GREY, lw=0, label="known answer, from framing alone")
        for i, (look, shape) in enumerate(zip(style.LOOKS, shapes, strict=False)):
            of_shape = [link for link in links if (int(link["hosts"]), int(link["ranks_per_host"])) == shape]
            at = [rates.index(float(link["mbit"])) + (i - (len(shapes) - 1) / 2) * 0.12 for link in of_shape]
            shares = [100 * float(link["net_mbit"]) / float(link["mbit"]) for link in of_shape]
            name = f"{shape[0]} hosts × {shape[1]} rank{'s' * (shape[1] > 1)}"
            axes.plot(at, shares, ls="", marker=look.marker, color=look.color, ms=5, label=name)
        axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
        axes.set(xlabel="rate of every link, each way (Mbit/s)", ylabel="payload that came out\n(% of the rate)")
        bottom = min(97.0, *(100 * float(link["net_mbit"]) / float(link["mbit"]) for link in links)) - 0.5
        axes.set_ylim(bottom, high * 1.02 + 0.3)
        axes.grid(axis="y", color=style.GRID, lw=0.4)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.savefig(FIGURE, metadata={"Date": None})


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def comparison() -> str:
    """The receive thread on against off, a row for each size."""
    (found,) = json.loads(COMPARISON.read_text())
    rows = [
        [f"{cell['message_size']}", f"{cell['launches_candidate']} : {cell['launches_baseline']}",
         f"{cell['time_candidate'] / 1e3:.2f} : {cell['time_baseline'] / 1e3:.2f}", f"{cell['ratio']:.3f}",
         f"{cell['ratio_low']:.3f} to {cell['ratio_high']:.3f}", f"{cell['p']:.2f}", cell["verdict"]]
        for cell in found["cells"]
    ]  # fmt: skip
    return table(["message (B)", "launches", "p50 (µs)", "ratio", "95% interval", "p", "verdict"], rows)


def flows(facts: Iterable[Facts]) -> str:
    """Streams and round trips, a row for each answer."""
    rows = []
    for answer in (one for told in facts for one in json.loads(told["answers"])):
        found = sorted(answer["found"])
        ends = [f"{answer[end]:.2f}" for end in ("low", "high")]
        rows.append(
            [answer["what"], answer["unit"] or "—", " to ".join(dict.fromkeys(ends)), f"{statistics.median(found):.2f}",
             f"{found[0]:.2f} to {found[-1]:.2f}", f"{answer['error']:+.1%}", f"{answer['within']:.0%}", f"{len(found)}"]
        )  # fmt: skip
    return table(["what", "unit", "known", "median", "least to largest", "error", "allowed", "n"], rows)


def parts(links: list[Facts], answers: list[Facts], others: list[Facts]) -> dict[str, str]:
    """What was measured, by its name in the page."""
    errors = [error(link) for link in links]
    within = sum(abs(one) <= 2 for one in errors)
    link_rows = [
        [link["mbit"], link["hosts"], link["ranks_per_host"], f"{float(link['low']):.1f} to {float(link['high']):.1f}",
         f"{float(link['net_mbit']):.1f}", f"{one:+.1f}%", link["ops"], f"{(float(link['wire_ratio']) - 1) * 100:.2f}%"]
        for link, one in zip(links, errors, strict=True)
    ]  # fmt: skip
    other_rows = [[one["case"], one.get("known", ""), one.get("measured", ""), one["outcome"]] for one in others]
    links_head = [
        "link (Mbit/s)", "hosts", "ranks a host", "known (Mbit/s)", "measured", "error", "n", "headers on the wire",
    ]  # fmt: skip
    told = (
        f"{within} of {len(links)} are within 2% of what is known; the largest error is {max(errors, key=abs):+.1f}%. The error "
        "counts from the nearer end of the interval."
    )
    return {
        "machine": f"Linux {platform.release()}, {len(os.sched_getaffinity(0))} cores.",
        "links": table(links_head, link_rows) + "\n\n" + told,
        "flows": flows(answers),
        "others": table(["what was done", "known beforehand", "what came out", ""], other_rows),
        "psm2": f"{A_SIDE} launches a side:\n\n" + comparison(),
    }


def with_parts(text: str, parts: dict[str, str]) -> str:
    """The page with each part between its own two comments; all else is written by hand and stays."""
    for name, part in parts.items():
        between = re.compile(rf"(<!-- validate.py: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        text, places = between.subn(lambda found, part=part: f"{found[1]}{part}\n{found[2]}", text)
        if places != 1:
            raise SystemExit(f"{PAGE.relative_to(TOP)} has {places} places for '{name}', not one")
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="write from the last measurement")
    if not parser.parse_args().draw:
        compare_psm2()
        measure()
    facts = read()
    links = [one for one in facts if "net_mbit" in one]
    draw(links)
    answers = [one for one in facts if "answers" in one]
    others = [one for one in facts if "net_mbit" not in one and "answers" not in one]
    PAGE.write_text(with_parts(PAGE.read_text(), parts(links, answers, others)))
    print(f"{PAGE.relative_to(TOP)} and {FIGURE.relative_to(TOP)}: {len(facts)} cases")


if __name__ == "__main__":
    main()
