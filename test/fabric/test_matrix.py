# SPDX-License-Identifier: BSD-3-Clause
"""Every provider that runs here at 2, 3, 4 and 7 ranks: verified, measured, and read back from the file."""

import pytest
from results import COMPLETE, Results, has_plausible_moments, has_true_statistics

SIZES = [1, 1000, 60000]
EVERY = "tagged,msg,write-imm,read,write"
MODES = {2: EVERY, 3: EVERY, 4: EVERY, 7: "tagged,msg,read,write"}


@pytest.mark.parametrize("ranks", MODES)
@pytest.mark.parametrize("provider", ["shm", "net", "tcp", "udp", "sockets"])
def test_provider(launch, tmp_path, needs_provider, provider, ranks):
    full_name = needs_provider(provider)
    outcome = launch(
        ranks, "alltoall", "--provider", provider, "--mode", MODES[ranks], "--sizes", ",".join(map(str, SIZES)),
        "--ops", "5", "--warmup", "1", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr

    results = Results(tmp_path / "a.h5")
    modes = MODES[ranks].split(",")
    assert results.words("mode") == [mode for mode in modes for _ in SIZES]
    assert list(results.columns["message_size"]) == SIZES * len(modes)
    assert results.attributes["layout"] == "compact"
    assert results.segments[0].attributes["provider"] == full_name
    assert set(results.words("provider")) == {full_name}
    assert results.segments[0].end_state == 1
    assert results.states() == [COMPLETE] * len(results)
    assert list(results.columns["ops"]) == [5] * len(results)
    assert list(results.columns["ranks"]) == [ranks] * len(results)
    for point in range(len(results)):
        has_plausible_moments(results, point)
        has_true_statistics(results, point)
    assert len([line for line in outcome.stdout.splitlines() if line.split()[:1] == [str(ranks)]]) == len(results)
