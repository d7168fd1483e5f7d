# SPDX-License-Identifier: BSD-3-Clause
"""Calls of libfabric that fail before anything is measured: the call and the rank are named, nothing is written."""

import pytest

pytestmark = pytest.mark.slow

NO_MEMORY = "Cannot allocate memory"
SAYS = {
    "call=fi_fabric do=ENODATA": "fi_fabric of shm: No data available",
    "call=fi_domain do=ENOMEM": rf"fi_domain shm of shm \(.*nfreectxts.*\): {NO_MEMORY}",
    "call=fi_mr_reg do=ENOMEM": rf"fi_mr_reg of \S+ \S+ \(.*ulimit -l.*\): {NO_MEMORY}",
    "call=fi_cq_open do=ENOMEM": f"fi_cq_open: {NO_MEMORY}",
    "call=fi_endpoint do=ENOMEM": f"fi_endpoint: {NO_MEMORY}",
    "call=fi_enable do=EINVAL": r"fi_enable \(.*FI_UNIVERSE_SIZE.*\): Invalid argument",
    "call=fi_av_insert do=partly": "fi_av_insert took 0 of 1 peers",
    "call=fi_cq_read do=EIO": r"verification op \d+: reading the completion queue: Input/output error; it waits for messages from "
    "rank 0",
}
WORDS = ["--provider", "shm", "--mode", "tagged,write-imm", "--sizes", "1000", "--ops", "5", "--timeout", "20s"]


@pytest.mark.parametrize("fault", SAYS)
def test_a_call_that_fails(faulty, needs_provider, fault):
    needs_provider("shm")
    outcome = faulty(2, f"{fault} rank=1", *WORDS)
    outcome.failed(rf"^a2aperf: rank 1 \(\S+\).*: {SAYS[fault]}")
    assert list(outcome.folder.iterdir()) == []


@pytest.mark.parametrize("mode", ["tagged", "msg", "write-imm", "read", "write"])
@pytest.mark.parametrize("provider", ["shm", "net"])
def test_memory_that_belongs_to_an_endpoint(faulty, needs_provider, provider, mode):
    """As cxi has it: regions are bound, enabled, and registered for what they are used for (sources of writes too)."""
    needs_provider(provider)
    words = ["--provider", provider, "--mode", mode, "--sizes", "1000,60000", "--ops", "5", "--timeout", "20s"]
    faulty(3, "call=fi_mr_enable do=demand", *words).survived()
    outcome = faulty(3, "call=fi_mr_enable do=ENOMEM rank=1", *words)
    outcome.failed(rf"^a2aperf: rank 1 \(\S+\).*: fi_mr_enable: {NO_MEMORY}")


def test_a_rank_to_which_nothing_is_offered(faulty, needs_provider):
    needs_provider("shm")
    outcome = faulty(2, "call=fi_getinfo do=ENODATA count=1000 rank=1", *WORDS)
    assert outcome.struck
    assert outcome.returncode == 2, outcome.stderr
    (line,) = outcome.says()
    assert "--provider shm cannot be used here" in line
    assert "rank 1" in line and "it finds no device" in line
    assert list(outcome.folder.iterdir()) == []
