# SPDX-License-Identifier: BSD-3-Clause
"""From what a user wants measured to jobs: lines for sbatch, launches, node-hours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.studies.scripts import Launches, Scripts

# What a launch takes beside measuring: mpirun or srun, opening endpoints, the first contact with
# every peer. Generous: docs/scaling.md has what was measured.
START_SECONDS: Final = 10.0
START_SECONDS_A_RANK: Final = 0.1


@dataclass(frozen=True)
class Wanted:
    """What is asked for. `options` are the job script's own, `passed` those for a2aperf."""

    nodes: Sequence[int]
    ppn: int = 1
    compare: Sequence[str] = ()
    options: Sequence[str] = ()
    passed: Sequence[str] = ()
    slurm: Sequence[str] = ()
    separate: bool = False
    site: str = ""
    results: str = ""
    rows: str = ""  # a file of launches that are planned already
    check: bool = False  # the check after a maintenance
    spare: int = 0  # nodes beside those that are measured


@dataclass(frozen=True)
class Planned:
    """One job: its line without what only Slurm knows, and what it will take."""

    nodes: int
    words: Sequence[str]
    launches: int
    seconds: float | None  # None: a2aperf is not here to estimate it
    after: bool = field(default=False)  # waits for all others
    slurm: Sequence[str] = ()  # options of sbatch among the words

    @property
    def node_hours(self) -> float | None:
        """Nodes of the allocation × time."""
        return None if self.seconds is None else self.nodes * self.seconds / 3600

    def line(self, before: Sequence[str] = ()) -> list[str]:
        """The words for sbatch; `before` are ids of the jobs that must have ended."""
        if not self.after:
            return list(self.words)
        return [self.words[0], f"--dependency=afterany:{':'.join(before)}", *self.words[1:]]


def plan(wanted: Wanted, scripts: Scripts) -> list[Planned]:
    """The jobs in the order of submission; InputError in the words of script or program."""
    site = scripts.site(wanted.site)
    given = [word.split("=")[0] for word in wanted.slurm]
    slurm = [
        word
        for name, short, fact in (
            ("--partition", "-p", "site_partition"),
            ("--account", "-A", "site_account"),
        )
        if site.get(fact) and name not in given and short not in given
        for word in (f"{name}={site[fact]}",)
    ]
    slurm += wanted.slurm
    several = wanted.separate or (len(wanted.nodes) > 1 and bool(wanted.compare))
    groups = [[n] for n in wanted.nodes] if several else [list(wanted.nodes)]
    jobs = [_job(wanted, scripts, slurm, group) for group in groups]
    if len(jobs) > 1:
        jobs.append(_report(wanted, scripts, slurm))
    return jobs


def _job(wanted: Wanted, scripts: Scripts, slurm: Sequence[str], counts: list[int]) -> Planned:
    script = "alltoall.sbatch"
    allocation = max(counts) + wanted.spare
    options = ["--nodes", ",".join(map(str, counts))]
    if wanted.compare:
        script, options = "compare.sbatch", []
    elif wanted.check:
        script, options = "check.sbatch", []
    elif wanted.rows:
        script, options = "screen.sbatch", ["--rows", wanted.rows]
    options += ["--ppn", str(wanted.ppn)] if wanted.ppn != 1 else []
    words = [*wanted.compare, *options, *wanted.options]
    words += ["--", *wanted.passed] if wanted.passed else []
    launches = scripts.plan(script, words, allocation)
    if not launches.nodes:
        raise InputError(f"{script} plans no launch on {count_text(allocation, 'node')}")
    return Planned(
        allocation,
        ["sbatch", "-N", str(allocation), *slurm, str(scripts[script]), *words],
        len(launches.nodes),
        _seconds(wanted, scripts, launches),
        slurm=slurm,
    )


def _seconds(wanted: Wanted, scripts: Scripts, launches: Launches) -> float | None:
    words = [*launches.added, *wanted.passed]
    total = 0.0
    for nodes, count in Counter(launches.nodes).items():
        one = launch_seconds(scripts, words, nodes * wanted.ppn, wanted.ppn)
        if one is None:
            return None
        total += count * one
    return total


def launch_seconds(
    scripts: Scripts, words: Sequence[str], ranks: int, ranks_per_node: int
) -> float | None:
    """What a launch takes, its start included; None without the program."""
    measuring = scripts.seconds(words, ranks, ranks_per_node)
    if measuring is None:
        return None
    return START_SECONDS + START_SECONDS_A_RANK * ranks + measuring


def _report(wanted: Wanted, scripts: Scripts, slurm: Sequence[str]) -> Planned:
    words = ["sbatch", *slurm, str(scripts["report.sbatch"])]
    words += ["--results", wanted.results] if wanted.results else []
    words += ["--site", wanted.site] if wanted.site else []
    return Planned(1, words, 0, 0.0, after=True)
