# SPDX-License-Identifier: BSD-3-Clause
"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(
    rows: Sequence[Sequence[str]], left: Sequence[bool], least: Sequence[int] = ()
) -> list[str]:
    """Rows of equal length as lines; a column is flush left or right, and as wide as it must be.

    That is no less than its `least`, where these are given.
    """
    of_cells = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths = [max(both) for both in zip(of_cells, least or of_cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]
