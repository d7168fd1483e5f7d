# SPDX-License-Identifier: BSD-3-Clause
"""Figures as a reader meets them: axes, names, legends, colours and what lies over what."""

from pathlib import Path

import pytest

from a2aperf import chosen_axes
from a2aperf.curves import Options
from a2aperf.workloads.alltoall import sweeps
from conftest import launches
from support.synthetic import Setup

pytestmark = pytest.mark.usefixtures("summed_once")


@pytest.mark.parametrize("kind", ["scaling", "sizes"])
def test_a_chosen_axis_reaches_the_lines_that_have_a_name(kind: str, tmp_path: Path) -> None:
    setups = [
        Setup(nodes=n, sizes=(1000, 60000), ops=10, seed=n, link_rate_gbps=100) for n in (2, 64)
    ]
    figure = getattr(sweeps, kind)(launches(tmp_path, *setups), Options())
    bounds = [(panel, bound) for panel in figure.charts for bound in panel.bounds]
    assert any(max(b.y) > max(max(c.y) for c in panel.curves) for panel, b in bounds)
    for axes in (("", "log"), ("log", "log"), ("linear", "log"), ("log", "linear")):
        for panel in chosen_axes.as_asked(figure, Options(x_scale=axes[0], y_scale=axes[1])).charts:
            for bound in panel.bounds:
                for axis, values in ((panel.x, bound.x), (panel.y, bound.y)):
                    low, high = axis.limits or (-1e9, 1e9)  # else drawn to what is there
                    assert low < min(values), (axes, bound.name)
                    assert max(values) < high, (axes, bound.name)
