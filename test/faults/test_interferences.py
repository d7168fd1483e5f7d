# SPDX-License-Identifier: BSD-3-Clause
"""A victim or a rank of the load that stops or dies in the middle of a point: it is named, and what was measured is kept."""

import pytest
from results import COMPLETE, PENDING, Results

LOADED = ["--provider", "net", "--victims", "0:1"]
PHASES = ["--phase", "300ms", "--alternations", "1000", "--gap", "1ms", "--timeout", "3s"]
LONG = [*LOADED, *PHASES]
TWO = [*LOADED, "--levels", "0,100", "--phase", "40ms", "--alternations", "10", "--timeout", "30s"]


@pytest.mark.parametrize("rank", [1, 3], ids=["a victim", "a rank of the load"])
def test_a_rank_that_dies_is_named(faulty, needs_provider, rank):
    needs_provider("net")
    outcome = faulty(4, f"call=send nth=100 do=kill rank={rank}", *LONG, command="interference")
    outcome.named_killed(rank)


@pytest.mark.slow
@pytest.mark.parametrize("rank", [1, 3], ids=["a victim", "a rank of the load"])
def test_a_rank_that_stops_is_named(faulty, needs_provider, rank):
    needs_provider("net")
    outcome = faulty(4, f"call=send nth=100 do=stop rank={rank}", *LONG, command="interference")
    outcome.failed(rf"nothing was heard of rank {rank} ")


def test_a_victim_of_an_all_to_all_that_dies_is_named(faulty, needs_provider):
    needs_provider("net")
    words = ["--provider", "net", "--victims", "0:1,1:2", "--victim-kind", "all-to-all", *PHASES]
    outcome = faulty(5, "call=send nth=100 do=kill rank=1", *words, command="interference")
    outcome.named_killed(1)


@pytest.mark.parametrize("fault", ["kill", "term"])
def test_points_that_were_complete_are_kept_and_the_others_are_resumed(faulty, launch, needs_provider, fault):
    needs_provider("net")
    outcome = faulty(4, f"call=send nth=200 do={fault} rank=3", *TWO, command="interference")
    assert outcome.struck
    results = Results(outcome.folder / "a.h5")
    states = list(results.columns["state"])
    done = states.count(COMPLETE)
    assert done < 2 and set(states) <= {COMPLETE, PENDING}
    again = launch(4, "interference", *TWO, "-o", "a.h5", "--poll", "yield", "--resume")
    assert again.returncode == 0, again.stderr
    assert list(Results(outcome.folder / "a.h5").columns["state"]) == [COMPLETE, COMPLETE]
