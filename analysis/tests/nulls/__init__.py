# SPDX-License-Identifier: BSD-3-Clause
"""The table of nulls: truths that are known, and how often the analysis may be wrong about them.

A row is a truth. A new finding gets its rows in a module of its own here, named in TABLE.
"""

from typing import Final

from nulls import alike, arbitrated, compared, explained, months, nodes, shared
from nulls.row import Outcome, Rate, Row, contradicted, rates

__all__ = ["TABLE", "Outcome", "Rate", "Row", "contradicted", "rates"]

TABLE: Final[tuple[Row, ...]] = (
    *explained.ROWS,
    *compared.ROWS,
    *months.ROWS,
    *nodes.ROWS,
    *shared.ROWS,
    *arbitrated.ROWS,
    *alike.ROWS,
)
