# SPDX-License-Identifier: BSD-3-Clause
"""A node whose ranks use several adapters: all of them are counted, and their counters read."""

import subprocess
from pathlib import Path

import h5py
import pytest
from results import text

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
TWO_ADAPTERS = """
mount -t sysfs sysfs /sys && ip link set lo up && ip link add v0 type veth peer name v1 &&
ip addr add 10.77.0.1/24 dev v0 && ip link set v0 up && ip link set v1 up || exit 77
exec "$@"
"""


def test_two_adapters_of_a_node(program, needs_provider, tmp_path):
    needs_provider("tcp")
    words = ["--provider", "tcp", "--nic", "0:lo,1:v0", "--sync", "barrier", "--poll", "yield", "--sizes", "1000"]
    outcome = subprocess.run(
        ["unshare", "-m", "-n", "bash", "-c", TWO_ADAPTERS, "two", MPIRUN, "2", program, "alltoall", *words,
         "--ops", "5", "-o", "a.h5"],
        cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if outcome.returncode == 77 or "unshare failed" in outcome.stderr:
        pytest.skip(f"no second adapter can be made here ({outcome.stderr.strip()})")
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["segments/0"].attrs["rails"] == 2
        names = {text(name).split("/")[0] for name in file["counters/port_names"][()]}
        assert names == {"lo", "v0"}
        assert (file["counters/port"][0] >= 0).all()
