# SPDX-License-Identifier: BSD-3-Clause
"""The screening that results files belong to: its plan lies beside them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.screening import outcome, plan, rounds, trial
from a2aperf.screening.outcome import Outcome
from a2aperf.screening.plan import Plan
from a2aperf.screening.trial import Trial


def plan_beside(files: Iterable[Path]) -> Path:
    """The plan that lies where files lie, or in a folder; InputError where there is none."""
    for path in files:
        for here in (path,) if path.is_dir() else (path.parent, path.parent.parent):
            if (here / plan.NAME).is_file():
                return here / plan.NAME
    raise InputError(f"which plan? give --plan FILE, or keep it as {plan.NAME} beside the results")


def of(found: Results) -> tuple[list[Plan], Trial | None, Trial | None]:
    """The plans of launches that say they are of a screening, one a round, and its trials.

    These are the confirmation and the further values, or None.

    InputError where none says so, or where the plan beside them is another.
    """
    labelled = [one for one in found.launches.values() if plan.LABEL in one.labels]
    if not labelled:
        raise InputError("no launch of a screening")
    path = plan_beside(dict.fromkeys(one.path for one in labelled))
    plans = rounds.read(path)
    return plans, trial.of(plans[-1], path), trial.values_of(plans[-1], path)


def judged(found: Results) -> Outcome:
    """What a screening comes to; InputError as `of`, and where its launches tell nothing."""
    return outcome.so_far(found, *of(found))
