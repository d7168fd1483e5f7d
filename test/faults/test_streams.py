# SPDX-License-Identifier: BSD-3-Clause
"""A stream whose peer stops, or whose messages cannot be sent: it says so, however long it was to last."""

import pytest

LONG = ["--provider", "net", "--sizes", "8", "--messages", "2000000000", "--timeout", "3s"]


@pytest.mark.slow
@pytest.mark.parametrize(("rank", "what"), [(0, "messages"), (1, "credits")])
def test_a_peer_that_stops(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=stop rank={rank}", *LONG, command="stream")
    outcome.failed(rf"in the duration nothing happened for \S+ s; rank {1 - rank} \(\S+\) waits for {what} from rank {rank} ")


@pytest.mark.parametrize(("rank", "what"), [(0, "sending"), (1, "returning a credit")])
def test_a_call_that_fails(faulty, needs_provider, rank, what):
    needs_provider("net")
    outcome = faulty(2, f"call=send nth=100 do=EIO rank={rank}", *LONG, command="stream")
    outcome.failed(rf"^a2aperf: .*in a stream: {what} \(peer rank {1 - rank} \(\S+\)\): Input/output error")
