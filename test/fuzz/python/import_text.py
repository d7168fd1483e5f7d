# SPDX-License-Identifier: BSD-3-Clause
"""`a2a import`: text of every layout that is read, and of anything else."""

import math
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from a2aperf import loading
from property import FINE, a2a, require


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="a2a-fuzz-"))


def target(data: bytes) -> None:
    """An input is the text. What is accepted is a results file that can be read, and its figures can be true."""
    text, output = _folder() / "text", _folder() / "imported.h5"
    text.write_bytes(data)
    status, _ = a2a("import", text, "-o", output, "--force")
    if status != FINE:  # it may lack what only the user knows
        status, _ = a2a("import", text, "-o", output, "--force", "--ranks", "8", "--ppn", "2", "--link-rate", "100")
    if status != FINE:
        return
    points = loading.load([output]).points
    is_pair = bool(points["role"].isin(("stream", "echo", "qos", "interconnects")).all())  # whose messages may be empty, as may their times
    require((points["message_size"] >= (0 if is_pair else 1)).all(), "a message has at least 1 byte")
    require((points["ranks"] >= (1 if is_pair else 2)).all(), "an all-to-all has at least 2 ranks")
    for name in ("time_min", "time_mean", "time_p50", "time_p90", "time_p99", "time_max"):
        times = points[name].to_numpy(dtype=float)
        require(bool((np.isnan(times) | ((times > (-1 if is_pair else 0)) & np.isfinite(times))).all()), f"{name}: {times}")
    rates = points["gbps_rank"].to_numpy(dtype=float)
    require(all(math.isnan(rate) or 0 <= rate < math.inf for rate in rates), f"gbps_rank: {rates}")
    status, _ = a2a("table", output)
    require(status == FINE, "what was imported can be shown")
