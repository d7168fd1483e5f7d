# SPDX-License-Identifier: BSD-3-Clause
"""What is refused, where jobs may be submitted from, and plans without a job."""

import csv
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from study import BRIEF, JOBS, SITE
from results import COMPLETE, Results

SCRIPTS = ["alltoall.sbatch", "compare.sbatch", "report.sbatch"]


@pytest.mark.parametrize("name", [*SCRIPTS, "check.sbatch"])
def test_slurm_takes_the_script(cluster, name):
    nodes = [] if name == "report.sbatch" else ["-N", "20"]
    cluster.revive()  # these are all nodes, and one that an earlier test has stopped may not be back yet
    outcome = cluster.run("sbatch", "--test-only", *nodes, JOBS / name)
    assert outcome.returncode == 0, outcome.stderr
    # The report needs one node, whatever sbatch is told.
    if name != "report.sbatch":
        assert cluster.run("sbatch", "--test-only", "-N", "1000", JOBS / name).returncode != 0


def test_a_folder_with_spaces_and_quotes(study, tmp_path):
    study.folder = tmp_path / "it's a \"study\" $HOME"
    study.jobs = study.folder / "my jobs"
    shutil.copytree(JOBS, study.jobs)
    id = study.submit("alltoall.sbatch", "--launches", "1", "--sizes", "1000", "--", *BRIEF, slurm=["-N", "2"])
    behind = study.submit("report.sbatch", slurm=[f"--dependency=afterany:{id}"])
    study.done(id)
    assert Results(study.files(id)[0]).states() == [COMPLETE]
    assert (study.results / f"report-{id}.html").is_file()
    study.done(behind)
    assert (study.results / "report.html").is_file()


def test_two_studies_in_one_folder(study):
    ids = [
        study.submit("alltoall.sbatch", "--launches", "2", "--sizes", "1000", "--", *BRIEF, slurm=["-N", "4"])
        for _ in range(2)
    ]
    for id in ids:
        study.done(id)
    for id in ids:
        assert len(study.files(id)) == 2
        assert [row["status"] for row in study.log(id)] == ["0", "0"]
        assert {row["file"] for row in study.plan(id)} == {file.name for file in study.files(id)}
    first, second = ({row["subset"] for row in study.plan(id)} for id in ids)
    assert not first & second


def test_a_folder_with_a_job_of_the_same_id(study):
    """From before a controller began its ids anew, or from another cluster: what it measured is not this job's."""
    words = ["--launches", "2", "--sizes", "1000", "--", *BRIEF]
    id = study.submit("alltoall.sbatch", *words, slurm=["-N", "2"])
    study.done(id)
    next_id = str(int(id) + 1)
    for file in study.results.glob(f"*-{id}*"):
        text = file.read_bytes()
        text = text.replace(f"job\t{id}\n".encode(), f"job\t{next_id}\n".encode()) if file.suffix == ".tsv" else text
        text = text.replace(f"-{id}-".encode(), f"-{next_id}-".encode()) if file.suffix == ".tsv" else text
        file.with_name(file.name.replace(f"-{id}", f"-{next_id}")).write_bytes(text)
    before = {file: file.read_bytes() for file in study.results.iterdir() if file.is_file()}
    assert study.submit("alltoall.sbatch", *words, slurm=["-N", "3"]) == next_id
    assert study.done(next_id, "FAILED").status == 2
    assert study.output(next_id) == (
        f"alltoall.sbatch: {study.results} has the plan of another job {next_id}, and this one was not requeued: "
        "--results names another folder\n"
    )
    assert {file: file.read_bytes() for file in study.results.iterdir() if file.is_file()} == before


@pytest.mark.parametrize("launcher", ["mpirun", "srun"])
def test_a_job_without_the_environment_of_its_user(study, program, analysis, launcher):
    """Where "sbatch --export=NONE" is the custom, what the site sets reaches the ranks all the same."""
    site = study.folder / "mine.sh"
    site.write_text(
        SITE.read_text() + f"site_launcher={launcher}\nsite_options+=(--require A_OF_SITE=yes)\n"
        f"site_environment+=(A_OF_SITE=yes)\nsite_program={program}\nsite_analysis={analysis}\n"
    )
    words = ["--launches", "1", "--sizes", "1000", "--site", site, "--", *BRIEF]
    id = study.submit("alltoall.sbatch", *words, slurm=["-N", "2", "--export=NONE"], site=False)
    study.done(id)
    assert Results(study.files(id)[0]).states() == [COMPLETE]


@pytest.mark.parametrize("folder", ["readonly", "full"])
def test_a_results_folder_that_takes_nothing(study, cluster, folder):
    id = study.submit("alltoall.sbatch", "--results", cluster.folder / folder, "--", *BRIEF, slurm=["-N", "2"])
    job = study.done(id, "FAILED")
    assert job.status == 2
    said = study.output(id).splitlines()
    assert len(said) == 1 and f"the results folder {cluster.folder / folder}" in said[0], said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--", "--ops", "none"], "--ops: 'none'"),
        (["--sizes", "many"], "--sizes"),
        (["--site", "nowhere"], "no site profile"),
        (["--nodes", "1"], "one rank on one node has no peer"),
        (["--nodes", "40"], "40 nodes were asked for and there are 2 to measure on"),
        (["--subsets", "per-switch", "--nodes", "2"], "--nodes 2: no leaf switch has so many nodes"),
    ],
)
def test_a_job_refuses_bad_input(study, words, says):
    site = "--site" not in words
    id = study.submit("alltoall.sbatch", *words, slurm=["-w", "node[010-011]"], site=site)
    assert study.done(id, "FAILED").status == 2
    said = study.output(id).splitlines()
    assert len(said) == 1 and said[0].startswith(("alltoall.sbatch: ", "a2aperf: ")) and says in said[0], said
    assert not study.results.exists()


@pytest.mark.parametrize("name", SCRIPTS[:2])
def test_by_hand(script, name):
    setting = ["X=1,2"] if name.startswith("compare") else []
    outcome = script(name, *setting)
    assert outcome.returncode == 2
    assert outcome.stderr == f"{name}: this is a job script, not to be run by hand: sbatch -N 20 jobs/{name}\n"


@pytest.mark.parametrize("name", SCRIPTS[:2])
def test_without_slurm(script, tmp_path, name):
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ["bash", "dirname", "realpath", "cat", "sed", "date"]:
        found = shutil.which(tool)
        assert found
        (tools / tool).symlink_to(found)
    outcome = script(name, *(["X=1,2"] if name.startswith("compare") else []), env={"PATH": str(tools)})
    assert outcome.returncode == 2
    assert outcome.stderr.count("\n") == 1
    assert "jobs/local.sh measures here" in outcome.stderr


@pytest.mark.parametrize("name", [*SCRIPTS, "check.sbatch", "preflight.sh", "show-site.sh"])
def test_help(script, name):
    outcome = script(name, "--help")
    assert outcome.returncode == 0
    assert outcome.stdout.startswith("Usage: ") and outcome.stderr == ""
    assert max(map(len, outcome.stdout.splitlines())) <= 120


def planned(outcome) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Facts and rows of a plan."""
    assert outcome.returncode == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    facts = dict(line.removeprefix("# ").split("\t") for line in lines if line.startswith("# "))
    rows = [line for line in lines if not line.startswith("# ")]
    return facts, list(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_a_plan_without_a_job(script, tmp_path):
    facts, rows = planned(script("alltoall.sbatch", "--plan", "330"))
    assert facts["counts"] == "20,40,80,160,320"
    assert [row["launch"] for row in rows] == [f"{i:03}" for i in range(1, 16)]
    for i in range(0, 15, 5):
        assert {row["nodes"] for row in rows[i : i + 5]} == {"20", "40", "80", "160", "320"}
    assert all(row["subset"] == f"n[1-{row['nodes']}]" for row in rows)
    assert list(tmp_path.iterdir()) == []


def test_a_seed_decides_the_plan(script):
    def subsets(seed: int, kind: str) -> list[tuple[str, str]]:
        _, rows = planned(script("alltoall.sbatch", "--plan", "100", "--subsets", kind, "--seed", str(seed)))
        return [(row["nodes"], row["subset"]) for row in rows]

    assert subsets(1, "random") == subsets(1, "random") != subsets(2, "random")
    assert subsets(1, "nested") == subsets(1, "nested")
    drawn = [set(subset.split(",")) for count, subset in subsets(1, "random") if count == "20"]
    assert [len(nodes) for nodes in drawn] == [20, 20, 20]
    assert drawn[0] != drawn[1] != drawn[2]


def test_a_factorial_goes_there_and_back(script):
    _, rows = planned(script("compare.sbatch", "A=0,1", "--window=1,2,all", "--launches", "4", "--plan", "8"))
    order = [row["settings"] for row in rows]
    assert len(order) == 24 and len(set(order[:6])) == 6
    assert order[6:12] == order[5::-1]
    assert order[18:24] == order[17:11:-1]
    assert {row["file"].split("-")[3] for row in rows} == {f"s{i}" for i in range(1, 7)}


def test_sites(script):
    names = script("show-site.sh").stdout.split()
    assert len(names) >= 3
    for name in names:
        outcome = script("show-site.sh", name)
        assert outcome.returncode == 0, outcome.stderr
        settings = dict(line.split("\t", 1) for line in outcome.stdout.splitlines())
        assert {"site_launcher", "site_binding", "site_provider"} <= settings.keys()


def test_a_site_with_a_typing_error(script, tmp_path):
    (tmp_path / "mine.sh").write_text("site_launchr=mpirun\n")
    outcome = script("show-site.sh", str(tmp_path / "mine.sh"))
    assert outcome.returncode == 2
    assert "sets site_launchr, which is not a setting" in outcome.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("if [", "is not bash: line 2: syntax error"),
        ("exit 3", "ends the shell"),
        ('site_provider="$NOT_SET_ANYWHERE"', "NOT_SET_ANYWHERE: unbound variable"),
    ],
)
def test_a_site_profile_that_cannot_be_read(script, tmp_path, text, says):
    (tmp_path / "mine.sh").write_text(f"{text}\n")
    outcome = script("show-site.sh", str(tmp_path / "mine.sh"))
    assert outcome.returncode == 2
    assert outcome.stderr.count("\n") == 1
    assert f"site profile {tmp_path}/mine.sh " in outcome.stderr and says in outcome.stderr


def test_the_last_line_of_a_site_profile_may_be_false(study):
    site = study.folder / "mine.sh"
    site.write_text(SITE.read_text() + "false\n[[ -d /nowhere ]] && site_options=()\n")
    id = study.submit("alltoall.sbatch", "--launches", "1", "--sizes", "1000", "--site", site, "--", *BRIEF,
                      slurm=["-N", "2"], site=False)  # fmt: skip
    study.done(id)
    assert Results(study.files(id)[0]).states() == [COMPLETE]


def test_a_script_that_fails_unforeseen_says_where():
    text = 'set -euo pipefail; jobs=$0; . "$jobs/lib/load.sh"; unforeseen() { false; }; unforeseen; echo on'
    outcome = subprocess.run(["bash", "-c", text, JOBS], capture_output=True, text=True)
    assert outcome.returncode != 0 and outcome.stdout == ""
    assert re.fullmatch(r"jobs: stopped at line \d+ of .*: a command failed \(exit status 1\)\n", outcome.stderr)


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("An ORTE daemon has unexpectedly failed after launch and before\ncommunicating back to mpirun. This could be\n",
         "An ORTE daemon has unexpectedly failed after launch and before communicating back to mpirun"),
        ("-----\nmpirun was unable to find the specified executable file:\n\nExecutable: a\n",
         "mpirun was unable to find the specified executable file"),
        ("mpirun: not here: no such file\nand so on\n", "mpirun: not here: no such file and so on"),
        ("a line\nsrun: error: node002: task 1: Exited with exit code 3\nsrun: error: more\n",
         "srun: error: node002: task 1: Exited with exit code 3"),
        ("all is well\n", ""),
        ("it broke\n----\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job"
         " has been aborted.\n----\nmpirun detected that one or more processes exited with non-zero status, thus causing\n", ""),
    ],
)  # fmt: skip
def test_the_first_complaint_is_a_whole_sentence(printed, says):
    text = 'set -euo pipefail; jobs=$0; . "$jobs/lib/load.sh"; first_complaint'
    outcome = subprocess.run(["bash", "-c", text, JOBS], input=printed, capture_output=True, text=True)
    assert outcome.stdout == (f"{says}\n" if says else ""), outcome.stderr


def preflight(script, *words: str, infiniband: Path) -> dict[str, tuple[str, str]]:
    outcome = script("preflight.sh", *words, env={"A2APERF_INFINIBAND": str(infiniband), "PATH": os.environ["PATH"]})
    assert outcome.returncode == 0, outcome.stderr
    return {check: (verdict, text) for _, check, verdict, text in map(lambda x: x.split("\t"), outcome.stdout.splitlines())}


def test_preflight_sees_what_is_there(script, program, tmp_path, monkeypatch):
    adapter = tmp_path / "infiniband/hfi1_0"
    (adapter / "device").mkdir(parents=True)
    (adapter / "nfreectxts").write_text("3\n")
    (adapter / "device/numa_node").write_text("0\n")
    words = ["--program", str(program), "--provider", "tcp"]
    found = preflight(script, *words, "--ranks-per-node", "4", infiniband=tmp_path / "infiniband")
    assert found["program"][0] == found["provider"][0] == "ok"
    assert found["contexts"] == ("bad", "3 free, 4 needed: other processes hold them, or a killed process left them behind")
    assert preflight(script, *words, "--ranks-per-node", "3", infiniband=adapter.parent)["contexts"][0] == "ok"
    monkeypatch.setenv("HFI_SYSFS_PATH", str(adapter))
    assert preflight(script, *words, "--ranks-per-node", "4", infiniband=adapter.parent)["contexts"][0] == "bad"
    assert found["cores"][0] in ("ok", "warn")
    assert {"memlock", "hugepages", "governor", "clock", "leftovers", "load"} <= found.keys()


def adapter(folder: Path, state: str, lanes: str) -> Path:
    """A device with a port in this state, whose PCIe link has so many of its 16 lanes."""
    files = {
        "fw_ver": "20.31.1014", "ports/1/state": state, "ports/1/rate": "100 Gb/sec (4X EDR)",
        "device/current_link_width": lanes, "device/max_link_width": "16",
        "device/current_link_speed": "8.0 GT/s PCIe", "device/max_link_speed": "8.0 GT/s PCIe",
    }  # fmt: skip
    for name, text in files.items():
        (folder / "infiniband/mlx5_0" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "infiniband/mlx5_0" / name).write_text(f"{text}\n")
    return folder / "infiniband"


def test_preflight_sees_ports_and_lanes(script, program, tmp_path):
    words = ["--program", str(program), "--provider"]
    found = preflight(script, *words, "tcp", infiniband=adapter(tmp_path / "good", "4: ACTIVE", "16"))
    assert found["port"] == ("ok", "mlx5_0/1 ACTIVE 100 Gb/sec (4X EDR)")
    assert found["pcie"] == ("ok", "mlx5_0 x16 at 8.0 GT/s PCIe")
    assert "mlx5_0 20.31.1014" in found["firmware"][1]
    assert found["kernel"] == ("ok", os.uname().release)
    assert re.search(r", \d+ processors, sockets: \d+$", found["cpu"][1])
    lame = adapter(tmp_path / "lame", "2: INIT", "8")
    found = preflight(script, *words, "tcp", infiniband=lame)
    assert found["port"] == ("warn", "mlx5_0/1 INIT 100 Gb/sec (4X EDR): no port is active")
    assert found["pcie"] == ("warn", "mlx5_0 x8 at 8.0 GT/s PCIe, and it can do x16 at 8.0 GT/s PCIe")
    assert preflight(script, *words, "psm2", infiniband=lame)["port"][0] == "bad"


@pytest.mark.parametrize(("binding", "verdict"), [("none", "warn"), ("core", "bad")])
def test_preflight_counts_the_cores(script, program, tmp_path, binding, verdict):
    words = ["--program", str(program), "--binding", binding, "--ranks-per-node"]
    assert preflight(script, *words, "1", infiniband=tmp_path)["cores"][0] == "ok"
    found = preflight(script, *words, "9999", infiniband=tmp_path)["cores"]
    assert found[0] == verdict and re.match(r"oversubscribed: 9999 ranks on \d+ cores", found[1])


def test_preflight_knows_its_own_folder(script, program, tmp_path):
    mark = tmp_path / "mark"
    words = ["--program", str(program), "--mark", str(mark)]
    mark.write_text("of another job\n")
    assert "another folder" in preflight(script, *words, infiniband=tmp_path)["results"][1]
    mark.write_text(f"{mark}\n")
    assert preflight(script, *words, infiniband=tmp_path)["results"] == ("ok", f"{tmp_path} is shared")


def test_preflight_names_what_is_missing(script, program, tmp_path):
    found = preflight(script, "--program", str(program), "--provider", "verbs", infiniband=tmp_path)
    assert found["provider"][0] == "bad" and "RDMA device" in found["provider"][1]
    assert found["ipoib"][0] == "bad"
    assert preflight(script, "--program", "/bin/false", infiniband=tmp_path)["program"][0] == "bad"
