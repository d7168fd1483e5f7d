# SPDX-License-Identifier: BSD-3-Clause
"""How figures, tables and sentences write sizes, times, rates and counts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_DECIMAL = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def size_text(size: float) -> str:
    """A message size in its own unit, kept on one line: 60 kB, 64 KiB, 1.5 kB, 1 B."""
    whole = round(size)
    for unit, name in _BINARY:
        if whole >= unit and whole % unit == 0 and whole % 1000:
            return f"{whole // unit}\u00a0{name}"
    for unit, name in _DECIMAL:
        if whole >= unit and whole * 100 % unit == 0:
            return f"{whole / unit:g}\u00a0{name}"
    return f"{whole}\u00a0B"


def number_text(value: float, digits: int = 3) -> str:
    """`digits` significant figures, never fewer than the whole part has, never in powers of ten."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{places}f}".replace(",", "\u2009")


def ratio_texts(*ratios: float) -> list[str]:
    """Ratios beside each other, with digits that keep them on their side of 1: `0.9998`, `1.0020`.

    Three significant figures or more, four places at most.
    """
    apart = [abs(one - 1) for one in ratios if math.isfinite(one) and one != 1]
    places = min(4, math.ceil(-math.log10(min(apart)))) if apart and min(apart) < 0.1 else 0
    return [
        f"{one:.{places}f}" if places > 2 and 0.1 <= one < 10 else number_text(one)
        for one in ratios
    ]


def time_text(nanoseconds: float) -> str:
    """A time in microseconds."""
    return f"{number_text(nanoseconds / 1000)}\u00a0µs"


def rate_text(gbps: float) -> str:
    """A rate in Gbit/s."""
    return f"{number_text(gbps)}\u00a0Gbit/s"


def count_text(count: int, noun: str, plural: str | None = None) -> str:
    """Count and noun, in the plural where it is not one: `3 launches`."""
    return f"{count} {noun if count == 1 else plural or plural_of(noun)}"


def plural_of(noun: str) -> str:
    """`launches`, `jobs`."""
    return noun + ("es" if noun.endswith("ch") else "s")


def natural(name: str) -> list[tuple[int, int, str]]:
    """Key that sorts node9 before node10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    digits = [part.lstrip("0") if part[0] in "0123456789" else None for part in parts]
    return [
        (1, 0, part) if number is None else (0, len(number), number)
        for part, number in zip(parts, digits, strict=True)
    ]


def range_text(values: Iterable[int]) -> str:
    """The value, or smallest `to` largest where they differ; empty for none."""
    seen = sorted(set(values))
    if not seen:
        return ""
    return f"{seen[0]}" if len(seen) == 1 else f"{seen[0]} to {seen[-1]}"


def range_count_text(values: Iterable[int], noun: str) -> str:
    """`1 op`, `100 ops`, `30 to 100 ops`; empty for none."""
    text = range_text(values)
    return f"{text} {noun if text == '1' else plural_of(noun)}" if text else ""


def sample_text(ops: pd.Series[Any], where: str) -> str:
    """`n = 30 to 100 ops per point`, with how many points do not tell theirs."""
    told = ops.dropna()
    n = range_count_text((int(count) for count in told), "op")
    if not n:
        return "n unknown"
    rest = (
        f", of {count_text(len(ops) - len(told), 'point')} unknown" if len(told) < len(ops) else ""
    )
    return f"n\u00a0=\u00a0{n} {where}{rest}"


def list_text(words: Sequence[str], most: int = 6) -> str:
    """Words with commas and an "and"; past `most` the rest is counted."""
    if len(words) > most:
        return ", ".join(words[:most]) + f" and {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + " and " + words[-1]


def date_text(days: float, hours: bool = False) -> str:
    """Days since 1970 as a date (UTC), with the time of day if wanted."""
    when = datetime.fromtimestamp(days * 86_400, UTC)
    return when.strftime("%Y-%m-%d %H:%M" if hours else "%Y-%m-%d")


def hours_text(hours: float) -> str:
    """Hours as the job scripts' --budget takes them: to the microhour, without an exponent."""
    return f"{hours:.6f}".rstrip("0").rstrip(".")


_MOST_TICKS = 9


def size_ticks(sizes: Iterable[float]) -> tuple[tuple[float, str], ...]:
    """Ticks for a logarithmic axis of message sizes: measured ones; of many the round ones."""
    ticks = sorted({size for size in sizes if size > 0})
    for is_round in (_is_round, _is_power):
        if len(ticks) > _MOST_TICKS:
            fewer = [size for size in ticks if is_round(size)]
            ticks = sorted({ticks[0], *fewer, ticks[-1]}) if len(fewer) > 2 else ticks
    return tuple((tick, size_text(tick)) for tick in ticks)


def _is_round(size: float) -> bool:
    """1, 2 or 5 with noughts, or a power of two."""
    whole = round(size)
    return f"{whole}".rstrip("0") in ("1", "2", "5") or whole & (whole - 1) == 0


def _is_power(size: float) -> bool:
    """1 with noughts, or a power of eight."""
    whole = round(size)
    power = whole.bit_length() - 1
    return f"{whole}".rstrip("0") == "1" or (whole == 1 << power and power % 3 == 0)


def count_ticks(counts: Iterable[float]) -> tuple[tuple[float, str], ...]:
    """The measured counts as ticks."""
    return tuple((value, f"{value:g}") for value in sorted(set(counts)))


def two_digits(value: float) -> float:
    """What is estimated, rounded as far as it is known."""
    return float(f"{value:.2g}")
