# SPDX-License-Identifier: BSD-3-Clause
"""A latency that is much of the point, of a rate that was kept: for a while nothing was answered.

Where a rate is not kept messages wait for those before them, and such latencies are its own.
"""

from __future__ import annotations

from typing import Final

from a2aperf.explain import held_up
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.results import Results
from a2aperf.workloads.open_loop import rates

_MUCH: Final = 0.05
"""Of the time in which messages were due."""
_MANY: Final = 200


def find(found: Results) -> list[Finding]:
    """Of each point whose rate was kept."""
    findings = []
    for sweep in rates.sweeps(found):
        points = sweep.rows[rates.kept(sweep.rows) & (sweep.rows["ops"] >= _MANY)]
        for _, row in points.iterrows():
            share = float(row["time_max"] * row["offered_rate"] / 1e9 / row["ops"])
            if share < _MUCH:
                continue
            ops, unit = int(row["ops"]), "round trips"
            text = (
                f"at {rates.text(row['offered_rate'])} the longest of {ops} latencies is "
                f"{us(row['time_max'])}, {percent(share)} of the time in which messages were due: "
                "that message waited for so long"
            )
            numbers = {"share": share}
            findings.append(Finding(held_up.KIND, text, sweep.where, ops, unit, share, numbers))
    return findings
