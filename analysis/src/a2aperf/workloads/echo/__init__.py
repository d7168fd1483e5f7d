# SPDX-License-Identifier: BSD-3-Clause
"""Round trips: a request and its answer."""

from __future__ import annotations

from typing import Final

from a2aperf.workloads.echo import sentences
from a2aperf.workloads.workload import Workload

WORKLOAD: Final = Workload(
    "echo",
    ("echo",),
    "Round trips",
    "a file of round trips and no all-to-all: 'a2a table' and 'a2a report' show it",
    sentences=sentences.sentences,
    table=(
        "section run operation request_size key_size message_size ops time_min time_p50 time_p90 "
        "time_p99 time_p999 time_max byte_rate gbps"
    ).split(),
)
