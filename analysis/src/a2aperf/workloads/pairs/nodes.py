# SPDX-License-Identifier: BSD-3-Clause
"""What a matrix of pairs says of its nodes: the sender's and the receiver's part in the model.

Of a pair it is what these two leave: what its way alone adds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from a2aperf import others
from a2aperf.nodes.night import (
    FEWEST_NODES,
    Line,
    Night,
    Parted,
    Per,
    adapters,
    by_place,
    directions,
    line,
    night,
)
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model, ways
from a2aperf.workloads.pairs.links import Links

_SENDS, _RECEIVES, _CARRIES = "sends", "receives", "carries a message"


def nights(found: Results, per: Per) -> Iterator[Night]:
    """Of each file with a matrix, on enough nodes."""
    for file in links.files(found):
        of = links.read(found, file)
        if len(set(of.node)) < FEWEST_NODES:
            continue
        started = found.points.loc[found.points["launch"] == of.launch.id, "started"].min()
        if per == "adapter":
            known = adapters(of.launch)
            if known is None or len(known.of_rank) != of.ranks:
                continue
        else:
            known = directions(of.launch.nodes) if per == "direction" else None
        lines = [
            one
            for index, size in enumerate(of.pairs.message_size)
            for one in _lines(of, index, int(size), per, known)
        ]
        yield from night(of.launch, started, lines, known, of_pairs=per == "pair")


def _lines(of: Links, index: int, size: int, per: Per, parted: Parted | None) -> Iterator[Line]:
    """Of one message size; none where no pair is known."""
    fit = model.fit((of.by_rank(index) if per == "adapter" else of.view(index, "node")).times)
    if not np.isfinite(fit.residual).any():
        return
    if per == "adapter" and parted is not None:
        for part, effect in ((_SENDS, fit.sender), (_RECEIVES, fit.receiver)):
            yield line(part, size, by_place(effect, parted.of_rank, len(parted.names)))
    elif per == "direction":
        ends = [others.beside(fit.sender), others.beside(fit.receiver)]
        yield line(_CARRIES, size, np.concatenate(ends))
    elif per == "pair":
        off = ~np.eye(len(fit.residual), dtype=bool)
        yield line(_CARRIES, size, ways.added(fit)[off])
    else:
        yield line(_SENDS, size, others.beside(fit.sender))
        yield line(_RECEIVES, size, others.beside(fit.receiver))
