# SPDX-License-Identifier: BSD-3-Clause
"""Every text of a results file, and what each is: what a reader of an anonymized one would see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from a2aperf import member_attributes, own_names, schema, writer

FIXED_WORDS = ("role", "engine", "mode", "schedule", "provider", "post")
"""Columns of words that this program or libfabric chose."""
WORD = re.compile(r"[a-z0-9_;+-]*")
"""How such a word looks; another text may be somebody's own."""
PLAIN = re.compile(r"^[-+]?[\d.,:x()*-]*$|^(?i:yes|no|on|off|true|false|none|auto|default)$")
LETTERS = re.compile(r"[a-z0-9_]*")
"""How names look that this program gives; others may have such, too."""
NAMES = {
    "name of a variable": "names of variables",
    "name of a fact": "names of facts",
    "name of a column": "names of columns",
    "name of a column of samples": "names of columns of samples",
    "name of an attribute": "names of attributes",
    "word for a number": "words for numbers",
}
"""What has one, and several."""
OF_PROGRAMS = {*NAMES} - {"name of a variable"}
"""What this program or a newer one may have chosen."""


def left(document: writer.Document) -> list[tuple[str, str]]:
    """What is there of texts, each once: what it is, and the text."""
    found = dict.fromkeys(
        (name, value) for name, value in document.attributes.items() if isinstance(value, str)
    )
    for column in document.described:
        if column.kind == "string":
            texts = document.columns[column.name]
            found |= dict.fromkeys(
                (column.name, x) for x in texts if not _is_chosen(column.name, x)
            )
    for segment in document.segments:
        found |= dict.fromkeys(of_segment(segment))
    found |= dict.fromkeys(member_attributes.texts(document.kept))
    found |= dict.fromkeys(of_groups({one: own for one, (_, own) in document.own.items()}))
    found |= dict.fromkeys(("counter of a port", name) for name in _ports_named(document))
    found |= dict.fromkeys(_own_names(document))
    return [(what, text) for what, text in found if not PLAIN.match(text)]


def of_groups(
    groups: Mapping[str, Mapping[str, NDArray[Any]]],
) -> Iterator[tuple[str, str]]:
    """Texts that workloads keep beside the points, and what each is."""
    for group, arrays in groups.items():
        for name, values in arrays.items():
            if values.dtype == object:
                texts = (str(value) for value in values)
                yield from ((f"{name} of /{group}", x) for x in texts if not _is_chosen(name, x))


def _is_chosen(column: str, text: str) -> bool:
    return column in FIXED_WORDS and WORD.fullmatch(text) is not None


def _ports_named(document: writer.Document) -> list[str]:
    starts = [one.start for one in document.segments if one.start]
    counted = document.counters
    points = range(len(document.columns["state"])) if counted else ()
    first = next((one for point in points if counted and (one := counted(point))), None)
    return sorted({name for one in (*starts, first) if one for name in one.ports})


def _own_names(document: writer.Document) -> Iterator[tuple[str, str]]:
    """Names of the file's own, and what it says by itself of its columns."""
    named: dict[str, Iterable[str]] = {
        "a column": (column.name for column in document.described),
        "a column of samples": document.own_columns,
        "an attribute": [
            *document.attributes,
            *(name for one in document.segments for name in one.attributes),
        ],
    }
    for what, names in named.items():
        yield from ((f"name of {what}", name) for name in names if not own_names.is_known(name))
    yield from (("units of samples", one.units) for one in document.own_columns.values())
    for column in document.described:
        known = schema.COLUMN.get(column.name)
        if column.units not in own_names.UNITS:
            yield "units", column.units
        if column.better not in own_names.BETTER:
            yield "better", column.better
        if known is None:
            yield "meaning of a column", column.long_name
        of_program = known.flags if known else ()
        yield from (("word for a number", one) for one in column.flags if one not in of_program)


def of_segment(segment: schema.Segment) -> Iterator[tuple[str, str]]:
    """Every text of a launch, and what it is."""
    yield "message", segment.message
    for line in segment.fi_info.splitlines():
        yield "fi_info", line
    for node in segment.nodes:
        yield "node", node
    for name, value in segment.attributes.items():
        if isinstance(value, str):
            yield name, value
    for what, named in (("variable", segment.environment), ("label", segment.labels)):
        for name, value in named.items():
            yield f"{what} {name}", value
            yield f"name of a {what}", name
    for facts in (segment.node_facts, segment.rank_facts):
        for name, values in facts.items():
            yield "name of a fact", name
            for value in values:
                yield name, value
    if segment.start_times:
        for text in (*segment.start_times.phases, *segment.start_times.meanings):
            yield "phase of the start", text
