# SPDX-License-Identifier: BSD-3-Clause
"""How far a job of a study is, in words."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from a2aperf import labels
from a2aperf.errors import InputError
from a2aperf.studies import partitions, study
from a2aperf.studies.slurm import Queued
from a2aperf.studies.study import NOT_MADE, Fate, Job, Launch

# A running job without a limit has one of a year to Slurm.
_ENDLESS: Final = ("UNLIMITED", "365-00:00:00")

Queue = Mapping[str, Queued] | None


def title(job: Job) -> str:
    """What it is: `compare, PSM2_RCVTHREAD=0, PSM2_RCVTHREAD=1 on 160 nodes, 2 ranks per node`."""
    nodes = sorted({launch.nodes for launch in job.launches})
    ppn = sorted({launch.ppn for launch in job.launches})
    settings = dict.fromkeys(x for launch in job.launches for x in launch.settings)
    told = [job.kind, *settings]
    ranks = "rank" if ppn == [1] else "ranks"
    return (
        f"{', '.join(told)} on {', '.join(map(str, nodes))} node{'s' * (nodes != [1])}, "
        f"{labels.range_text(ppn)} {ranks} per node"
    )


def kind(queued: Queued) -> str:
    """`alltoall`, `compare`, … where the job is one of this program's studies, else empty."""
    scripts = r"\b(alltoall|compare|screen|check)\.sbatch(?= |$)"
    for found in re.finditer(scripts, queued.command):
        # With a space in it: the script's path, or another script and its first word.
        script = queued.command[: found.end()]
        if " " not in script or _is_file(Path(queued.directory, script)):
            return found[1]
    return ""


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # another user's
        return False


def submitted(folder: Path, queue: Queue) -> list[Queued]:
    """The jobs in the queue that write their results to this folder."""
    wanted = folder.resolve()
    # Of studies only: the folders of all other jobs are not looked at.
    studies = [queued for queued in (queue or {}).values() if kind(queued)]
    return [queued for queued in studies if _results(queued).resolve() == wanted]


def _results(queued: Queued) -> Path:
    own_words = queued.command.split(" -- ")[0]  # what follows is for a2aperf
    # A name may have spaces: it ends where the next option or setting begins.
    named = re.findall(r"(?s) --results[ =](.*?)(?= --| [A-Za-z_]\w*=|$)", own_words)
    return Path(queued.directory, named[-1] if named else "results")


def of_this_run(job: Job, queue: Queue) -> Job:
    """The job without failures of an earlier run, where Slurm has taken it back.

    What is not good yet is made again by the run that goes on or is to come.
    """
    begun = _begun((queue or {}).get(job.id))
    if begun is None:
        return job
    launches = [
        replace(launch, last=None)
        if launch.fate in NOT_MADE and _ended_before(launch, begun)
        else launch
        for launch in job.launches
    ]
    return replace(job, launches=launches)


def _begun(queued: Queued | None) -> datetime | None:
    """When the run that is in the queue began, or will begin; None where that is not known."""
    if queued is None or queued.never_begins:
        return None
    if queued.state in ("PENDING", "CONFIGURING"):
        return datetime.max.replace(tzinfo=UTC)
    elapsed = partitions.minutes(queued.elapsed) if queued.state == "RUNNING" else None
    return None if elapsed is None else datetime.now(UTC) - timedelta(minutes=elapsed)


def _ended_before(launch: Launch, moment: datetime) -> bool:
    ended = launch.last.ended if launch.last else None
    return ended is not None and ended < moment


def may_run(job: Job, queue: Queue) -> bool:
    """Whether Slurm has the job, or cannot be asked; of a run whether it is at work."""
    if job.is_run:
        return job.at_work
    return queue is None or job.id in queue


def may_come(job: Job, queue: Queue) -> bool:
    """Whether everything planned is there or may still come."""
    if not job.of(*NOT_MADE, Fate.STARTED, Fate.WAITING):
        return True
    if job.is_run:
        # What failed is made by the next run; this one does not come back to it.
        return job.at_work and not job.of(*NOT_MADE)
    if queue is not None and (job.id not in queue or queue[job.id].never_begins):
        return False
    return not job.of(*NOT_MADE)


def state(job: Job, queue: Queue) -> str:
    """Where it stands: in Slurm's words while it has the job, else whether something is missing."""
    if not job.of(*NOT_MADE, Fate.STARTED, Fate.WAITING):
        return _all_good(job, queue)
    if job.is_run:
        return _run_state(job)
    if queue is None:
        return "whether it runs is unknown: squeue is not here, or does not answer"
    if job.id not in queue:
        return "ended"
    queued = queue[job.id]
    waits = queued.state == "PENDING"
    return in_queue(queued) + ("" if waits else _now(job) + _left(job))


def _all_good(job: Job, queue: Queue) -> str:
    """A job that may plan more launches, or has a verdict to say, is complete when it has ended."""
    if job.kind not in ("screen", "check") and "error" not in job.facts:
        return "complete"
    if job.is_run:
        now = "running" if job.at_work else ""
    else:
        now = in_queue(queue[job.id]) if queue and job.id in queue else ""
    return f"all planned launches are good; {now}" if now else "complete"


def _run_state(job: Job) -> str:
    if not job.at_work:
        command = "suite" if job.kind == "suite" else "run"
        return f"ended: the same 'a2a {command}' makes what is missing"
    return "running" + _now(job) + _left(job)


def in_queue(queued: Queued) -> str:
    """Where a job stands to Slurm: `waits (Resources)`, `running for 0:37, no time limit, on …`."""
    if queued.never_begins:
        return f"never begins ({queued.reason}): 'scancel {queued.id}' removes it"
    if queued.state == "PENDING":
        return f"waits ({queued.reason})"
    limit = ", no time limit," if queued.limit in _ENDLESS else f" of {queued.limit}"
    return f"{queued.state.lower()} for {queued.elapsed}{limit} on {queued.nodes}"


def _now(job: Job) -> str:
    """The launch that is being measured."""
    for launch in reversed(job.of(Fate.STARTED)):
        try:
            done, count = study.points_done(launch.file)
        except InputError:  # replaced just now
            continue
        return f"; launch {launch.number}: {done} of {count} points"
    return ""


def _left(job: Job) -> str:
    """Time for what is not reached, where launches on as many nodes have been timed."""
    took: dict[int, list[float]] = {}
    for launch in job.of(Fate.GOOD):
        if launch.seconds is not None:
            took.setdefault(launch.nodes, []).append(launch.seconds)
    waiting: list[Launch] = job.of(Fate.WAITING, Fate.STARTED)
    if not waiting or any(launch.nodes not in took for launch in waiting):
        return ""
    seconds = sum(statistics.mean(took[launch.nodes]) for launch in waiting)
    return f"; about {duration(seconds)} to go"


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 03 min`: an estimate has two digits."""
    seconds = labels.two_digits(seconds)
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02} min"
