# SPDX-License-Identifier: BSD-3-Clause
"""The figures of streams by name, one row of `KINDS` each."""

from __future__ import annotations

from a2aperf.curves import Kind
from a2aperf.workloads.stream import intervals, surface, sweep

KINDS: dict[str, Kind] = {
    "rates": Kind(
        sweep.figure,
        "Gbit/s and messages/s of streams against message size, a line per mode or setting",
        "A line follows its dotted bounds: the message rate at small sizes, the bandwidth at large "
        "ones. Where it stays below both, something else costs time.",
    ),
    "credits": Kind(
        surface.figure,
        "rate of streams by window and message size: heat map",
        "Along a row the rate rises with the window until the credits cover the round trip; from "
        "there on more of them buy nothing.",
        options=surface.OPTIONS,
        in_report=surface.has_surface,
    ),
    "intervals": Kind(
        intervals.figure,
        "Gbit/s of streams in each interval of 0.1 s, or finer with --trace",
        "A line that is not level says when within its second a stream was slow; what the mean of "
        "the point hides.",
        needs_raw=True,
        options=intervals.OPTIONS,
        in_report=intervals.has_intervals,
    ),
}
