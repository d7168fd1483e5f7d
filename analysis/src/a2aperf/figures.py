# SPDX-License-Identifier: BSD-3-Clause
"""The figures of results by name: `runs.plot.sizes()`. The names are those of `plots.KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

from a2aperf import chosen_axes, clusters, curves, drawing, plots
from a2aperf.chart import Figure
from a2aperf.drawing import Page
from a2aperf.errors import InputError
from a2aperf.results import Results


def drawn(
    kind: str,
    results: Results,
    options: curves.Options,
    width: float | None,
    notes: bool,
    mixed: bool,
) -> tuple[Page, Figure]:
    """A figure of a kind as the user asked for it, and what it shows; arguments as of `Figures`."""
    clusters.require_one(results, mixed)
    made = plots.made(kind, results, options)
    if made.empty:
        raise InputError("; ".join([f"nothing to draw of {kind} here", *made.said]))
    figure = chosen_axes.as_asked(made, options)
    return drawing.draw(figure, width, notes), figure


class Figures:
    """One method per kind of figure; each returns a matplotlib figure, shown inline.

    Arguments of all: `by`, a name or names that tell lines apart (default: all that differs);
    `title`; `width` in inches (default: as its panels need); `notes`, whether n, bars and what is
    left out is said under it; `most`, lines or panels before it chooses; `x_scale` and `y_scale`,
    linear or log; and those that its kind alone has.
    """

    def __init__(self, results: Results, mixed: bool = False) -> None:
        self._results, self._mixed = results, mixed

    def __dir__(self) -> list[str]:
        return sorted(plots.KINDS)

    def __repr__(self) -> str:
        return f"<Figures: {', '.join(f'{name}()' for name in plots.KINDS)}>"

    def __getattr__(self, name: str) -> Callable[..., Page]:
        if name not in plots.KINDS:
            raise AttributeError(f"no figure '{name}': expected one of {', '.join(plots.KINDS)}")

        def draw(
            by: str | Sequence[str] = (),
            title: str = "",
            width: float | None = None,
            notes: bool = True,
            most: int = curves.Options.most,
            x_scale: str = "",
            y_scale: str = "",
            **own: Any,
        ) -> Page:
            names = (by,) if isinstance(by, str) else tuple(by)
            _require(width, most)
            scales = _scale("x_scale", x_scale), _scale("y_scale", y_scale)
            options = curves.Options(names, most, curves.given(own), *scales, title)
            return drawn(name, self._results, options, width, notes, self._mixed)[0]

        kind = plots.KINDS[name]
        draw.__name__ = draw.__qualname__ = name
        shown = f"{kind.says[0].upper()}{kind.says[1:]}."
        own = "".join(f"\n\n`{one.name}`: {one.says}" for one in kind.options)
        draw.__doc__ = f"{shown}\n\n{kind.reads}\n\n{type(self).__doc__}{own}"
        return draw


def _require(width: float | None, most: int) -> None:
    if most < 1:
        raise InputError(f"most={most}: expected 1 or more")
    if width is not None and not (isinstance(width, Real) and width > 0):
        raise InputError(f"width={width}: expected inches above 0")


def _scale(name: str, scale: str) -> str:
    """As `curves.Options` has it: empty for the one that the figure takes by itself."""
    if scale not in ("", "auto", "linear", "log"):
        raise InputError(f"{name}={scale}: expected auto, linear or log")
    return "" if scale == "auto" else scale
