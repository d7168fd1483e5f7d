# SPDX-License-Identifier: BSD-3-Clause
"""A load that takes a known part of a shaped link: what round trips beside it take then is known, too."""

import numpy as np
from measure import TRIES, words
from processes import PATIENCE
from results import COMPLETE, Results

MBIT = 100
NEAR = 0.05
# Answers and load leave the second host for the first, a flow each.
ASKED = ["--load", "stream", "--load-size", "16KiB", "--sizes", "256KiB", "--gap", "10us", "--phase", "500ms", "--alternations", "6"]


def test_a_load_that_takes_half_of_a_link_doubles_the_transfer_time(cluster_of, program, tmp_path, told):
    """Two flows share the link evenly: the load has a half of it, and an answer takes twice its time alone."""
    cluster = cluster_of(2, MBIT)
    common = [word for word in words(program, poll="yield") if word not in ("--no-sentinel", "--sync", "barrier")]
    command = [program, "interference", *common, *ASKED, "--levels", "100"]
    for _ in range(TRIES):
        ended = cluster.launch(2, command, tmp_path, PATIENCE)
        assert ended.returncode == 0, ended.stderr
        results = Results(tmp_path / "a.h5")
        assert results.states("interference") == [COMPLETE]
        columns = {name: float(results.columns[name][0]) for name in ("impact_p50", "impact_mean", "load_gbps", "load_full_gbps")}
        if abs(columns["impact_mean"] / 2 - 1) <= NEAR:
            break
    told(known="2 times", measured=f"{columns['impact_mean']:.3f} times, load {columns['load_gbps'] * 1e3:.1f} of {columns['load_full_gbps'] * 1e3:.1f} Mbit/s")
    assert abs(columns["impact_mean"] / 2 - 1) <= NEAR, columns
    assert np.isclose(columns["load_gbps"] / columns["load_full_gbps"], 0.5, atol=NEAR), "it is a half that it takes"
