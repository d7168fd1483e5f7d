# SPDX-License-Identifier: BSD-3-Clause
"""The statistics at length: error rates and power over thousands of made-up comparisons.

    python analysis/benchmarks/statistics.py [trials]        (default 4000, some minutes)

The tests make the same simulations with fewer trials; this prints the table for docs/.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from a2aperf import maxt
from trials import Drift, Trial

DRIFTS: tuple[Drift, ...] = ("none", "line", "wave", "walk", "memory", "heavy")


def called(trial: Trial, number: int) -> tuple[float, float]:
    """Share of trials with any call, and of cells called."""
    rng = np.random.default_rng(1)
    side, block = trial.side, trial.block
    p = np.array([maxt.max_t(trial.speeds(rng), side, block, rng).p for _ in range(number)])
    return float((p <= 0.05).any(axis=1).mean()), float((p <= 0.05).mean())


def row(trial: Trial, number: int, *first: str) -> None:
    any_cell, cells = called(trial, number)
    ends = stats.binomtest(round(any_cell * number), number).proportion_ci()
    interval = f"{100 * ends.low:.1f} to {100 * ends.high:.1f}"
    print(
        f"{first[0]:<34} {trial.launches:>3} {100 * any_cell:>7.1f} {interval:>16} "
        f"{100 * cells:>7.1f}",
        flush=True,
    )


def main() -> None:
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    print(f"{number} trials a row, 24 cells, launches in the order A B B A")
    print(f"{'equal sides':<34} {'k':>3} {'any %':>7} {'95 % interval':>16} {'cells %':>7}")
    for launches in (5, 8, 10):
        for drift in DRIFTS:
            row(Trial(launches=launches, drift=drift), number, drift)
    print(f"\n{'a true change in every cell':<34}")
    spreads = {
        "common to all sizes": Trial(own=0.002),
        "half and half": Trial(shared=0.0141, own=0.0141),
        "different at every size": Trial(shared=0, own=0.02),
    }
    for change in (0.03, 0.05):
        for launches in (6, 8, 10):
            for name, spread in spreads.items():
                trial = replace(spread, launches=launches, change=change)
                row(trial, number // 8, f"{100 * change:.0f} %, spread 2 % {name}")


if __name__ == "__main__":
    main()
