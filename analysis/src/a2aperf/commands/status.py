# SPDX-License-Identifier: BSD-3-Clause
"""`a2a status`: where a study stands."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from a2aperf import terminal
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.studies import early, progress, slurm, study
from a2aperf.studies.early import EarlyEnd
from a2aperf.studies.study import NOT_MADE, Fate, Job
from a2aperf.tables import aligned

EXAMPLES = """\
a2a status
a2a status results/ --all
a2a status results/ --json
"""
_SHOWN = 10


def run(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of the study.", show_default=True)
    ] = Path("results"),
    everything: Annotated[
        bool, typer.Option("--all", help=f"All missing launches, not the first {_SHOWN} of a job.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON, every launch.")] = False,
) -> None:
    """Show where a study stands: what is measured, what runs, what is missing and why.

    Reads the plans and logs that the jobs keep in their folder, the results files, and squeue where
    there is one.

    Exit status: 0 when everything planned is there or may still come, else 1.
    """
    read = study.read(folder)
    queue = slurm.queue()
    jobs = [progress.of_this_run(job, queue) for job in read]
    # A job writes its plan when it starts: until then only Slurm knows of it.
    begun = {job.id for job in jobs}
    waiting = [one for one in progress.submitted(folder, queue) if one.id not in begun]
    # Put back into the queue it may have a plan yet.
    in_queue = {one.id for one in waiting}
    failed = [one for one in early.read(folder) if one.id not in begun | in_queue]
    if not jobs and not waiting and not failed:
        if not folder.is_dir():
            what = "is a file, not a folder" if folder.exists() else "no such folder"
            what += "; 'a2a status FOLDER' names that of the study"
        else:
            what = "holds no plan-<job>.tsv, so it is not the folder of a study"
        if queue is not None:
            what += ", and no job in the queue writes to it"
        raise InputError(f"{folder}: {what}")
    if as_json:
        plain = [_plain(job, queue) for job in jobs]
        plain += [_plain_unplanned(one) for one in waiting]
        plain += [_plain_failed(one) for one in failed]
        terminal.say_text(json.dumps(plain, indent=1, default=str))
    else:
        blocks = [_told(job, queue, everything) for job in jobs]
        blocks += [_told_unplanned(one) for one in waiting]
        blocks += [_told_failed(one) for one in failed]
        terminal.say_parted(blocks)
    may_come = [progress.may_come(job, queue) for job in jobs]
    may_come += [not one.never_begins for one in waiting]
    raise typer.Exit(0 if all(may_come) and not failed else 1)


def _told(job: Job, queue: dict[str, slurm.Queued] | None, everything: bool) -> list[str]:
    good = job.of(Fate.GOOD)
    lines = [
        terminal.Bold(f"{'' if job.is_run else 'job '}{job.id}: {progress.title(job)}"),
        f"  {len(good)} of {len(job.launches)} launches good; {progress.state(job, queue)}",
        "",
        *("  " + line for line in _table(job)),
    ]
    missing = job.of(*NOT_MADE, *([] if progress.may_run(job, queue) else [Fate.STARTED]))
    if missing:
        lines += ["", "  missing:"]
        shown = missing if everything else missing[:_SHOWN]
        rows = [[x.number, count_text(x.nodes, "node"), " ".join(x.settings), x.why] for x in shown]
        lines += ["    " + line for line in aligned(rows, [True, False, True, True])]
        if len(missing) > len(shown):
            lines.append(f"    and {len(missing) - len(shown)} more (--all)")
    troubled = [one for one in job.checks if one.verdict == "bad"]
    lines += [f"  node {one.node}: {one.check}: {one.text}" for one in troubled]
    return lines


def _told_unplanned(queued: slurm.Queued) -> list[str]:
    title = terminal.Bold(f"job {queued.id}: {progress.kind(queued)}")
    return [title, f"  no plan yet; {progress.in_queue(queued)}"]


def _told_failed(ended: EarlyEnd) -> list[str]:
    return [terminal.Bold(f"job {ended.id}: {ended.kind}"), f"  {ended.told}"]


def _table(job: Job) -> list[str]:
    """A line per node count and setting, with the launches by fate."""
    groups: dict[tuple[int, tuple[str, ...]], dict[Fate, int]] = defaultdict(dict)
    for launch in job.launches:
        counts = groups[launch.nodes, launch.settings]
        counts[launch.fate] = counts.get(launch.fate, 0) + 1
    settings = any(key[1] for key in groups)
    rows = [["nodes", *(["setting"] if settings else []), *Fate]]
    for (nodes, setting), counts in sorted(groups.items()):
        told = [str(counts.get(fate, "-")) for fate in Fate]
        rows.append([str(nodes), *([" ".join(setting)] if settings else []), *told])
    return aligned(rows, [False, *([True] if settings else []), *[False] * len(Fate)])


def _plain(job: Job, queue: dict[str, slurm.Queued] | None) -> dict[str, Any]:
    queued = (queue or {}).get(job.id)
    return {
        "job": job.id,
        "kind": job.kind,
        "facts": job.facts,
        "queue": vars(queued) if queued else None,
        "launches": [
            {
                "launch": x.number,
                "nodes": x.nodes,
                "ppn": x.ppn,
                "settings": x.settings,
                "file": str(x.file),
                "fate": x.fate,
                "why": x.why or None,
            }
            for x in job.launches
        ],
        "bad_nodes": _bad(job),
    }


def _plain_unplanned(queued: slurm.Queued) -> dict[str, Any]:
    kind = progress.kind(queued)
    told = {"job": queued.id, "kind": kind, "facts": {}, "queue": vars(queued)}
    return told | {"launches": [], "bad_nodes": []}


def _plain_failed(ended: EarlyEnd) -> dict[str, Any]:
    told = {"job": ended.id, "kind": ended.kind, "facts": ended.facts, "queue": None}
    return told | {"launches": [], "bad_nodes": []}


def _bad(job: Job) -> Sequence[dict[str, str]]:
    return [vars(one) for one in job.checks if one.verdict == "bad"]
