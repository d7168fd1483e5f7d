# SPDX-License-Identifier: BSD-3-Clause
"""What published figures of interconnects say against physics, or against one another.

Figures are rounded and their units may be binary: only what is off by more than 1 % in the kinder
reading counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf.labels import number_text, size_text

_SLACK: Final = 1.01
_ETHERNET: Final = re.compile(
    r"(\d{1,3}(?:\.\d)?)\s*(?:GigE|GbE|G(?:bit)?[ -]?Ethernet|GBASE\S*)\b", re.IGNORECASE
)
_INFINIBAND: Final = {"SDR": 8.0, "DDR": 16.0, "QDR": 32.0, "FDR": 54.5, "EDR": 100.0, "HDR": 200.0}
"""Gbit/s of data on four lanes."""


@dataclass(frozen=True)
class Figure:
    """What is said of an interconnect; None: not said."""

    interconnect: str
    size: int | None = None
    """Bytes; None: of no one size, the most of all."""
    byte_rate: float | None = None
    """B/s."""
    msg_rate: float | None = None
    """1/s."""
    link_rate: float | None = None
    """Gbit/s, as the text says it."""


@dataclass(frozen=True)
class Contradiction:
    """In words, with how many figures it rests on, and by what factor it is off."""

    interconnect: str
    text: str
    figures: int
    factor: float


def line_rate(name: str) -> float | None:
    """Gbit/s that a name tells (`1GigE`, `IB QDR`); None where it tells none."""
    if found := _ETHERNET.search(name):
        return float(found[1])
    words = name.upper().replace("-", " ").split()
    return next((rate for word, rate in _INFINIBAND.items() if word in words), None)


def of(figures: Sequence[Figure], rankings: Mapping[int, Sequence[str]]) -> list[Contradiction]:
    """All of them; `rankings` are names by size, the fastest first, as the text has them."""
    by_name: dict[str, list[Figure]] = {}
    for one in figures:
        by_name.setdefault(one.interconnect, []).append(one)
    found = []
    for name, mine in by_name.items():
        found += [*_above_line(name, mine), *_above_most_messages(name, mine)]
        found += _above_most(name, mine)
    for size, ranking in rankings.items():
        found += _ranked_otherwise(figures, size, ranking)
    return found


def _above_line(name: str, mine: Sequence[Figure]) -> Iterator[Contradiction]:
    told = next((one.link_rate for one in mine if one.link_rate), None)
    line = told or line_rate(name)
    if not line:
        return
    rates = [(one.byte_rate * 8e-9, one) for one in mine if one.byte_rate is not None]
    above = [(rate, one) for rate, one in rates if rate > line * _SLACK]
    if above:
        most, one = max(above, key=lambda rate: rate[0])
        both = " (more than both directions together)" if most > 2 * line * _SLACK else ""
        text = (
            f"{len(above)} of {len(rates)} rates are above the line rate of {number_text(line)} "
            f"Gbit/s, {number_text(most)} Gbit/s ({_at(one)}) the highest{both}: bytes were "
            "counted more than once, or did not pass this link"
        )
        yield Contradiction(name, text, len(rates), most / line)


def _above_most_messages(name: str, mine: Sequence[Figure]) -> Iterator[Contradiction]:
    """Of larger messages fewer pass: what is said of a size bounds that size and larger ones."""
    counts = [one for one in mine if one.msg_rate is not None]
    for one in mine:
        if one.byte_rate is None or not one.size:
            continue
        if one.msg_rate is not None:
            yield from _against_itself(name, one)
            continue
        bounds = [other for other in counts if (other.size or 0) <= one.size]
        if not bounds:
            continue
        most = max(bounds, key=lambda other: other.msg_rate or 0.0)
        limit = float(most.msg_rate or 0.0)
        messages = one.byte_rate / one.size
        if messages > limit * _SLACK:
            whose = "of messages of that size or less the most" if most.size else "the most of all"
            text = (
                f"{number_text(one.byte_rate / 1e6)} MB/s at {size_text(one.size)} are "
                f"{number_text(messages, 7)} messages/s, and {whose} is {number_text(limit, 7)}/s "
                f"({_at(most)})"
            )
            yield Contradiction(name, text, len(bounds) + 1, messages / limit)


def _against_itself(name: str, one: Figure) -> Iterator[Contradiction]:
    """A row whose messages are fewer than make its bytes."""
    messages, told = float(one.byte_rate or 0.0) / float(one.size or 1), float(one.msg_rate or 0.0)
    if told > 0 and messages > told * _SLACK:
        text = (
            f"{number_text(float(one.byte_rate or 0.0) / 1e6)} MB/s {_at(one)} are "
            f"{number_text(messages, 7)} messages/s, and the same row has {number_text(told, 7)}/s"
        )
        yield Contradiction(name, text, 2, messages / told)


def _above_most(name: str, mine: Sequence[Figure]) -> Iterator[Contradiction]:
    most = [one.byte_rate for one in mine if one.size is None and one.byte_rate is not None]
    if not most:
        return
    for one in mine:
        if one.size and one.byte_rate is not None and one.byte_rate > max(most) * _SLACK:
            text = (
                f"{number_text(one.byte_rate / 1e6)} MB/s at {size_text(one.size)} are more than "
                f"the most of all sizes, {number_text(max(most) / 1e6)} MB/s"
            )
            yield Contradiction(name, text, 2, one.byte_rate / max(most))


def _ranked_otherwise(
    figures: Sequence[Figure], size: int, ranking: Sequence[str]
) -> Iterator[Contradiction]:
    rates = {
        one.interconnect: one.byte_rate
        for one in figures
        if one.size == size and one.byte_rate is not None
    }
    known = [name for name in ranking if name in rates]
    apart = [
        rates[slower] / rates[faster]
        for at, faster in enumerate(known)
        for slower in known[at + 1 :]
        if rates[slower] > rates[faster] * _SLACK
    ]
    if apart:
        by_rate = sorted(known, key=lambda name: -rates[name])
        pairs = len(known) * (len(known) - 1) // 2
        text = (
            f"at {size_text(size)} the text ranks {', '.join(known)}; its rates rank "
            f"{', '.join(by_rate)}: {len(apart)} of {pairs} pairs stand the other way round"
        )
        yield Contradiction("", text, len(known), max(apart))


def _at(one: Figure) -> str:
    return f"at {size_text(one.size)}" if one.size else "the most of all sizes"
