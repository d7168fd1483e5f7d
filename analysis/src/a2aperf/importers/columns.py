# SPDX-License-Identifier: BSD-3-Clause
"""The columns that imported streams and round trips have beside those of every workload.

The file describes them by their attributes; whoever reads it needs no table of them.
"""

from __future__ import annotations

from typing import Final

from a2aperf import schema
from a2aperf.schema import Column

_RATES: Final = (
    Column("byte_rate", "float64", "payload per second, as printed", "B/s", better="higher"),
    Column("gbps", "float64", "payload per second", "Gbit/s", better="higher"),
)
_SECTION: Final = Column("section", "int32", "section of the text, counted from 1", result=False)

STREAM: Final = (
    _SECTION,
    Column("threads", "string", "both ends in one thread, or one each", result=False),
    Column("free_delay", "int64", "pause of the receiver before it frees", "ns", result=False),
    Column("stream_time", "int64", "duration of the stream", "ns"),
    Column("messages", "int64", "messages received"),
    Column("bytes", "int64", "bytes of payload received", "B"),
    schema.COLUMN["msg_rate"],
    *_RATES,
    Column("longest_wait", "int64", "longest wait of the sender for a buffer", "ns"),
)

_NINES: Final = {"time_p999": "99.9th", "time_p9999": "99.99th", "time_p99999": "99.999th"}

ECHO: Final = (
    _SECTION,
    Column("run", "int32", "repetition within its section, counted from 1", result=False),
    Column("operation", "string", "what one round trip does", result=False),
    Column("request_size", "int64", "bytes of a request", "B", result=False),
    Column("key_size", "int64", "bytes of a key", "B", result=False),
    *(
        Column(name, "float64", f"{which} percentile of the round trip", "ns")
        for name, which in _NINES.items()
    ),
    *_RATES,
)

QOS: Final = (
    Column("path_list", "string", "paths as asked for", result=False),
    Column("path_count", "int32", "paths that are there at the same time", result=False),
    Column("interval", "int64", "length of an interval", "ns", result=False),
    Column("asked_duration", "int64", "duration asked for", "ns", result=False),
    Column("shared_time", "int64", "of the intervals in which every path could send", "ns"),
    Column("shared_intervals", "int32", "intervals in which every path could send"),
    Column("messages", "int64", "messages received in them"),
    Column("bytes", "int64", "bytes of payload received in them", "B"),
    schema.COLUMN["msg_rate"],
    Column(
        "byte_rate", "float64", "payload per second, all paths together", "B/s", better="higher"
    ),
    Column("gbps", "float64", "payload per second, all paths together", "Gbit/s", better="higher"),
    Column("jain", "float64", "Jain's index of the bytes of the paths", better="higher"),
)

INTERCONNECTS: Final = (
    Column("interconnect", "string", "as the text names it", result=False),
    Column(
        "payload", "int64", "bytes of a message; unknown: of all sizes the most", "B", result=False
    ),
    Column("offered_rate", "float64", "messages per second that were due", "1/s", result=False),
    Column("hops", "int32", "transfers of a message one after the other", result=False),
    Column("line_rate", "float64", "of the link, as told", "Gbit/s", result=False),
    schema.COLUMN["msg_rate"],
    *_RATES,
)
