# SPDX-License-Identifier: BSD-3-Clause
"""A setting's values compared, for a notebook: the table, the verdict, the figure, the words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from a2aperf import clusters, compare, contrasts, plots, sides, verdicts
from a2aperf.compare import Comparison
from a2aperf.curves import Options
from a2aperf.decision import LEVEL
from a2aperf.deferred import pandas as pd
from a2aperf.errors import InputError
from a2aperf.results import Results

if TYPE_CHECKING:
    from a2aperf.drawing import Page

MIXED = "mixed"
"""The verdict where cells have different ones."""


@dataclass(frozen=True, repr=False)
class Compared:
    """What `a2a compare --by` says: `parts` has a `Comparison` per value beside the baseline's."""

    names: tuple[str, ...]
    parts: tuple[Comparison, ...]
    results: Results

    @classmethod
    def of(
        cls,
        results: Results,
        names: Sequence[str],
        baseline: str | None = None,
        margin: float | None = None,
        mixed: bool = False,
        error: float = LEVEL,
    ) -> Compared:
        """Compare the values of `names`; arguments and errors as of `Runs.compare`."""
        if not names:
            raise InputError("compare: expected the name of a setting, such as 'PSM2_RCVTHREAD'")
        share = compare.MARGIN if margin is None else margin
        if not 0 < share < 1:
            raise InputError(f"compare: margin={margin}: expected a share above 0 and below 1")
        found = results.to_judge(compare.roles(names))
        clusters.require_one_a_side(found, sides.levels(found, names), mixed)
        made = compare.by_setting(
            found, names, None if baseline is None else str(baseline), share, error
        )
        return cls(tuple(names), tuple(made), found)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a cell (ranks, message size, …) and candidate; the columns of `Comparison.cells`.

        Among them `ratio` (speed of the candidate ÷ speed of the baseline), `ratio_low`,
        `ratio_high`, `p` (family-wise), `verdict`; times in ns, rates in Gbit/s per rank.
        """
        made = compare.table(self.parts)
        made["verdict"] = [str(verdict) for verdict in made["verdict"]]
        times = dict.fromkeys(("time_baseline", "time_candidate"), "ns")
        made.attrs["units"] = {
            "message_size": "B", **times,
            **dict.fromkeys(("rate_baseline", "rate_candidate"), "Gbit/s"),
        }  # fmt: skip
        return made

    @property
    def verdict(self) -> str:
        """`faster`, `slower`, `no difference` or `undecided` where all cells agree, else `mixed`.

        It is the candidate's, against the baseline.
        """
        found = set(self.frame["verdict"])
        return found.pop() if len(found) == 1 else MIXED

    @property
    def status(self) -> int:
        """Exit status of `a2a compare`: 3 if any cell is slower, else 4 if undecided, else 0."""
        return compare.status(self.parts)

    def figure(self, width: float | None = None, notes: bool = True) -> Page:
        """Relative speed with its interval, and both sides' rates; a matplotlib figure.

        `width` in inches, default: as wide as its panels need; `notes`: what is said under it.
        """
        from a2aperf import drawing  # with matplotlib

        drawn = contrasts.figure(self.parts, Options().most)
        return drawing.draw(plots.cautioned(drawn, self.results), width, notes)

    def __str__(self) -> str:
        """All that `a2a compare` prints of it."""
        return "\n\n".join("\n".join(verdicts.lines(one)) for one in self.parts)

    def __repr__(self) -> str:
        said = [f"{one.candidate} against {one.baseline}" for one in self.parts]
        more = f" and {len(said) - 1} more" if len(said) > 1 else ""
        return f"<Compared: {said[0]}{more}: {self.verdict}, {len(self.frame)} cells>"
