# SPDX-License-Identifier: BSD-3-Clause
"""What a stream has moved while its counters counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from a2aperf import schema
from a2aperf.deferred import pandas as pd
from a2aperf.moved import Amount, Moved
from a2aperf.results import Results


def moved(found: Results, row: pd.Series[Any]) -> Moved:
    """Those of nodes count until all messages have come, those of ranks only until its end."""
    if pd.isna(row.get("messages")):
        return Moved()
    size, whole = int(row["message_size"]), int(row["messages"])
    after = _after_the_end(found, row)
    during = None if after is None else Amount(whole - after, (whole - after) * size)
    return Moved(during, Amount(whole, whole * size))


def _after_the_end(found: Results, row: pd.Series[Any]) -> int | None:
    """Messages that came when their receiver had ended; None where that was not kept.

    A stream that all its ranks had received ended with the last message. Of one that its time
    ended, the last tick of each rank has what came later; where ranks may have ended in either way,
    that tick can be of both.
    """
    if row["stop_rule"] == "messages":
        return 0
    column = found.own_columns(str(row["file"])).get("tick_received")
    asked, lost = row.get("asked_messages"), row.get("ticks_lost")
    is_mixed = pd.notna(asked) and asked != schema.UNKNOWN
    if column is None or is_mixed or pd.isna(lost) or lost != 0:
        return None
    came = found.own(str(row["file"]), int(row["point"]), column)
    there = came != schema.NO_MOMENT
    if not there.any(axis=0).all():
        return None
    last = len(came) - 1 - np.argmax(there[::-1], axis=0)
    return int(came[last, np.arange(came.shape[1])].sum())
