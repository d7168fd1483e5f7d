# SPDX-License-Identifier: BSD-3-Clause
"""Launches whose last sentinel lies outside the first one's interval: the machine has moved."""

from __future__ import annotations

from typing import Any

from a2a.explain.finding import Finding, percent, us
from a2a.results import Results


def find(found: Results) -> list[Finding]:
    """Per launch, the first against the last sentinel; needs rows of that role."""
    sentinels = found.points[found.points["role"] == "sentinel"]
    findings = []
    for launch, rows in sentinels.sort_values("order").groupby("launch"):
        if len(rows) < 2:
            continue
        first: Any = rows.iloc[0]
        last: Any = rows.iloc[-1]
        apart = last["time_p50_low"] > first["time_p50_high"]
        if not (apart or last["time_p50_high"] < first["time_p50_low"]):
            continue
        change = last["time_p50"] / first["time_p50"] - 1
        findings.append(
            Finding(
                "drift",
                f"the sentinel ({first['message_size']} B) went from {us(first['time_p50'])} "
                f"({us(first['time_p50_low'])} to {us(first['time_p50_high'])}) to "
                f"{us(last['time_p50'])} ({us(last['time_p50_low'])} to "
                f"{us(last['time_p50_high'])}): {'+' if change > 0 else '-'}{percent(abs(change))} "
                "between the start and the end of the launch",
                str(launch),
                int(first["ops"] + last["ops"]),
                weight=abs(float(change)),
                numbers={"change": float(change)},
            )
        )
    return findings
