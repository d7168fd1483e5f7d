# SPDX-License-Identifier: BSD-3-Clause
"""How often something is said in made-up screenings, and what may be held against it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from a2aperf import laws
from support.synthetic_screening import Drift


@dataclass(frozen=True)
class Rates:
    """Of so many studies."""

    studies: int

    def told(self, what: str, drift: Drift, found: int) -> float:
        """The share, which the long run writes where A2A_SCREENING_RATES names a file."""
        if path := os.environ.get("A2A_SCREENING_RATES"):
            with Path(path).open("a", encoding="utf-8") as file:
                share = 100 * found / self.studies
                file.write(f"{what}, drift {drift}: {share:.1f} % of {self.studies}\n")
        return found / self.studies

    def at_most(self, share: float) -> float:
        """More than that comes once in 1000 times where the share is held."""
        return float(laws.binomial_ppf(0.999, self.studies, share)) / self.studies

    def at_least(self, share: float) -> float:
        """Less than that comes once in 1000 times where the share is reached."""
        return 1 - self.at_most(1 - share)
