# SPDX-License-Identifier: BSD-3-Clause
"""What published figures of interconnects say, and where they contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from a2aperf import contradictions
from a2aperf.contradictions import Figure
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding
from a2aperf.labels import count_text, list_text
from a2aperf.launch import Launch
from a2aperf.results import Results

ROLE: Final = "interconnects"
_RANKING: Final = "ranking_"


def contradicting(found: Results) -> list[Finding]:
    """Of each text, all that it says against physics or itself."""
    findings = []
    for launch, rows in found.points.groupby("launch", sort=False):
        of = found.launches[str(launch)]
        for one in contradictions.of(list(_figures(rows)), _rankings(of)):
            where = ", ".join(filter(None, (str(launch), one.interconnect)))
            numbers = {"factor": one.factor}
            findings.append(
                Finding("contradicts", one.text, where, one.figures, "figures", one.factor, numbers)
            )
    return findings


def _figures(rows: pd.DataFrame) -> Iterator[Figure]:
    for row in rows.to_dict("records"):
        size, hops = _known(row["payload"]), _known(row["hops"])
        yield Figure(
            str(row["interconnect"]),
            None if size is None else int(size),
            _known(row["byte_rate"]),
            _known(row["msg_rate"]),
            _known(row["line_rate"]),
            _known(row["time_mean"]),
            None if hops is None else int(hops),
            _known(row["offered_rate"]),
        )


def _known(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _rankings(launch: Launch) -> dict[int, list[str]]:
    """As the text has them, by size."""
    told = {
        name.removeprefix(_RANKING): str(value)
        for name, value in launch.attributes.items()
        if name.startswith(_RANKING)
    }
    return {int(size): names.split(", ") for size, names in told.items() if size.isdecimal()}


def sentences(results: Results) -> list[str]:
    """One for each file."""
    said = []
    for file, rows in results.measured((ROLE,)).points.groupby("file", sort=False):
        names = [str(name) for name in rows["interconnect"].unique()]
        words = f"{file}: {count_text(len(rows), 'published figure')} of {list_text(names)}"
        said.append(words + "; nothing of it was measured here.")
    return said
