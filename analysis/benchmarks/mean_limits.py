# SPDX-License-Identifier: BSD-3-Clause
"""Draws the table of `a2aperf.means`: how much better than the true mean another suits series.

    python analysis/benchmarks/mean_limits.py [--draws 20000] [VALUES ...]

For each number of values and each kind of noise that many series: Gaussian AR(1) noise, by itself
and with three parts and one of independent noise beside it. Told are the ratios that the worst of
them exceeds in 5 %, in 1 % and in 0.1 %.
"""

import argparse

import numpy as np
from scipy.signal import lfilter

from a2aperf import means

NOISE = ((0.8, 0.0), (0.9, 0.0), (0.9, 0.5), (0.9, 0.75))
"""Memory, and the share of the variance that is independent."""
BURN = 100
AT_ONCE = 1000


def noise(
    shape: tuple[int, int], memory: float, independent: float, rng: np.random.Generator
) -> np.ndarray:
    """Series [draws, values] of variance 1 about 0."""
    shocks = rng.normal(size=(shape[0], shape[1] + BURN)) * np.sqrt(1 - memory**2)
    lasting = lfilter([1.0], [1, -memory], shocks, axis=1)[:, BURN:]
    found = np.sqrt(1 - independent) * lasting + np.sqrt(independent) * rng.normal(size=shape)
    return np.asarray(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("values", type=int, nargs="*", default=list(means.COUNTS))
    given = parser.parse_args()
    for count in given.values:
        rng = np.random.default_rng(count)
        limits = []
        for memory, independent in NOISE:
            drawn = [
                means.ratios(noise((AT_ONCE, count), memory, independent, rng))
                for _ in range(-(-given.draws // AT_ONCE))
            ]
            limits.append(np.quantile(np.concatenate(drawn), [0.95, 0.99, 0.999]))
        told = ", ".join(f"{one:.1f}" for one in np.max(limits, axis=0))
        print(f"    {count}: ({told}),", flush=True)


if __name__ == "__main__":
    main()
