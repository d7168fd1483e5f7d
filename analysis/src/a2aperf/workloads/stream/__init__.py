# SPDX-License-Identifier: BSD-3-Clause
"""Streams: what one pair of ends carries while it sends without a pause."""

from __future__ import annotations

from typing import Final

from a2aperf.workloads.stream import sentences
from a2aperf.workloads.workload import Workload

WORKLOAD: Final = Workload(
    "stream",
    ("stream",),
    "Streams",
    "a file of streams and no all-to-all: 'a2a table' and 'a2a report' show it",
    columns=frozenset({"msg_rate"}),
    sentences=sentences.sentences,
    table=(
        "section mode window free_delay stream_time message_size messages bytes msg_rate byte_rate "
        "gbps longest_wait"
    ).split(),
    least_ranks=1,
)
