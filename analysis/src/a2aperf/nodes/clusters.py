# SPDX-License-Identifier: BSD-3-Clause
"""Whether nights are of one cluster: nodes of two may have the same names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from a2aperf.errors import InputError
from a2aperf.nodes.night import DAY_NS, Night

_FACT: Final = "cpu_model"
"""What is recorded of adapters is of those that a launch used: others over another provider."""
Group = tuple[set[str], list[Night]]


def require_one(found: Sequence[Night]) -> None:
    """InputError where launches in turn share no kind of node.

    Where all nodes changed at once for good it is one cluster, which was renewed.
    """
    for (one, ours), (other, theirs) in combinations(_groups(found), 2):
        last = max(min(night.started for night in ours), min(night.started for night in theirs))
        first = min(max(night.started for night in ours), max(night.started for night in theirs))
        names = _names(ours) & _names(theirs)
        if last <= first and names:
            raise InputError(
                f"different clusters: {_FACT} is '{', '.join(sorted(one))}' in a launch of "
                f"{_date(ours[0])} and '{', '.join(sorted(other))}' in one of "
                f"{_date(theirs[0])}, in turn, and both have {min(names)}: give the files of one"
            )


def _groups(found: Sequence[Night]) -> list[Group]:
    """Launches that a chain of common kinds leads from one to the other."""
    groups: list[Group] = []
    for night in found:
        kinds = {kind for kind in night.facts.get(_FACT, []) if kind}
        if not kinds:
            continue
        joined = [group for group in groups if group[0] & kinds]
        groups = [group for group in groups if group not in joined]
        nights = [one for group in joined for one in group[1]]
        groups.append((kinds.union(*(group[0] for group in joined)), [*nights, night]))
    return sorted(groups, key=lambda group: min(one.started for one in group[1]))


def _names(found: Sequence[Night]) -> set[str]:
    return set().union(*(night.nodes for night in found))


def _date(night: Night) -> str:
    return str(np.datetime64(night.started // DAY_NS, "D"))
