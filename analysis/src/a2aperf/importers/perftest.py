# SPDX-License-Identifier: BSD-3-Clause
"""The JSON of perftest (`ib_write_bw --out_json` and its like): two ranks, one point a file.

Releases before 24.01 (Debian 12 has 4.5) leave out the quotes and put a comma behind every last
item, and newer ones still do so in tests of service levels: none of this is JSON. What they share
is an item a line. A test of all sizes (`-a`) writes the file anew for each, so that only its
largest is left.

A latency test gives times of one message one way; its rates are those of a ping-pong and are left
unknown. A bandwidth test gives a mean rate; its mean time is that of one message at that rate.
"""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from a2aperf import notation
from a2aperf.errors import InputError
from a2aperf.importers.block import Block, bad

ENGINE = "perftest"
PERCENTILE_RULE = "index"
RANKS = 2
_TIMES = {
    "t_min": "time_min",
    "t_max": "time_max",
    "t_typical": "time_p50",
    "t_avg": "time_mean",
    "t_stdev": "time_stddev",
    "percentile_99": "time_p99",
}
_UNITS = {"Gbit/s": 1.0, "MiB/s": 2**20 * 8 / 1e9}  # of BW_average; the JSON does not name it


def matches(text: str) -> bool:
    """Whether the text is JSON of perftest."""
    return text.lstrip().startswith("{") and re.search(r'"?test_info"?\s*:', text) is not None


def parse(path: Path, text: str) -> list[Block]:
    """One block of one row; InputError where it is no result of perftest."""
    try:
        data = notation.of_json(text)
    except json.JSONDecodeError:
        data = _by_lines(path, text)
    except ValueError as error:
        raise InputError(f"{path}: not what perftest writes: {error}") from None
    if not isinstance(data, dict):
        data = {}
    info, results = data.get("test_info"), data.get("results")
    if not isinstance(info, dict) or not isinstance(results, dict):
        raise InputError(f"{path}: no 'test_info' and 'results' as perftest writes them")
    if "MsgSize" not in results:
        raise InputError(f"{path}: no MsgSize in 'results'; run perftest without --output")
    test = str(info.get("test", "")).removesuffix("_Test")
    row: dict[str, Any] = {
        "mode": test,
        "ranks": RANKS,
        "message_size": int(_value(path, results, "MsgSize")),
        "ops": int(_value(path, results, "n_iterations")),
    }
    if "BW_average" in results:
        row |= _bandwidth(path, results, row["message_size"], "Bidirectional" in test)
        row["window"] = _depth(path, info.get("TX_depth", -1))
    else:
        row |= _latency(path, results)
        row["window"] = 1
    attributes = {
        "domain": str(info.get("Device", "")),
        "time_meaning": "one message, one way",
    }
    settings = [f"{name}={value}" for name, value in info.items() if name != "test"]
    return [Block([row], ENGINE, attributes=attributes, note=", ".join(settings))]


_ITEM = re.compile(r'\s*"?(?P<name>[^":{}]+?)"?\s*:\s*(?P<value>.*?),?\s*')


def _by_lines(path: Path, text: str) -> dict[str, Any]:
    """What older releases write: `name: value,` a line, in groups `name: {` … `},`."""
    data: dict[str, Any] = {}
    group = data
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().rstrip(",") in ("", "{"):
            continue
        if line.strip().rstrip(",") == "}":
            group = data
            continue
        item = _ITEM.fullmatch(line)
        if item is None:
            column = len(line) - len(line.lstrip()) + 1
            raise bad(path, number, column, f"expected 'name: value', found '{line.strip()}'")
        if item["value"] == "{":
            group = data[item["name"]] = {}
        else:
            group[item["name"]] = _plain(item["value"])
    return data


def _plain(text: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.removeprefix('"').removesuffix('"')


def _value(path: Path, results: dict[str, Any], name: str, *, may_be_zero: bool = False) -> float:
    value = results.get(name)
    least = 0.0 if may_be_zero else math.ulp(0)
    if not isinstance(value, int | float) or not least <= value <= sys.float_info.max:
        kind = "number of 0 or more" if may_be_zero else "positive number"
        raise InputError(f"{path}: results.{name} is {value!r}, expected a {kind}")
    return float(value)


def _depth(path: Path, value: Any) -> int:
    if not isinstance(value, int) or not -1 <= value < 2**31:
        raise InputError(f"{path}: test_info.TX_depth is {value!r}, expected a whole number")
    return value


def _latency(path: Path, results: dict[str, Any]) -> dict[str, Any]:
    if "t_avg" not in results:
        raise InputError(f"{path}: results has neither BW_average nor t_avg")
    row: dict[str, Any] = dict.fromkeys(_NO_RATES, math.nan)
    for name, column in _TIMES.items():
        if name in results:
            row[column] = _value(path, results, name, may_be_zero=name == "t_stdev") * 1e3
        elif name == "t_stdev":
            row[column] = math.nan
    return row


_NO_RATES = (
    "gbps_rank gbps_compat gbps_node_net_min gbps_node_net gbps_node_net_max gbps_node_total "
    "gbps_node_compat gbps_duplex gbps_aggregate gbps_bisection gbps_sustained "
    "gbps_sustained_compat msg_rate efficiency"
).split()


def _bandwidth(path: Path, results: dict[str, Any], size: int, both: bool) -> dict[str, Any]:
    rate, messages = _value(path, results, "BW_average"), _value(path, results, "MsgRate")
    expected = messages * 1e6 * size * 8 / 1e9
    factor = min(_UNITS.values(), key=lambda unit: abs(math.log(rate * unit / expected)))
    # both figures are rounded (2 and 6 decimals), the units differ by a factor of 119
    if not 0.5 < rate * factor / expected < 2:
        raise InputError(
            f"{path}: BW_average {rate:g} and MsgRate {messages:g} of {size} B agree in neither "
            f"{' nor '.join(_UNITS)}"
        )
    directions = 2 if both else 1  # a bidirectional test adds both up
    gbps = rate * factor / directions
    return {
        **dict.fromkeys(_NO_RATES, math.nan),
        "time_mean": size * 8 / gbps,
        "gbps_rank": gbps,
        "gbps_sustained": gbps,
        "msg_rate": messages * 1e6,
    }
