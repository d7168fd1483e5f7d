# SPDX-License-Identifier: BSD-3-Clause
"""Round trips in the layout of clusterperf, which `a2a import` reads back."""

from __future__ import annotations

from typing import Any, Final

from a2aperf import grouping
from a2aperf.errors import InputError
from a2aperf.layouts import general
from a2aperf.results import Results
from a2aperf.tables import missing

_ROLE: Final = "echo"
_FIGURES: Final = {
    "": ("time_p50", "median"),
    ".min": ("time_min", "minimum"),
    ".9": ("time_p90", "90%"),
    ".99": ("time_p99", "99%"),
    ".999": ("time_p999", "99.9%"),
}
_UNITS: Final = ((2**30, "G"), (2**20, "M"), (2**10, "K"))
_HEADED: Final = ("request_size",)
"""Settings that each line tells."""


def lines_of(results: Results) -> list[str]:
    """A heading for each launch and setting, and a line for each figure that is known."""
    if others := sorted(set(results.points["role"]) - {_ROLE}):
        raise InputError(
            f"clusterperf is a layout of round trips, and there are others: {others[0]}"
        )
    found = results.complete((_ROLE,))
    others = sorted({str(one) for one in found.points["operation"]} - {_ROLE})
    if others:
        raise InputError(f"clusterperf's lines of '{others[0]}' are only read, not written")
    names = [n for n in grouping.setting_names(found, found.points, ()) if n not in _HEADED]
    columns = [found.values(name) for name in names]
    lines: list[str] = []
    before = ""
    for index, row in enumerate(found.points.to_dict("records")):
        told = [
            f"{name} {general(values[index])}"
            for name, values in zip(names, columns, strict=True)
            if not missing(values[index])
        ]
        heading = f"clusterperf {', '.join([str(row['launch']), *told])}"
        lines += [heading] if heading != before else []
        lines += _of_point(row)
        before = heading
    if not lines:
        raise InputError("no round trip is measured")
    return lines


def _of_point(row: dict[Any, Any]) -> list[str]:
    name = f"echo{_size(row['message_size'])}"
    answer = f"{_size(row['message_size'])}B"
    trip = f"send {_size(row['request_size'])}B message, receive {answer} message"
    lines = [
        _line(f"{name}{suffix}", *_time(row[column]), f"{trip} {which}")
        for suffix, (column, which) in _FIGURES.items()
        if column in row and not missing(row[column])
    ]
    if "byte_rate" in row and not missing(row["byte_rate"]):
        rate = f"bandwidth receiving {answer} messages"
        lines.append(_line(name.replace("echo", "echoBw"), *_rate(row["byte_rate"]), rate))
    return lines


def _line(name: str, value: str, unit: str, says: str) -> str:
    return f"{name:<16} {value:>9} {unit:<5} {says}"


def _size(size: int) -> str:
    """Binary units: 100, 1K, 10K, 1M."""
    for factor, unit in _UNITS:
        if size and size % factor == 0:
            return f"{size // factor}{unit}"
    return str(size)


def _time(nanoseconds: float) -> tuple[str, str]:
    """To the last digit as the program prints it, which multiplies."""
    microseconds = nanoseconds * 1e-3
    if microseconds < 999.95:
        return f"{microseconds:.1f}", "us"
    return f"{microseconds * 1e-3:.2f}", "ms"


def _rate(per_second: float) -> tuple[str, str]:
    mega = per_second / 2**20
    return (f"{mega:.1f}", "MB/s") if mega < 1023.95 else (f"{mega / 2**10:.3f}", "GB/s")
