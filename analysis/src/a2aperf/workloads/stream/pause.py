# SPDX-License-Identifier: BSD-3-Clause
"""Rows whose receiver pauses before it frees: whether one pause after every 1000 messages says why.

With w buffers and a pause of D after every N messages a period is D + (N − w)·t where w < N, with t
the time of a message without a pause, as long as the buffers do not outlast the pause (w·t < D).
A total of whole periods, w buffers and the message under way is k·N + w + 1.
"""

from __future__ import annotations

from typing import Any

from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, ms, percent, us
from a2aperf.labels import number_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import tables

N = 1000
"""Messages between pauses of the published program."""
_RATE_WITHIN = 0.03
_WAIT_WITHIN = 0.01


def find(found: Results) -> list[Finding]:
    """One for each row with a pause that does not tell how often: the cause, or not determined."""
    needed = {"free_delay", "messages", "stream_time", "msg_rate", "longest_wait"}
    if not needed <= set(found.points):
        return []
    findings = []
    for table in tables.of(found):
        rows = table.rows[(table.rows["free_delay"] > 0).fillna(False)]
        if "free_every" in rows:  # told, not to be found
            rows = rows[~(rows["free_every"] > 0).fillna(False)]
        rows = rows[rows[["messages", "stream_time", "msg_rate"]].notna().all(axis=1)]
        findings += [_of_row(table, row) for _, row in rows.iterrows()]
    return findings


def buffers(table: tables.Table) -> int | None:
    """Buffers as told, or as the totals of rows whose pause is explained by them tell."""
    if table.window is not None:
        return table.window
    told = set()
    for _, row in table.rows.iterrows():
        if not pd.isna(row["free_delay"]) and row["free_delay"] > 0 and not _doubts(table, row):
            told.add(int(row["messages"]) % N - 1)
    return told.pop() if len(told) == 1 else None


def _message_time(table: tables.Table, size: int) -> float | None:
    """Ns of a message of this size without a pause."""
    same = table.free[table.free["message_size"] == size]
    rates = same["msg_rate"].dropna()
    return 1e9 / float(rates.iloc[0]) if len(rates) and rates.iloc[0] > 0 else None


def _period(row: pd.Series[Any]) -> float:
    """Ns in which N messages come."""
    return N * float(row["stream_time"]) / float(row["messages"])


def _doubts(table: tables.Table, row: pd.Series[Any]) -> list[str]:
    """What one pause after N messages leaves unexplained, in words; nothing where it does not."""
    pause, total = float(row["free_delay"]), int(row["messages"])
    each = _message_time(table, int(row["message_size"]))
    if each is None:
        return [f"no row of {size_text(row['message_size'])} without a pause is here"]
    spare = total % N - 1
    window = spare if table.window is None else table.window
    doubts = []
    untold = "" if table.window is not None else "how many buffers there are is not told; "
    if not 0 < window < N:
        which = "as many as remain of the total" if untold else f"{window} buffers"
        return [f"{untold}{which} and a pause every {N} messages do not fit"]
    if window * each >= pause:
        which = "as remain of the total would" if untold else "buffers"
        return [f"{untold}{window} {which} last {us(window * each)}, no less than the pause"]
    if spare != window:
        doubts.append(f"{total} is not a multiple of {N} + {window} + 1")
    expected = pause + (N - window) * each
    if abs(_period(row) / expected - 1) > _RATE_WITHIN:
        doubts.append(
            f"{N} messages take {number_text(_period(row) / 1e6)} ms, and would take "
            f"{number_text(expected / 1e6)}"
        )
    wait = row["longest_wait"]
    if pd.isna(wait) or abs(float(wait) / pause - 1) > _WAIT_WITHIN:
        doubts.append("the longest wait is not the pause")
    return doubts


def _time(nanoseconds: float) -> str:
    return ms(nanoseconds) if nanoseconds >= 1e6 else us(nanoseconds)


def _of_row(table: tables.Table, row: pd.Series[Any]) -> Finding:
    pause = float(row["free_delay"])
    in_one = float(row["msg_rate"]) * pause / 1e9
    said = (
        f"pause of {_time(pause)}: {number_text(float(row['msg_rate']))} messages/s, "
        f"{number_text(in_one)} in each {_time(pause)}"
    )
    doubts = _doubts(table, row)
    if doubts:
        said += f"; cause not determined: {'; '.join(doubts)}"
    else:
        each = _message_time(table, int(row["message_size"])) or 0.0
        spare = int(row["messages"]) % N - 1
        expected = pause + (N - spare) * each
        is_told = table.window is not None
        origin = "as told" if is_told else "not told, but what remains of the total"
        whole, period = int(row["messages"]) // N, _period(row)
        apart = percent(abs(period / expected - 1))
        said += (
            f"; one pause after every {N} messages explains it: {row['messages']} = {whole} · {N} "
            f"+ {spare} buffers ({origin}) + 1, and {N} messages take "
            f"{number_text(period / 1e6, 4)} ms, where the pause and {N - spare} messages of "
            f"{number_text(each / 1e3)} µs are {number_text(expected / 1e6, 4)} ms ({apart} "
            f"apart); the sender waited {number_text(float(row['longest_wait']) / 1e6, 4)} ms at "
            "the longest"
        )
    where = f"{table.where}, {size_text(row['message_size'])}"
    numbers = {"explained": int(not doubts), "messages_per_pause": in_one}
    return Finding("pause", said, where, 1, "rows", pause, numbers)
