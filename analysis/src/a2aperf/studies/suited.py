# SPDX-License-Identifier: BSD-3-Clause
"""The plan of interconnects side by side in the folder of its study, for the script that launches.

Rounds of launches: in each every workload over every interconnect once. The interconnects of a
workload follow one another, in an order by chance, and in the next round in its mirror image: such
two rounds are a block, in which a drift lies outside of what is compared (`blocks`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a2aperf import notation, regular, workloads
from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.studies import interconnects, passed
from a2aperf.studies.interconnects import Interconnect
from a2aperf.studies.placed import Placed, place
from a2aperf.studies.spelled import joined
from a2aperf.suite.rounds import RUNS, rounds_for
from a2aperf.workloads.workload import Workload

NAME: Final = "suite.json"
ROWS: Final = "suite.tsv"
"""Beside the plan: label, settings, block and workload of each launch, for jobs/lib/rows.sh."""
_SCHEMA: Final = "a2aperf suite 1"
_LENGTHS: Final = {"--ops", "--precision", "--duration", "--messages"}
"""How long a point is: they exclude each other."""
LAUNCHES: Final = 8
"""Of each workload over each interconnect."""


@dataclass(frozen=True)
class Request:
    """What is to be launched."""

    across: Sequence[Interconnect]
    workloads: Sequence[str]
    launches: int
    seed: int
    sizes: str
    is_quick: bool
    passed: Sequence[str]

    def plain(self) -> dict[str, Any]:
        """As the folder keeps it."""
        return {
            "schema": _SCHEMA,
            "across": [one.spelled for one in self.across],
            "workloads": list(self.workloads),
            "launches": self.launches,
            "seed": self.seed,
            "sizes": self.sizes,
            "quick": self.is_quick,
            "passed": list(self.passed),
        }


def measured() -> dict[str, Workload]:
    """The workloads that interconnects are held against each other by."""
    return {one.key: one for one in workloads.ALL if one.suite}


def chosen(text: str) -> list[str]:
    """Those of a list with commas; empty: all. InputError where one is not known."""
    known = list(measured())
    words = [word.strip() for word in text.split(",")] if text else known
    for word in words:
        if word not in known:
            raise InputError(f"--workloads {text}: '{word}': expected {list_text(known)}")
    if len(set(words)) < len(words):
        raise InputError(f"--workloads {text}: one of them is there twice")
    return [key for key in known if key in words]


def launches_for(interconnects: int, is_quick: bool) -> int:
    """Of each, unless they are asked for: in a hurry hardly more than it takes to decide."""
    few = rounds_for(interconnects) + 1
    return few if is_quick else max(LAUNCHES, few)


def before(folder: Path) -> list[Interconnect] | None:
    """The interconnects of the plan that the folder has, if it has one."""
    if not (folder / NAME).exists():
        return None
    return interconnects.named(",".join(_read(folder)["across"]))


def _read(folder: Path) -> dict[str, Any]:
    path = folder / NAME
    try:
        known = notation.of_json(regular.read_text(path))
        if known["schema"] != _SCHEMA or not all(isinstance(x, str) for x in known["across"]):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(f"{path} is no plan of interconnects side by side") from None
    return dict(known)


@dataclass(frozen=True)
class Suited(Placed):
    """The rows for the script."""

    rows: Path


def prepare(asked: Request, folder: Path) -> Suited:
    """Writes the plan; a folder keeps the one that it has. InputError where that is another one."""
    if (folder / NAME).exists() and _read(folder) != asked.plain():
        raise InputError(f"{folder} has the plan of another suite: --results names another")
    texts = {ROWS: rows(asked), NAME: json.dumps(asked.plain(), indent=1) + "\n"}
    return Suited(place(folder, texts), folder / ROWS)


def rows(asked: Request) -> str:
    """A line for each launch."""
    rng = random.Random(asked.seed)
    lines = []
    order: dict[str, list[Interconnect]] = {}
    for turn in range(asked.launches):
        turns = list(asked.workloads)
        rng.shuffle(turns)
        for key in turns:
            if turn % RUNS == 0:
                order[key] = rng.sample(list(asked.across), len(asked.across))
            else:
                order[key].reverse()
            words = " ".join([key, *_options(key, asked)])
            lines += [f"{one.label}\t{joined(one.options)}\t{turn}\t{words}\n" for one in
                      order[key]]  # fmt: skip
    return "".join(lines)


def _options(key: str, asked: Request) -> list[str]:
    """Of a workload, without those that the user gives."""
    part = measured()[key].suite
    assert part is not None
    given = passed.names(asked.passed)
    if given & _LENGTHS:
        given |= _LENGTHS
    words = part.quick if asked.is_quick else part.options
    if asked.sizes:
        words = [*(word for word in words if not word.startswith("--sizes=")),
                 f"--sizes={asked.sizes}"]  # fmt: skip
    return [word for word in words if word.partition("=")[0] not in given]
