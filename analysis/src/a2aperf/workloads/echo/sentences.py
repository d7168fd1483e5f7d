# SPDX-License-Identifier: BSD-3-Clause
"""What round trips say at a glance, in sentences."""

from __future__ import annotations

from a2aperf.labels import count_text, list_text, rate_text, size_text, time_text
from a2aperf.results import Results
from a2aperf.round_trips import histogram


def sentences(results: Results) -> list[str]:
    """One for each file."""
    found = results.measured(("echo",)).points
    said = []
    for file, rows in found.groupby("file", sort=False):
        sizes = size_text(rows["message_size"].min()), size_text(rows["message_size"].max())
        words = (
            f"{file}: {count_text(len(rows), 'point')} of round trips "
            f"({list_text([*rows['operation'].unique()])}), {sizes[0]} to {sizes[1]}"
        )
        if rows["time_p50"].notna().any():
            words += f"; the shortest median is {time_text(float(rows['time_p50'].min()))}"
        if rows["gbps"].notna().any():
            words += f", the highest rate {rate_text(float(rows['gbps'].max()))}"
        if rest_on := histogram.words(rows):
            words += f"; {rest_on}"
        said.append(words + ".")
    return said
