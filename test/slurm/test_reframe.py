# SPDX-License-Identifier: BSD-3-Clause
"""The ReFrame check, by ReFrame itself, through the emulated Slurm: its figures, and that its reference is judged."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from results import Results
from study import PATIENCE, ROOT

CHECK = ROOT / "packaging/reframe/a2aperf_check.py"
SITE = """\
site_configuration = {
    "systems": [{
        "name": "emulated", "hostnames": [".*"],
        "partitions": [{
            "name": "nodes", "scheduler": "squeue", "launcher": "mpirun", "environs": ["any"], "access": ["-p main"],
            "env_vars": [["OMPI_ALLOW_RUN_AS_ROOT", "1"], ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"], ["SLURM_OVERLAP", "1"],
                         ["OMPI_MCA_mpi_yield_when_idle", "1"], ["OMPI_MCA_hwloc_base_binding_policy", "none"],
                         ["OMPI_MCA_pml", "ob1"], ["OMPI_MCA_btl", "tcp,self"]],
        }],
    }],
    "environments": [{"name": "any", "features": []}],
}
"""


@pytest.fixture
def reframe(cluster, study, program):
    """Runs the check on the login node; gives its status, what it says, and its report."""
    command = shutil.which("reframe", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not command:
        pytest.skip("ReFrame is not installed: test/requirements.txt has it")
    (study.folder / "site.py").write_text(SITE)

    def run(*variables: str) -> tuple[subprocess.CompletedProcess[str], dict]:
        report = study.folder / "report.json"
        words = [f"--prefix={study.folder / 'reframe'}", f"--report-file={report}", "-C", study.folder / "site.py", "-c", CHECK,
                 "-n", "AllToAllNodes", "-S", f"program={program}", "-S", "provider=net", "-S", "sizes=1000,60000", "-S",
                 "options=--ops,5,--poll,yield,--sync,barrier,--no-sentinel"]  # fmt: skip
        words += [word for one in variables for word in ("-S", one)]
        outcome = cluster.run(command, *words, "-r", cwd=study.folder, env={**study.environment, "TMPDIR": str(study.folder)}, seconds=2 * PATIENCE)
        assert report.exists(), outcome.stdout + outcome.stderr
        return outcome, json.loads(report.read_text())

    return run


def case_of(report: dict) -> dict:
    (run,) = report["runs"]
    (case,) = run["testcases"]
    return case


def test_an_all_to_all_of_three_nodes_by_the_scheduler(reframe, study, cluster):
    """Its efficiency is the file's rate by the rate that the link is said to have."""
    outcome, report = reframe("nodes=3", "link_gbps=1000", "least=0.000001")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    case = case_of(report)
    assert case["result"] == "pass" and case["scheduler"] == "squeue"
    assert cluster.job(str(case["jobid"])).facts["NumNodes"] == "3"
    (file,) = (study.folder / "reframe/output").rglob("alltoall.h5")
    results = Results(file)
    assert list(results.columns["nodes"]) == [3, 3]
    (efficiency,) = [value for name, value in case["perfvalues"].items() if name.endswith(":efficiency")]
    assert efficiency[0] == pytest.approx(max(results.columns["gbps_node_net"]) / 1000, rel=1e-3)
    assert any(name.endswith(":p50_60000") for name in case["perfvalues"])


def test_a_reference_that_is_not_reached_fails(reframe):
    outcome, report = reframe("link_gbps=1000", "least=0.9")
    assert outcome.returncode != 0
    case = case_of(report)
    assert case["result"] == "fail" and case["fail_phase"] == "performance"
    assert "efficiency" in json.dumps(case["fail_info"]) + outcome.stdout


def test_a_link_that_nobody_knows_is_not_judged_as_fine(reframe):
    outcome, report = reframe("least=0.1")
    assert outcome.returncode != 0
    assert "the link's rate is not known" in outcome.stdout
