# SPDX-License-Identifier: BSD-3-Clause
"""alltoall.sbatch as it grows, on one machine: 40 to 320 nodes, and four ranks on each of 80. test/run.sh --scale.

The table at the end says how long the launch took and by how much the machine's available memory fell.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest
from cluster import Cluster, why_not
from memory import LowWater, available_bytes
from results import COMPLETE, Results
from study import ROOT, Study

TABLE = ROOT / "build/results/scale.txt"
SIZES = [1000, 8000]


@pytest.fixture(scope="module")
def large() -> Iterator[Cluster]:
    reason = why_not()
    if reason:
        pytest.skip(f"no Slurm can be started here: {reason}")
    if available_bytes() < 14 << 30:
        pytest.skip(f"320 ranks need 14 GiB, and {available_bytes() / 2**30:.1f} GiB are available")
    cluster = Cluster(320)
    yield cluster
    cluster.end()


@pytest.fixture(scope="module")
def table() -> Iterator[list[str]]:
    """A line per launch; printed, and kept beside the other results."""
    lines = ["nodes ranks/node  preflight s  launch s  memory GiB  points verified and measured"]
    yield lines
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text("\n".join(lines) + "\n")
    print(TABLE.read_text())


def seconds_between(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


@pytest.mark.parametrize(("nodes", "ppn"), [(40, 1), (80, 1), (160, 1), (80, 4), (320, 1)])
def test_scale(large, table, program, analysis, tmp_path, nodes, ppn):
    study = Study(large, tmp_path, {"A2APERF": str(program), "A2A": str(analysis)})
    memory = LowWater()
    memory.start()
    id = study.submit("alltoall.sbatch", "--nodes", str(nodes), "--ppn", str(ppn), "--launches", "1",
                      "--sizes", ",".join(map(str, SIZES)), "--", "--ops", "3", "--timeout", "300",
                      "--memory-limit", "64MiB", slurm=["-N", str(nodes)])  # fmt: skip
    job = study.done(id, seconds=900)
    taken = memory.taken()
    (row,) = study.log(id)
    results = Results(study.files(id)[0])
    assert results.states() == [COMPLETE] * len(SIZES)
    assert list(results.columns["ranks"]) == [nodes * ppn] * len(SIZES)
    assert list(results.columns["nodes"]) == [nodes] * len(SIZES)
    assert len({line.split("\t")[0] for line in (study.results / f"nodes-{id}.txt").read_text().splitlines()}) == nodes
    planned = (study.results / f"plan-{id}.tsv").read_text().split("# planned\t")[1].split("\n")[0]
    preflight = seconds_between(job.facts["StartTime"] + "+00:00", planned)
    launch = seconds_between(row["started"], row["ended"])
    table.append(f"{nodes:>5} {ppn:>10} {preflight:>12.0f} {launch:>9.0f} {taken / 2**30:>11.1f}  {len(SIZES)}")
