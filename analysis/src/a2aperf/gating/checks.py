# SPDX-License-Identifier: BSD-3-Clause
"""What one check found, and what all of them come to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from a2aperf.labels import count_text


class State(IntEnum):
    """The exit status, as monitoring systems understand it."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def word(self) -> str:
        """As it is printed."""
        return self.name.lower()


_HEAVIEST_FIRST: Final = (State.CRITICAL, State.WARNING, State.UNKNOWN, State.OK)


@dataclass(frozen=True)
class Check:
    """One check; numbers are NaN, texts empty where there is none."""

    what: str  # "speed", "efficiency", "files"
    at: str
    state: State
    measured: float = math.nan
    limit: float = math.nan  # or the bound
    shown: tuple[str, str] = ("", "")  # both as text
    n: str = ""
    launches: int = 0
    why: str = ""
    figures: dict[str, float | int | None] = field(default_factory=dict)
    is_judged: bool = True
    """Whether `state` is a verdict; else ok says that nothing speaks against what is shown."""

    @property
    def word(self) -> str:
        """The verdict, or that there is none."""
        return self.state.word if self.is_judged else "bound"


def unknown(what: str, why: str, at: str = "") -> Check:
    """A check that could not be made."""
    return Check(what, at, State.UNKNOWN, why=why)


def worst(states: Iterable[State], is_measured: bool = True) -> State:
    """Critical before warning before unknown before ok; of nothing: unknown.

    Where nothing was measured unknown comes before warning: nobody knows more than that.
    """
    found = set(states)
    heaviest = next((state for state in _HEAVIEST_FIRST if state in found), State.UNKNOWN)
    is_hidden = heaviest is State.WARNING and State.UNKNOWN in found and not is_measured
    return State.UNKNOWN if is_hidden else heaviest


def in_sum(checks: Sequence[Check], is_measured: bool = True) -> str:
    """`CRITICAL: 1 critical, 3 ok of 4 checks; speed, 4 nodes: slower by 21 %`."""
    state = worst((check.state for check in checks), is_measured)
    checks = [check for check in checks if check.is_judged]
    counts = [
        f"{count} {one.word}"
        for one in _HEAVIEST_FIRST
        if (count := sum(check.state == one for check in checks))
    ]
    text = f"{state.name}: {', '.join(counts)} of {count_text(len(checks), 'check')}"
    first = next((check for check in checks if check.state == state), None)
    if first is None or state == State.OK:
        return text
    where = f", {first.at}" if first.at else ""
    return f"{text}; {first.what}{where}: {first.why}"
