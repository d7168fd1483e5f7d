# SPDX-License-Identifier: BSD-3-Clause
"""What streams carry at each size, where their knee is, and whether their totals agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, listed
from a2aperf.labels import number_text, rate_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import streams, tables

Floats = NDArray[np.float64]
_LEAST_SIZES = 4
_RISES = 1.05
"""A rate that grows by more from the last size but one has not come to its end."""


def message_time(points: pd.DataFrame) -> pd.Series[Any]:
    """Ns that a message takes in a stream."""
    return 1e9 / points["msg_rate"].where(points["msg_rate"] > 0)


def sizes(found: Results) -> list[Finding]:
    """The bandwidth of every table at each size."""
    findings = []
    for table in tables.of(found):
        rows = table.free[table.free["message_size"] > 0]
        rows = rows[rows["gbps"].notna()]
        if rows.empty:
            continue
        told = {int(row["message_size"]): float(row["gbps"]) for _, row in rows.iterrows()}
        text = "; ".join(f"{size_text(size)} {number_text(rate)}" for size, rate in told.items())
        several = streams.at_once(rows)
        numbers = {f"gbps at {size} B": rate for size, rate in told.items()}
        findings.append(
            Finding(
                "sizes",
                f"in Gbit/s{f', {several} together' if several else ''}: {text}",
                table.where,
                len(rows),
                "rows",
                0.0,
                numbers,
            )
        )
    return findings


@dataclass(frozen=True)
class Bounds:
    """What a stream cannot exceed at any size: messages/s at small ones, Gbit/s at large ones."""

    messages: float
    gbps: float

    @property
    def crossing(self) -> float:
        """The size (B) at which both are the same."""
        return self.gbps * 1e9 / 8 / self.messages


def bounds(size: Floats, gbps: Floats, messages: Floats) -> Bounds | None:
    """Both bounds of rows in the order of their sizes; None where one of them is not seen here."""
    if len(size) < _LEAST_SIZES:
        return None
    found = Bounds(float(messages.max()), float(gbps.max()))
    has_ends = messages[0] > found.messages / 2 and size[0] < found.crossing < size[-1]
    return found if has_ends and gbps[-1] <= _RISES * gbps[-2] else None


def knee(found: Results) -> list[Finding]:
    """Where each table turns from message-rate-bound to bandwidth-bound."""
    findings = []
    for table in tables.of(found):
        rows = table.free[(table.free["message_size"] > 0) & table.free["gbps"].notna()]
        if rows["msg_rate"].isna().any():
            continue
        size, rate, messages = (
            rows[name].to_numpy(dtype=float) for name in ("message_size", "gbps", "msg_rate")
        )
        found_here = bounds(size, rate, messages)
        if found_here is None:
            continue
        best, most, crossing = int(np.argmax(rate)), found_here.messages, found_here.crossing
        half = int(size[np.argmax(rate >= rate[best] / 2)])
        several = streams.at_once(rows)
        text = (
            f"{f'{several} together: ' if several else ''}at most {number_text(most / 1e6)} "
            f"million messages/s, and at most {rate_text(rate[best])} (at "
            f"{size_text(size[best])}); the two bounds cross at "
            f"{size_text(round(crossing))}, and half of the highest rate is reached at "
            f"{size_text(half)}"
        )
        numbers = {
            "messages_per_second": most,
            "gbps": float(rate[best]),
            "crossing": crossing,
            "half_reached_at": half,
        }
        findings.append(Finding("knee", text, table.where, len(rows), "rows", numbers=numbers))
    return findings


def sums(found: Results) -> list[Finding]:
    """Whether bytes are messages × size, and rates are totals over time, within their rounding."""
    findings = []
    needed = ["bytes", "messages", "stream_time", "msg_rate", "byte_rate"]
    if not set(needed) <= set(found.points):
        return []
    for file, all_rows in found.points.groupby("file", sort=False):
        rows = all_rows[all_rows[needed].notna().all(axis=1)]
        if rows.empty:
            continue
        products = _where(rows, rows["bytes"] != rows["messages"] * rows["message_size"])
        rates = _where(
            rows, ~_agree(rows, "messages", "msg_rate") | ~_agree(rows, "bytes", "byte_rate")
        )
        text = (
            f"{_share(len(rows), products)} bytes are messages × size; {_share(len(rows), rates)} "
            "both rates are totals / time, computed again, within the rounding of both"
        )
        numbers = {"rows": len(rows), "bytes_wrong": len(products), "rates_wrong": len(rates)}
        findings.append(
            Finding("sums", text, str(file), len(rows), "rows", len(products) + len(rates), numbers)
        )
    return findings


def _agree(rows: pd.DataFrame, total: str, rate: str) -> pd.Series[bool]:
    amount, printed = (rows[name].astype(float) for name in (total, rate))
    seconds = rows["stream_time"].astype(float) / 1e9
    half = 0.5e-6 if (rows["stream_time"] % 1000 == 0).all() else 0.5e-9  # of the last digit
    off = 0.5 + printed * 1e-12
    return (printed >= amount / (seconds + half) - off) & (
        printed <= amount / (seconds - half).clip(lower=1e-9) + off
    )


def _where(rows: pd.DataFrame, wrong: pd.Series[bool]) -> list[str]:
    chosen = rows[wrong.to_numpy(dtype=bool)]
    return [f"point {row['point']} ({row['message_size']} B)" for _, row in chosen.iterrows()]


def _share(count: int, wrong: list[str]) -> str:
    if not wrong:
        return "in the one row" if count == 1 else f"in all {count} rows"
    return f"in {count - len(wrong)} of {count} rows (not in {listed(wrong)})"
