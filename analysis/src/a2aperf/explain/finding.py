# SPDX-License-Identifier: BSD-3-Clause
"""What a finder reports, and how it writes figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from a2aperf.labels import count_text, number_text
from a2aperf.results import Results

Number = float | int | str


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing, with the numbers it rests on.

    `text` is a sentence that cites them; `where` names the points in words; `n` is what the claim
    rests on, counted in `unit`; `weight` orders findings of one kind, the heaviest first.
    """

    kind: str
    text: str
    where: str
    n: int
    unit: str = "ops"
    weight: float = 0.0
    numbers: Mapping[str, Number] = field(default_factory=dict)
    abstains: bool = False
    """It only says that this kind can't be judged, and why."""
    nodes: tuple[str, ...] = ()
    """Those that are slow by themselves, whoever the peer."""
    about: tuple[str, ...] = ()
    """The nodes that it says something of; empty: all that were measured."""

    @property
    def sample(self) -> str:
        """What it rests on: `134 rows`, `1 launch`."""
        one = self.unit.removesuffix("es" if self.unit.endswith("ches") else "s")
        return count_text(self.n, one, self.unit)


@dataclass(frozen=True)
class Finder:
    """A kind of finding: its name, what it means, how it is found."""

    kind: str
    title: str
    meaning: str
    find: Callable[[Results], list[Finding]]
    roles: tuple[str, ...] = ("measure",)
    """Of the points that it looks at."""
    blames: bool = False
    """Says which rank, node or pair is slow: nobody is, where the launch is oversubscribed."""
    is_gated: bool = False
    """Its findings are checks of a gate: each says `share`, of the others' rate, and `limit`."""
    describes: bool = False
    """Tells what is there in any case: only what has a weight stands out."""
    comes_first: bool = False
    """A summary begins with its words: all else is to be read with them."""


def us(nanoseconds: float) -> str:
    """A time in µs with three significant figures or more: `67.5 µs`, `1831 µs`; or in s."""
    value = nanoseconds / 1e3
    if value >= 1e6:
        return f"{value / 1e6:.3g} s" if value < 1e9 else f"{value / 1e6:.0f} s"
    if abs(value) < 5e-4:
        return "0 µs"
    return f"{value:.0f} µs" if value >= 1000 else f"{value:.3g} µs"


def ms(nanoseconds: float) -> str:
    """A time in ms: `2.5 ms`."""
    return f"{nanoseconds / 1e6:.3g} ms"


def percent(share: float) -> str:
    """A share in per cent: `46 %`, `0.8 %`; what is not nothing is not told as 0."""
    value = 100 * share
    if 0 < abs(value) < 0.05:
        return "less than 0.1 %"
    return f"{value:.0f} %" if abs(value) >= 9.95 else f"{value:.1f} %"


def listed(values: Iterable[object], most: int = 6) -> str:
    """Values with commas, in their order; more than `most` are counted: `1, 2, 3 and 4 more`."""
    texts = [f"{v:g}" if isinstance(v, float) else str(v) for v in values]
    if len(texts) <= most:
        return ", ".join(texts)
    return ", ".join(texts[:most]) + f" and {len(texts) - most} more"


def spanned(values: Sequence[float], digits: str = ".3g") -> str:
    """Smallest to largest, or the one value; no powers of ten of what is large."""
    low, high = (
        number_text(value) if abs(value) >= 999.5 and digits != "d" else format(value, digits)
        for value in (min(values), max(values))
    )
    return low if low == high else f"{low} to {high}"
