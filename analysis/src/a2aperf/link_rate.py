# SPDX-License-Identifier: BSD-3-Clause
"""The rate of a link as somebody writes it."""

from __future__ import annotations

import re
from typing import Final

_UNITS: Final = {"bit/s": 1e-9, "kbit/s": 1e-6, "mbit/s": 1e-3, "gbit/s": 1.0, "tbit/s": 1e3}
MOST: Final = 1_000_000
"""Gbit/s of a link."""
_RATE: Final = re.compile(
    r"((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)(?: *([kmgt]?bit/s))?",
    re.IGNORECASE | re.ASCII,
)


def rate_of(text: str) -> float | None:
    """Gbit/s of `100`, `100Gbit/s` or `200Mbit/s`; None of what is no rate above 0, or too large.

    What a2aperf's --link-rate takes, and no other text.
    """
    found = _RATE.fullmatch(text)
    number = float(found[1]) * _UNITS[(found[2] or "gbit/s").lower()] if found else 0.0
    return number if 0 < number <= MOST else None
