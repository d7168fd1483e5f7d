# SPDX-License-Identifier: BSD-3-Clause
"""What points that are made of ops have moved: counters are read around blocks of attempts."""

from __future__ import annotations

from typing import Any

from a2aperf.deferred import pandas as pd
from a2aperf.moved import Moved
from a2aperf.results import Results


def moved(found: Results, row: pd.Series[Any]) -> Moved:
    """Every attempt counts, valid or not; the baseline's messages are those that it is asked for.

    One step of an all-to-all has a message of each rank.
    """
    ranks = int(row["ranks"])
    is_step = pd.notna(row["distance"]) and row["distance"] > 0
    messages = int(row["attempts"]) * ranks * (1 if is_step else ranks - 1)
    return Moved.in_both(messages, messages * int(row["message_size"]))
