# SPDX-License-Identifier: BSD-3-Clause
"""Names of columns, attributes and facts that this a2a does not know, in an anonymized copy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from a2aperf import asking, member_attributes, schema

_PLAIN = re.compile(r"[a-z_]*")
BETTER = ("", "higher", "lower")
UNITS = frozenset(column.units for column in schema.COLUMNS)
_Value = TypeVar("_Value")
Scrub = Callable[[str], str]


def is_known(name: str) -> bool:
    """A column or an attribute that nobody named after anything of the site."""
    return name in schema.COLUMN or name in schema.SEGMENT_ATTRIBUTES


def texts(
    content: asking.Content, described: Sequence[schema.Column], of_root: Iterable[str]
) -> Iterator[str]:
    """Texts in which a host may be named: `on_nid00017` is two words there."""
    for column in described:
        if not is_known(column.name):
            yield from (_apart(column.name), column.long_name)
        yield from (column.better, *column.flags)
        if column.units not in UNITS:
            yield column.units
    for name in (*of_root, *content.own_columns):
        yield _apart(name)
    for segment in content.segments:
        for names in (segment.attributes, segment.node_facts, segment.rank_facts):
            yield from (_apart(name) for name in names if not is_known(name))
    for values in content.of_members.values():
        for name, value in values.items():
            yield _apart(name)
            if name in ("units", "better", "flag_meanings") and isinstance(value, str):
                yield value


def _apart(name: str) -> str:
    """Nothing where it has no digit: two words with a dot between them are no host."""
    return name.replace("_", " ") if any(map(str.isdigit, name)) else ""


def column(found: schema.Column, scrub: Scrub, scrub_name: Scrub) -> schema.Column:
    """With other texts; plain words for numbers, by which programs go, stay."""
    return replace(
        found,
        name=name(found.name, scrub_name),
        long_name=scrub(found.long_name),
        units=found.units if found.units in UNITS else scrub(found.units),
        better=found.better if found.better in BETTER else scrub(found.better),
        flags=tuple(one if _PLAIN.fullmatch(one) else scrub(one) for one in found.flags),
    )


def name(text: str, scrub_name: Scrub) -> str:
    """Of a column, an attribute or a fact."""
    return text if is_known(text) or _PLAIN.fullmatch(text) else scrub_name(text)


def renamed(found: dict[str, _Value], scrub_name: Scrub) -> dict[str, _Value]:
    """The same values by other names."""
    return {name(key, scrub_name): value for key, value in found.items()}


def of_members(
    found: member_attributes.Attributes, scrub: Scrub, scrub_name: Scrub
) -> member_attributes.Attributes:
    """Attributes of groups and datasets with other texts and names, at what has other names now."""
    made: dict[str, dict[str, Any]] = {}
    for path, values in member_attributes.mapped(found, scrub).items():
        place = "/".join(name(part, scrub_name) for part in path.split("/"))
        made[place] = renamed(values, scrub_name)
    return made
