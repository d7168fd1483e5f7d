# SPDX-License-Identifier: BSD-3-Clause
"""A plan: which launches are made with which variables, as a file that a driver of launches reads.

The driver starts one after another in this order, with the launch's variables set, all other
settings of the plan not set, and `--label screen=LABEL`; the file that comes out says by its
recorded variables what was in force.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.screening import documents
from a2aperf.screening.design import ALONE, Design
from a2aperf.visible import json_visible

SCHEMA: Final = "a2aperf screening plan 1"
LABEL: Final = "screen"
"""Of the launches' files: its value tells which launch of which plan it is."""
NAME: Final = "screen.json"
"""Of a plan that lies beside its results."""


@dataclass(frozen=True)
class Factor:
    """A setting at two levels: not set, and this value; `others` may be tried afterwards."""

    name: str
    value: str
    default: str = ""
    what: str = ""
    others: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    """Of a setting that has no place in the design: those that are not set beside it."""

    @property
    def assignment(self) -> str:
        """`NAME=VALUE`."""
        return f"{self.name}={self.value}"


@dataclass(frozen=True)
class Plan:
    """The launches of a screening; `fixed` variables are set in each of them.

    `left_out` says of other settings why they are not screened.
    """

    provider: str
    seed: int
    factors: tuple[Factor, ...]
    design: Design
    fixed: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    follows: str = ""
    """The id of the plan of the round before; empty: it is the first."""
    aside: tuple[Factor, ...] = ()
    """Settings that conflict with one of these: each is tried by itself afterwards."""

    @property
    def id(self) -> str:
        """What tells it from all others; follows from its content."""
        text = json.dumps(self._content(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def names(self) -> list[str]:
        """Of the settings."""
        return [one.name for one in self.factors]

    @property
    def every(self) -> list[str]:
        """The same, with those that are tried by themselves."""
        return [*self.names, *(one.name for one in self.aside)]

    @property
    def further(self) -> int:
        """How many further values the settings have."""
        return sum(len(one.others) for one in self.factors)

    def label(self, launch: int) -> str:
        """Of a launch, by its place in the order."""
        return f"{self.id}-{launch + 1:02d}"

    @property
    def labels(self) -> list[str]:
        """Of all launches."""
        return [self.label(launch) for launch in range(self.design.launches)]

    def environment(self, launch: int) -> dict[str, str]:
        """The variables of a launch; those settings that it does not name are not set."""
        made = self.design.levels[launch] > 0
        chosen = {f.name: f.value for f, is_made in zip(self.factors, made, strict=True) if is_made}
        return {**self.fixed, **chosen}

    def _content(self) -> dict[str, Any]:
        design = self.design
        return {
            "schema": SCHEMA,
            "provider": self.provider,
            "seed": self.seed,
            "settings": [
                {"name": f.name, "value": f.value, "default": f.default, "what": f.what,
                 "others": list(f.others)}
                for f in self.factors
            ],
            "fixed": dict(self.fixed),
            "left_out": list(self.left_out),
            **({"follows": self.follows} if self.follows else {}),
            **({"aside": [asdict(one) for one in self.aside]} if self.aside else {}),
            "launches": [
                {"block": int(design.block[i]), "pair": int(design.pair[i]),
                 "environment": self.environment(i)}
                for i in range(design.launches)
            ],
        }  # fmt: skip

    def as_json(self) -> str:
        """The file."""
        content = self._content()
        rows = content["launches"]
        content["launches"] = [{"label": self.label(i), **row} for i, row in enumerate(rows)]
        document = {"schema": SCHEMA, "id": self.id, "label": LABEL, **content}
        return json_visible(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"


def read(path: Path) -> Plan:
    """The plan of a file; InputError where it is none, or not as it was written."""
    plan, said = documents.read(path, SCHEMA, "a file that 'a2a screen -o' has written", _plan)
    if plan.id != said:
        raise InputError(f"{path}: was changed after it was written: make a new plan instead")
    return plan


def _plan(document: Mapping[str, Any]) -> Plan:
    factors = tuple(map(_factor, document["settings"]))
    rows: Sequence[Mapping[str, Any]] = document["launches"]
    levels = [[1 if one.name in row["environment"] else -1 for one in factors] for row in rows]
    design = Design(
        np.array(levels, dtype=np.int8).reshape(len(rows), len(factors)),
        np.array([int(row["pair"]) for row in rows], dtype=np.intp),
        np.array([int(row["block"]) for row in rows], dtype=np.intp),
    )
    _require_design(design)
    fixed = {str(name): str(value) for name, value in document["fixed"].items()}
    left_out = tuple(map(str, document["left_out"]))
    return Plan(
        str(document["provider"]),
        int(document["seed"]),
        factors,
        design,
        fixed,
        left_out,
        str(document.get("follows", "")),
        tuple(map(_factor, document.get("aside", ()))),
    )


def _factor(one: Mapping[str, Any]) -> Factor:
    return Factor(
        str(one["name"]),
        str(one["value"]),
        str(one["default"]),
        str(one["what"]),
        tuple(map(str, one["others"])),
        tuple(map(str, one.get("conflicts", ()))),
    )


def _require_design(design: Design) -> None:
    for pair in np.unique(design.pair[design.pair != ALONE]):
        members = np.flatnonzero(design.pair == pair)
        if len(members) != 2 or (design.levels[members].sum(axis=0) != 0).any():
            raise ValueError(f"pair {pair} is no pair")
