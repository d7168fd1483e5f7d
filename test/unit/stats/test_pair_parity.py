# SPDX-License-Identifier: BSD-3-Clause
"""The program's closing words and `a2a explain` judge matrices of pairs by two implementations of one model: they take
the same of it apart, and name the same where it is clear. Near their limits they may differ: docs/pairs.md."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from processes import PATIENCE

TOP = Path(__file__).resolve().parents[3]
A2A = Path(os.environ.get("A2A", TOP / ".venv/bin/a2a"))
SIZES = (5, 8, 12, 20)
LEAST_SHARE = 1 / 1.5  # of the rate that is left to what was made slow
# Where the sweeps never come to rest, one makes more of them.
CLOSE = 1e-3

JUDGED_BY_EXPLAIN = """
import json, sys
import numpy as np
from a2aperf.workloads.pairs import model
for times in json.load(sys.stdin):
    times = np.array(times)
    found = model.fit(times)
    weak = [[one.kind, one.source, one.destination, 1 / one.factor] for one in model.weak(times)]
    print(json.dumps({"overall": found.overall, "sender": list(found.sender), "receiver": list(found.receiver), "suspects": weak}))
"""


def drawn(seed: int):
    """Times of R x R pairs, and what was made slow: nothing, a sender, a receiver, a pair, or one of each."""
    random = np.random.default_rng(seed)
    ranks = int(random.choice(SIZES))
    log = np.log(1e5) + random.choice([0.003, 0.01, 0.02]) * random.standard_normal((ranks, ranks))
    log += 0.02 * random.standard_normal((ranks, 1)) + 0.02 * random.standard_normal((1, ranks))
    ends = random.permutation(ranks)
    kinds = [(), ("sender",), ("receiver",), ("pair",), ("sender", "receiver", "pair")][seed % 5]
    if len(kinds) > 1 and ranks < 8:
        kinds = kinds[:1]
    slow = {"sender": (int(ends[0]), -1), "receiver": (-1, int(ends[1])), "pair": (int(ends[2]), int(ends[3]))}
    for kind in kinds:
        source, destination = slow[kind]
        rows = slice(None) if source < 0 else source
        columns = slice(None) if destination < 0 else destination
        log[rows, columns] += np.log(random.uniform(2, 5))
    times = np.exp(log)
    np.fill_diagonal(times, 0)
    return times, {(kind, *slow[kind]) for kind in kinds}


@pytest.fixture(scope="module")
def both():
    """What was drawn, what the program says of it, and what a2a does."""
    draws = [drawn(seed) for seed in range(60)]
    build = Path(os.environ["A2APERF"]).parents[2] if "A2APERF" in os.environ else TOP / "build" / "release"
    text = "\n".join(f"{len(times)} " + " ".join(map(repr, times.ravel().tolist())) for times, _ in draws)
    program = subprocess.run([build / "test/unit/stats/pair-judge"], input=text, capture_output=True, text=True, timeout=PATIENCE, check=True)
    matrices = json.dumps([times.tolist() for times, _ in draws])
    explain = subprocess.run([A2A.parent / "python", "-c", JUDGED_BY_EXPLAIN], input=matrices, capture_output=True, text=True, timeout=PATIENCE, check=True)
    judged = [[json.loads(line) for line in outcome.stdout.splitlines()] for outcome in (program, explain)]
    assert [len(lines) for lines in judged] == [len(draws)] * 2
    return list(zip(draws, *judged))


def test_a_matrix_is_taken_apart_alike(both):
    for _, program, explain in both:
        for part in ("overall", "sender", "receiver"):
            np.testing.assert_allclose(program[part], explain[part], rtol=0, atol=CLOSE)


def test_what_is_clearly_slow_is_named_alike_and_nothing_else(both):
    named = 0
    for (times, slow), program, explain in both:
        for judged in (program, explain):
            assert {tuple(one[:3]) for one in judged["suspects"] if one[3] < LEAST_SHARE} == slow, (len(times), judged)
        shares = [{tuple(one[:3]): one[3] for one in judged["suspects"]} for judged in (program, explain)]
        for what in slow:
            assert shares[0][what] == pytest.approx(shares[1][what], rel=CLOSE)
        named += len(slow)
    assert named > 50
