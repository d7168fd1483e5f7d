# SPDX-License-Identifier: BSD-3-Clause
"""What `a2a gate --expect` is told: `link`, and after commas what the files do not say."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError
from a2aperf.link_rate import rate_of

_NUMBER: Final = r"(\d{1,9}(?:\.\d{1,9})?)"


@dataclass(frozen=True)
class Given:
    """NaN, or −1 of `headers`, where nothing was given. `pcie` is infinite where there is none."""

    least: float = 0.8
    rate: float = math.nan  # Gbit/s of one link
    rails: float = math.nan  # adapters of one node
    mtu: float = math.nan  # B
    headers: float = -1  # B beside a payload of the MTU
    pcie: float = math.nan  # Gbit/s of one adapter
    taper: float = math.nan  # down to up
    leaf: float = math.nan  # nodes of a leaf switch
    memory: float = math.nan  # GB/s of one node, read and written
    copies: float = math.nan


def read(text: str) -> Given | None:
    """Of `link,rate=100Gbit/s,pcie=none,…`; None for an empty text."""
    if not text:
        return None
    first, *rest = text.split(",")
    if first != "link":
        raise InputError(f"--expect {text}: expected link, such as --expect link,rate=100Gbit/s")
    found: dict[str, float] = {}
    for word in rest:
        name, _, value = word.partition("=")
        if name not in _READERS:
            names = ", ".join(_READERS)
            raise InputError(f"--expect: unknown '{word}': expected one of {names}, with =")
        if name in found:
            raise InputError(f"--expect: {name} is given twice")
        read_one, right = _READERS[name]
        number = read_one(value)
        if number is None:
            raise InputError(f"--expect: {name}={value}: expected {right}")
        found[name] = number
    return Given(**found)


def _share(text: str) -> float | None:
    found = re.fullmatch(_NUMBER + r" ?(%?)", text)
    number = float(found[1]) / (100 if found[2] else 1) if found else 0.0
    return number if 0 < number <= 1 else None


def _pcie(text: str) -> float | None:
    return math.inf if text == "none" else rate_of(text)


def _whole(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[1-9]\d{0,8}", text) else None


def _headers(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{1,4}", text) else None


def _taper(text: str) -> float | None:
    found = re.fullmatch(_NUMBER + r"(?::1)?", text)
    return float(found[1]) if found and float(found[1]) >= 1 else None


def _memory(text: str) -> float | None:
    found = re.fullmatch(_NUMBER + r" ?(?:GB/s)?", text)
    return float(found[1]) if found and float(found[1]) > 0 else None


_READERS: Final = {
    "least": (_share, "the share of the ceiling to be reached, such as 80%"),
    "rate": (rate_of, "the rate of one link, such as 100Gbit/s"),
    "rails": (_whole, "how many adapters a node uses, such as 2"),
    "mtu": (_whole, "the payload or packet that fits, in B, such as 9000"),
    "headers": (_headers, "B beside a payload of the MTU, such as 26"),
    "pcie": (_pcie, "Gbit/s of one adapter, or none"),
    "taper": (_taper, "ports down to ports up of a leaf switch, such as 2:1"),
    "leaf": (_whole, "nodes of a leaf switch, such as 16"),
    "memory": (_memory, "what the memory of a node moves, such as 100GB/s"),
    "copies": (_whole, "how often each byte is copied inside a node, such as 1"),
}
