# SPDX-License-Identifier: BSD-3-Clause
"""What is an echo's own of what its samples say: round trips per second while it had any."""

from __future__ import annotations

from functools import partial

import numpy as np

from a2aperf.raw_ops import RawOps
from a2aperf.round_trips import verify
from a2aperf.round_trips.verify import Own, Values
from a2aperf.workloads.echo import ways


def _per_second(values: Values, raw: RawOps) -> float:
    clients = values["round_trips"] > 0
    span = int(raw.recv_done[0, clients].max() - raw.begin[0, clients].min())
    return int(values["round_trips"].sum()) / span * 1e9 if span > 0 else np.nan


verifier = partial(
    verify.verifier,
    Own(
        "trip_rate",
        _per_second,
        trips=("request_begin",),
        told=ways.TOLD,
        figures=ways.figures,
        faults=ways.faults,
    ),
)
