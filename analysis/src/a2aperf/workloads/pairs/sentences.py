# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix of pairs says at a glance, in sentences."""

from __future__ import annotations

import numpy as np

from a2aperf.labels import count_text, list_text, rate_text, size_text
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model


def sentences(results: Results) -> list[str]:
    """One for each file."""
    return [_matrix(results, file) for file in links.files(results)]


def _matrix(results: Results, file: str) -> str:
    of = links.read(results, file)
    sizes = [size_text(float(size)) for size in of.pairs.message_size]
    measured = int((of.pairs.ops > 0).any(axis=0).sum())
    view = of.between(of.index_of(set()))
    known = view.gbps[np.isfinite(view.times)]
    text = (
        f"{file}: {measured} of {of.ranks * (of.ranks - 1)} pairs of {of.ranks} ranks on "
        f"{count_text(len(of.launch.nodes), 'node')} at {list_text(sizes)}, each rank "
        "sending to one rank and receiving from one rank at a time"
    )
    if not known.size:
        return text + "."
    low, middle, high = (
        rate_text(rate)
        for rate in (float(known.min()), model.middle(known, is_rate=True), float(known.max()))
    )
    which = "" if known.size == measured else " of pairs between nodes"
    return text + f"; at {size_text(view.message_size)} {low} to {high}, median{which} {middle}."
