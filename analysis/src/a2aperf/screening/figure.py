# SPDX-License-Identifier: BSD-3-Clause
"""The effects of all settings as a figure: how large, how sure, at which message sizes."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from a2aperf.chart import Axis, Bound, Chart, Curve, Figure
from a2aperf.screening.outcome import Outcome

READS: Final = (
    "Settings stand by the size of their effect, those beyond chance first. Filled: chance is "
    "excluded; hollow: it is not, and the bar's further end is how large an effect can still be."
)
_APART = 0.22
"""Of the bands of one setting, which are one place from the next."""


def figure(made: Outcome) -> Figure:
    """Settings along x, the largest effects first; filled where chance is excluded."""
    ranked = made.ranked
    place = {setting: x for x, setting in enumerate(ranked)}
    bands = made.measured.bands
    found: list[Curve] = []
    for band, sizes in enumerate(bands):
        shift = _APART * (band - (len(bands) - 1) / 2)
        for is_called in (True, False):
            rows = [x for x in made.estimate.effects if x.band == band and x.is_called == is_called]
            if not rows:
                continue
            found.append(
                Curve(
                    sizes,
                    np.array([place[x.setting] + shift for x in rows]),
                    _percent([x.change for x in rows]),
                    _percent([x.low for x in rows]),
                    _percent([x.high for x in rows]),
                    look=band,
                    form="points" if is_called else "hollow",
                    hover=tuple(made.plan.factors[x.setting].assignment for x in rows),
                )
            )
    names = tuple((float(x), made.plan.factors[s].assignment) for x, s in enumerate(ranked))
    chart = Chart(
        "",
        Axis("Setting, against not set", ticks=names, upright=True,
             limits=(-0.6, len(ranked) - 0.4)),
        Axis("Change of speed in %"),
        curves=tuple(found),
        bounds=(Bound("", np.array([0.0]), np.array([0.0])),),
        legend="Message sizes" if len(bands) > 1 else "",
    )  # fmt: skip
    notes = [
        f"n\u00a0=\u00a0{made.estimate.pairs} pairs of launches; bars: 95 % intervals of "
        "all settings and sizes together; filled: chance is excluded; hollow: it is not",
        "estimates of a screening; what a setting gains is told by launches of its own",
    ]
    return Figure("effects", f"Settings of {made.plan.provider}", (chart,), tuple(notes))


def _percent(changes: list[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([100 * math.expm1(x) for x in changes])
