# SPDX-License-Identifier: BSD-3-Clause
"""How much was moved while a point's counters counted: what they are divided by."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Amount:
    """Messages of all ranks, and their payload."""

    messages: int
    bytes: int


@dataclass(frozen=True)
class Moved:
    """While the ranks' counters counted, and while those of nodes did; None: nobody knows."""

    during_ranks: Amount | None = None
    during_nodes: Amount | None = None

    @classmethod
    def in_both(cls, messages: int, nbytes: int) -> Moved:
        """The same in both times."""
        amount = Amount(messages, nbytes)
        return cls(amount, amount)
