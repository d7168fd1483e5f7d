# SPDX-License-Identifier: BSD-3-Clause
"""What is an open loop's own of what its samples say: due, sent, and how late by itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from a2aperf.deferred import pandas as pd
from a2aperf.raw_ops import RawOps
from a2aperf.round_trips import verify
from a2aperf.round_trips.verify import WAITED, Own, Values
from a2aperf.workloads.open_loop import relay

_DUE = ("messages_due", "due_time", "most_behind")
_IN_RELAYS = {"relay_p50": 0.5, "relay_p99": 0.99}
_QUANTILES = {"pacing_p50": 0.5, "pacing_p99": 0.99, "pacing_p999": 0.999}


def _per_second(values: Values, raw: RawOps) -> float:
    """Until the last answer, or for as long as messages were due."""
    clients = values["round_trips"] > 0
    time = max(int(values["due_time"].max()), int(raw.recv_done[0, clients].max()))
    return int(values["round_trips"].sum()) / time * 1e9 if time > 0 else np.nan


def _figures(_: pd.Series[Any], values: Values) -> dict[str, Any]:
    due, time = int(values["messages_due"].sum()), int(values["due_time"].max())
    paced = np.asarray(values["request_wait"][values["held_up"] == 0], dtype=np.float64)
    return {
        "offered_rate": due / time * 1e9 if time > 0 else np.nan,
        "backlog": int(values["most_behind"].max()),
        "unanswered": due - int(values["round_trips"].sum()),
        "paced": paced.size,
        **{name: verify.percentile(paced, q) for name, q in _QUANTILES.items()},
        "pacing_max": float(paced.max()) if paced.size else np.nan,
        **relay.means(values),
        **_of_relays(relay.stays(values)),
    }


def _of_relays(stays: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    return {name: verify.percentile(stays, q) for name, q in _IN_RELAYS.items()}


verifier = partial(
    verify.verifier,
    Own(
        "achieved_rate",
        _per_second,
        (*_DUE, WAITED),
        ("request_due", "request_wait", "held_up"),
        _figures,
        relay.TOTALS,
        lambda _, values: relay.faults(values),
    ),
)
