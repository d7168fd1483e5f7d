# SPDX-License-Identifier: BSD-3-Clause
"""From a catalogue to a plan: which settings can be screened together, and what has room."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.screening import catalogue, design
from a2aperf.screening.catalogue import Setting
from a2aperf.screening.costing import Cost
from a2aperf.screening.plan import Factor, Plan

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Wanted:
    """What the user asks for.

    `tried` are names of the catalogue, or `NAME=VALUE`; none: all that are not dangerous. Those of
    `without` stay as nobody sets them, those of `fixed` are set in every launch.
    `libfabric`: a version as `1.17`, whose later settings are left out; empty: not known.
    `budget` and `seconds` of a launch (0: no budget); `confirms`: it has room for the confirmation
    of one setting. `known`: variables that libfabric knows here; none: nobody could say.
    """

    provider: str
    tried: Sequence[str] = ()
    without: Sequence[str] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    libfabric: str = ""
    budget: float = 0.0
    seconds: float = 0.0
    confirms: bool = True
    known: frozenset[str] = frozenset()


def make(settings: Sequence[Setting], wanted: Wanted, seed: int) -> Plan:
    """The plan of as many settings as go together; InputError where none does."""
    _require_names(settings, wanted)
    left_out: list[str] = []
    factors: list[tuple[Factor, Setting | None]] = []
    aside: list[tuple[Factor, Setting]] = []
    for factor, known in _candidates(settings, wanted, left_out):
        reason = _against(factor, known, settings, wanted)
        if not reason and known and (other := _beside(known, factors)):
            aside.append((factor, known))
            afterwards = ", or by itself after this one" if wanted.confirms else ""
            reason = (
                f"conflicts with {other}: in a round of its own (--without {other}){afterwards}"
            )
        if not reason and len(factors) == design.MOST:
            reason = f"no room beside {design.MOST} others: in the next round"
        if reason:
            left_out.append(f"{factor.name}: {reason}")
        else:
            factors.append((factor, known))
    if not factors:
        why = f" ({list_text(left_out, 2)})" if left_out else ""
        raise InputError(f"nothing to screen{why}")
    _require_budget(len(factors), wanted)
    made = tuple(factor for factor, _ in factors)
    arranged = design.make(len(made), np.random.default_rng(seed))
    apart = tuple(_apart(*one, [*(known for _, known in factors), *(x for _, x in aside)])
                  for one in aside)  # fmt: skip
    fixed = dict(wanted.fixed)
    return Plan(wanted.provider, seed, made, arranged, fixed, tuple(left_out), aside=apart)


def _require_names(settings: Sequence[Setting], wanted: Wanted) -> None:
    """What is not in the catalogue is a variable of the user's own; a slip is none."""
    by_name = {one.name: one for one in settings}
    tried = [(one.partition("=")[0], one.partition("=")[2]) for one in wanted.tried if "=" in one]
    given = [name for name, _ in tried]
    catalogue.chosen(settings, (name for name in wanted.without if name not in given))
    for name, value in (*tried, *wanted.fixed.items()):
        if not _VARIABLE.fullmatch(name):
            raise InputError(f"'{name}' is no name of a variable")
        if not value:
            raise InputError(f"{name}=: expected {name} or {name}=VALUE")
        if name in by_name:
            by_name[name].require_value(value)
        elif close := get_close_matches(name, by_name, 1, catalogue.ALIKE):
            raise InputError(f"unknown setting '{name}': did you mean {close[0]}?")
    for name, value in tried:
        if name in by_name and value == by_name[name].default:
            raise InputError(f"{name}={value}: that is the default: nothing would change")
    twice = [name for name in given if given.count(name) > 1]
    if twice:
        raise InputError(f"{twice[0]} has two values: a screening tries one of a setting")


def _candidates(
    settings: Sequence[Setting], wanted: Wanted, left_out: list[str]
) -> list[tuple[Factor, Setting | None]]:
    """In order; those that nobody asked for are left out where they are dangerous."""
    by_name = {one.name: one for one in settings}
    if wanted.tried:
        known = catalogue.chosen(settings, (name for name in wanted.tried if "=" not in name))
        chosen = {one.name: _factor(one) for one in known}
        for text in wanted.tried:
            name, is_given, value = text.partition("=")
            if is_given:
                one = by_name.get(name)
                chosen[name] = _factor(one, value) if one else Factor(name, value)
        names = list(dict.fromkeys(text.partition("=")[0] for text in wanted.tried))
        return [(chosen[name], by_name.get(name)) for name in names]
    left_out += [f"{one.name}: dangerous: {one.danger}" for one in settings if one.danger]
    return [(_factor(one), one) for one in settings if not one.danger]


def _factor(one: Setting, value: str = "") -> Factor:
    tried = value or one.values[0]
    others = tuple(other for other in one.values if other != tried)
    return Factor(one.name, tried, one.default, one.what, others)


def _against(
    factor: Factor,
    known: Setting | None,
    settings: Sequence[Setting],
    wanted: Wanted,
) -> str:
    """Why a setting is not screened, whichever the others are; empty where it is."""
    if factor.name in wanted.without:
        return "left out as you wished"
    if factor.name in wanted.fixed:
        return f"fixed at {wanted.fixed[factor.name]}"
    if known and _is_newer(known.since, wanted.libfabric):
        return f"since {known.since} only, and here is {wanted.libfabric}"
    if known and _is_unknown(factor.name, wanted.known):
        return "the libfabric of this machine does not know it"
    fixed = [one for one in settings if one.name in wanted.fixed]
    against = [one.name for one in fixed if known and catalogue.conflict(known, one)]
    return f"conflicts with {against[0]}, which is fixed" if against else ""


def _beside(known: Setting, before: Sequence[tuple[Factor, Setting | None]]) -> str:
    """The first of those before it that a setting conflicts with; empty: with none."""
    against = (one.name for _, one in before if one and catalogue.conflict(known, one))
    return next(against, "")


def _apart(factor: Factor, known: Setting, others: Sequence[Setting | None]) -> Factor:
    """The setting with all that it conflicts with."""
    against = (one.name for one in others if one and catalogue.conflict(known, one))
    return replace(factor, conflicts=tuple(against))


def _is_newer(since: str, libfabric: str) -> bool:
    """Whether a setting came after this version of libfabric; false where nobody knows."""
    matched = re.match(r"(after )?libfabric (\d+)\.(\d+)", since)
    here = re.match(r"(\d+)\.(\d+)", libfabric)
    if not (matched and here):
        return False
    first, ours = (int(matched[2]), int(matched[3])), (int(here[1]), int(here[2]))
    return first > ours or (first == ours and matched[1] is not None)


def not_known(plan: Plan, known: frozenset[str]) -> list[str]:
    """Variables of a plan that this libfabric does not know: what sets them changes nothing."""
    return [name for name in (*plan.every, *plan.fixed) if _is_unknown(name, known)]


def _is_unknown(name: str, known: frozenset[str]) -> bool:
    """Whether libfabric knows others of the same provider, and this one not.

    Of a provider that it has not loaded it knows none, and PSM2_* never.
    """
    words = name.split("_")
    beginning = "_".join(words[: 3 if words[1:2] == ["OFI"] else 2]) + "_"
    return name not in known and any(other.startswith(beginning) for other in known)


def _require_budget(settings: int, wanted: Wanted) -> None:
    """Refuse what takes longer with its confirmation, and say what fits."""
    if not wanted.budget:
        return
    if not wanted.seconds:
        raise InputError("a budget needs the time of a launch: give --seconds")
    Cost(wanted.seconds, confirms=wanted.confirms).require(settings, wanted.budget)
