# SPDX-License-Identifier: BSD-3-Clause
"""What round trips carry at each size, and how many were under way at once."""

from __future__ import annotations

from typing import Final

from a2aperf import grouping
from a2aperf.explain.finding import Finding, us
from a2aperf.labels import number_text, size_text
from a2aperf.results import Results
from a2aperf.round_trips import histogram

_ROUNDING: Final = 0.02
"""Of the product of two figures that are printed with two or three digits."""


def trips(found: Results) -> list[Finding]:
    """The median and the bandwidth of each operation and setting at each size."""
    findings = []
    points = found.points.assign(setting=grouping.setting_labels(found, found.points))
    for line, rows in points.groupby(["launch", "operation", "setting"], sort=False):
        ordered = rows.sort_values("message_size")
        told = []
        for _, row in ordered.iterrows():
            parts = [us(row["time_p50"])] if row["time_p50"] == row["time_p50"] else []
            if row["gbps"] == row["gbps"]:
                parts.append(f"{number_text(float(row['gbps']))} Gbit/s")
            told += [f"{size_text(row['message_size'])} {', '.join(parts)}"] if parts else []
        rest_on = histogram.words(ordered)
        text = f"median and bandwidth: {'; '.join(told)}{rest_on and f' ({rest_on})'}"
        if told:
            where = ", ".join(dict.fromkeys(map(str, filter(None, line))))
            findings.append(Finding("round-trips", text, where, len(rows), "points"))
    return findings


def find(found: Results) -> list[Finding]:
    """Little's law of the mean: bandwidth × time / size round trips are outstanding.

    The mean is not known; it is no less than the minimum, which gives what is sure. Of files that
    record how many were outstanding, `contradictions` holds them to that.
    """
    findings = []
    points = found.points
    if "outstanding" in points:
        points = points[points["outstanding"].isna()]
    for (launch, operation), rows in points.groupby(["launch", "operation"], sort=False):
        known = rows[
            rows[["byte_rate", "time_min"]].notna().all(axis=1) & (rows["message_size"] > 0)
        ]
        if known.empty:
            continue
        least = known["byte_rate"] * known["time_min"] / 1e9 / known["message_size"].astype(float)
        above = known[least > 1 + _ROUNDING]
        where = f"{launch}, {operation}"
        if len(above):
            sizes = ", ".join(size_text(size) for size in above["message_size"])
            text = (
                f"bandwidth × minimum / size is {number_text(float(least.max()))} at most, above 1 "
                f"at {sizes}: more than one round trip was outstanding, or the figures are of "
                "different ones"
            )
        else:
            text = (
                f"bandwidth × minimum / size is {number_text(float(least.min()))} to "
                f"{number_text(float(least.max()))}: no size contradicts one outstanding round trip"
            )
        numbers = {"least": float(least.min()), "largest": float(least.max())}
        weight = float(least.max()) if len(above) else 0.0
        findings.append(Finding("outstanding", text, where, len(known), "points", weight, numbers))
    return findings
