# SPDX-License-Identifier: BSD-3-Clause
"""What a study meant to measure and has not: planned launches without a complete file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from a2aperf.labels import list_text
from a2aperf.studies.study import Check, Fate, Job
from a2aperf.tables import BLANK, UNKNOWN, Cell, Column, Table

_COLUMNS: Final = (
    Column("job"),
    Column("launch"),
    Column("nodes"),
    Column("setting", left=True),
    Column("what happened", left=True),
)


def sentences(jobs: Sequence[Job]) -> list[str]:
    """For the summary: how many launches are missing of which jobs, and nodes that were unfit."""
    said = []
    for job in jobs:
        missing = [launch for launch in job.launches if launch.fate is not Fate.GOOD]
        if missing:
            nodes = [str(n) for n in sorted({launch.nodes for launch in missing})]
            why = list(dict.fromkeys(launch.why for launch in missing))
            verb = "has" if len(missing) == 1 else "have"
            said.append(
                f"{len(missing)} of {len(job.launches)} planned launches of job {job.id} {verb} no "
                f"complete file, on {list_text(nodes)} nodes: {list_text(why, 3)}."
            )
        unfit = dict.fromkeys(check.node for check in _bad(job))
        if unfit:
            said.append(f"Nodes not fit to measure in job {job.id}: {list_text(list(unfit))}.")
    return said


def table(jobs: Sequence[Job]) -> Table | None:
    """A row per missing launch and per unfit node; None where nothing is missing."""
    rows = []
    for job in jobs:
        for launch in job.launches:
            if launch.fate is not Fate.GOOD:
                settings = " ".join(launch.settings) or UNKNOWN
                figures = Cell(launch.number), Cell(str(launch.nodes)), Cell(settings)
                rows.append([Cell(job.id), *figures, Cell(launch.why)])
        for check in _bad(job):
            told = Cell(f"{check.node}: {check.check}: {check.text}")
            rows.append([Cell(job.id), *[BLANK] * 3, told])
    if not rows:
        return None
    caption = "Launches that were planned and have no complete file, and nodes that were unfit."
    return Table(_COLUMNS, rows, caption)


def _bad(job: Job) -> list[Check]:
    return [check for check in job.checks if check.verdict == "bad"]
