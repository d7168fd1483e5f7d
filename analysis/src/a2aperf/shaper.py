# SPDX-License-Identifier: BSD-3-Clause
"""What Linux does with packets of several classes at one device: from the texts of `tc`.

Read are `tc qdisc show`, `tc class show` and `tc filter show`, of one device, in any order: classes
of htb that filters of u32 choose by the type of service, and the bands of pfifo_fast.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from a2aperf.filling import water_fill

_CODE_POINTS: Final = {
    "best-effort": (0, 0),
    "low-latency": (46, 6),
    "dedicated-access": (34, 4),
    "bulk": (10, 2),
    "scavenger": (8, 1),
    "network-control": (48, 7),
}
"""DSCP and priority that a2aperf gives the connections of a class (docs/qos.md)."""
_BY_TYPE_OF_SERVICE: Final = (0, 2, 6, 4)
"""Priority that the kernel gives a connection whose DSCP alone is set, by two bits of it."""
_UNITS: Final = {"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

_HTB: Final = re.compile(r"\s*qdisc htb (\w+): (?:dev (\S+) )?root\b.* default (0x)?(\w+)\b.*")
_BANDS: Final = re.compile(
    r"\s*qdisc pfifo_fast \w+: (?:dev (\S+) )?(?:root|parent)\b.* bands 3 priomap ((?:[012] ?){16})"
    r"\s*"
)
_CLASS: Final = re.compile(
    r"\s*class htb (\w+:\w+) (?:dev (\S+) )?(?:root|parent (\w+:\w+)) (?:leaf \w+: )?"
    r"(?:prio (\d+) )?(?:quantum \d+ )?rate (\d+(?:\.\d+)?)([KMGT]?)bit .*?"
    r"\bceil (\d+(?:\.\d+)?)([KMGT]?)bit\b.*"
)
_ANY: Final = re.compile(r"\s*(class|qdisc) ([\w-]+) .*")
_WEIGHED: Final = {"htb", "hfsc", "cbq", "drr", "qfq", "ets", "prio"}
"""Disciplines whose classes divide a link; what others show as classes are single flows."""
_PLAIN: Final = {"tbf", "mq", "pfifo_fast", "clsact", "ingress"}
"""Disciplines beside which bands are those of all that leaves."""
_FILTER: Final = re.compile(
    r"\s*filter (?:dev (\S+) )?parent \w+:\w* protocol (?:ip|all) pref (\d+) u32\b.*"
    r"\border (\d+) .*\*?flowid (\w+:\w+)\b.*"
)
_OTHER_FILTER: Final = re.compile(r"\s*filter (?!.* u32\b).*|\s*filter .* order .*")
"""One of another kind, or of u32 that was not understood: any packet may be its."""
_MATCH: Final = re.compile(r"\s*match (\S+)/(\S+) at (\S+).*")
_FIRST_WORD: Final = re.compile(r"\s*match ([0-9a-f]{8})/([0-9a-f]{8}) at 0\b.*")
_TYPE_OF_SERVICE: Final = 0x00FF0000
"""Where it is in the first word of a packet."""


@dataclass(frozen=True)
class Class:
    """Of htb: what it is guaranteed and the most that it gets, bit/s, and its turn beyond that."""

    rate: float
    ceil: float
    turn: int


@dataclass
class _Filter:
    """The first one counts: by preference, then by its order."""

    place: tuple[int, int]
    to: str
    matches: list[tuple[int, int]] = field(default_factory=list)
    is_known: bool = True
    """Whether it looks at nothing but the first word of a packet."""

    def takes(self, type_of_service: int) -> bool:
        """Any packet with it; no filter that looks at anything else."""
        return self.is_known and all(
            not mask & ~_TYPE_OF_SERVICE and type_of_service << 16 & mask == value
            for value, mask in self.matches
        )


@dataclass(frozen=True)
class Shaper:
    """Of one device: classes with the filters that choose them, or bands."""

    classes: dict[str, Class] = field(default_factory=dict)
    filters: tuple[_Filter, ...] = ()
    default: str = ""
    bands: tuple[int, ...] = ()
    """Of each priority, from 0; the lowest band goes first."""

    @property
    def name(self) -> str:
        """In words."""
        return "classes of tc" if self.classes else "bands of tc"

    def shares(
        self, names: Sequence[str], limits: Sequence[float], rate: float
    ) -> list[float] | None:
        """What paths of these classes get of `rate`, each at most its limit, all in B/s.

        None where nothing is known, or a path is in no class: what has none is not held up.
        """
        marks = [_marks(name) for name in names]
        if not self.classes and not self.bands:
            return None
        if not self.classes:
            turns = [self.bands[priority & 15] for _, priority in marks]
            return _by_turn(rate, turns, [1.0] * len(marks), limits)
        to = [self._class_of(type_of_service) for type_of_service, _ in marks]
        if not all(one in self.classes for one in to):
            return None
        return self._divided(to, limits, rate)

    def _class_of(self, type_of_service: int) -> str:
        return next((one.to for one in self.filters if one.takes(type_of_service)), self.default)

    def _divided(self, to: Sequence[str], limits: Sequence[float], rate: float) -> list[float]:
        """First up to what each class is guaranteed, then the rest by turn; by their rates."""
        names = list(dict.fromkeys(to))
        of = [self.classes[name] for name in names]
        wants = [
            min(one.ceil / 8, sum(x for x, own in zip(limits, to, strict=True) if own == name))
            for name, one in zip(names, of, strict=True)
        ]
        weights = [one.rate for one in of]
        assured = [min(want, one.rate / 8) for want, one in zip(wants, of, strict=True)]
        got = water_fill(rate, weights, assured)
        left = [want - mine for want, mine in zip(wants, got, strict=True)]
        more = _by_turn(rate - sum(got), [one.turn for one in of], weights, left)
        paths = [0.0] * len(to)
        for name, amount in zip(names, map(sum, zip(got, more, strict=True)), strict=True):
            mine = [i for i, own in enumerate(to) if own == name]
            parts = water_fill(amount, [1.0] * len(mine), [limits[i] for i in mine])
            for i, part in zip(mine, parts, strict=True):
                paths[i] = part
        return paths


def _by_turn(
    amount: float, turns: Sequence[int], weights: Sequence[float], wants: Sequence[float]
) -> list[float]:
    """Nobody gets anything before all of a lower turn have what they want."""
    got = [0.0] * len(turns)
    for turn in sorted(set(turns)):
        mine = [i for i, own in enumerate(turns) if own == turn]
        parts = water_fill(amount, [weights[i] for i in mine], [wants[i] for i in mine])
        for i, part in zip(mine, parts, strict=True):
            got[i] = part
        amount -= sum(parts)
    return got


def _marks(name: str) -> tuple[int, int]:
    """Type of service and priority of a path's packets."""
    if point := re.fullmatch(r"dscp(\d{1,2})", name):
        type_of_service = int(point[1]) << 2
        return type_of_service, _BY_TYPE_OF_SERVICE[type_of_service >> 3 & 3]
    code_point, priority = _CODE_POINTS.get(name, (0, 0))
    return code_point << 2, priority


def of_text(text: str) -> Shaper:
    """What a text says; nothing where it is of several devices, or classes have several parents."""
    reader = _Reader()
    for line in text.splitlines():
        reader.line(line)
    return reader.found()


def without_names(text: str) -> list[str]:
    """Lines that say the same, made anew of what is understood: no device, nothing but numbers."""
    return [line for one in text.splitlines() for line in _made_anew(one)]


def _made_anew(line: str) -> list[str]:
    if _MATCH.fullmatch(line):
        first = _FIRST_WORD.fullmatch(line)
        return [
            f"  match {first[1]}/{first[2]} at 0" if first else "  match 00000000/ffffffff at 4"
        ]
    if found := _CLASS.fullmatch(line):
        name, _, parent, turn, rate, of_rate, ceil, of_ceil = found.groups("")
        under = f"parent {parent}" if parent else "root"
        before = f"prio {turn} " if turn else ""
        return [f"class htb {name} {under} {before}rate {rate}{of_rate}bit ceil {ceil}{of_ceil}bit"]
    if found := _FILTER.fullmatch(line):
        _, preference, order, to = found.groups("")
        return [f"filter parent 1: protocol ip pref {preference} u32 order {order} flowid {to}"]
    if found := _HTB.fullmatch(line):
        handle, _, base, default = found.groups("")
        return [f"qdisc htb {handle}: root default {base}{default}"]
    if found := _BANDS.fullmatch(line):
        return [f"qdisc pfifo_fast 1: root bands 3 priomap {found[2].strip()}"]
    if _OTHER_FILTER.fullmatch(line):
        return ["filter other "]
    if of := _ANY.fullmatch(line):
        return [f"{of[1]} {of[2] if of[2] in _WEIGHED | _PLAIN else 'other'} "]
    return []


@dataclass
class _Reader:
    classes: dict[str, Class] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    filters: list[_Filter] = field(default_factory=list)
    default: str = ""
    bands: tuple[int, ...] = ()
    devices: set[str] = field(default_factory=set)
    disciplines: set[str] = field(default_factory=set)
    is_odd: bool = False
    """A class or a filter was not understood."""

    def line(self, content: str) -> None:
        if (of := _ANY.fullmatch(content)) and of[1] == "qdisc":
            self.disciplines.add(of[2])
        if _MATCH.fullmatch(content):
            if self.filters:
                self._match(self.filters[-1], _FIRST_WORD.fullmatch(content))
        elif found := _CLASS.fullmatch(content):
            name, device, parent, turn, rate, of_rate, ceil, of_ceil = found.groups("")
            self.devices.add(device)
            self.parents[name] = parent
            assured = float(rate) * _UNITS[of_rate]
            most = float(ceil) * _UNITS[of_ceil] if parent else assured  # nobody to borrow from
            self.classes[name] = Class(assured, most, int(turn or 0))
        elif found := _FILTER.fullmatch(content):
            device, preference, order, to = found.groups("")
            self.devices.add(device)
            self.filters.append(_Filter((int(preference), int(order)), to))
        elif found := _HTB.fullmatch(content):
            handle, device, _, default = found.groups("")
            self.devices.add(device)
            self.default = f"{handle}:{default}"
        elif found := _BANDS.fullmatch(content):
            self.devices.add(found[1] or "")
            self.bands = tuple(map(int, found[2].split()))
        elif _OTHER_FILTER.fullmatch(content):
            self.is_odd = True
        elif of and of[1] == "class":
            self.is_odd |= of[2] in _WEIGHED

    @staticmethod
    def _match(of: _Filter, found: re.Match[str] | None) -> None:
        if found is None:
            of.is_known = False
        else:
            of.matches.append((int(found[1], 16), int(found[2], 16)))

    def found(self) -> Shaper:
        inner = set(self.parents.values())
        leaves = {name: one for name, one in self.classes.items()
                  if name not in inner and one.rate > 0}  # fmt: skip
        borrow_from = {self.parents[name] for name in leaves}
        if self.is_odd or len(self.devices) > 1 or len(borrow_from) > 1:
            return Shaper()
        ordered = tuple(sorted(self.filters, key=lambda one: one.place))
        bands = self.bands if not self.classes and self.disciplines <= _PLAIN else ()
        return Shaper(leaves, ordered, self.default, bands)
