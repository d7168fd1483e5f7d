# SPDX-License-Identifier: BSD-3-Clause
"""A gate for people and for machines: lines, JSON, JUnit's XML, Prometheus' textfile collector."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import Any

from a2aperf.gating.checks import Check, State
from a2aperf.gating.gate import Gate
from a2aperf.labels import list_text
from a2aperf.tables import UNKNOWN, aligned, plain
from a2aperf.visible import json_visible, visible

_HEAD = ["verdict", "check", "at", "measured", "limit or bound", "n", ""]


def lines(made: Gate, is_terminal: bool) -> list[str]:
    """The sum, a line for each check; on a terminal also a heading and what else to know."""
    rows = [
        [one.word, one.what, *(x or UNKNOWN for x in (one.at, *one.shown, one.n)), one.why]
        for one in made.checks
    ]
    drain = [f"candidates to drain: {list_text(list(made.candidates), 24)}"]
    drain = drain if made.candidates else []
    if not is_terminal:
        return [made.sum, *(aligned(rows, [True] * 7) if rows else []), *drain]
    table = aligned([_HEAD, *rows], [True] * 7) if rows else []
    notes = ["", *made.notes, *drain] if made.notes or drain else []
    return [made.sum, "", *table, *notes]


def as_candidates(made: Gate) -> str:
    """A line for each node to drain: its name, and the reason."""
    return "\n".join(f"{visible(node)} {visible(why)}" for node, why in made.candidates.items())


def as_json(made: Gate) -> str:
    """All figures; what is not known is null."""
    document = {
        "status": int(made.state),
        "verdict": made.state.word,
        "sum": made.sum,
        "checks": [_plain(one) for one in made.checks],
        "notes": made.notes,
        "candidates": made.candidates,
    }
    return json_visible(json.dumps(document, indent=1, ensure_ascii=False))


def _plain(one: Check) -> dict[str, Any]:
    return {
        "check": one.what,
        "at": one.at,
        "status": int(one.state) if one.is_judged else None,
        "verdict": one.word,
        "measured": plain(one.measured),
        "limit": plain(one.limit),
        "launches": one.launches,
        "n": one.n,
        "why": one.why,
        **{name: plain(value) for name, value in one.figures.items()},
    }


def as_junit(made: Gate) -> bytes:
    """A test case for each check: critical and warning are failures, unknown is an error.

    A bound that is not judged is skipped.
    """
    states = [one.state for one in made.checks]
    skipped = sum(not one.is_judged for one in made.checks)
    failed = states.count(State.CRITICAL) + states.count(State.WARNING)
    suite = ET.Element(
        "testsuite", name="a2a gate", tests=str(len(states)), failures=str(failed),
        errors=str(states.count(State.UNKNOWN)), skipped=str(skipped), time="0",
    )  # fmt: skip
    for one in made.checks:
        case = ET.SubElement(
            suite, "testcase", classname=f"a2a.gate.{visible(one.what).replace(' ', '_')}",
            name=visible(one.at or one.what), time="0",
        )  # fmt: skip
        if not one.is_judged:
            ET.SubElement(case, "skipped", message=visible(f"a bound: {one.why}"))
        elif one.state != State.OK:
            kind = "error" if one.state == State.UNKNOWN else "failure"
            ET.SubElement(case, kind, type=one.state.word, message=visible(one.why))
        told = f"measured {one.shown[0] or UNKNOWN}, limit or bound {one.shown[1] or UNKNOWN}"
        ET.SubElement(case, "system-out").text = visible(f"{told}; n: {one.n or UNKNOWN}")
    ET.indent(suite)
    text: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def as_prometheus(made: Gate) -> bytes:
    """Gauges as node_exporter's textfile collector reads them."""
    labels = [
        f'{{number="{number}",check="{_escaped(one.what)}",at="{_escaped(one.at)}"}}'
        for number, one in enumerate(made.checks, 1)
    ]

    def of_checks(values: Iterable[float]) -> list[tuple[str, float]]:
        return [pair for pair in zip(labels, values, strict=True) if not math.isnan(pair[1])]

    states = "0 ok, 1 warning, 2 critical, 3 unknown"
    checks = made.checks
    verdicts = (float(x.state) if x.is_judged else math.nan for x in checks)
    families: list[tuple[str, str, list[tuple[str, float]]]] = [
        ("status", f"All checks together: {states}.", [("", float(made.state))]),
        ("check_status", f"One check: {states}.", of_checks(verdicts)),
        ("check_measured",
         "What a check measured, in Gbit/s or µs where its label says so, else a part of 1.",
         of_checks(x.measured for x in checks)),
        ("check_limit", "The limit of that, or the bound of a change.",
         of_checks(x.limit for x in checks)),
        ("check_launches", "Launches that a check rests on.",
         of_checks(float(x.launches) for x in checks)),
    ]  # fmt: skip
    if made.measured >= 0:
        last = [("", made.measured / 1e9)]
        families.append(
            ("measured_timestamp_seconds", "When the last point began, since 1970.", last)
        )
    told = []
    for name, text, values in families:
        if values:
            told += [f"# HELP a2a_gate_{name} {text}", f"# TYPE a2a_gate_{name} gauge"]
            told += [f"a2a_gate_{name}{label} {value!r}" for label, value in values]
    return ("\n".join(told) + "\n").encode()


def _escaped(text: str) -> str:
    shown = visible(text).replace("\u00a0", " ")
    return shown.replace("\\", r"\\").replace('"', r"\"")
