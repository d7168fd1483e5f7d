# SPDX-License-Identifier: BSD-3-Clause
"""One look for every figure, on paper and on screen.

A line is told apart three times over: by colour, by dash and by marker. The colours are those of
Okabe and Ito ("Color Universal Design", 2008), which people with any kind of colour blindness can
tell apart; their yellow is left out because it is too pale for a line on white paper. From the
eighth line on the colours are Paul Tol's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

COLUMN_WIDTH = 3.4
"""Inches: one column of a two-column paper."""
PAGE_WIDTH = 7.0
"""Inches: both columns."""

INK = "#1a1a1a"
GREY = "#6b6b6b"
GRID = "#d9d9d9"
BOUND = "#4d4d4d"
HEAT = "cividis"
"""Colour map of heat maps: rises evenly in lightness, so it survives grey printing."""


@dataclass(frozen=True)
class Look:
    """How one line is drawn, in the words of both drawing libraries."""

    color: str
    marker: str
    dash: tuple[float, ...]
    symbol: str
    """Plotly's name of the marker."""

    @property
    def plotly_dash(self) -> str:
        """The dash in plotly's words."""
        return plotly_dash(self.dash)


def plotly_dash(dash: tuple[float, ...]) -> str:
    """Matplotlib's dash, in line widths, as plotly writes it, in pixels."""
    return ",".join(f"{2 * part:g}px" for part in dash) if dash else "solid"


_DASHED, _DOTS_AND_DASHES, _LONG = (4, 1.5), (5, 1.5, 1.2, 1.5), (8, 2)
LOOKS = (
    Look("#0072B2", "o", (), "circle"),
    Look("#D55E00", "s", _DASHED, "square"),
    Look("#009E73", "^", _LONG, "triangle-up"),
    Look("#CC79A7", "D", _DOTS_AND_DASHES, "diamond"),
    Look("#E69F00", "v", (), "triangle-down"),
    Look("#56B4E9", "P", _DASHED, "cross"),
    Look("#000000", "X", _LONG, "x"),
    Look("#882255", "<", _DOTS_AND_DASHES, "triangle-left"),
    Look("#999933", ">", (), "triangle-right"),
    Look("#332288", "p", _DASHED, "pentagon"),
    Look("#AA4499", "*", _LONG, "star"),
    Look("#777777", "h", _DOTS_AND_DASHES, "hexagon"),
)
"""No two share colour or symbol. No dash is dotted: dotted, in a line's colour, is what that line
would be at best (`chart.Bound.look`)."""
VARIANTS = (("full", ()), ("none", (3, 1.5)), ("left", (5, 1.5, 1.2, 1.5)), ("full", (3, 1.5)))
"""Filling of the marker and dash of what shares a colour: three settings; and, last, the baseline
of a comparison, where a hollow marker means something else."""
MOST_VARIANTS = 3
BASELINE = 3
MOST_LINES = len(LOOKS)
"""More lines than this are not told apart; figures choose, and say what they left out."""


def look(index: int) -> Look:
    """The look of line `index`; repeats past `MOST_LINES`."""
    return LOOKS[index % MOST_LINES]


_RC: Any = {
    "font.family": "DejaVu Sans",  # ships with matplotlib: the same figure on every machine
    "font.size": 7,
    "axes.labelsize": 7,
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.4,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.2,
    "lines.markeredgewidth": 0.7,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.4,
    "legend.labelspacing": 0.3,
    "text.parse_math": False,  # a dollar in a host name is a dollar
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "svg.hashsalt": "a2a",  # the same data give the same file
    "pdf.fonttype": 42,  # editable text; journals refuse Type 3 fonts
    "ps.fonttype": 42,
}


@contextmanager
def applied() -> Iterator[None]:
    """Matplotlib's settings while a figure is made or saved."""
    import matplotlib as mpl  # takes a while, and most commands draw nothing

    with mpl.rc_context(_RC):
        yield
