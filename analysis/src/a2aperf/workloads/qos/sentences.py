# SPDX-License-Identifier: BSD-3-Clause
"""What paths that share a link say at a glance, in sentences."""

from __future__ import annotations

from a2aperf.labels import count_text, range_text, rate_text
from a2aperf.results import Results
from a2aperf.workloads.qos.experiments import ROLE


def sentences(results: Results) -> list[str]:
    """One for each file."""
    said = []
    for file, rows in results.measured((ROLE,)).points.groupby("file", sort=False):
        paths = range_text(int(n) for n in rows["path_count"].dropna())
        words = f"{file}: {count_text(len(rows), 'experiment')} of {paths} paths that share a link"
        counts = [int(n) for n in rows["shared_intervals"].dropna()]
        if counts:
            words += f", {range_text(counts)} intervals each in which every path could send"
        if rows["gbps"].notna().any():
            words += f"; at most {rate_text(float(rows['gbps'].max()))} together"
        said.append(words + ".")
    return said
