# SPDX-License-Identifier: BSD-3-Clause
"""What a file says of its points and launches to who compares nodes, and no more."""

from __future__ import annotations

from typing import Final

import h5py

from a2aperf import asking, reading, segments, strict, verified
from a2aperf.nodes.night import PASSING
from a2aperf.schema import COLUMNS, Segment

_COLUMNS: Final = frozenset({
    *("role", "state", "skip_reason", "segment", "started", "attempts", "ops"),
    *("engine", "schedule", "traffic", "message_size", "ranks", "ranks_per_node"),
    *("time_p50", "time_mean", "clock_error"),
})  # fmt: skip
"""Of points, what `loading` and the workloads' `nodes` look at."""
_PLAIN: Final = {one.name: one for one in COLUMNS if one.name in _COLUMNS and not one.flags}
"""Those to which a file adds no words."""
_ATTRIBUTES: Final = (
    *("time_origin", "command_line", "sync", "shuffle_ranks", "seed"),
    *("link_rate_gbps", "rails", "memory", "clock_error_ns"),
)  # fmt: skip
"""Of launches, likewise."""
_OF_FILE: Final = ("workload", "raw_samples", "complete_at")


def summary(file: h5py.File) -> asking.Summary:
    """A question; the answer lacks what nobody looks at who compares nodes."""
    verified.require_rows(file)
    described = {**_PLAIN, **reading.columns_of(file, _COLUMNS - set(_PLAIN))}
    return asking.Summary(
        {name: strict.plain(name, file.attrs[name]) for name in _OF_FILE if name in file.attrs},
        described,
        frozenset(described).difference(file),
        reading.read_columns(file, described.values()),
        _launches(file),
        [],
    )


def _launches(file: h5py.File) -> list[Segment]:
    ranks = int(strict.numbers(file["ranks"], "int32").max(initial=0))
    groups = (file["segments"][str(at)] for at in range(reading.segment_count(file)))
    return [segments.read_placed(one, ranks, _ATTRIBUTES, ("nic",), PASSING) for one in groups]
