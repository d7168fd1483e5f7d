# SPDX-License-Identifier: BSD-3-Clause
"""Where results come from: what all launches share, and what each has of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from a2aperf import labels
from a2aperf.launch import Launch
from a2aperf.results import Results

_HEADINGS = {
    "program_version": "a2aperf version",
    "clock_error_ns": "clock error (ns)",
    "link_rate_gbps": "link rate of one rail (Gbit/s)",
    "asked_link_rate": "link rate as stated (Gbit/s)",
    "memory_limit": "memory limit (bytes per node)",
}
_EACH = ("started", "seed", "time_origin", "command_line", "slurm_job_id", "clock_error_ns")
"""Differ from launch to launch by their nature, so they are never called shared."""


@dataclass(frozen=True)
class LaunchFacts:
    """What one launch has of its own."""

    id: str
    state: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True)
class Provenance:
    """Facts that all launches share, then launch by launch the others."""

    shared: list[tuple[str, str]]
    launches: list[LaunchFacts]
    sources: list[tuple[str, str]]
    """File and what wrote it."""
    fi_info: list[tuple[str, str]]
    """libfabric's words, each text once, and the launches that it is of."""


def describe(results: Results) -> Provenance:
    """Everything the files record about their launches, without repeating what is the same."""
    facts = {key: _facts(launch) for key, launch in results.launches.items()}
    everyone = list(facts.values())
    names = list(dict.fromkeys(name for each in everyone for name in each))
    same = [n for n in names if n not in _EACH and len({each.get(n, "") for each in everyone}) == 1]
    if len(everyone) == 1:
        same = []
    shared = [(_HEADINGS.get(name, _words(name)), everyone[0][name]) for name in same]
    launches = [
        LaunchFacts(
            id=key,
            state=results.launches[key].end_state,
            facts=[
                (_HEADINGS.get(n, _words(n)), text)
                for n, text in facts[key].items()
                if n not in same
            ],
        )
        for key in results.launches
    ]
    sources = [
        (
            name,
            ", ".join(str(values.get(key, "")) for key in ("source", "created", "origin")),
        )
        for name, values in results.attributes.items()
    ]
    return Provenance(shared, launches, sources, _fi_info(results))


def _fi_info(results: Results) -> list[tuple[str, str]]:
    of: dict[str, list[str]] = {}
    for key, launch in results.launches.items():
        if launch.fi_info:
            of.setdefault(launch.fi_info, []).append(key)
    everyone = labels.count_text(len(results.launches), "launch", "launches")
    return [
        (
            text,
            f"of all {everyone}"
            if 1 < len(keys) == len(results.launches)
            else f"of {labels.list_text(keys)}",
        )
        for text, keys in of.items()
    ]


def _words(name: str) -> str:
    return (
        name
        if name.isupper() or "=" in name or any(c.isupper() for c in name)
        else name.replace("_", " ")
    )


def _facts(launch: Launch) -> dict[str, str]:
    """Every recorded fact as text; what is unknown is left out."""
    facts = {name: _text(value) for name, value in launch.attributes.items()}
    facts |= {f"label {name}": value for name, value in launch.labels.items()}
    facts["nodes"] = labels.list_text(launch.nodes, 12)
    facts |= launch.environment
    for name, values in launch.shown_facts.items():
        facts[f"node: {name.replace('_', ' ')}"] = _merged(values, "node")
    for name, values in launch.rank_facts.items():
        facts[f"rank: {name.replace('_', ' ')}"] = _merged(values, "rank")
    return {name: text for name, text in facts.items() if text}


def _merged(values: Sequence[str], noun: str) -> str:
    """One value for all, or each value with the number of nodes or ranks that have it."""
    counts: dict[str, int] = {}
    for value in values:
        if value:
            counts[value] = counts.get(value, 0) + 1
    if len(counts) <= 1:
        return next(iter(counts), "")
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return labels.list_text([f"{value} ({labels.count_text(n, noun)})" for value, n in ordered], 8)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"
    text = str(value)
    return "" if text == "-1" else text
