# SPDX-License-Identifier: BSD-3-Clause
"""How often the analysis is wrong about made-up truths, and how often it finds what is there.

    python analysis/benchmarks/false_alarms.py [--studies 2000] [--row WORDS]

The tests look at the same table with up to 200 studies a row. Rows in which something is to be
found get a tenth of the studies, 200 at least, and all where that is too few to tell. The exit
status is 1 where a rate of false alarms is not held (upper 95 % bound above 6.5 % for 5 %) or a
true effect is found too rarely.
"""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import nulls


def told(row: str, found: list[nulls.Rate]) -> str:
    """A line per claim that was made or abstained from; the others share one."""
    lines: list[str] = []
    silent: list[str] = []
    for rate in found:
        if rate.at_most is not None and not rate.called and not rate.abstained:
            silent.append(rate.claim)
        else:
            lines.append(_told(rate))
    if silent:
        upper = 100 * max(rate.bounds[1] for rate in found if rate.claim in silent)
        lines.append(f"  never called (so in {upper:.2f} % at most): {', '.join(silent)}")
    return "\n".join([row, *lines])


def _told(rate: nulls.Rate) -> str:
    low, high = rate.bounds
    held = "" if rate.holds else "   NOT HELD"
    limit = (
        f"at most {100 * rate.at_most:g} %"
        if rate.at_most is not None
        else f"at least {100 * (rate.at_least or 0):g} %"
    )
    return (
        f"  {rate.claim:<14} called in {100 * rate.share:.1f} % ({100 * low:.1f} to "
        f"{100 * high:.1f}), abstained in {100 * rate.abstained / rate.studies:.1f} %; "
        f"{limit}{held}"
    )


def of_row(index: int, studies: int) -> list[nulls.Rate]:
    row = nulls.TABLE[index]
    few = min(studies, max(200, studies // 10))
    found = nulls.rates(row, studies if row.is_null else few)
    if row.is_null or all(rate.holds for rate in found):
        return found
    return nulls.rates(row, studies)  # a rate near its limit takes them all


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--row", default="", help="only rows whose name holds these words")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    chosen = [i for i, row in enumerate(nulls.TABLE) if given.row in row.name]
    print(f"{given.studies} studies a row", flush=True)
    holds = True
    with ProcessPoolExecutor(given.processes) as pool:
        for found in pool.map(partial(of_row, studies=given.studies), chosen):
            holds &= all(rate.holds for rate in found)
            print(told(found[0].row, found), flush=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
