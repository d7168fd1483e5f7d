# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf open-loop` over a relay that is killed: who is gone is said, and the rest is measured by a launch that resumes."""

import h5py
import numpy as np
import pytest
from loop_files import columns_of, require_true_loops
from running_launch import require_rest_resumed, start

pytestmark = pytest.mark.slow

# Points of 500 ms, and as many as it takes to be met in the middle of them.
POINTS = 16
CLIENT, SERVER, RELAY = range(3)
ASKED = ["--relays", "1", "--sizes", "1000..16000+1000", "--rate", "1k", "--messages", "500", "--poll", "yield", "-o", "a.h5"]


@pytest.mark.parametrize("rank", [CLIENT, SERVER, RELAY])
def test_a_killed_rank_beside_or_in_the_relay_and_the_rest_resumed(start, needs_provider, tmp_path, rank):
    needs_provider("tcp")
    file = tmp_path / "a.h5"
    launch = start(3, *ASKED, "--provider", "tcp", "--timeout", "3s", command="open-loop")
    kept = launch.kill_amid(rank, "open-loop")
    were = {point: columns_of(file, point) for point in kept}

    assert start(3, *ASKED, "--provider", "tcp", "--resume", command="open-loop").end() == 0
    require_rest_resumed(file, "open-loop", POINTS, kept)
    require_true_loops(file, [CLIENT])
    for point, columns in were.items():
        np.testing.assert_equal(columns_of(file, point), columns)
    with h5py.File(file) as opened:
        assert (opened["relay_mean"][:] > 0).all()
