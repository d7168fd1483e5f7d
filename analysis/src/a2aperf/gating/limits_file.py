# SPDX-License-Identifier: BSD-3-Clause
"""Limits that a site sets: `[[limit]]` tables of a TOML file, each for points that it names."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a2aperf import filters, notation, regular
from a2aperf.errors import InputError, nearest
from a2aperf.labels import number_text


@dataclass(frozen=True)
class Kind:
    """What can be limited: how it is called and written; `is_share`: of 1."""

    what: str
    write: Callable[[float], str]
    is_least: bool = False
    is_share: bool = False


def percent(value: float) -> str:
    """`81.3 %`."""
    return f"{100 * value:.1f} %"


KINDS: Final[dict[str, Kind]] = {
    "min_efficiency": Kind("efficiency", percent, is_least=True, is_share=True),
    "min_gbps_node_net": Kind("Gbit/s of a node", number_text, is_least=True),
    "max_p50_us": Kind("p50 in µs", number_text),
    "max_p90_us": Kind("p90 in µs", number_text),
    "max_p99_us": Kind("p99 in µs", number_text),
    "max_p99_over_p50": Kind("p99/p50", number_text),
    "max_invalid": Kind("invalid ops", percent, is_share=True),
}
_CHOOSING: Final = ("message_size", "nodes", "ranks", "ppn", "where")
_LEVELS: Final = ("warning", "critical")


@dataclass(frozen=True)
class Limit:
    """One limit: NaN where a level is not set. `chosen` are expressions as of --where.

    `named` are those of single values, which must each have a point.
    """

    kind: str
    warning: float
    critical: float
    chosen: tuple[str, ...] = ()
    source: str = ""
    named: tuple[str, ...] = ()


def read(path: Path) -> list[Limit]:
    """All limits of the file; InputError with the file and the key."""
    try:
        document = notation.of_toml(regular.read_text(path))
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: not a file of limits: {words}") from None
    _require_known(path, "", document, ("limit",))
    tables = document.get("limit")
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"{path}: limit: expected tables, each headed [[limit]]")
    found = [one for number, table in enumerate(tables, 1) for one in _table(path, number, table)]
    if not found:
        raise InputError(f"{path}: limit: expected one [[limit]] at least")
    return found


def _table(path: Path, number: int, table: dict[str, Any]) -> list[Limit]:
    place = f"limit {number}: "
    _require_known(path, place, table, (*KINDS, *_CHOOSING))
    chosen = tuple(
        text
        for name in _CHOOSING
        if name in table
        for text in _chosen(path, f"{place}{name}", name, table[name])
    )
    source = f"{path.name}, limit {number}"
    named = tuple(
        f"{name}={value}"
        for name, _, values in (one.partition("=") for one in chosen)
        if name in table
        for value in values.split(",")
    )
    made = [
        Limit(name, *_levels(path, f"{place}{name}", kind, table[name]), chosen, source, named)
        for name, kind in KINDS.items()
        if name in table
    ]
    if not made:
        raise InputError(
            f"{path}: limit {number}: limits nothing: expected one of {', '.join(KINDS)}"
        )
    return made


def _require_known(path: Path, place: str, table: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in table:
        if name not in names:
            raise InputError(f"{path}: {place}unknown key '{name}': {nearest(name, names)}")


def _chosen(path: Path, place: str, name: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts_only = name == "where"
    right = (str,) if texts_only else (int, float, str)
    if not values or not all(isinstance(x, right) and not isinstance(x, bool) for x in values):
        what = (
            'texts such as "message_size>=10kB"'
            if texts_only
            else "a number, a text or a list of them"
        )
        raise InputError(f"{path}: {place}: expected {what}, not {value!r}")
    if texts_only:
        filters.require(values, f"{path}: {place}:")
        return [str(one) for one in values]
    sizes = r"\d+(\.\d+)? ?([kmgt]?)(i?b|i|)" if name == "message_size" else r"\d+(\.\d+)?"
    for one in values:
        if not re.fullmatch(sizes, str(one).strip(), re.IGNORECASE | re.ASCII):
            raise InputError(f"{path}: {place}: expected a number, not {one!r}")
    return [f"{name}={','.join(str(one).strip() for one in values)}"]


def _levels(path: Path, place: str, kind: Kind, value: Any) -> tuple[float, float]:
    if not isinstance(value, dict):
        return math.nan, _number(path, place, kind, value)
    _require_known(path, f"{place}: ", value, _LEVELS)
    if not value:
        raise InputError(f"{path}: {place}: expected warning, critical or both")
    warning, critical = (
        _number(path, f"{place}.{level}", kind, value[level]) if level in value else math.nan
        for level in _LEVELS
    )
    if warning < critical if not kind.is_least else warning > critical:
        return warning, critical
    if math.isnan(warning) or math.isnan(critical):
        return warning, critical
    order = "above" if kind.is_least else "below"
    raise InputError(f"{path}: {place}: expected a warning {order} what is critical")


def _number(path: Path, place: str, kind: Kind, value: Any) -> float:
    example = 'a share such as "80%" or 0.8' if kind.is_share else "a number above 0"
    number = math.nan
    if kind.is_share and isinstance(value, str):
        matched = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", value.strip())
        number = float(matched[1]) / 100 if matched else math.nan
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    zero_is_fine = kind.is_share and not kind.is_least
    if not (0 < number < math.inf or (number == 0 and zero_is_fine)) or (
        kind.is_share and number > 1
    ):
        raise InputError(f"{path}: {place}: expected {example}, not {value!r}")
    return number
