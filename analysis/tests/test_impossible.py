# SPDX-License-Identifier: BSD-3-Clause
"""Op times in which nobody can have looked at the messages: refused, and nothing follows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Outcome
from support import synthetic
from support.synthetic import Effects, Setup

A2A = Callable[..., Outcome]


def made(folder: Path, op_ns: float, **effects: object) -> Path:
    """Four ranks whose ops take so long, whatever the size; those of mode write 10 µs more."""
    setup = Setup(
        nodes=1,
        ppn=4,
        sizes=(1000, 8000, 16000, 60000),
        ops=50,
        sync="barrier",
        modes=("tagged", "write"),
        alpha_ns=op_ns,
        per_message_ns=0.0,
        port_gbps=1e15,
        effects=Effects(noise=0.0, modes={"write": 1e4 / op_ns}, **effects),  # type: ignore[arg-type]
    )
    return synthetic.write_launch(folder / "a.h5", setup)


@pytest.mark.parametrize("op_ns", [1, 3])
def test_no_op_is_over_before_its_messages_are_looked_at(
    a2a: A2A, tmp_path: Path, op_ns: int
) -> None:
    path = made(tmp_path, op_ns)
    checked = a2a("check", path)
    assert checked.status == 2
    said = f"point 0: time_p50 is {op_ns} ns with 3 messages of the busiest rank: that is no time"
    assert said in checked.out
    assert "50 valid ops take 3 ns or less" in checked.out
    assert "nan" not in checked.out
    shown = a2a("table", path, "--json")
    assert f"a2a: {path}: times of 4 points left out: no op can be done so soon\n" in shown.err
    rows = json.loads(shown.out)["rows"]
    for row in rows:
        is_known = row["mode"] == "write"
        for name in ("time_min", "time_p50", "time_max", "gbps_rank", "gbps_sustained", "msg_rate"):
            assert (row[name] is not None) == is_known, (row["mode"], name)
    assert "Gbit/s per rank as messages grow" not in a2a("explain", path).out


def test_what_ops_can_take_is_sound(a2a: A2A, tmp_path: Path) -> None:
    checked = a2a("check", made(tmp_path, 4))
    assert checked.status == 0, checked.out


def test_single_ops_are_found_beside_a_median_that_can_be(a2a: A2A, tmp_path: Path) -> None:
    checked = a2a("check", made(tmp_path, 20_000, bimodal=(0.1, 1e-4)))
    assert checked.status == 2
    assert "valid ops take 3 ns or less with 3 messages of the busiest rank" in checked.out
    assert "time_p50 is" not in checked.out


def cost_of(a2a: A2A, folder: Path, per_message_ns: float) -> str:
    setup = Setup(alpha_ns=10.0, per_message_ns=per_message_ns, effects=Effects(noise=0.0))
    out = a2a("explain", synthetic.write_launch(folder / "a.h5", setup)).out
    return " ".join(out[out.index("T = α") :].split()).replace("- ", "-")


def test_the_fit_tells_no_bound_beyond_what_was_measured(a2a: A2A, tmp_path: Path) -> None:
    """8 ranks, up to 60 kB; a byte takes 0.2 ns."""
    told = cost_of(a2a, tmp_path, 1000.0)
    assert "message-rate-bound below 5000 B at most" in told
    assert "40 Gbit/s per rank as messages grow" in told
    told = cost_of(a2a, tmp_path, 1_000_000.0)
    assert "message-rate-bound" not in told
    assert "at most 1000 µs per message)" in told
    assert "what a byte costs is not seen at these sizes" in told
