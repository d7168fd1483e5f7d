# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be true of all-to-alls."""

from __future__ import annotations

from collections.abc import Iterator

from a2aperf.explain import link
from a2aperf.results import Results


def contradictions(found: Results) -> Iterator[str]:
    """More leaves a node than its link carries."""
    for one in link.find(found.measured()):
        yield f"{one.text} ({one.where})"
