# SPDX-License-Identifier: BSD-3-Clause
"""The points of the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from a2aperf import grouping, layouts, workloads
from a2aperf.results import Results
from a2aperf.tables import Cell, Column, Table

COLUMNS: Final = (
    "ranks nodes ranks_per_node message_size gbps_node_net gbps_rank gbps_sustained efficiency "
    "ops invalid time_min time_p50 time_p50_low time_p50_high time_p90 time_p99 time_max msg_rate"
).split()


def table(results: Results) -> Table:
    """One row per point that is done; what is unknown everywhere has no column."""
    done = results.select(results.points["state"].isin(["complete", "skipped", "failed"]))
    own = workloads.table_columns(done)
    names = [
        name
        for name in layouts.columns_for(done, [*dict.fromkeys([*COLUMNS, *own])])
        if name in ("ranks", "message_size") or done.points[name].notna().any()
    ]
    caption = "Every point of every launch. Rates in Gbit/s, one way, times in µs."
    made = layouts.table(done, names, mark_maximum=True, caption=caption)
    setting = grouping.setting_labels(results, done.points)
    if not setting.any():
        return made
    rows = [[Cell(str(own)), *row] for own, row in zip(setting, made.rows, strict=True)]
    return replace(made, columns=[Column("setting", left=True), *made.columns], rows=rows)
