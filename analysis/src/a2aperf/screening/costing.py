# SPDX-License-Identifier: BSD-3-Clause
"""What a screening costs with its confirmation, and whether it fits into what there is for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a2aperf.errors import InputError
from a2aperf.labels import count_text, range_text, two_digits
from a2aperf.screening import design, trial


@dataclass(frozen=True)
class Cost:
    """A launch takes `seconds` (0: nobody knows) on so many nodes (0: nobody knows).

    `confirms`: what is left is launched anew.
    """

    seconds: float
    nodes: int = 0
    confirms: bool = True

    def launches(self, settings: int) -> tuple[int, int]:
        """Of a screening of so many: with a confirmation of one of them, and with the largest."""
        screened = design.launches_for(settings)
        if not self.confirms:
            return screened, screened
        return screened + trial.launches_for(1), screened + trial.launches_for(settings)

    def lines(self, settings: int, values: int = 0, aside: int = 0) -> list[str]:
        """For the dry run; so many further values may be tried of all settings together.

        `aside` are settings that conflict with others, and are tried by themselves.
        """
        both = self.launches(settings)
        screened = design.launches_for(settings)
        told = [f"screening: {screened} launches{self._takes([screened])}"]
        if self.confirms:
            told.append(
                f"with the confirmation of what is left: {range_text(both)} launches"
                f"{self._takes(both)}; {screened} where nothing is left"
            )
            if settings > 2:
                again = design.launches_for(settings - 1)
                told.append(
                    f"where a setting dominates, two further rounds at most, of {again} launches "
                    f"or fewer{self._takes([again])} each, as far as they fit"
                )
            if aside:
                count = trial.launches_for_values(aside)
                told.append(
                    f"{count_text(aside, 'setting')} that cannot be set together with one of these:"
                    f" {count} launches after the rounds{self._takes([count])}, as far as they fit"
                )
            if values:
                told.append(self._values(values))
        return told

    def _values(self, count: int) -> str:
        """What further values cost, from one to all."""
        ends = [*dict.fromkeys(trial.launches_for_values(x) for x in (1, count))]
        many = count_text(ends[-1], "launch", "launches")
        span = many if len(ends) == 1 else f"{ends[0]} launches for one, {many} for all {count}"
        return (
            f"further values of settings that matter, before the confirmation: {span}"
            f"{self._takes(ends)}; those of other settings where a limit of time has room for them"
        )

    def require(self, settings: int, limit: float) -> None:
        """InputError with what would fit where the design, and confirming one setting, does not.

        `limit` is a time in s.
        """

        def seconds(count: int) -> float:
            return self.launches(count)[0] * self.seconds

        most = limit * (1 + 1e-9)  # what it says fits, does
        if seconds(settings) <= most:
            return
        fitting = [runs - 1 for runs in design.RUNS if seconds(runs - 1) <= most]
        also = " with the confirmation of one" if self.confirms else ""
        least = self.launches(1)[0]
        fits = (
            f"{count_text(min(fitting[-1], settings), 'setting')} fit: choose them by 'a2a screen "
            "--try'"
            if fitting
            else f"the smallest design has {least} launches{self._takes([least])}"
        )
        launches = self.launches(settings)[0]
        raise InputError(
            f"{count_text(settings, 'setting')}{also} take {launches} launches"
            f"{self._takes([launches])} of {self._said([limit])}; {fits}"
        )

    def _takes(self, launches: Sequence[int]) -> str:
        """`, 68 to 108 min`: of so many launches, where it is known."""
        times = [count * self.seconds for count in launches]
        return f", {self._said(times)}" if self.seconds else ""

    def _said(self, times: Sequence[float]) -> str:
        """Times in s, from and to, also as node-hours."""
        told = " to ".join(dict.fromkeys(minutes(one) for one in times))
        if not self.nodes:
            return told
        hours = [f"{two_digits(one * self.nodes / 3600):g}" for one in times]
        return f"{told}, {' to '.join(dict.fromkeys(hours))} node-hours"


def minutes(seconds: float) -> str:
    """A time as people plan with it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
