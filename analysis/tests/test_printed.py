# SPDX-License-Identifier: BSD-3-Clause
"""How far a printed figure may be off; one that is 0 contradicts nothing."""

from __future__ import annotations

import math

import pytest

from a2aperf import contradictions, printed
from a2aperf.contradictions import Figure


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_what_is_no_positive_figure_is_off_by_nothing(value: float) -> None:
    half = printed.half_unit((1.5, 2.5, value), (1.0,))
    assert half(value) == 0
    assert half(2.5) == pytest.approx(0.05)


def test_figures_of_zero_contradict_nothing() -> None:
    figures = [
        Figure("1GigE", 1024, byte_rate=0.0, msg_rate=0.0, latency=0.0),
        Figure("1GigE", 1024, byte_rate=1e8, msg_rate=97656.0, latency=20000.0),
    ]
    assert contradictions.of(figures, {}) == []
