# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of uneven traffic that have one name: written otherwise, or drawn from another seed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from a2aperf.deferred import pandas as pd
from a2aperf.results import Results

MATRIX: Final = "traffic_digest"
"""Of the matrix of uneven traffic: those of one name may have been drawn or written otherwise."""
_BY_NODES: Final = re.compile(r"hot-node=|bisection$")
"""Traffic whose matrix follows from where ranks are, too, which is no choice."""


def words(results: Results, points: pd.DataFrame) -> pd.Series[Any]:
    """What tells matrices of one name and as many ranks apart, in words; empty where uniform.

    Where it follows from the nodes of the ranks, the seed by which it was drawn.
    """
    if MATRIX not in points or "traffic" not in points:
        return pd.Series("", index=points.index, dtype=object)
    seeds = {key: launch.attributes.get("seed", "") for key, launch in results.launches.items()}
    told = []
    for digest, name, launch in zip(
        points[MATRIX].fillna(-1), points["traffic"].fillna(""), points["launch"], strict=True
    ):
        if int(digest) <= 0:
            told.append("")
        elif _BY_NODES.match(str(name)):
            told.append(f"traffic drawn by seed {seeds.get(launch, '')}".rstrip())
        else:
            told.append(f"traffic matrix {int(digest) & 0xFFFFFFFF:08x}")
    return pd.Series(told, index=points.index, dtype=object)


def are_several(results: Results, points: pd.DataFrame, names: Sequence[str] = ()) -> bool:
    """Whether traffic of one name and as many ranks, and these columns, has several matrices."""
    if MATRIX not in points or "traffic" not in points:
        return False
    place = list(dict.fromkeys((*names, "traffic", "ranks")))
    found = points.assign(of=words(results, points))
    return bool((found.groupby(place, dropna=False)["of"].nunique() > 1).any())
