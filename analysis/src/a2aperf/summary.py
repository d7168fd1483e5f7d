# SPDX-License-Identifier: BSD-3-Clause
"""What results say at a glance, in sentences."""

from __future__ import annotations

from a2aperf import oversubscription, schema, workloads
from a2aperf.deferred import pandas as pd
from a2aperf.labels import count_text, list_text
from a2aperf.results import Results


def sentences(results: Results) -> list[str]:
    """Plain sentences: what of each workload was measured and what it shows, and what is amiss."""
    here = workloads.present(results)
    said = [words for workload in here for words in workload.sentences(results)]
    said = said or ["No point is complete."]
    left_out = [f"Left out: {why}." for why in results.left_out]
    amiss = _not_done(results.points) + _ended_badly(results) + left_out
    return _oversubscribed(results) + said + amiss


def _oversubscribed(results: Results) -> list[str]:
    """What every other sentence is to be read with."""
    told = oversubscription.in_launches(results.launches)
    return [f"{words[0].upper()}{words[1:]}." for words in told]


def _not_done(points: pd.DataFrame) -> list[str]:
    said = []
    for state in ("skipped", "failed", "pending"):
        rows = points[
            (points["state"] == state) & points["role"].map(schema.is_counted).astype(bool)
        ]
        if len(rows):
            reasons = [str(reason) for reason in rows["skip_reason"].unique() if reason]
            why = f": {list_text(reasons, 3)}" if reasons else ""
            said.append(f"{count_text(len(rows), 'point')} {state}{why}.")
    return said


def _ended_badly(results: Results) -> list[str]:
    said = []
    for launch in results.launches.values():
        if launch.unfinished:
            said.append(f"Launch {launch.id} did not finish ({launch.unfinished}).")
    return said
