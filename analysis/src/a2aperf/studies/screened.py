# SPDX-License-Identifier: BSD-3-Clause
"""The plan of a screening in the folder of its study, for the script that makes its launches."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf import output, regular
from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.screening import catalogue, choosing, plan, rounds, trial
from a2aperf.screening.choosing import Wanted
from a2aperf.screening.design import ALONE
from a2aperf.screening.plan import Plan
from a2aperf.screening.trial import Trial
from a2aperf.studies import library, passed
from a2aperf.studies.placed import Placed, place
from a2aperf.studies.spelled import joined

ROWS: Final = "screen.tsv"
"""Beside the plan: label, settings, block and pair of each launch, as jobs/lib/rows.sh has them."""


@dataclass(frozen=True)
class Screened(Placed):
    """A plan in its folder."""

    plan: Plan
    folder: Path
    is_kept: bool = False
    """It was in the folder before it was asked for."""
    not_known: tuple[str, ...] = ()
    """Its variables that the libfabric of this machine does not know, as a plan of a file has."""

    @property
    def rows(self) -> Path:
        """The launches, for the script."""
        return self.folder / ROWS

    @property
    def told(self) -> list[str]:
        """What to say before its launches are made."""
        names = list_text(self.not_known, 12)
        them = "them" if len(self.not_known) > 1 else "it"
        said = f"the libfabric of this machine does not know {names}, and ignores {them}"
        return [said] if names else []

    def passed(self, options: Sequence[str]) -> list[str]:
        """The options for a2aperf, with the plan's provider unless they name one."""
        if "--provider" in passed.names(options):
            return list(options)
        return [*options, "--provider", self.plan.provider]


def prepare(
    asked: str,
    folder: Path,
    seed: int | None,
    own: Sequence[Path] = (),
    program: Path | str | None = None,
) -> Screened:
    """By the name of a provider, or a file that `a2a screen -o` wrote. A folder keeps its plan.

    `own` are a site's catalogues; the libfabric of `program` says which settings it knows.
    Raises InputError where the folder has the plan of another screening, or its own cannot be made.
    """
    there = folder / plan.NAME
    given = plan.read(Path(asked)) if asked.endswith(".json") else None
    if there.exists():
        plans = rounds.read(there)
        known = plans[0]
        same = known.id == given.id if given else known.provider == asked
        if not same or (seed is not None and seed != known.seed):
            raise InputError(f"{folder} has the plan of another screening: --results names another")
        rows = _rows(plans, trial.values_of(plans[-1], there), trial.of(plans[-1], there))
        return Screened(place(folder, {ROWS: rows}), known, folder, True)
    variables = library.variables(program)
    made = given or _of_provider(asked, seed, own, variables)
    texts = {ROWS: _rows([made]), plan.NAME: made.as_json()}
    return Screened(
        place(folder, texts), made, folder, not_known=tuple(choosing.not_known(made, variables))
    )


def _of_provider(name: str, seed: int | None, own: Sequence[Path], known: frozenset[str]) -> Plan:
    number = secrets.randbits(31) if seed is None else seed
    return choosing.make(catalogue.of(name, own), Wanted(name, known=known), number)


def add(path: Path, plans: Sequence[Plan], confirming: Trial) -> None:
    """Writes the trial beside the plans in `path`, and its launches to the script's rows there."""
    output.replace(path.with_name(trial.NAME), confirming.as_json().encode())
    _replace_rows(path, _rows(plans, trial.values_of(plans[-1], path), confirming))


def add_values(path: Path, plans: Sequence[Plan], made: Trial) -> None:
    """The same of further values, which come before the confirmation."""
    output.replace(path.with_name(trial.VALUES_NAME), made.as_json().encode())
    _replace_rows(path, _rows(plans, made))


def follow(path: Path, plans: Sequence[Plan]) -> None:
    """Writes the last of the plans, a new round, beside the first in `path`, and its rows."""
    output.replace(rounds.path_of(path, len(plans)), plans[-1].as_json().encode())
    _replace_rows(path, _rows(plans))


def complete(path: Path, plans: Sequence[Plan], *trials: Trial | None) -> int:
    """Adds the rows of what is planned, where an end between the two writes left them out; n."""
    rows, text = path.with_name(ROWS), _rows(plans, *trials)
    known = regular.read_text(rows, "replace") if rows.is_file() else text
    if known == text or not text.startswith(known):
        return 0
    _replace_rows(path, text)
    return text.count("\n") - known.count("\n")


def _replace_rows(path: Path, text: str) -> None:
    rows = path.with_name(ROWS)
    if rows.is_file():
        output.replace(rows, text.encode())


def _rows(plans: Sequence[Plan], *trials: Trial | None) -> str:
    """Blocks and pairs are numbered on from round to round.

    A further value has its name for a pair: where a launch with it fails, so do the others.
    """
    lines: list[str] = []
    first = pairs = 0
    for of in plans:
        block, pair = of.design.block + first, of.design.pair
        named = ["-" if one == ALONE else str(one + pairs) for one in pair.tolist()]
        lines += [
            _row(of.label(launch), of.environment(launch), int(block[launch]), named[launch])
            for launch in range(of.design.launches)
        ]
        first, pairs = int(block.max()) + 1, int(pair.max()) + 1
    for made in filter(None, trials):
        is_values = made.schema == trial.VALUES_SCHEMA
        for i, side in enumerate(made.order):
            value = f"value-{side}" if is_values and side else "-"
            lines.append(_row(made.label(i), made.environment(i), first + made.block(i), value))
        first += made.block(made.launches - 1) + 1
    return "".join(lines)


def _row(label: str, environment: Mapping[str, str], block: int, pair: str) -> str:
    words = [f"{name}={value}" for name, value in environment.items()]
    for word in words:
        if set(word) & set("\t\n"):
            raise InputError(f"{word!r}: a screening sets no value with a tab or a line break")
    return f"{label}\t{joined(words) or '-'}\t{block}\t{pair}\n"
