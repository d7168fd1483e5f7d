# SPDX-License-Identifier: BSD-3-Clause
"""What published figures of interconnects say against physics, or against one another.

Figures are rounded and their units may be binary: only what is off by more than 1 % in the kinder
reading, and by more than their digits allow, counts.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from a2aperf import printed
from a2aperf.labels import number_text, size_text

_SLACK: Final = 1.01
_BINARY: Final = 2**30 / 1e9
"""What a rate is short of, at the most, where its unit was meant to be binary."""
_SLOWER: Final = 1.05
"""By how much a smaller message has to be slower than a larger one: latencies are measured."""
_BYTES: Final = (1.0, 1e3, 1e6, 1e9, 2.0**20, 2.0**30, 1e6 / 8, 1e9 / 8)
"""Units of rates."""
_TIMES: Final = (1.0, 1e3, 1e6, 1e9)
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
    latency: float | None = None
    """ns."""
    hops: int | None = None
    """Transfers of a message, one after the other."""
    offered: float | None = None
    """Messages that were due, 1/s."""


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
    off = _Off.of(figures)
    found = []
    for name, mine in by_name.items():
        told = next((one.link_rate for one in mine if one.link_rate), None)
        if line := told or line_rate(name):
            found += [*_above_line(name, mine, line, off), *_before_line(name, mine, line, off)]
        found += _above_most_messages(name, mine, off)
        found += _above_most(name, mine, off)
        found += [*_more_than_passed(name, mine, off), *_larger_is_faster(name, mine, off)]
    for size, ranking in rankings.items():
        found += _ranked_otherwise(figures, size, ranking)
    return found


@dataclass(frozen=True)
class _Off:
    """By how much figures of each kind may be off as they are printed."""

    byte_rate: Callable[[float], float]
    msg_rate: Callable[[float], float]
    latency: Callable[[float], float]

    @classmethod
    def of(cls, figures: Sequence[Figure]) -> _Off:
        return cls(
            printed.half_unit((one.byte_rate for one in figures), _BYTES),
            printed.half_unit((one.msg_rate for one in figures), (1.0,)),
            printed.half_unit((one.latency for one in figures), _TIMES),
        )

    def least_bytes(self, rate: float) -> float:
        """B/s."""
        return rate - self.byte_rate(rate)

    def least_messages(self, rate: float) -> float:
        """1/s."""
        return rate - self.msg_rate(rate)


def _above_line(
    name: str, mine: Sequence[Figure], line: float, off: _Off
) -> Iterator[Contradiction]:
    """Rates, also those that follow from messages a second of a size."""
    rates = [(one.byte_rate * 8e-9, off.least_bytes(one.byte_rate) * 8e-9, one)
             for one in mine if one.byte_rate is not None]  # fmt: skip
    rates += [(one.msg_rate * one.size * 8e-9, off.least_messages(one.msg_rate) * one.size * 8e-9,
               one) for one in mine
              if one.byte_rate is None and one.msg_rate is not None and one.size]  # fmt: skip
    above = [(rate, one) for rate, least, one in rates if least > line * _SLACK]
    if above:
        most, one = max(above, key=lambda rate: rate[0])
        both = " (more than both directions together)" if most > 2 * line * _SLACK else ""
        text = (
            f"{len(above)} of {len(rates)} rates are above the line rate of {number_text(line)} "
            f"Gbit/s, {number_text(most)} Gbit/s ({_made_of(one)}{_at(one)}) the highest{both}: "
            "bytes were counted more than once, or did not pass this link"
        )
        yield Contradiction(name, text, len(rates), most / line)


def _made_of(one: Figure) -> str:
    """Where a rate is none of the text's own."""
    if one.byte_rate is not None or one.msg_rate is None:
        return ""
    return f"{number_text(one.msg_rate, 7)} messages/s "


def _before_line(
    name: str, mine: Sequence[Figure], line: float, off: _Off
) -> Iterator[Contradiction]:
    """The last bit of a message comes no sooner than the line has passed all of it, every time."""
    timed = [one for one in mine if one.latency and one.latency > 0 and one.size]
    for one in timed:
        latency, hops = float(one.latency or 0.0), one.hops or 1
        least = float(one.size or 0) * 8 / line * hops
        if (latency + off.latency(latency)) * _SLACK < least:
            times = f" {hops} times one after the other" if hops > 1 else ""
            text = (
                f"a latency of {number_text(latency / 1e3)} µs {_at(one)}: a line of "
                f"{number_text(line)} Gbit/s takes {number_text(least / 1e3)} µs to pass as much"
                f"{times}"
            )
            yield Contradiction(name, text, 1, least / latency)


def _larger_is_faster(name: str, mine: Sequence[Figure], off: _Off) -> Iterator[Contradiction]:
    """Of the same hops and rate; of each larger size the one that it is below of most."""
    timed = [one for one in mine if one.latency and one.latency > 0 and one.size]
    for larger in timed:
        mine_at = float(larger.latency or 0.0)
        slower = [
            one
            for one in timed
            if (one.hops, one.offered) == (larger.hops, larger.offered)
            and (one.size or 0) < (larger.size or 0)
            and float(one.latency or 0.0) - off.latency(float(one.latency or 0.0))
            > (mine_at + off.latency(mine_at)) * _SLOWER
        ]
        if slower:
            worst = max(slower, key=lambda one: one.latency or 0.0)
            text = (
                f"a latency of {number_text(mine_at / 1e3)} µs {_at(larger)}, and of "
                f"{number_text(float(worst.latency or 0.0) / 1e3)} µs {_at(worst)}: the larger "
                "message would be there sooner"
            )
            yield Contradiction(name, text, 2, float(worst.latency or 0.0) / mine_at)


def _above_most_messages(name: str, mine: Sequence[Figure], off: _Off) -> Iterator[Contradiction]:
    """Of larger messages fewer pass: what is said of a size bounds that size and larger ones."""
    counts = [one for one in mine if one.msg_rate is not None]
    for one in mine:
        if one.byte_rate is None or not one.size:
            continue
        if one.msg_rate is not None:
            yield from _against_itself(name, one, off)
            continue
        bounds = [other for other in counts if (other.size or 0) <= one.size]
        if not bounds:
            continue
        most = max(bounds, key=lambda other: other.msg_rate or 0.0)
        limit = float(most.msg_rate or 0.0)
        messages = one.byte_rate / one.size
        if off.least_bytes(one.byte_rate) / one.size > (limit + off.msg_rate(limit)) * _SLACK:
            whose = "of messages of that size or less the most" if most.size else "the most of all"
            text = (
                f"{number_text(one.byte_rate / 1e6)} MB/s at {size_text(one.size)} are "
                f"{number_text(messages, 7)} messages/s, and {whose} is {number_text(limit, 7)}/s "
                f"({_at(most)})"
            )
            yield Contradiction(name, text, len(bounds) + 1, messages / limit)


def _against_itself(name: str, one: Figure, off: _Off) -> Iterator[Contradiction]:
    """A row whose messages are fewer than make its bytes."""
    messages, told = float(one.byte_rate or 0.0) / float(one.size or 1), float(one.msg_rate or 0.0)
    least = off.least_bytes(float(one.byte_rate or 0.0)) / float(one.size or 1)
    if told > 0 and least > (told + off.msg_rate(told)) * _SLACK:
        text = (
            f"{number_text(float(one.byte_rate or 0.0) / 1e6)} MB/s {_at(one)} are "
            f"{number_text(messages, 7)} messages/s, and the same row has {number_text(told, 7)}/s"
        )
        yield Contradiction(name, text, 2, messages / told)


def _more_than_passed(name: str, mine: Sequence[Figure], off: _Off) -> Iterator[Contradiction]:
    """Messages of a size that are more bytes than the text has of that size, in any unit."""
    counts = [one for one in mine if one.msg_rate is not None and one.size]
    rates = [one for one in mine if one.byte_rate and one.byte_rate > 0 and one.size]
    for one, other in itertools.product(counts, rates):
        if (one.size, one.hops, one.offered) != (other.size, other.hops, other.offered):
            continue
        told, passed = float(one.msg_rate or 0.0), float(other.byte_rate or 0.0)
        least = off.least_messages(told) * float(one.size or 0)
        if least > (passed + off.byte_rate(passed)) * _BINARY * _SLACK:
            made = told * float(one.size or 0)
            text = (
                f"{number_text(told, 7)} messages/s {_at(one)} are {number_text(made / 1e6)} MB/s, "
                f"and the throughput of that size is {number_text(passed / 1e6)} MB/s"
            )
            yield Contradiction(name, text, 2, made / passed)


def _above_most(name: str, mine: Sequence[Figure], off: _Off) -> Iterator[Contradiction]:
    most = [one.byte_rate for one in mine if one.size is None and one.byte_rate is not None]
    if not most:
        return
    limit = max(most) + off.byte_rate(max(most))
    for one in mine:
        if one.size and one.byte_rate and off.least_bytes(one.byte_rate) > limit * _SLACK:
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
