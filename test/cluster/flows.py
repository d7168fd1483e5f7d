# SPDX-License-Identifier: BSD-3-Clause
"""Launches of `a2aperf stream` and `a2aperf echo` on a cluster, one rank a host, and answers that are known beforehand."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from cluster import ETHERNET, IP_AND_TCP, MTU, Cluster
from measure import IS_VALIDATION, TRIES, words
from processes import PATIENCE
from results import COMPLETE, Results

PAYLOAD = MTU - IP_AND_TCP  # of a full frame
LAUNCHES = 5  # for docs/validation.md


def flow(cluster: Cluster, program: Path, folder: Path, command: str, *more: str) -> Results:
    """Its ranks never sleep. Whatever goes wrong is told by the program's own words."""
    common = [word for word in words(program, poll="yield") if word not in ("--no-sentinel", "--sync", "barrier")]
    ended = cluster.launch(1, [program, command, *common, *more], folder, PATIENCE)
    assert ended.returncode == 0, ended.stderr
    results = Results(folder / "a.h5")
    assert results.states(command) == [COMPLETE] * len(results)
    return results


def wire_s(size: int, mbit: float) -> float:
    """Time of a message on a link of that rate, in frames of its own; the provider's header is left out."""
    frames = max(1, math.ceil(size / PAYLOAD))
    return (size + frames * (IP_AND_TCP + ETHERNET)) * 8e-6 / mbit


@dataclass
class Answer:
    """A figure that is known, from what to what, and what some launches gave for it."""

    what: str
    unit: str
    low: float
    high: float
    found: list[float] = field(default_factory=list)

    def error(self) -> float:
        """Relative, against the nearer end of what is known; 0 between the ends. Of all launches for docs/validation.md."""
        if IS_VALIDATION:
            return self._error(float(np.median(self.found)))
        return min(map(self._error, self.found), key=abs)

    def beats_the_law(self, within: float) -> bool:
        """Once is enough."""
        too_good = {"ms": -1, "Mbit/s": 1}.get(self.unit, 0)
        return any(too_good * self._error(value) > within for value in self.found)

    def _error(self, value: float) -> float:
        return value / min(max(value, self.low), self.high) - 1


def require(answers: Sequence[Answer], measure: Callable[[], Sequence[float]], within: float, told: Callable[..., None]) -> None:
    """What measure() gives for the answers is near enough to each of them.

    Nothing is faster than a link; slower it can look when this machine's other work makes a rank late. So there are some
    tries, as of all links of known rate: each answer is found in one of them, and none is better. For docs/validation.md
    there are some launches, and all of them count.
    """
    for _ in range(LAUNCHES if IS_VALIDATION else TRIES):
        for answer, value in zip(answers, measure(), strict=True):
            answer.found.append(float(value))
        if not IS_VALIDATION and all(abs(answer.error()) <= within for answer in answers):
            break
    told(answers=json.dumps([asdict(answer) | {"error": answer.error(), "within": within} for answer in answers]))
    for answer in answers:
        assert abs(answer.error()) <= within, answer
        assert not answer.beats_the_law(within), answer
