# SPDX-License-Identifier: BSD-3-Clause
"""Whether results come from one cluster: the same kinds of nodes and adapters."""

from __future__ import annotations

from typing import Any

from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.launch import Launch
from a2aperf.results import Results

_FACTS = ("cpu_model", "nic_driver", "nic_link_rate")


def require_one_a_side(found: Results, side: pd.Series[Any], mixed: bool = False) -> None:
    """The same for each side of a comparison: sides may be different clusters."""
    for value in side.unique():
        require_one(found.select(side == value), mixed)


def require_one(found: Results, mixed: bool = False) -> None:
    """Raise InputError where launches share no kind of node or adapter, unless `mixed` is wanted.

    A cluster may have several kinds of nodes, and a launch may have been given only some of them:
    launches belong together where a chain of common kinds leads from one to the other. What is not
    recorded, as in an import, tells nothing apart.
    """
    for fact in () if mixed else _FACTS:
        groups: list[tuple[set[str], Launch]] = []
        for launch in found.launches.values():
            kinds = {kind for kind in launch.node_facts.get(fact, []) if kind}
            if not kinds:
                continue
            joined = [group for group in groups if group[0] & kinds]
            groups = [group for group in groups if group not in joined]
            first = joined[0][1] if joined else launch
            groups.append((kinds.union(*(group[0] for group in joined)), first))
        if len(groups) > 1:
            (one, of_one), (other, of_other) = groups[:2]
            raise InputError(
                f"different clusters: {fact} is '{', '.join(sorted(one))}' in {of_one.id} and "
                f"'{', '.join(sorted(other))}' in {of_other.id}; --mixed takes them together"
            )
