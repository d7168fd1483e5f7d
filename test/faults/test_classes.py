# SPDX-License-Identifier: BSD-3-Clause
"""A class of service is asked of libfabric where the path's endpoint is opened."""

import re

import pytest

DSCP, NAMED = 0x100, 0x200  # rdma/fabric.h: FI_TC_DSCP, FI_TC_LABEL; 0 leaves it to the provider


@pytest.mark.parametrize(
    ("asked", "tclass"),
    [("class=bulk", NAMED + 3), ("class=low-latency", NAMED + 1), ("class=dscp10", DSCP + 10), ("size=8", 0)],
)
def test_the_class_of_a_path_is_in_what_its_endpoint_is_opened_with(faulty, needs_provider, asked, tclass):
    needs_provider("shm")
    words = ["--provider", "shm", "--path", f"0:1,{asked}", "--duration", "300ms", "--interval", "100ms"]
    outcome = faulty(2, "call=tclass do=note", *words, command="qos")
    assert outcome.returncode == 0, outcome.stderr
    for of in ("endpoint", "domain"):
        noted = re.findall(rf"^\d+ {of} (\d+)$", outcome.notes, re.MULTILINE)
        assert len(noted) >= 2 and set(noted) == {str(tclass)}, outcome.notes
