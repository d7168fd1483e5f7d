# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix of pairs says of its nodes: the sender's and the receiver's part in the model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from a2aperf.nodes.night import FEWEST_NODES, Night, line, night
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model

_SENDS, _RECEIVES = "sends", "receives"


def nights(found: Results) -> Iterator[Night]:
    """Of each file with a matrix, on enough nodes."""
    for file in links.files(found):
        of = links.read(found, file)
        if len(set(of.node)) < FEWEST_NODES:
            continue
        lines = []
        for index, size in enumerate(of.pairs.message_size):
            fit = model.fit(of.view(index, "node").times)
            if np.isfinite(fit.residual).any():
                lines.append(line(_SENDS, int(size), fit.sender))
                lines.append(line(_RECEIVES, int(size), fit.receiver))
        started = found.points.loc[found.points["launch"] == of.launch.id, "started"].min()
        yield from night(of.launch, started, lines)
