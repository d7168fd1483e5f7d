# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's partitions: what a job can be given there. A job that asks for more waits for ever."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies import slurm

_DAY: Final = 24 * 60
_NO_LIMIT: Final = ("UNLIMITED", "INFINITE", "-1")
"""Of sbatch, beside a time of zero."""
# What sbatch is told of other clusters or resources is beyond what is looked at here.
_ELSEWHERE: Final = ("-M", "--clusters", "--reservation", "-w", "--nodelist")
_ELSEWHERE_BY_DEFAULT: Final = ("SBATCH_CLUSTERS", "SLURM_CLUSTERS", "SBATCH_RESERVATION")


@dataclass(frozen=True)
class Partition:
    """What `scontrol show partition` says; None where there is no limit. Times in minutes."""

    name: str
    default: bool
    nodes: int
    most_nodes: int | None
    most_minutes: float | None
    default_minutes: float | None

    @property
    def given_minutes(self) -> float | None:
        """The limit of a job that asks for none."""
        return self.most_minutes if self.default_minutes is None else self.default_minutes


def read() -> list[Partition]:
    """All partitions; none where Slurm does not answer."""
    done = slurm.run(["scontrol", "--all", "show", "partition", "--oneliner"])
    if done.returncode:
        return []
    found = [dict(re.findall(r"(\w+)=(\S*)", line)) for line in done.stdout.splitlines()]
    return [
        Partition(
            facts["PartitionName"],
            facts.get("Default") == "YES",
            int(facts.get("TotalNodes", 0)),
            int(most) if (most := facts.get("MaxNodes", "")).isdecimal() else None,
            minutes(facts.get("MaxTime", "")),
            minutes(facts.get("DefaultTime", "")),
        )
        for facts in found
        if "PartitionName" in facts
    ]


def of_job(words: Sequence[str], known: Sequence[Partition]) -> list[Partition]:
    """Those that a job with these options of sbatch may run in; none where that is not clear.

    Without an option sbatch takes its defaults from the environment. InputError where one of the
    partitions is not among the known.
    """
    if any(os.environ.get(name) for name in _ELSEWHERE_BY_DEFAULT):
        return []
    named = os.environ.get("SBATCH_PARTITION", "")
    following = ""
    for word in words:
        name, equals, value = word.partition("=")
        if name in _ELSEWHERE or word.startswith(("-M", "-w")):
            return []
        if following in ("-p", "--partition"):
            named = word
        elif name == "--partition" and equals:
            named = value
        elif word.startswith("-p") and not word.startswith("--") and len(word) > len("-p"):
            named = word.removeprefix("-p").removeprefix("=")
        following = word
    if not named:
        return [one for one in known if one.default]
    wanted = named.split(",")
    names = [one.name for one in known]
    for name in wanted if known else []:
        if name not in names:
            raise InputError(f"unknown partition '{name}': expected one of {', '.join(names)}")
    return [one for one in known if one.name in wanted]


def time_of_job(words: Sequence[str]) -> str:
    """The time limit among options of sbatch, or its default in the environment."""
    found = os.environ.get("SBATCH_TIMELIMIT", "")
    for before, word in zip(["", *words], words, strict=False):
        if before in ("-t", "--time"):
            found = word
        elif word.startswith("--time="):
            found = word.removeprefix("--time=")
        elif re.fullmatch(r"-t.+", word):
            found = word.removeprefix("-t").removeprefix("=")
    return found


def require_room(nodes: int, time: str, places: Sequence[Partition]) -> None:
    """InputError where none of the partitions can ever run such a job."""
    if not places:
        return
    name = ", ".join(one.name for one in places)
    called = f"partition{'s' * (len(places) > 1)} {name}"
    room = max(min(one.nodes, one.most_nodes or one.nodes) for one in places)
    if nodes > room:
        raise InputError(
            f"-N {nodes}: a job in {called} gets up to {room} nodes, "
            "so this one would wait for ever"
        )
    asked = limit_asked(time)
    limits = [one.most_minutes for one in places if one.most_minutes is not None]
    if asked is not None and len(limits) == len(places) and asked > max(limits):
        raise InputError(
            f"-t {time}: a job in {called} gets up to {clock(max(limits))}, "
            "so this one would wait for ever"
        )


def cores(places: Sequence[Partition]) -> int | None:
    """Cores of the largest node of these partitions; None where Slurm does not say."""
    if not places:
        return None
    names = ",".join(one.name for one in places)
    words = ["sinfo", "--noheader", "--Node", f"--partition={names}", "--format", "%X|%Y"]
    done = slurm.run(words)
    rows = [line.split("|") for line in done.stdout.splitlines()] if not done.returncode else []
    shapes = [row for row in rows if len(row) == 2 and all(x.isdecimal() for x in row)]
    return max((int(sockets) * int(each) for sockets, each in shapes), default=None)


def minutes(text: str) -> float | None:
    """A time as Slurm writes it: 90, 1:30:00, 2-12, 2-12:30; None for no limit, or no time."""
    found = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?", text)
    if not found:
        return None
    days, first, second, third = (int(x) if x else 0 for x in found.groups())
    if found[1] is not None:
        return days * _DAY + first * 60 + second + third / 60
    if found[4] is not None:
        return first * 60 + second + third / 60
    return first + second / 60


def limit_asked(time: str) -> float | None:
    """The minutes that -t asks for: infinity where it asks for no limit; None where it is none."""
    if time.upper() in _NO_LIMIT:
        return math.inf
    asked = minutes(time)
    return math.inf if asked == 0 else asked


def clock(wanted: float) -> str:
    """Minutes as sbatch takes them, rounded up to whole ones: `1:30:00`, `2-12:00:00`."""
    whole = math.ceil(wanted)
    days = f"{whole // _DAY}-" if whole >= _DAY else ""
    hours, rest = divmod(whole % _DAY, 60)
    return f"{days}{hours}:{rest:02}:00"
