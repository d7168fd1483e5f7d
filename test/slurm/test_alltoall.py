# SPDX-License-Identifier: BSD-3-Clause
"""alltoall.sbatch from sbatch to the report."""

import re
import subprocess

import h5py
import pytest
from study import BRIEF, SITE
from results import COMPLETE, Results, text


def nodes_of(file) -> list[str]:
    with h5py.File(file) as opened:
        return sorted(text(name) for name in opened["segments/0/nodes"][()])


def attachments_of(file) -> dict[str, str]:
    with h5py.File(file) as opened:
        group = opened["segments/0"]
        names, texts = group["attachment_name"][()], group["attachment_text"][()]
        return {text(name): text(value) for name, value in zip(names, texts, strict=True)}


def test_a_study_of_two_node_counts(study, analysis):
    id = study.submit("alltoall.sbatch", "--nodes", "10,20", "--launches", "2", "--sizes", "1000,8000", "--seed", "7",
                      "--", *BRIEF, slurm=["-N", "20"])  # fmt: skip
    study.done(id)

    plan, log = study.plan(id), study.log(id)
    assert [(row["nodes"], row["subset"]) for row in sorted(plan, key=lambda row: row["nodes"])] == [
        *[("10", "node[001-010]")] * 2, *[("20", "node[001-020]")] * 2,
    ]  # fmt: skip
    # Each round has each point once.
    assert {row["nodes"] for row in plan[:2]} == {"10", "20"}
    assert [(row["launch"], row["status"], row["reason"]) for row in log] == [(row["launch"], "0", "-") for row in plan]

    output = study.output(id)
    seeds = set()
    for row in plan:
        file = study.results / row["file"]
        results = Results(file)
        count = int(row["nodes"])
        assert results.states() == [COMPLETE, COMPLETE]
        assert list(results.columns["ranks"]) == list(results.columns["nodes"]) == [count, count]
        assert sorted(results.columns["message_size"]) == [1000, 8000]
        assert nodes_of(file) == [f"node{i:03}" for i in range(1, count + 1)]
        segment = results.segments[0]
        assert sorted(segment.rank_order) == list(range(count)) != segment.rank_order
        assert segment.attributes["order"] == "shuffled"
        assert segment.attributes["slurm_job_id"] == id
        assert segment.environment["OMPI_MCA_pml"] == "ob1"
        assert f"FI_UNIVERSE_SIZE={count}" in segment.attributes["tuned_environment"]
        seeds.add(segment.attributes["seed"])
        # The printed table has the file's figures.
        for size, p50 in zip(results.columns["message_size"], results.columns["time_p50"], strict=True):
            shown = re.findall(rf"^ *{count} +{count} +1 +{size} +5 +\S+ +\S+ +(\S+) ", output, re.MULTILINE)
            assert pytest.approx(p50 / 1e3, abs=0.006) in [float(number) for number in shown]
        attached = attachments_of(file)
        assert f"JobId={id}" in attached[f"job-{id}.txt"]
        assert "SwitchName=leaf1" in attached[f"job-{id}.txt"]
        assert "node020\tprovider\tok\tnet" in attached[f"nodes-{id}.txt"]
    assert seeds == {"7", "8"}

    checked = subprocess.run([analysis, "check", *study.files(id)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout
    assert len(Results(study.results / "merged" / f"alltoall-{id}.h5").segments) == 4
    page = (study.results / f"report-{id}.html").read_text()
    assert "node" in page and len(page) > 100_000


def test_node_counts_follow_the_allocation(study):
    id = study.submit("alltoall.sbatch", "--quick", "--sizes", "1000", "--", *BRIEF, slurm=["-N", "3"])
    study.done(id)
    assert [row["nodes"] for row in study.plan(id)] == ["3"]
    assert Results(study.files(id)[0]).states() == [COMPLETE]


def test_two_ranks_on_each_node_of_each_switch(study):
    id = study.submit("alltoall.sbatch", "--subsets", "per-switch", "--nodes", "2", "--ppn", "2", "--launches", "1",
                      "--sizes", "1000", "--", *BRIEF, slurm=["-w", "node[009-012]"])  # fmt: skip
    study.done(id)
    assert sorted(row["subset"] for row in study.plan(id)) == ["node[009-010]", "node[011-012]"]
    for file in study.files(id):
        results = Results(file)
        assert results.columns["ranks"][0] == 4
        assert results.columns["nodes"][0] == 2


def test_by_srun(study, tmp_path):
    site = tmp_path / "by_srun.sh"
    site.write_text(SITE.read_text().replace("site_launcher=mpirun", "site_launcher=srun"))
    id = study.submit("alltoall.sbatch", "--launches", "1", "--sizes", "1000", "--site", site, "--", *BRIEF,
                      slurm=["-N", "4"], site=False)  # fmt: skip
    study.done(id)
    assert Results(study.files(id)[0]).states() == [COMPLETE]


def test_a_budget_ends_the_study(study):
    # Some seconds for two hundred launches; where a busy machine made none in that time, more.
    for hours in (0.006, 0.012, 0.024, 0.048):
        id = study.submit("alltoall.sbatch", "--nodes", "2", "--launches", "200", "--sizes", "1000",
                          "--budget", str(hours), "--", *BRIEF, slurm=["-N", "2"])  # fmt: skip
        job = study.done(id, "FAILED")
        assert job.status == 1
        log = study.log(id)
        assert len(log) == 200
        if log[0]["status"] != "-":
            break
    assert log[0]["status"] != "-"
    assert log[-1]["reason"] == f"not begun: the node-hour limit of {hours} is reached"
    assert log[-1]["started"] == "-"
