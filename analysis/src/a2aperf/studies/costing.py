# SPDX-License-Identifier: BSD-3-Clause
"""What a screening costs with its confirmation, and whether it fits into what there is for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a2aperf.errors import InputError
from a2aperf.labels import count_text, two_digits
from a2aperf.screening import design, trial
from a2aperf.screening.choosing import minutes


@dataclass(frozen=True)
class Cost:
    """A launch takes `seconds` on so many nodes; `confirms`: what is left is launched anew."""

    seconds: float
    nodes: int
    confirms: bool = True

    def launches(self, settings: int) -> tuple[int, int]:
        """Of a screening of so many: with a confirmation of one of them, and with the largest."""
        screened = design.launches_for(settings)
        if not self.confirms:
            return screened, screened
        return screened + trial.launches_for(1), screened + trial.launches_for(settings)

    def said(self, launches: Sequence[int]) -> str:
        """Time and node-hours of so many launches, from and to."""
        low, high = (count * self.seconds for count in launches)
        times = list(dict.fromkeys((minutes(low), minutes(high))))
        hours = list(dict.fromkeys(f"{two_digits(x * self.nodes / 3600):g}" for x in (low, high)))
        return f"{' to '.join(times)}, {' to '.join(hours)} node-hours"

    def lines(self, settings: int) -> list[str]:
        """For the dry run."""
        both = self.launches(settings)
        screened = design.launches_for(settings)
        told = [f"screening: {screened} launches, {self.said([screened] * 2)}"]
        if self.confirms:
            told.append(
                f"with the confirmation of what is left: {both[0]} to {both[1]} launches, "
                f"{self.said(both)}; {screened} where nothing is left"
            )
        return told

    def require(self, settings: int, hours: float) -> None:
        """InputError with what would fit where the design, and confirming one setting, does not."""

        def seconds(count: int) -> float:
            return self.launches(count)[0] * self.seconds

        limit = hours * 3600 / self.nodes * (1 + 1e-9)  # what it says fits, does
        if seconds(settings) <= limit:
            return
        fitting = [runs - 1 for runs in design.RUNS if seconds(runs - 1) <= limit]
        also = " with the confirmation of one" if self.confirms else ""
        least = self.launches(1)[0]
        fits = (
            f"{count_text(min(fitting[-1], settings), 'setting')} fit: choose them by 'a2a screen "
            "--try'"
            if fitting
            else f"the smallest design has {least} launches, {self.said([least] * 2)}"
        )
        launches = self.launches(settings)[0]
        raise InputError(
            f"{count_text(settings, 'setting')}{also} take {launches} launches, "
            f"{self.said([launches] * 2)} of {two_digits(hours):g}; {fits}"
        )
