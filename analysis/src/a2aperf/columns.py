# SPDX-License-Identifier: BSD-3-Clause
"""Text in columns."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: Sequence[bool]) -> list[str]:
    """Rows of equal length as lines; a column is flush left or right, and as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if is_left else cell.rjust(width)
            for cell, width, is_left in zip(row, widths, left, strict=True)
        ).rstrip()
        for row in rows
    ]
