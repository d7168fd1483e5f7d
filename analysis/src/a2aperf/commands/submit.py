# SPDX-License-Identifier: BSD-3-Clause
"""`a2a submit`: a whole study with one line."""

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer

from a2aperf import labels, terminal
from a2aperf.commands.options import Site, words_of
from a2aperf.errors import InputError
from a2aperf.gating import compared
from a2aperf.gating.checks import State
from a2aperf.screening import catalogue, planned
from a2aperf.screening.costing import Cost
from a2aperf.studies import partitions, screened, scripts, slurm, submission, waiting
from a2aperf.studies.partitions import Partition
from a2aperf.studies.progress import duration
from a2aperf.studies.screened import Screened
from a2aperf.studies.submission import Planned, Wanted
from a2aperf.tables import aligned

EXAMPLES = """\
a2a submit -N 20,40,80,160,320 --dry-run
a2a submit -N 160 --ppn 2 --compare PSM2_RCVTHREAD=0,1
a2a submit -N 20,40,80 --separate -t 1:00:00 --site mycluster
a2a submit -N 40 --quick -- --provider psm2 --mode write-imm
a2a submit -N 20 --screen psm2               which of all known settings matters?
a2a submit -N 20 --check --min-efficiency 80% --against spring    after a maintenance
a2a submit -N 20 --compare=--window=1,all --sizes 60kB --sbatch=--nodelist=node[001-020]
"""
_WAIT: Final = "1:00:00"


def run(
    nodes: Annotated[
        str,
        typer.Option("-N", "--nodes", metavar="LIST", help="Node counts, such as 20,40,80."),
    ],
    passed: Annotated[
        list[str],
        typer.Argument(
            metavar="[-- OPTION…]", help="Options of a2aperf alltoall.", show_default=False
        ),
    ] = [],  # noqa: B006
    ppn: Annotated[int, typer.Option(min=1, help="Ranks per node.")] = 1,
    compare: Annotated[
        list[str],
        typer.Option(
            metavar="KEY=V1,V2",
            help="Setting to compare: a variable, or an option of a2aperf with its dashes.",
        ),
    ] = [],  # noqa: B006
    screen: Annotated[
        str,
        typer.Option(
            metavar="PROVIDER|FILE",
            help="Try all known settings of a provider in one job, or those of a plan that 'a2a "
            "screen -o' wrote (.json).",
        ),
    ] = "",
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="The check after a maintenance: submit, wait, and exit with the verdict's status.",
        ),
    ] = False,
    against: Annotated[
        str, typer.Option(metavar="BASELINE", help="--check: earlier checks, five jobs or more.")
    ] = "",
    min_efficiency: Annotated[
        str, typer.Option(metavar="SHARE", help="--check: share of the link to be reached: 80%.")
    ] = "",
    expect: Annotated[
        str, typer.Option(metavar="link[,…]", help="--check: as --expect of 'a2a gate'.")
    ] = "",
    limits: Annotated[str, typer.Option(metavar="FILE", help="--check: a file of limits.")] = "",
    wait: Annotated[
        str, typer.Option(metavar="TIME", help="--check: how long to wait, as -t has it.")
    ] = _WAIT,
    no_confirm: Annotated[
        bool,
        typer.Option("--no-confirm", help="With --screen: do not confirm what it leaves."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show jobs, node-hours and sbatch lines; submit nothing."),
    ] = False,
    separate: Annotated[
        bool, typer.Option("--separate", help="One job per node count, and one for the report.")
    ] = False,
    sizes: Annotated[str, typer.Option(metavar="LIST", help="Message sizes.")] = "",
    launches: Annotated[
        int | None,
        typer.Option(min=1, help="Launches of each point (3), or of each value compared (8)."),
    ] = None,
    subsets: Annotated[str, typer.Option(help="nested, random or per-switch.")] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    budget: Annotated[
        str, typer.Option(metavar="NODE-HOURS", help="Node-hour limit of each job.")
    ] = "",
    most_minutes: Annotated[
        float | None,
        typer.Option("--minutes", min=0.1, metavar="M", help="--screen: no more time than that."),
    ] = None,
    spare: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="K",
            help="Allocate K more nodes, and measure those that the preflight and every pair show "
            "to be good.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Five sizes; launches end after five minutes.")
    ] = False,
    drop_bad_nodes: Annotated[
        bool, typer.Option("--drop-bad-nodes", help="Leave out nodes that fail the preflight.")
    ] = False,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="After a failed launch go on with the other nodes.")
    ] = False,
    requeue: Annotated[
        bool, typer.Option("--requeue", help="Go on in a new run when the time is up.")
    ] = False,
    results: Annotated[str, typer.Option(metavar="DIR", help="Folder (results).")] = "",
    site: Site = "",
    time: Annotated[str, typer.Option("-t", "--time", help="Time limit of each job.")] = "",
    partition: Annotated[str, typer.Option("-p", "--partition", help="Slurm's partition.")] = "",
    account: Annotated[str, typer.Option("-A", "--account", help="Slurm's account.")] = "",
    sbatch: Annotated[
        list[str],
        typer.Option(metavar="OPTION", help="Any other option of sbatch: --sbatch=--qos=low."),
    ] = [],  # noqa: B006
) -> None:
    """Submit a study: node counts as subsets of one allocation, or settings compared or screened.

    Prints the jobs, what they will take, and the lines for sbatch, and calls sbatch with exactly
    these. The scripts behind it run as they are without this command.

    With --check the nodes and their links are checked in five minutes (jobs/check.sbatch), and the
    command waits for the verdict. Exit status then: 0 ok, 1 warning, 2 critical, 3 unknown, also
    where nothing could be submitted or the time to wait is over.

    The scripts are those of the folder that A2APERF_JOBS names, of ./jobs, or of share/a2aperf/jobs
    beside the installed programs.
    """
    own = {
        "--sizes": sizes,
        "--launches": launches,
        "--subsets": subsets,
        "--seed": seed,
        "--budget": budget,
        "--spare": spare,
        "--results": results,
        "--site": site or os.environ.get("A2APERF_SITE", ""),
        "--against": against,
        "--min-efficiency": min_efficiency,
        "--expect": expect,
        "--limits": limits,
    }
    flags = {
        "--quick": quick,
        "--drop-bad-nodes": drop_bad_nodes,
        "--go-on": go_on,
        "--requeue": requeue,
        "--no-confirm": no_confirm,
    }
    options = words_of(own) + [name for name, wanted in flags.items() if wanted]
    for_slurm = {"--time": time, "--partition": partition, "--account": account}
    if not dry_run:
        slurm.require()
    minutes = _minutes(wait)
    counts = _counts(nodes)
    if no_confirm and not screen:
        raise InputError("--no-confirm: only a screening is confirmed")
    if most_minutes is not None:
        if not screen or budget:
            raise InputError("--minutes: with --screen, and without --budget")
        hours = most_minutes * (counts[0] + (spare or 0)) / 60
        budget = labels.hours_text(hours)
        options += ["--budget", budget]
    if check and (compare or screen or separate or len(counts) > 1):
        raise InputError("--check: one node count, and no --compare, --screen or --separate")
    compared.require({name: str(own[name]) for name in compared.OPTIONS}, check)
    if wait != _WAIT and not check:
        raise InputError("--wait: only a check is waited for")
    ready = None
    if screen and (compare or separate or launches is not None or len(counts) > 1):
        raise InputError("--screen: one node count, and no --compare, --launches or --separate")
    if spare and check:
        raise InputError("--spare means nothing with --check, which looks at all of its nodes")
    if screen:
        found = scripts.find()
        own_settings = found.catalogues(site)
        ready = screened.prepare(
            screen, Path(results or "results"), seed, own_settings, found.program()
        )
        terminal.tell(*(f"a2a: {one}" for one in ready.told))
        passed = ready.passed(passed)
    wanted = Wanted(
        counts,
        ppn,
        compare,
        options,
        passed,
        [f"{name}={value}" for name, value in for_slurm.items() if value] + sbatch,
        separate,
        str(own["--site"]),
        results,
        str(ready.rows) if ready else "",
        check,
        spare or 0,
    )
    terminal.tell(*(f"a2a: {one}" for one in catalogue.slips(compare)))
    folder = Path(results or "results")
    before = waiting.written(folder)
    ids = _study(wanted, budget, dry_run, ready)
    if check and not dry_run:
        _tell_verdict(*waiting.verdict(ids[0], folder, minutes, before))


def _study(wanted: Wanted, budget: str, dry_run: bool, ready: Screened | None) -> list[str]:
    """Says what the jobs are, and submits them; their ids. What a screening wrote is undone."""
    try:
        jobs = submission.plan(wanted, scripts.find())
        lines = _summary(jobs, budget)
        if ready:
            lines += [f"the plan that is in {ready.folder} already"] if ready.is_kept else []
            lines += _cost(jobs[0], ready, budget, wanted)
            lines += planned.of_design(ready.plan) if dry_run else []
        if slurm.here():
            lines += _limits(jobs, wanted.ppn)
        terminal.say(*lines, "")
        ids = _submit(jobs, dry_run)
    except InputError as error:
        if ready and not isinstance(error, slurm.MaybeSubmittedError):
            ready.undo()
        raise
    if ready and dry_run:
        ready.undo()
    return ids


def _tell_verdict(state: State, said: str) -> None:
    """Says what a check says, and ends with its status."""
    terminal.say("", *said.splitlines())
    raise typer.Exit(int(state))


def _minutes(text: str) -> float:
    found = partitions.minutes(text)
    if not found:
        raise InputError(f"--wait {text}: expected a time as -t has it, such as 30 or 1:00:00")
    return found


def _cost(job: Planned, ready: Screened, budget: str, wanted: Wanted) -> list[str]:
    """Of a screening with its confirmation; InputError where the node-hour limit has no room."""
    if job.seconds is None:
        return []
    confirms = "--no-confirm" not in wanted.options
    cost = Cost(job.seconds / job.launches, job.nodes, confirms)
    settings = len(ready.plan.factors)
    if budget:  # which the script has looked at
        cost.require(settings, float(budget) * 3600 / job.nodes)
    lines = cost.lines(settings, ready.plan.further, len(ready.plan.aside))
    return [*lines, planned.smallest(ready.plan)]


def _counts(text: str) -> list[int]:
    words = text.split(",")
    if not all(re.fullmatch(r"0*[1-9][0-9]{0,6}", word) for word in words):
        raise InputError(f"-N '{text}': expected node counts, such as 20,40,80")
    return sorted({int(word) for word in words})


def _summary(jobs: Sequence[Planned], budget: str) -> list[str]:
    rows = [["job", "nodes", "launches", "time", "node-hours"]]
    for number, job in enumerate(jobs, 1):
        hours = job.node_hours
        figures = ["-", "-"] if job.after or hours is None else [
            duration(job.seconds or 0.0), f"{labels.two_digits(hours):.10g}"
        ]  # fmt: skip
        name = "report" if job.after else str(number)
        rows.append([name, str(job.nodes), str(job.launches or "-"), *figures])
    lines = aligned(rows, [True, False, False, False, False])
    estimates = [job.node_hours for job in jobs]
    if None in estimates:
        lines.append("no estimate: a2aperf is not found; set A2APERF to its path")
        return lines
    hours = labels.two_digits(sum(hours or 0.0 for hours in estimates))
    total = f"estimate: {hours:.10g} node-hours in all"
    limit = f", at most {budget} a job" if budget else ""
    lines += [
        total + limit + f"; a launch takes {submission.START_SECONDS:g} s and "
        f"{submission.START_SECONDS_A_RANK:g} s a rank to start,",
        "then what 'a2aperf alltoall --dry-run' says. A loaded network takes longer.",
    ]
    return lines


def _limits(jobs: Sequence[Planned], ppn: int) -> list[str]:
    """What Slurm's limits say of the jobs; InputError where one would wait for ever."""
    known = partitions.read()
    lines: list[str] = []
    for number, job in enumerate(jobs, 1):
        if job.after:
            continue
        places = partitions.of_job(job.slurm, known)
        time = partitions.time_of_job(job.slurm)
        partitions.require_room(job.nodes, time, places)
        cores = partitions.cores(places)
        if cores is not None and ppn > cores:
            lines.append(f"oversubscribed: {ppn} ranks on {cores} cores of a node")
        if places and job.seconds is not None:
            lines += _on_time(f"job {number}", job.seconds / 60, time, places[0])
    return list(dict.fromkeys(lines))


def _on_time(name: str, estimate: float, time: str, place: Partition) -> list[str]:
    """A limit for a job that has none of its own, and a word where its limit is too short."""
    limit = partitions.limit_asked(time) if time else place.given_minutes
    if limit is not None and estimate > limit:
        return [f"{name}: the time limit of {partitions.clock(limit)} is below the estimate"]
    if time:
        return []
    # Twice the estimate, and what the preflight and the report may take; in steps of five minutes.
    wanted = math.ceil((2 * estimate + 5) / 5) * 5.0
    if place.most_minutes is not None:
        wanted = min(wanted, place.most_minutes)
    if limit is not None and wanted >= limit:
        return []
    given = "no time limit" if limit is None else f"a time limit of {partitions.clock(limit)}"
    return [
        f"{name}: without -t it has {given}, that of the partition; "
        f"with -t {partitions.clock(wanted)} it may start sooner"
    ]


def _submit(jobs: Sequence[Planned], dry_run: bool) -> list[str]:
    ids: list[str] = []
    for number, job in enumerate(jobs, 1):
        line = job.line([f"JOB{n}" for n in range(1, number)] if dry_run else ids)
        terminal.say(shlex.join(line))
        if dry_run:
            continue
        try:
            ids.append(slurm.sbatch(line))
        except InputError as error:
            raise type(error)(f"{error}{_left(jobs, ids)}") from None
        terminal.say(f"job {ids[-1]}")
    return ids


def _left(jobs: Sequence[Planned], ids: Sequence[str]) -> str:
    """What is in Slurm's queue when a job after the first is refused, and what to do about it."""
    if not ids:
        return ""
    report = next(job for job in jobs if job.after)
    others = [labels.count_text(job.nodes, "node") for job in jobs[len(ids) :] if not job.after]
    missing = labels.list_text([*others, "the report"])
    return (
        f"; submitted are {labels.list_text(ids)}, not {missing}: cancel them with "
        f"'scancel {' '.join(ids)}', or have their report made by: "
        f"{shlex.join(report.line(ids))}"
    )
