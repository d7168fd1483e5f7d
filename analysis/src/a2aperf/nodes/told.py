# SPDX-License-Identifier: BSD-3-Clause
"""The history of nodes in words, as JSON, and as commands for who may drain them."""

from __future__ import annotations

import re
import shlex
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from a2aperf.differences import shortened
from a2aperf.labels import count_text, list_text, size_text
from a2aperf.nodes import moves
from a2aperf.nodes.changes import Changes
from a2aperf.nodes.history import LATELY, Moved, NodeHistory, Slow, What
from a2aperf.nodes.moves import Move
from a2aperf.nodes.night import Per
from a2aperf.tables import aligned

_MOST_CHANGES: Final = 12
_FAR: Final = 10.0
"""A factor from which on it does not matter how far a move would have to be."""
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def lines(found: NodeHistory) -> list[str]:
    """What moved, what is slow, and what could have been seen."""
    told = [
        f"{count_text(found.launches, 'launch', 'launches')} in "
        f"{count_text(len(found.days), 'night')} from {_date(found.days[0])} to "
        f"{_date(found.days[-1])} (UTC), {count_text(len(found.nodes), found.per)}",
        "",
    ]
    for one in found.moved:
        told += _moved(one)
    told += [_slow(one, found.per) for one in found.slow]
    if not found.moved and not found.slow:
        told.append(_nothing(found))
    candidates = found.candidates()
    if candidates:
        told += ["", f"candidates to drain: {list_text(list(candidates), 24)}"]
    if gone := found.gone():
        named = list_text(gone, 24)
        told += ["", f"no candidates, for the last {moves.RECENT} nights lack them: {named}"]
    if found.changed:
        told += _changed(found.changed, len(found.nodes))
    return [*told, "", *_searched(found)]


def _changed(found: Changes, nodes: int) -> list[str]:
    """The latest changes of facts, and the nodes that came and left."""
    told = []
    for what, which in (("first measured", found.came), ("last measured", found.left)):
        of_day: dict[int, list[str]] = {}
        for node, day in which.items():
            of_day.setdefault(day, []).append(node)
        told += [f"{what} {_date(day)}: {list_text(of_day[day], 24)}" for day in sorted(of_day)]
    rows = [
        [
            _date(one.day),
            f"all {nodes} nodes" if len(one.nodes) == nodes else list_text(one.nodes, 4),
            one.fact,
            shortened([one.before]),
            shortened([one.after]),
        ]
        for one in found.facts[-_MOST_CHANGES:]
    ]
    heads = [["recorded since", "of", "what", "before", "after"]] if rows else []
    if others := len(found.facts) - len(rows):
        told.append(f"{count_text(others, 'other change')} of what is recorded: --json has all")
    table = aligned([*heads, *rows], [True] * 5)
    return ["", *told, *table] if told or table else []


def _nothing(found: NodeHistory) -> str:
    if any(one.nodes for one in found.searched):
        return f"no {found.per} moved away from the others"
    return f"not judged: no {found.per} has the {moves.LEAST} nights that are the least"


def _moved(one: Moved) -> list[str]:
    (what, move), *others = one.moves
    text = f"{one.node} {_factor(what, move.factor)} {_when(one.first, move)} ({_nights(move)})"
    if others:
        text += "; also " + list_text([_factor(*_of(other)) for other in others], 24)
    text += "" if one.stays else "; no longer so in the last nights"
    rows = [
        ["", name, shortened([before]), shortened([after])] for name, before, after in one.facts
    ]
    heads = [["", "recorded with it", "before", "after"]] if rows else []
    return [text, *aligned([*heads, *rows], [True] * 4)]


def _when(day: int, move: Move) -> str:
    """A drift has no first night."""
    return f"little by little around {_date(day)}" if move.is_gradual else f"since {_date(day)}"


def _of(one: tuple[What, Move]) -> tuple[What, float]:
    return one[0], one[1].factor


def _factor(what: What, factor: float) -> str:
    """`sends 1.12 times as long at 60 kB`; times, so more is slower."""
    return f"{what.part} in {factor:.3f} times its time at {size_text(what.message_size)}"


def _nights(move: Move) -> str:
    return f"{count_text(move.before, 'night')} before, {move.after} after"


def _slow(one: Slow, per: Per) -> str:
    return (
        f"{one.node} {one.what.part} in {one.factor:.3f} times the time of the median {per} at "
        f"{size_text(one.what.message_size)} in its last {min(one.nights, LATELY)} nights"
    )


def _searched(found: NodeHistory) -> list[str]:
    rows = [["told from", f"{found.per}s", "message", "part"]]
    for one in found.searched:
        factor = f"{one.least:.3f} times" if np.isfinite(one.least) else "-"
        if one.least >= _FAR:
            factor = f"more than {_FAR:g} times"
        rows.append([factor, str(one.nodes), size_text(one.what.message_size), one.what.part])
    return aligned(rows, [False, False, False, True])


def plain(found: NodeHistory) -> dict[str, Any]:
    """All figures; days as dates. What is compared is under its own name."""
    return {
        "launches": found.launches,
        "nights": [_date(day) for day in found.days],
        f"{found.per}s": found.nodes,
        "moved": [
            {
                found.per: one.node,
                "since": _date(one.first),
                "stays": one.stays,
                "moves": [
                    {
                        **what._asdict(),
                        "factor": move.factor,
                        "now": move.now,
                        "nights_before": move.before,
                        "nights_after": move.after,
                        "is_gradual": move.is_gradual,
                    }
                    for what, move in one.moves
                ],
                "facts": {name: {"before": a, "after": b} for name, a, b in one.facts},
            }
            for one in found.moved
        ],
        "slow": [
            {found.per: x.node, **x.what._asdict(), "factor": x.factor, "nights": x.nights}
            for x in found.slow
        ],
        "candidates": found.candidates(),
        **(_plain_changes(found.changed) if found.changed else {}),
        "searched": [
            {
                **one.what._asdict(),
                f"{found.per}s": one.nodes,
                "least": one.least if np.isfinite(one.least) else None,
            }
            for one in found.searched
        ],
    }


def _plain_changes(found: Changes) -> dict[str, Any]:
    return {
        "changed": [{**asdict(one), "day": _date(one.day)} for one in found.facts],
        "came": {node: _date(day) for node, day in found.came.items()},
        "left": {node: _date(day) for node, day in found.left.items()},
    }


def drain_list(found: NodeHistory) -> list[str]:
    """A line for each candidate, as Slurm's administrator would type it; nothing runs it.

    A file may name a node anything: what is no host's name is left out.
    """
    return [
        f"scontrol update NodeName={node} State=DRAIN Reason={shlex.quote('a2a: ' + reason)}"
        for node, reason in found.candidates().items()
        if _HOST.fullmatch(node)
    ]


def _date(day: int) -> str:
    return str(np.datetime64(int(day), "D"))
