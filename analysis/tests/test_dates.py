# SPDX-License-Identifier: BSD-3-Clause
"""Axes of dates: every label is the time at which it stands, and the labels have room."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest

from a2aperf import dates

BEGIN = datetime(2025, 11, 24, 21, 50, 7, tzinfo=UTC)
SPANS = {
    "4 s": timedelta(seconds=4),
    "4 min": timedelta(minutes=4),
    "77 min": timedelta(minutes=77),
    "3 h": timedelta(hours=3),
    "20 h": timedelta(hours=20),
    "60 h": timedelta(hours=60),
    "5 days": timedelta(days=5),
    "2 weeks": timedelta(days=14),
    "3 months": timedelta(days=90),
    "a year": timedelta(days=365),
    "20 years": timedelta(days=7305),
}
FORMS = {4: "%Y", 7: "%Y-%m", 10: "%Y-%m-%d", 16: "%Y-%m-%d %H:%M", 19: "%Y-%m-%d %H:%M:%S"}


@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS)
def test_ticks_stand_at_the_times_that_they_name(span: timedelta) -> None:
    days = pd.Series([when.timestamp() / 86_400 for when in (BEGIN, BEGIN + span)])
    made = dates.axis(days, "launch")
    assert 2 <= len(made.ticks) <= 6
    assert sum(len(text) + 1 for _, text in made.ticks) <= 38
    for place, text in made.ticks:
        assert days[0] <= place <= days[1]
        told, form = text, FORMS.get(len(text))
        if form is None:  # of one day, which the label of the axis names
            told = f"2025-11-24 {text}"
            assert "on 2025-11-24 (UTC)" in made.label
            form = FORMS[len(told)]
        of_label = datetime.strptime(told, form).replace(tzinfo=UTC).timestamp() / 86_400
        rounding = 1 / 1440 if len(text) == 16 else 1 / 86_400_000  # two ends that are not round
        assert of_label == pytest.approx(place, abs=rounding)
    steps = np.diff([place for place, _ in made.ticks])
    assert steps.max() <= 1.13 * steps.min()  # months differ


def test_one_time_has_one_tick() -> None:
    made = dates.axis(pd.Series([BEGIN.timestamp() / 86_400] * 2), "launch")
    assert [text for _, text in made.ticks] == ["2025-11-24 21:50"]


def test_times_at_the_ends_of_what_a_file_can_hold() -> None:
    """64 bits of ns since 1970 end in 2262."""
    made = dates.axis(pd.Series([1e-9 / 86_400, (2**63 - 1) / 86_400e9]), "launch")
    assert [text for _, text in made.ticks][:2] == ["2000", "2050"]
