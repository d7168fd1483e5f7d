# SPDX-License-Identifier: BSD-3-Clause
"""JSON and TOML that somebody gave: what is nested without end is a mistake as any other."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any


def of_json(text: str) -> Any:
    """What the text says; ValueError where it is none."""
    return _read(json.loads, text)


def of_toml(text: str) -> dict[str, Any]:
    """What the text says; ValueError where it is none."""
    return dict(_read(tomllib.loads, text))


def _read(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
