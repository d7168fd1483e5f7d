# SPDX-License-Identifier: BSD-3-Clause
"""What streams say at a glance, in sentences."""

from __future__ import annotations

from a2aperf.labels import count_text, list_text, number_text, rate_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.stream import streams


def sentences(results: Results) -> list[str]:
    """One for each file."""
    found = results.measured(("stream",)).points
    said = []
    for file, rows in found.groupby("file", sort=False):
        modes = [mode for mode in rows["mode"].unique() if mode]
        sizes = size_text(rows["message_size"].min()), size_text(rows["message_size"].max())
        words = (
            f"{file}: {count_text(len(rows), 'point')} of "
            f"{count_text(rows['launch'].nunique(), 'launch or table', 'launches or tables')}"
        )
        words += f" (mode {list_text(modes)})" if modes else ""
        words += f", messages of {sizes[0]} to {sizes[1]}"
        if rows["gbps"].notna().any():
            words += f"; at most {rate_text(float(rows['gbps'].max()))}"
        if rows["msg_rate"].notna().any():
            words += f" and {number_text(float(rows['msg_rate'].max()) / 1e6)} million messages/s"
        several = streams.at_once(rows)
        words += f" ({several} together)" if several else ""
        said.append(words + ".")
    return said
