# SPDX-License-Identifier: BSD-3-Clause
"""Choosing points by expressions such as `ppn=2` or `message_size>=10kB`."""

from __future__ import annotations

import csv
import operator
import re
from collections.abc import Callable, Iterable
from typing import Any

from a2aperf import terminal
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.labels import list_text
from a2aperf.results import Results

_EXPRESSION = re.compile(r"^\s*([\w.-]+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$", re.DOTALL)
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
# As on the program's command line: K, M, G and T alone are binary, and capitals make no difference.
_SIZE = re.compile(r"^(\d+(?:\.\d+)?) ?([kmgt]?)(i?b|i|)$", re.IGNORECASE | re.ASCII)
_WHOLE = re.compile(r"^[+-]?\d{1,19}$", re.ASCII)
_TIME = re.compile(r"^(\d+(?:\.\d+)?) ?(ns|us|µs|μs|ms|s)$", re.IGNORECASE)
# Of micro the sign, and the Greek letter.
_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
_WITHIN = re.compile(r'\((?:[^()"]|\([^()"]*\))*\)')
_COMMA = "\x1f"  # one that separates nothing
_NUMBERS, _TEXTS = 3, 6  # of so many values all are told
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_ROLE = re.compile(r"\s*role\s*!?=")


def names_role(expressions: Iterable[str]) -> bool:
    """Whether somebody chooses among the roles: no other choice is made then."""
    return any(_ROLE.match(one) for one in expressions)


def where(results: Results, expressions: Iterable[str], asked: str = "--where") -> Results:
    """Only the points for which every expression holds.

    An expression is NAME OPERATOR VALUE with one of = != < <= > >=; `=` and `!=` take several
    values: `ranks=20,40`. A text with commas that is recorded as it stands is one value
    (`UCX_TLS=rc,sm,self`), and so is what stands in double quotes; a comma within parentheses
    separates nothing (`traffic=moe(experts=16,top=2),uniform`). NAME is a column, label,
    environment variable, segment attribute or node fact; an unknown value fulfils only `!=` and
    `NAME=` (nothing: not recorded). A time is in ns, or has its unit: `time_p50>50us`. `asked` is
    what messages call an expression.
    """
    for expression in expressions:
        said = f"{asked} '{expression}'"
        mask = _mask(results, expression, said)
        if not mask.any():
            raise InputError(f"{said} leaves no point{_what_there_is(results, expression)}")
        results = results.select(mask)
    return results


def require(expressions: Iterable[str], asked: str = "--where") -> None:
    """InputError of an expression that makes no sense whatever the points are."""
    for expression in expressions:
        said = f"{asked} '{expression}'"
        _, sign, value = _parts(expression, said)
        if sign not in _ORDER:
            _list(said, value)
        elif not _TIME.match(value):  # which makes sense where a column is one
            _number(said, value, "")


def _parts(expression: str, said: str) -> tuple[str, str, str]:
    """Name, operator and value."""
    found = _EXPRESSION.match(expression)
    if not found:
        raise InputError(f"{said}: expected NAME=VALUE (or != < <= > >=), for example ppn=2")
    name, sign, value = found.groups()
    return name, sign, value


def _mask(results: Results, expression: str, said: str) -> pd.Series[bool]:
    name, sign, value = _parts(expression, said)
    column = results.values(name)
    numeric = pd.api.types.is_numeric_dtype(column)
    units = _units(results, name)
    if sign in _ORDER:
        if not numeric:
            column = pd.to_numeric(column, errors="coerce")
        mask = _ORDER[sign](column, _number(said, value, units))
        return pd.Series(mask.fillna(False).astype(bool), index=column.index)
    one_of = [value] if not numeric and (column == value).any() else _list(said, value)
    if name == "window":  # as on the program's command line; the file has 0
        one_of = ["0" if one == "all" else one for one in one_of]
    wanted = [_number(said, v, units) if numeric and v else v for v in one_of]
    if sign == "=":
        _tell_absent(column, one_of, wanted, said)
    equal = column.isin([v for v in wanted if v != ""]).fillna(False).astype(bool)
    if "" in wanted:
        equal |= column.isna() | (column == "").fillna(False).astype(bool)
    return equal if sign == "=" else ~equal


def _tell_absent(column: pd.Series[Any], texts: list[str], wanted: list[Any], said: str) -> None:
    """Values of a list that no point has, where another is there: none is left out silently."""
    there = [value == "" or bool(column.isin([value]).any()) for value in wanted]
    absent = [text for text, is_there in zip(texts, there, strict=True) if not is_there]
    if any(there) and absent:
        terminal.tell_once(f"a2a: {said}: no point has {list_text(absent, _TEXTS)}")


def _what_there_is(results: Results, expression: str) -> str:
    """`: provider is shm and tcp;ofi_rxm`, of the points that were there; of many numbers, ends."""
    name = _EXPRESSION.sub(r"\1", expression)
    column = results.values(name)
    if column.empty:
        return ""
    known = [value for value in column.dropna().unique() if value != ""]
    if not known:
        return f": no point has {name}"
    if pd.api.types.is_numeric_dtype(column):
        known = sorted(known)
        texts = ["all" if name == "window" and x == 0 else f"{x:.6g}" for x in known]
        if len(known) > _NUMBERS:
            return f": {name} is {texts[0]} to {texts[-1]}"
    else:
        texts = [f'"{x}"' if "," in x else x for x in sorted(map(str, known))]
    return f": {name} is {list_text(texts, _TEXTS)}"


def _list(said: str, value: str) -> list[str]:
    """`a,b`, `"a,b",c` and `f(a,b),c` as a list; of nothing, one value that is empty."""
    kept = _WITHIN.sub(lambda found: found[0].replace(",", _COMMA), value)
    try:
        found = next(csv.reader([kept], skipinitialspace=True), [])
    except csv.Error:  # a new line outside of quotes
        raise InputError(f'{said}: expected values such as a,b or "a,b",c on one line') from None
    return [one.replace(_COMMA, ",") for one in found] or [""]


def _units(results: Results, name: str) -> str:
    """Of a column, as the file says: `ns`, `Gbit/s`; empty where it says nothing."""
    column = results.columns.get(name)
    return column.units if column else ""


def _number(said: str, value: str, units: str) -> float:
    if units == "ns" and (time := _TIME.match(value)):
        return float(time[1]) * _NS[time[2].lower()]
    if _WHOLE.match(value):  # as a float a time since 1970 would be another one
        return int(value)
    try:
        return float(value)
    except ValueError:
        bytes_ = size(value)
        if bytes_ is not None:
            return bytes_
        of = f", in {units}" if units and units != "1" else ""
        raise InputError(f"{said}: '{value}' is not a number{of}") from None


def size(text: str) -> float | None:
    """Bytes, as the program's command line takes them; None where it is no size."""
    found = _SIZE.match(text)
    if found is None:
        return None
    number, prefix, rest = found[1], found[2].lower(), found[3].lower()
    if not prefix and rest.startswith("i"):
        return None
    factor = (1000.0 if rest == "b" else 1024.0) ** _POWERS[prefix]
    return float(number) * float(factor)
