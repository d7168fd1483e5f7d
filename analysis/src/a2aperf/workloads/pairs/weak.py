# SPDX-License-Identifier: BSD-3-Clause
"""The weak links of a matrix of pairs: senders, receivers, pairs, switches, steps, and nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from a2aperf import labels
from a2aperf.explain.finding import Finding, listed, percent, us
from a2aperf.results import Results
from a2aperf.workloads.pairs import links, model
from a2aperf.workloads.pairs.links import Links, View
from a2aperf.workloads.pairs.model import Weak

_ENDS: Final = ("sender", "receiver")
_NORMAL: Final = 1.1
"""Factor on the time up to which the other direction, or a pair alone, counts as normal."""
_ALIKE: Final = 0.8
"""Factors that are told at the larger message."""
_HALF: Final = 0.5
"""Of the loss: what is left of it alone tells whether others are needed for it."""


Key = tuple[str, int, int, str]
"""Kind, source, destination and level of a weak link, whatever the message size."""


@dataclass(frozen=True)
class _Hit:
    """A weak link at one message size."""

    view: View
    weak: Weak


def find(found: Results) -> list[Finding]:
    """What stands out in the matrix of each file, each thing once with all its message sizes."""
    findings = []
    for file in links.files(found):
        of = links.read(found, file)
        seen: dict[Key, list[_Hit]] = {}
        sizes = set(found.points.loc[found.points["file"] == file, "message_size"])
        if why := _too_few(of, sizes):
            findings.append(why)
        for index, size in enumerate(of.pairs.message_size):
            if int(size) not in sizes:
                continue
            view = of.between(index)
            hits = [_Hit(view, one) for one in of.weak(view)]
            for hit in [*hits, *_ranks(of, index, view, hits)]:
                weak = hit.weak
                key = weak.kind, weak.source, weak.destination, hit.view.level
                seen.setdefault(key, []).append(hit)
            findings += _inside(of, index, view)
        findings += _told(of, seen)
    return findings


def _ranks(of: Links, index: int, view: View, named: list[_Hit]) -> list[_Hit]:
    """Ranks that are slow while their node, the median of its ranks, is not."""
    if view.level == "rank" or view.size == of.ranks:
        return []
    ranks = of.by_rank(index)
    nodes = {max(hit.weak.source, hit.weak.destination) for hit in named if hit.weak.kind in _ENDS}
    slow = [one for one in of.weak(ranks) if one.kind in _ENDS]
    return [
        _Hit(ranks, one)
        for one in slow
        if int(of.node[max(one.source, one.destination)]) not in nodes
    ]


def _told(of: Links, seen: dict[Key, list[_Hit]]) -> list[Finding]:
    findings = []
    for (kind, source, destination, level), hits in seen.items():
        worst = _worst(hits)
        if kind == "receiver" and ("sender", destination, -1, level) in seen:
            continue  # told with the sender of the same name
        if kind in _ENDS:
            other = seen.get(("receiver", -1, source, level)) if kind == "sender" else None
            text = _end(worst, _worst(other) if other else None)
        elif kind == "pair":
            text = _pair(of, worst)
        elif kind == "block":
            text = _block(worst)
        else:
            text = _step(worst)
        others = [hit for hit in hits if hit is not worst]
        if others:
            sizes = sorted((hit.view.message_size, hit.weak.factor) for hit in others)
            text += "; also " + listed(f"{_share(f)} at {labels.size_text(s)}" for s, f in sizes)
        findings.append(_finding(of, worst, text))
    return findings


def _too_few(of: Links, sizes: set[int]) -> Finding | None:
    """Why nothing is judged at any of the sizes."""
    view = of.between(of.index_of(sizes))
    if (ends := view.size) < model.FEWEST_ENDS:
        pairs = ends * (ends - 1)
        why = f"of {ends} senders and receivers nobody can be told from the others "
        why += f"({model.FEWEST_ENDS} are needed)"
    elif any(model.is_judged(of.between(of.index_of({size})).times) for size in sizes):
        return None
    else:
        pairs = int(np.isfinite(view.times).sum())
        why = f"{pairs} pairs that are alike are too few to tell one from the others "
        why += f"({model.FEWEST} or more of each sender or receiver are needed)"
    return Finding("weak", f"not judged: {why}", of.file, pairs, "pairs", abstains=True)


def _finding(of: Links, hit: _Hit, text: str) -> Finding:
    weak = hit.weak
    return Finding(
        "weak",
        text,
        f"{of.file}, {labels.size_text(hit.view.message_size)}",
        weak.n,
        unit="pairs",
        weight=weak.factor,
        numbers={
            "what": weak.kind,
            "source": weak.source,
            "destination": weak.destination,
            "level": hit.view.level,
            "message_size": hit.view.message_size,
            "share": 1 / weak.factor,
            "limit": 1 / weak.limit,
            "spread": weak.spread,
        },
        nodes=(hit.view.nodes[max(weak.source, weak.destination)],) if weak.kind in _ENDS else (),
        about=_about(hit),
    )


def _about(hit: _Hit) -> tuple[str, ...]:
    """Those that it is about: of a switch all that hang on it, of a step all of the launch."""
    weak, view = hit.weak, hit.view
    ends = weak.source, weak.destination
    if weak.kind == "step":
        named = view.nodes
    elif weak.kind == "block":
        names = sorted({switch for switch in view.switches if switch})
        both = {names[one] for one in ends}
        named = [node for node, on in zip(view.nodes, view.switches, strict=True) if on in both]
    else:
        named = [view.nodes[one] for one in ends if one >= 0]
    return tuple(dict.fromkeys(named))


def _share(factor: float) -> str:
    return percent(1 / factor)


def _worst(hits: list[_Hit]) -> _Hit:
    """The slowest; of sizes that are about as slow the largest."""
    most = max(hit.weak.factor for hit in hits)
    near = [hit for hit in hits if hit.weak.factor >= _ALIKE * most]
    return max(near, key=lambda hit: hit.view.message_size)


def _end(hit: _Hit, other: _Hit | None) -> str:
    """`other`: the same rank or node as receiver, where it is slow as that, too."""
    weak, view = hit.weak, hit.view
    sends = weak.kind == "sender"
    who = view.names[weak.source if sends else weak.destination]
    found = model.fit(view.times)
    verb, back = ("sends", "receives") if sends else ("receives", "sends")
    text = (
        f"{who} {verb} at {_share(weak.factor)} of the median {_of(view)}'s rate ({weak.n} pairs; "
        f"{_of(view)}s spread by {percent(float(np.expm1(weak.spread)))}, threshold "
        f"{percent(1 / weak.limit)})"
    )
    if other is not None:
        return f"{text}, and {back} at {_share(other.weak.factor)}"
    effect = (found.receiver if sends else found.sender)[max(weak.source, weak.destination)]
    if not np.isfinite(effect):
        return text
    does = "normally" if effect < np.log(_NORMAL) else "slowly, too"
    return f"{text}; {back} {does} ({_share(float(np.exp(effect)))})"


def _of(view: View) -> str:
    return "rank" if view.level == "rank" and view.size != len(set(view.nodes)) else "node"


def _pair(of: Links, hit: _Hit) -> str:
    weak, view = hit.weak, hit.view
    at = weak.source, weak.destination
    expected = float(np.exp(model.fit(view.times).expected[at]))
    names = f"{view.names[at[0]]} → {view.names[at[1]]}"
    text = (
        f"{names}: {_share(weak.factor)} of the rate that its source and destination reach with "
        f"others ({us(view.times[at])} instead of {us(expected)}; pairs spread by "
        f"{percent(float(np.expm1(weak.spread)))}, threshold {percent(1 / weak.limit)})"
    )
    rate, ops = of.alone(view, *at)
    if not ops:
        return text
    alone = rate * expected / (8 * view.message_size)
    loss = 1 - 1 / weak.factor
    if 1 - alone < _HALF * loss:
        verdict = "so it is slow only while others talk: look at what they share"
    else:
        verdict = "so the path itself is slow: look at its cable and ports"
    return (
        f"{text}; alone (second look, {labels.count_text(ops, 'op')}): {percent(alone)}, {verdict}"
    )


def _block(hit: _Hit) -> str:
    weak = hit.weak
    names = sorted({switch for switch in hit.view.switches if switch})
    source, destination = names[weak.source], names[weak.destination]
    way = (
        f"inside switch {source}"
        if source == destination
        else (f"from switch {source} to {destination}")
    )
    return (
        f"{way}: {_share(weak.factor)} of the rate that the same nodes reach elsewhere, in the "
        f"median of {weak.n} pairs (threshold {percent(1 / weak.limit)})"
    )


def _step(hit: _Hit) -> str:
    weak = hit.weak
    return (
        f"the {weak.n} pairs of step {weak.source} (rank r to r + {weak.source}) are slow "
        f"together, {_share(weak.factor)} in the median, and were measured at the same time: "
        "something else went on then, or they share a path"
    )


def _inside(of: Links, index: int, view: View) -> list[Finding]:
    """Nodes whose own ranks are slow among themselves, where there are other nodes to compare."""
    times = of.inside(index)
    middle = float(np.median(times[np.isfinite(times)])) if np.isfinite(times).any() else np.nan
    findings = []
    for one in model.outlying(np.log(times / middle)):
        host = of.launch.nodes[one.source]
        text = (
            f"{host}: its own ranks reach {_share(one.factor)} of the median node's rate among "
            f"themselves ({us(times[one.source])} instead of {us(middle)}; nodes spread by "
            f"{percent(float(np.expm1(one.spread)))})"
        )
        hit = _Hit(replace(view, nodes=of.launch.nodes), one)
        findings.append(_finding(of, hit, text))
    return findings
