# SPDX-License-Identifier: BSD-3-Clause
"""The figures of a screening, as rows of `a2a plot`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from a2aperf.chart import Figure
from a2aperf.curves import Kind, Options
from a2aperf.results import Results
from a2aperf.screening import figure, folder, pareto
from a2aperf.screening.outcome import Outcome


def _drawn(draw: Callable[[Outcome], Figure]) -> Callable[[Results, Options], Figure]:
    def make(found: Results, options: Options) -> Figure:
        return draw(folder.judged(found))

    return make


def _never(found: Results) -> bool:
    """The report has a section of its own on a screening."""
    return False


KINDS: Final = {
    "effects": Kind(
        _drawn(figure.figure),
        "of a screening, the effect of each setting by message sizes",
        figure.READS,
        in_report=_never,
    ),
    "pareto": Kind(
        _drawn(pareto.figure),
        "of a screening, what a setting gains against what it may cost at other sizes",
        pareto.READS,
        in_report=_never,
    ),
}
