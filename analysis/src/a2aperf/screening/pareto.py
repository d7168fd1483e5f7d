# SPDX-License-Identifier: BSD-3-Clause
"""What each setting gains where it helps most, against what it does at least at every other size.

An operator sets a variable for all message sizes. The gain is that of the size where it is largest;
the risk is the lower end of the interval where that is lowest: no size is slower than that. Before
the confirmation both are of bands of sizes, in whose mean a single size may be hidden. The
intervals hold for all settings and sizes together, and therefore also for a size that is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from a2aperf import style
from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.labels import range_text, size_text
from a2aperf.screening.confirmation import Confirmation, name
from a2aperf.screening.outcome import Outcome

READS: Final = (
    "Higher is faster where it helps most, further right is safer elsewhere: left of 0 some sizes "
    "may be slower than with nothing set. Beyond the dashed line there is nothing: what lies "
    "on it has no other that gains more and risks less. Filled: the gain is beyond chance; hollow: "
    "it is not."
)
_NOTHING: Final = 6
"""The look of nothing set: black."""
_REST: Final = style.MOST_LINES - 1
"""The look of those that are not named."""


@dataclass(frozen=True)
class Tradeoff:
    """Changes of log speed: `gain` with its interval where it is largest; `least` anywhere."""

    name: str
    gain: float
    low: float
    high: float
    least: float
    at: str
    is_sure: bool


def tradeoffs(made: Outcome) -> list[Tradeoff]:
    """By the confirmation's own launches where they are there, else by the screening's."""
    if made.confirmation is not None:
        return [_confirmed(made.confirmation, side) for side in
                range(1, len(made.confirmation.trial.sides))]  # fmt: skip
    found = []
    for setting in made.ranked:
        mine = [x for x in made.estimate.effects if x.setting == setting]
        best = max(mine, key=lambda x: x.change)
        found.append(
            Tradeoff(
                made.plan.factors[setting].assignment,
                best.change,
                best.low,
                best.high,
                min(x.low for x in mine),
                made.measured.bands[best.band],
                best.is_called and best.change > 0,
            )
        )
    return found


def _confirmed(made: Confirmation, side: int) -> Tradeoff:
    one = made.against_default(side)
    best = int(np.argmax(one.change))
    together = side == made.trial.together and side not in made.singles
    words = "all together" if together else name(made.trial, side)
    return Tradeoff(
        words + (" (recommended)" if side == made.recommended else ""),
        float(one.change[best]),
        float(one.low[best]),
        float(one.high[best]),
        float(one.low.min()),
        size_text(int(made.cells["message_size"].iloc[best])),
        bool(one.faster[best]),
    )


NOTHING: Final = Tradeoff("nothing set", 0.0, 0.0, 0.0, 0.0, "any size", is_sure=False)


def front(found: Sequence[Tradeoff]) -> list[Tradeoff]:
    """Sure gains, and nothing set, that no other one exceeds at less risk; the safest first."""
    kept: list[Tradeoff] = []
    sure = [NOTHING, *(x for x in found if x.is_sure)]
    for one in sorted(sure, key=lambda x: (-x.least, -x.gain)):
        if not kept or one.gain > kept[-1].gain:
            kept.append(one)
    return kept


def figure(made: Outcome) -> Figure:
    """A mark for each setting, and the front."""
    found = tradeoffs(made)
    named = [x for x in found if x.is_sure or made.confirmation is not None][:_NOTHING]
    rest = [x for x in found if x not in named]
    drawn = [_mark(x.name, [x], look) for look, x in enumerate(named)]
    for words, is_sure in (("others", True), ("no gain beyond chance", False)):
        rows = [x for x in rest if x.is_sure == is_sure]
        drawn += [_mark(words, rows, _REST)] if rows else []
    drawn.append(replace(_mark(NOTHING.name, [NOTHING], _NOTHING), form="points"))
    across = _limits([_percent(x.least) for x in (*found, NOTHING)])
    along = _limits([_percent(end) for x in (*found, NOTHING) for end in (x.low, x.high)])
    what, plural = ("size", "sizes") if made.confirmation else ("band", "bands of sizes")
    chart = Chart(
        "",
        Axis(f"Least change at every {what}, in %", unit="%", limits=across),
        Axis("Gain where it is largest, in %", unit="%", limits=along),
        curves=tuple(drawn),
        bounds=(_staircase(front(found), across[0], along[0]),),
        legend="Setting, against not set",
    )
    if made.confirmation is None:
        rests = f"n\u00a0=\u00a0{made.estimate.pairs} pairs of launches of the screening"
        after = ["estimates of a screening; what a setting gains is told by launches of its own"]
    else:
        launches = range_text(made.confirmation.counted)
        rests = f"n\u00a0=\u00a0{launches} launches a side of the confirmation"
        after = []
    notes = [
        f"{rests}; bars: 95 % intervals of all settings and {plural} together; at least: the "
        "lower end of the lowest of them",
        *after,
    ]
    return Figure("pareto", f"Gain and risk, {made.plan.provider}", (chart,), tuple(notes))


def _percent(change: float) -> float:
    return 100 * math.expm1(change)


def _limits(values: Sequence[float]) -> tuple[float, float]:
    air = 0.06 * (max(values) - min(values)) or 1.0
    return min(values) - air, max(values) + air


def _mark(words: str, rows: Sequence[Tradeoff], look: int) -> Curve:
    least, gain, low, high = (
        np.array([_percent(getattr(x, part)) for x in rows])
        for part in ("least", "gain", "low", "high")
    )
    return Curve(
        words,
        least,
        gain,
        low,
        high,
        look=look,
        form="points" if rows[0].is_sure else "hollow",
        hover=tuple(f"{x.name}, at {x.at}" for x in rows),
    )


def _staircase(best: Sequence[Tradeoff], left: float, low: float) -> Bound:
    """From the left end at the largest gain down to the lower end at the least risk."""
    x, y = [left], [_percent(best[-1].gain)]
    for one in reversed(best):
        x += [x[-1], _percent(one.least)]
        y += [_percent(one.gain)] * 2
    return Bound("", np.array([*x, x[-1]]), np.array([*y, low]))
