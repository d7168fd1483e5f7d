# SPDX-License-Identifier: BSD-3-Clause
"""One slow host, direction or pair among equal ones: `a2aperf pairs` names it by itself."""

from pathlib import Path

import h5py
import pytest
from cluster import Cluster
from measure import words_of_pairs
from pairs_file import check_matrix

pytestmark = pytest.mark.slow

HOSTS, MBIT, SLOW_MBIT = 4, 100, 30
SIZE = 1_000_000  # 80 ms of a link


def found(cluster: Cluster, program: Path, folder: Path) -> list[str]:
    """What stands out, in the program's words."""
    command = [program, "pairs", *words_of_pairs(program), "--sizes", str(SIZE), "--ops", "5", "--warmup", "1"]
    ended = cluster.launch(1, command, folder)
    assert ended.returncode == 0, ended.stderr
    check_matrix(folder / "a.h5")
    begin = f"{SIZE} B: "
    return [line.removeprefix(begin) for line in ended.stdout.splitlines() if line.startswith(begin + "rank ")]


def worst(findings: list[str]) -> list[str]:
    """Those that say less than 0.7: this machine's other work may make a host late too."""
    return [text for text in findings if float(text.partition(": " if "→" in text else " at ")[2].split()[0]) < 0.7]


def test_equal_hosts_have_no_slow_pair(cluster_of, program, tmp_path, told):
    """Pairs of four equal hosts."""
    findings = worst(found(cluster_of(HOSTS, MBIT), program, tmp_path))
    told(known="nothing stands out", measured="; ".join(findings) or "nothing")
    assert findings == []


@pytest.mark.parametrize("direction", ["receive", "send"])
def test_pairs_name_a_slow_direction(cluster_of, program, tmp_path, told, direction):
    told(case=f"Pairs of four hosts, one of which {direction}s at {SLOW_MBIT} of {MBIT} Mbit/s.")
    cluster = cluster_of(HOSTS, MBIT)
    cluster.limit("h3", direction, SLOW_MBIT)
    findings = found(cluster, program, tmp_path)
    told(
        known=f"rank 2 (h3) {direction}s at {SLOW_MBIT / MBIT:.2f} of the others' rate, alone too",
        measured="; ".join(findings) or "nothing",
    )
    (finding,) = worst(findings)
    assert finding.startswith(f"rank 2 (h3) {direction}s at 0.")
    with h5py.File(tmp_path / "a.h5") as file:
        end = "suspect_source" if direction == "send" else "suspect_destination"
        assert file[f"pairs/{end}"][0] == 2
        assert 0 < file["pairs/isolated_gbps"][0] * 1e3 < 1.2 * SLOW_MBIT  # its own burst on top


def test_pairs_name_a_slow_pair(cluster_of, program, tmp_path, told):
    """Pairs of four hosts; what goes from h2 to h4 has 30 of 100 Mbit/s."""
    cluster = cluster_of(HOSTS, MBIT)
    cluster.limit_pair("h2", "h4", SLOW_MBIT)
    findings = found(cluster, program, tmp_path)
    told(
        known=f"rank 1 (h2) → rank 3 (h4): {SLOW_MBIT / MBIT:.2f} of what both reach with others, alone too",
        measured="; ".join(findings) or "nothing",
    )
    (finding,) = worst(findings)
    assert finding.startswith("rank 1 (h2) → rank 3 (h4): 0.")
    with h5py.File(tmp_path / "a.h5") as file:
        assert 0 < file["pairs/isolated_gbps"][0] * 1e3 < 1.2 * SLOW_MBIT
