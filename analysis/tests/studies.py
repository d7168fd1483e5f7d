# SPDX-License-Identifier: BSD-3-Clause
"""A study's folder as the job scripts leave it: plan, log, preflight, results files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from support import synthetic
from support.synthetic import Setup

SETUP = Setup(sizes=(1000, 60000), ops=20)


def plan(
    folder: Path, job: str, launches: Sequence[tuple[int, str]], kind: str = "alltoall"
) -> None:
    """`launches`: nodes and settings of each."""
    lines = [f"# kind\t{kind}", f"# job\t{job}", "launch\tnodes\tppn\tsubset\tsettings\tfile"]
    for number, (nodes, settings) in enumerate(launches, 1):
        name = f"{kind}-{job}-n{nodes}-base-{number:03}.h5"
        lines.append(f"{number:03}\t{nodes}\t2\tnode[001-{nodes:03}]\t{settings}\t{name}")
    (folder / f"plan-{job}.tsv").write_text("\n".join(lines) + "\n")
    (folder / f"log-{job}.tsv").write_text("launch\tstarted\tended\tstatus\treason\n")


def log(folder: Path, job: str, number: int, status: str, reason: str = "-") -> None:
    times = ("-", "2026-11-20T17:31:05Z") if status == "-" else (
        "2026-11-20T17:30:05Z",
        "2026-11-20T17:31:05Z",
    )  # fmt: skip
    with (folder / f"log-{job}.tsv").open("a") as file:
        file.write("\t".join((f"{number:03}", *times, status, reason)) + "\n")


def launch(folder: Path, job: str, number: int, nodes: int, kind: str = "alltoall") -> Path:
    """The results file of a launch; every one another launch."""
    path = folder / f"{kind}-{job}-n{nodes}-base-{number:03}.h5"
    return synthetic.write_launch(path, replace(SETUP, nodes=nodes, seed=number))


def study(folder: Path) -> Path:
    """Job 7: two launches good, one failed, one not begun, one not reached."""
    folder.mkdir()
    plan(folder, "7", [(4, "-"), (8, "-"), (8, "-"), (4, "-"), (16, "-")])
    for number, nodes in ((1, 4), (2, 8)):
        launch(folder, "7", number, nodes)
        log(folder, "7", number, "0")
    log(folder, "7", 3, "205", "the launch ended: node node005 does not answer")
    log(folder, "7", 4, "-", "the node-hours are used up")
    (folder / "nodes-7.txt").write_text(
        "node001\tprogram\tok\ta2aperf 0.1.0\nnode005\tmemlock\tbad\t64 KiB: too little\n"
    )
    return folder
