# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of `a2aperf.steplimits`: how good a step is found in series that have none.

    python analysis/benchmarks/step_limits.py [--draws 20000] [JOBS ...]

For each number of jobs, and coefficients of memory from 0 to 0.99, that many series of Gaussian
AR(1) noise. Told are the ratios that the worst of the coefficients exceeds in 1 % and in 0.1 %,
for one step and for two.
"""

import argparse

import numpy as np
from scipy.signal import lfilter

from a2aperf import stepfit, steplimits

MEMORIES = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
BURN = 300
AT_ONCE = 500


def largest(jobs: int, memory: float, draws: int, rng: np.random.Generator) -> np.ndarray:
    """The best ratio of each series, [2, draws]: of one step, of two."""
    fit = stepfit.of_jobs(jobs)
    found = []
    for _ in range(-(-draws // AT_ONCE)):
        shocks = rng.normal(size=(AT_ONCE, jobs + BURN))
        series = lfilter([1.0], [1, -memory], shocks, axis=1)[:, -jobs:]
        one, two = fit.ratios(stepfit.without_bad_days(series))
        found.append([one[:, fit.allowed].max(axis=1), two.max(axis=1, initial=0.0)])
    return np.concatenate(found, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("jobs", type=int, nargs="*", default=list(steplimits.JOBS))
    given = parser.parse_args()
    for jobs in given.jobs:
        rng = np.random.default_rng(jobs)
        each = [largest(jobs, memory, given.draws, rng) for memory in MEMORIES]
        limits = np.max([np.quantile(ratios, [0.99, 0.999], axis=1) for ratios in each], axis=0)
        told = ", ".join(f"{limit:.1f}" for limit in limits.T.ravel())
        print(f"    {jobs}: ({told}),", flush=True)


if __name__ == "__main__":
    main()
