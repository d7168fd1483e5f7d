# SPDX-License-Identifier: BSD-3-Clause
"""Values that the catalogue lists and no launch has had: nothing is said of them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from a2aperf.labels import list_text
from a2aperf.screening.plan import Plan
from a2aperf.screening.trial import Trial


def of(plans: Sequence[Plan], further: Trial | None) -> dict[str, list[str]]:
    """Of each setting that has had launches its other values, by the plans of all rounds.

    `further` are the launches of further values.
    """
    sides = further.sides if further else ()
    first = plans[0]
    tried = [*first.factors, *(one for one in first.aside if {one.name: one.value} in sides)]
    left = {x.name: [value for value in x.others if {x.name: value} not in sides] for x in tried}
    return {name: values for name, values in left.items() if values}


def told(left: dict[str, list[str]], already: Collection[str]) -> list[str]:
    """In a line at most; not of the settings `already` told of."""
    words = [f"{name}={x}" for name, of in left.items() if name not in already for x in of]
    if not words:
        return []
    return [f"further values that were not tried, and have no verdict: {list_text(words, 12)}"]
