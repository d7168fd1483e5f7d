# SPDX-License-Identifier: BSD-3-Clause
"""The node whose ranks are late, or early, in one launch after another, wherever its ranks lie."""

from __future__ import annotations

from typing import Final

from a2aperf.explain.finding import Finding, percent, us
from a2aperf.labels import count_text, list_text, number_text, size_text
from a2aperf.nodes.seen import Side
from a2aperf.nodes.study import Amount, Node, Study

_DOES: Final[dict[Side, str]] = {
    "late": "its ranks were late",
    "early": "its ranks were early",
}
_STORY: Final[dict[Side, str]] = {
    "late": "",
    "early": "; the others wait for what it sends, or it is faster than they are",
}
_LEAST_P: Final = 1e-12


def findings(study: Study | None) -> list[Finding]:
    """A finding for each node that is named, once for all launches; or why nobody can be."""
    if study is None:
        return []
    return [_told(study, one) for one in study.nodes if one.stands_out] or _abstains(study)


def _told(study: Study, node: Node) -> Finding:
    ranks, size = node.cell
    times = node.times[node.side]
    return Finding(
        "nodes",
        f"{node.name}: {_DOES[node.side]} in {times} of {_launches(node.launches)} "
        f"(the others on average: {number_text(node.expected, 2)}), {_by(node)}"
        f"{_STORY[node.side]}; p = {max(node.p, _LEAST_P):.1g} over all "
        f"{count_text(len(study.nodes), 'node')}, whose ranks were placed "
        f"{count_text(node.placements, 'time')}{_rests_on(study)}",
        f"{ranks} ranks, {size_text(size)}",
        node.launches,
        "launches",
        weight=(node.in_these or node.over_all).share,
        numbers={
            "node": node.name,
            "side": node.side,
            "times": times,
            "expected": node.expected,
            "placements": node.placements,
            "p": node.p,
            "median_ns": node.over_all.ns,
            "in_these_ns": node.in_these.ns if node.in_these else float("nan"),
        },
        nodes=(node.name,),
    )


def _rests_on(study: Study) -> str:
    """What was taken together, and what left out."""
    return f" ({'; '.join(study.notes)})" if study.notes else ""


def _by(node: Node) -> str:
    """`in these by 1510 µs an op …, in all launches by …`."""
    over_all = f"in all launches by {_amount(node.over_all)}"
    if node.in_these is None or node.times[node.side] == node.launches:
        return over_all
    return f"in these by {_amount(node.in_these)}, {over_all}"


def _amount(one: Amount) -> str:
    return (
        f"{us(one.ns)} an op ({percent(one.share)} of it; median of {_launches(one.launches)}, "
        f"middle half {us(one.low)} to {us(one.high)})"
    )


def _abstains(study: Study) -> list[Finding]:
    """Where the places of the ranks may be what stands out."""
    if not study.confounded:
        return []
    who = [
        f"{name} ({side} in {times} of {_launches(of)})"
        for name, side, times, of in study.confounded
    ]
    return [
        Finding(
            "nodes",
            f"not judged: {list_text(who)}; but ranks were placed "
            f"{count_text(study.placements, 'time')} only, and a node cannot be told from the "
            f"ranks that it held ({study.needed} placements are the least: --shuffle-ranks, "
            "with another --seed a launch)",
            _launches(study.launches),
            study.launches,
            "launches",
            abstains=True,
        )
    ]


def _launches(count: int) -> str:
    return count_text(count, "launch", "launches")
