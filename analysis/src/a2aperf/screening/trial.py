# SPDX-License-Identifier: BSD-3-Clause
"""The launches that confirm what a screening leaves: its settings, all of them together, none.

Each block has every side once, in an order by chance; of two sides twice, A B B A or B A A B.
Blocks hold what the machine does over time; a fixed order would follow a wave of the same period.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.screening import documents
from a2aperf.screening.plan import LABEL, Factor, Plan
from a2aperf.visible import json_visible

SCHEMA: Final = "a2aperf confirmation plan 1"
NAME: Final = "confirm.json"
"""Of the file, beside the screening's plan."""
VALUES_SCHEMA: Final = "a2aperf further values plan 1"
VALUES_NAME: Final = "values.json"
"""Of the file of further values."""
LAUNCHES: Final = 8
"""Of each side."""
BESIDE: Final = 3
"""Further values in a block, beside the line: small blocks hold what the machine does over time."""
MOST: Final = 6
"""Settings at once; the screening's largest."""


@dataclass(frozen=True)
class Trial:
    """Sides and their launches in order; `sides` are the variables beside those of `fixed`.

    The first has none; then one for each setting, the screening's largest first; the last has all
    of them, where they are several. Of further values there is a side for each, and none with all.
    """

    screening: str  # id of its plan
    seed: int
    sides: tuple[Mapping[str, str], ...]
    order: tuple[int, ...]  # the side of each launch
    fixed: Mapping[str, str] = field(default_factory=dict)
    blocks: tuple[int, ...] = ()  # of each launch; empty: as many launches each as there are sides
    schema: str = SCHEMA
    conflicts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of settings in the sides, those that are not set beside them."""

    @property
    def id(self) -> str:
        """What tells it from all others; follows from its content."""
        text = json.dumps(self._content(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def launches(self) -> int:
        """How many there are."""
        return len(self.order)

    @property
    def settings(self) -> list[str]:
        """`NAME=VALUE` of each, as the sides have them."""
        return [assignments(one) for one in self.sides[1:] if len(one) == 1]

    @property
    def together(self) -> int:
        """The side that has all settings."""
        return len(self.sides) - 1

    def label(self, launch: int) -> str:
        """Of a launch, by its place in the order."""
        return f"{self.id}-{launch + 1:02d}"

    @property
    def labels(self) -> list[str]:
        """Of all launches."""
        return [self.label(launch) for launch in range(self.launches)]

    def environment(self, launch: int) -> dict[str, str]:
        """The variables of a launch; those settings that it does not name are not set."""
        side = self.sides[self.order[launch]]
        return {**self.beside(side), **side}

    def beside(self, side: Mapping[str, str]) -> dict[str, str]:
        """Of the fixed variables those that go together with the settings of a side."""
        return {x: value for x, value in self.fixed.items() if not any(
            self.are_apart(x, name) for name in side)}  # fmt: skip

    def are_apart(self, one: str, other: str) -> bool:
        """Whether two settings conflict."""
        return one in self.conflicts.get(other, ()) or other in self.conflicts.get(one, ())

    def block(self, launch: int) -> int:
        """Of launches that are compared with each other."""
        return self.blocks[launch] if self.blocks else launch // _size(len(self.sides))

    def _content(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "screening": self.screening,
            "seed": self.seed,
            "fixed": dict(self.fixed),
            "sides": [dict(one) for one in self.sides],
            "order": list(self.order),
            **({"blocks": list(self.blocks)} if self.blocks else {}),
            **({"conflicts": {x: list(of) for x, of in self.conflicts.items()}}
               if self.conflicts else {}),
        }  # fmt: skip

    def as_json(self) -> str:
        """The file."""
        rows = [
            {"label": self.label(i), "block": self.block(i), "environment": self.environment(i)}
            for i in range(self.launches)
        ]
        document = {"id": self.id, "label": LABEL, **self._content(), "launches": rows}
        return json_visible(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"


def assignments(variables: Mapping[str, str]) -> str:
    """`A=1 B=2`."""
    return " ".join(f"{name}={value}" for name, value in variables.items())


def launches_for(settings: int) -> int:
    """How many confirm so many settings: with the default, and all together where several."""
    count = min(settings, MOST)
    return LAUNCHES * (1 + count + (count > 1))


def launches_for_values(count: int) -> int:
    """How many try so many further values: of each, and in each block one of the line."""
    return LAUNCHES * (count + -(-count // BESIDE))


def make(
    plan: Plan, candidates: Sequence[Factor], fixed: Mapping[str, str] | None = None
) -> Trial | None:
    """The launches that confirm these; None where nothing is left.

    `plan` is that of the last round; `fixed` are the variables of the first, if there are several.
    """
    each = [{one.name: one.value} for one in candidates[:MOST]]
    if not each:
        return None
    together = {name: value for one in each for name, value in one.items()}
    sides = ({}, *each, *([together] if len(each) > 1 else []))
    rng = np.random.default_rng([plan.seed, len(sides)])
    order: list[int] = []
    while len(order) < LAUNCHES * len(sides):
        once = rng.permutation(len(sides)).tolist()
        order += once if len(sides) > 2 else [*once, *reversed(once)]
    return Trial(
        plan.id, plan.seed, sides, tuple(order), dict(plan.fixed if fixed is None else fixed)
    )


def _size(sides: int) -> int:
    """Of a block."""
    return sides if sides > 2 else 2 * sides


def read(path: Path, schema: str = SCHEMA) -> Trial:
    """The trial of a file; InputError where it is none, or not as it was written."""
    expected = "one that 'a2a screen --confirm' has written"
    made, said = documents.read(path, schema, expected, _trial)
    is_whole = set(made.order) <= set(range(len(made.sides))) and len(made.sides) > 1
    has_blocks = len(made.blocks) in (0, len(made.order))
    if made.id != said or not (is_whole and has_blocks):
        raise InputError(f"{path}: was changed after it was written: take it away to plan anew")
    return made


def _trial(document: Mapping[str, Any]) -> Trial:
    return Trial(
        str(document["screening"]),
        int(document["seed"]),
        tuple(_texts(one) for one in document["sides"]),
        tuple(int(one) for one in document["order"]),
        _texts(document["fixed"]),
        tuple(int(one) for one in document.get("blocks", ())),
        str(document["schema"]),
        {str(x): tuple(map(str, of)) for x, of in document.get("conflicts", {}).items()},
    )


def _texts(variables: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in variables.items()}


def of(plan: Plan, path: Path) -> Trial | None:
    """The confirmation beside the plan in `path`; None where there is none of it."""
    return _beside(plan, path.with_name(NAME), SCHEMA)


def values_of(plan: Plan, path: Path) -> Trial | None:
    """The launches of further values beside the plan in `path`; None where there are none."""
    return _beside(plan, path.with_name(VALUES_NAME), VALUES_SCHEMA)


def _beside(plan: Plan, path: Path, schema: str) -> Trial | None:
    if not path.is_file():
        return None
    made = read(path, schema)
    return made if made.screening == plan.id else None
