# SPDX-License-Identifier: BSD-3-Clause
"""What the words between the figures of a text say: headings, and settings that headings name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from a2aperf.credentials import looks_like_credential

_RULER: Final = re.compile(r"\s*([=\-~^*_#])\1{3,}\s*")
_MARKED: Final = re.compile(r"(?:#{1,6}\s+(?=[A-Z])|(={1,6})\s+(?=.*\s\1\s*$)|h[1-6]\.\s+)(.+)")
_ASSIGNED: Final = re.compile(r"(?<![\w.-])([A-Za-z][\w.-]*)=([^\s,;)]+)")
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_COUNTED: Final = re.compile(
    r"(?<![\w.])(\d+)\s+(?:\w+\s+)?"
    r"(buffers?|threads?|clients?|servers?|masters?|backups?|replicas?|connections?)\b",
    re.IGNORECASE,
)
_FREQUENCY: Final = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*(GHz|MHz|kHz)\b", re.IGNORECASE)
_KILOHERTZ: Final = {"ghz": 10**6, "mhz": 10**3, "khz": 1}
_DATES: Final = (
    (re.compile(r"\b([A-Z][a-z]+ \d{1,2}, \d{4})\b"), ("%B %d, %Y", "%b %d, %Y")),
    (re.compile(r"\b(\d{4}-\d{2}-\d{2})\b"), ("%Y-%m-%d",)),
)
BULLETS: Final = "*•◦▪▫●○■□‣⁃·–—►▶✓"
"""Signs that stand before an item of a list and say nothing."""


@dataclass(frozen=True)
class Settings:
    """What a heading says."""

    environment: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    started: str = ""
    frequency_asked: str = ""
    """Of the CPU, in kHz; empty where it is not told, or told twice."""


def is_ruler(line: str) -> bool:
    """A line of one sign, which makes a heading of the line above it."""
    return _RULER.fullmatch(line) is not None


def marked_heading(line: str) -> str:
    """The heading that a line is by its marks (`# Text`, `== Text ==`); empty where it is none."""
    found = _MARKED.fullmatch(line.strip())
    return found[2].rstrip(" =#") if found else ""


def settings(heading: str) -> Settings:
    """`NAME=VALUE`, a number of buffers, threads, clients …, a date, the CPU frequency asked for.

    The whole heading is a label, too: what it says in words tells its tables apart.
    """
    assigned = dict(_ASSIGNED.findall(heading))
    counted = {noun.lower().rstrip("s") + "s": count for count, noun in _COUNTED.findall(heading)}
    safe = {name: value for name, value in assigned.items() if not looks_like_credential(name)}
    variables = {name: value for name, value in safe.items() if _VARIABLE.fullmatch(name)}
    words = {name: value for name, value in safe.items() if name not in variables}
    named = {"heading": heading} if heading else {}
    return Settings(variables, {**named, **counted, **words}, _date(heading), frequency(heading))


def frequency(text: str) -> str:
    """The one CPU frequency that a text names, in kHz; empty where it names none or several."""
    found = {
        round(float(number) * _KILOHERTZ[unit.lower()]) for number, unit in _FREQUENCY.findall(text)
    }
    return str(found.pop()) if len(found) == 1 else ""


def _date(text: str) -> str:
    for pattern, layouts in _DATES:
        for written in pattern.findall(text):
            for layout in layouts:
                try:
                    return datetime.strptime(written, layout).date().isoformat()
                except ValueError:
                    continue
    return ""
