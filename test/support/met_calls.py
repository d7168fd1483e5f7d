# SPDX-License-Identifier: BSD-3-Clause
"""Which of many calls a fault meets."""


def spread(calls: int, few: int) -> list[int]:
    """The first, the last, and between them as many as make `few`, counted from 1; with 0 all."""
    met = min(few or calls, calls)
    return sorted({1 + i * (calls - 1) // max(met - 1, 1) for i in range(met)})
