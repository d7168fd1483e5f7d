# SPDX-License-Identifier: BSD-3-Clause
"""Arbitration of an InfiniBand port: which lane a service level has, and the lanes' weights.

Read from the texts of `smpquery SL2VL`, `smpquery VLArb`, `smpquery PI` and from opensm.conf, line
by line; what is kept in a results file is the same in opensm's own short form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

Value = TypeVar("Value")
Weights = tuple[tuple[int, int], ...]
"""(lane, weight) in the order of the table; a lane may be there several times."""

LANES: Final = 16
LARGEST_WEIGHT: Final = 255
UNLIMITED: Final = 255
"""Of the high table's limit: the low one waits as long as the high one has anything."""
SL2VL, HIGH, LOW, LIMIT = "sl2vl", "vlarb_high", "vlarb_low", "vl_high_limit"
"""Names of what a launch records of it."""


@dataclass(frozen=True)
class Arbitration:
    """What is known of a port; None: not known."""

    sl2vl: tuple[int, ...] | None = None
    high: Weights | None = None
    low: Weights | None = None
    limit: int | None = None

    @property
    def says_shares(self) -> bool:
        """Whether shares follow from it."""
        return self.sl2vl is not None and self.low is not None and self.high is not None

    def lane(self, level: int) -> int | None:
        """Of a service level; None where the table does not have it."""
        known = self.sl2vl or ()
        return known[level] if 0 <= level < len(known) else None

    def settings(self) -> dict[str, str]:
        """As a launch records it."""
        told = {
            SL2VL: None if self.sl2vl is None else ",".join(map(str, self.sl2vl)),
            HIGH: None if self.high is None else weights_text(self.high),
            LOW: None if self.low is None else weights_text(self.low),
            LIMIT: None if self.limit is None else str(self.limit),
        }
        return {name: value for name, value in told.items() if value is not None}

    def over(self, other: Arbitration) -> Arbitration:
        """What is known here, and of the other what is not."""
        return Arbitration(
            other.sl2vl if self.sl2vl is None else self.sl2vl,
            other.high if self.high is None else self.high,
            other.low if self.low is None else self.low,
            other.limit if self.limit is None else self.limit,
        )


def weights_text(weights: Weights) -> str:
    """`0:255,1:64`."""
    return ",".join(f"{lane}:{weight}" for lane, weight in weights)


def of_settings(settings: Mapping[str, object]) -> Arbitration:
    """What a launch records; what cannot be read is not known."""
    texts = {name: str(settings.get(name, "")) for name in (SL2VL, HIGH, LOW, LIMIT)}
    has = {name: name in settings for name in texts}
    return Arbitration(
        _lanes(texts[SL2VL]),
        _weights(texts[HIGH]) if has[HIGH] else None,
        _weights(texts[LOW]) if has[LOW] else None,
        int(texts[LIMIT]) if re.fullmatch(r"\d{1,3}", texts[LIMIT]) else None,
    )


def of_text(text: str) -> Arbitration:
    """What a text says, tables of a port before lines of opensm.conf."""
    reader = Reader()
    for line in text.splitlines():
        reader.line(line)
    return reader.found


def without_names(text: str) -> list[str]:
    """The lines of a port's tables, which have nothing but numbers in them."""
    return [line for line in text.splitlines() if _is_table(line)]


def _is_table(line: str) -> bool:
    if _PORTS.fullmatch(line) or _LEVELS.fullmatch(line) or _PRIORITY.fullmatch(line):
        return True
    if row := _ROW.fullmatch(line):
        return bool(re.fullmatch(r"[0-9a-fA-Fx|\s]*", row[2]))
    info = _PORT_INFO.fullmatch(line)
    return bool(info and info[1] == "VLHighLimit" and info[2].isdigit())


def _lanes(text: str) -> tuple[int, ...] | None:
    if not re.fullmatch(r"\s*\d{1,2}(\s*,\s*\d{1,2})*\s*", text):
        return None
    found = tuple(map(int, text.split(",")))
    return found if len(found) <= LANES and max(found) < LANES else None


def _weights(text: str) -> Weights | None:
    if not text.strip():
        return ()
    if not re.fullmatch(r"\s*\d{1,2}\s*:\s*\d{1,3}(\s*,\s*\d{1,2}\s*:\s*\d{1,3})*\s*", text):
        return None
    pairs = (one.split(":") for one in text.split(","))
    found = tuple((int(lane), int(weight)) for lane, weight in pairs)
    sound = all(lane < LANES and weight <= LARGEST_WEIGHT for lane, weight in found)
    return found if sound else None


_CONF: Final = re.compile(
    r"\s*qos_(?:(ca|rtr|sw0|swe)_)?(max_vls|high_limit|vlarb_high|vlarb_low|sl2vl)\s*[=\s]\s*(\S.*?)\s*"
)
_UNSET: Final = ("(null)", "-1")
_SWITCHED: Final = re.compile(r"\s*qos\s*[=\s]\s*(TRUE|FALSE)\s*", re.IGNORECASE)
_PORT_INFO: Final = re.compile(r"\s*(?:#\s*)?([A-Za-z][A-Za-z0-9]*):\.{3,}(.*?)\s*")
_TITLE: Final = re.compile(r"\s*#?\s*(SL2VL table|VLArbitration tables)\b.*")
_LEVELS: Final = re.compile(r"\s*#\s*SL:\s*\|[\s\d|]+")
_PORTS: Final = re.compile(r"\s*ports:\s*in\s*\d+,\s*out\s*\d+:\s*\|([\s\d|]+)\|?\s*")
_PRIORITY: Final = re.compile(
    r"\s*#?\s*(Low|High) priority VL Arbitration Table:?\s*", re.IGNORECASE
)
_ROW: Final = re.compile(r"\s*(VL|WEIGHT)\s*:\s*\|(.*?)\|?\s*")


@dataclass
class Reader:
    """Takes lines one by one; `found` is what they say together."""

    port: Arbitration = field(default_factory=Arbitration)
    conf: Arbitration = field(default_factory=Arbitration)
    facts: dict[str, str] = field(default_factory=dict)
    """What else was told of the port, by its own name."""
    oddities: list[str] = field(default_factory=list)
    _priority: str = ""
    _lanes: tuple[int, ...] = ()
    _of_host: set[str] = field(default_factory=set)

    @property
    def found(self) -> Arbitration:
        """What the port has, and what it was to have where that was not looked at."""
        return self.port.over(self.conf)

    @property
    def has_any(self) -> bool:
        """Whether it knows anything."""
        return self.found != Arbitration() or bool(self.facts)

    def line(self, content: str) -> bool:
        """Whether the line is of such a text."""
        if conf := _CONF.fullmatch(content):
            return self._conf(*conf.groups(""))
        if switched := _SWITCHED.fullmatch(content):
            self.facts["opensm_qos"] = switched[1].upper()
            return True
        if _TITLE.fullmatch(content) or _LEVELS.fullmatch(content):
            return True
        if ports := _PORTS.fullmatch(content):
            return self._ports(ports[1])
        if priority := _PRIORITY.fullmatch(content):
            self._priority, self._lanes = priority[1].lower(), ()
            self._start(self._priority)
            return True
        if row := _ROW.fullmatch(content):
            return self._row(row[1], row[2])
        if info := _PORT_INFO.fullmatch(content):
            return self._info(info[1], info[2])
        return False

    def _conf(self, part: str, name: str, value: str) -> bool:
        """`qos_vlarb_low 0:64,1:4`; that of channel adapters stands above the general one.

        opensm writes what nobody set as `(null)` or -1, and the general one counts.
        """
        value = value.partition("#")[0].strip()
        if part not in ("", "ca"):
            self.facts[f"opensm_qos_{part}_{name}"] = value
            return True
        self.facts[f"opensm_qos_{part + '_' if part else ''}{name}"] = value
        if value in _UNSET or (not part and name in self._of_host):
            return True
        if part:
            self._of_host.add(name)
        if name == "sl2vl":
            self.conf = replace(self.conf, sl2vl=self._read(value, _lanes(value), name))
        elif name == "vlarb_high":
            self.conf = replace(self.conf, high=self._read(value, _weights(value), name))
        elif name == "vlarb_low":
            self.conf = replace(self.conf, low=self._read(value, _weights(value), name))
        elif name == "high_limit":
            limit = int(value) if re.fullmatch(r"\d{1,3}", value) else None
            self.conf = replace(self.conf, limit=self._read(value, limit, name))
        return True

    def _read(self, text: str, value: Value | None, name: str) -> Value | None:
        if value is None:
            self.oddities.append(f"qos_{name} '{text}' is not understood")
        return value

    def _ports(self, cells: str) -> bool:
        found = _lanes(",".join(cell for cell in cells.split("|") if cell.strip()))
        if found is None:
            self.oddities.append(f"an SL2VL table is not understood: '{cells.strip()}'")
            return True
        if self.port.sl2vl is None:
            self.port = replace(self.port, sl2vl=found)
        elif self.port.sl2vl != found:
            self.oddities.append("ports have different SL2VL tables: the first one counts")
        return True

    def _start(self, priority: str) -> None:
        """An empty table, so that a second one of a text does not add to the first."""
        self._set(priority, ())

    def _set(self, priority: str, weights: Weights) -> None:
        if priority == "high":
            self.port = replace(self.port, high=weights)
        else:
            self.port = replace(self.port, low=weights)

    def _row(self, name: str, cells: str) -> bool:
        if not self._priority:
            return False
        texts = [cell.strip() for cell in cells.split("|")]
        if not all(re.fullmatch(r"0x[0-9a-fA-F]{1,2}|\d{1,3}", text) for text in texts):
            return False
        values = tuple(int(text, 16 if text.startswith("0x") else 10) for text in texts)
        if name == "VL":
            self._lanes = values
            return True
        pairs = tuple(zip(self._lanes, values, strict=False))
        if len(self._lanes) != len(values):
            self.oddities.append(f"a {self._priority} table has lanes without weights")
        before = (self.port.high if self._priority == "high" else self.port.low) or ()
        self._set(self._priority, before + pairs)
        self._lanes = ()
        return True

    def _info(self, name: str, value: str) -> bool:
        self.facts[name] = value
        if name == "VLHighLimit" and re.fullmatch(r"\d{1,3}", value):
            self.port = replace(self.port, limit=int(value))
        return True

    def disagreements(self) -> list[str]:
        """Where the port has something else than opensm.conf, in words."""
        asked, has = self.conf.settings(), self.port.settings()
        return [
            f"opensm.conf has {name} {asked[name]}, the port {has[name]}"
            for name in asked
            if name in has and not _same(name, asked[name], has[name])
        ]


def _same(name: str, asked: str, has: str) -> bool:
    if name not in (HIGH, LOW):
        return asked == has
    of = [sums(_weights(text) or ()) for text in (asked, has)]
    return of[0] == of[1]


def sums(weights: Weights) -> dict[int, int]:
    """What each lane's entries of a table come to; lanes of weight 0 are not served by it."""
    found: dict[int, int] = {}
    for lane, weight in weights:
        if weight:
            found[lane] = found.get(lane, 0) + weight
    return found
