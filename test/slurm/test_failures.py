# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that do not get to their end: each ends as described, loses nothing, and says what is missing."""

import re
from pathlib import Path

import pytest
from processes import wait_until
from results import COMPLETE, PENDING, Results, complete_points
from study import PATIENCE, SITE

pytestmark = pytest.mark.slow

# Launches long enough to be met in the middle: points of a second. Those of an endless one take minutes: for
# tests after which nothing has to come to its end. Those of a long one take what PACE says when it begins.
PACE, HASTY = "pace.toml", "50ms"
SLOW = ["--launches", "2", "--", "--ops", "100000", "--timeout", "20s"]
LONG, POINTS = ["--sizes", "1000..24000+1000", *SLOW, "--config", PACE], 24
ENDLESS, ENDLESS_POINTS = ["--sizes", "1000..400000+1000", *SLOW, "--time-budget", "1s"], 400


@pytest.fixture(autouse=True)
def paced(study) -> None:
    set_pace(study, "1s")


def set_pace(study, point: str, *others: str) -> None:
    """What a point of a long launch that is yet to begin may take: one that nothing has to meet may be short."""
    written = study.folder / f"{PACE}.new"
    written.write_text("\n".join([f'time-budget = "{point}"', *others, ""]))
    written.replace(study.folder / PACE)  # at once: ranks may be reading it


def first_file(study, id: str) -> Path:
    return study.results / study.plan(id)[0]["file"]


def wait_for_points(study, id: str, count: int, launch: int = 0) -> None:
    plan = study.results / f"plan-{id}.tsv"
    assert wait_until(plan.is_file, PATIENCE), study.output(id)
    file = study.results / study.plan(id)[launch]["file"]
    assert wait_until(lambda: complete_points(file) >= count, PATIENCE), study.output(id)


def test_scancel(study):
    id = study.submit("alltoall.sbatch", *ENDLESS, slurm=["-N", "2"])
    wait_for_points(study, id, 2)
    study.cluster.run("scancel", id)
    study.done(id, "CANCELLED")
    rows = study.log(id)
    assert [row["launch"] for row in rows] == ["001", "002"]
    assert rows[0]["status"] not in ("0", "-")
    assert rows[0]["reason"] == "the job was cancelled: stopped at an op, what was complete is kept"
    assert rows[1]["reason"] == "not begun: the job was cancelled"
    results = Results(first_file(study, id))
    assert 2 <= results.states().count(COMPLETE) < ENDLESS_POINTS
    assert results.segments[0].end_state == 2


@pytest.mark.parametrize("what", ["scancel", "the time limit"])
@pytest.mark.parametrize("hangs", [False, True])
def test_an_end_during_the_preflight(study, program, what, hangs):
    """The nodes are not to blame, also one that hangs: nobody heard them out."""
    asked = study.folder / "asked"
    slow = study.folder / "a2aperf"
    slow.write_text(f"#!/usr/bin/env bash\n[[ ! -v SLURM_PROCID && $SLURM_STEP_ID == [0-9]* ]] && touch {asked} && sleep 20\n"
                    f'exec {program} "$@"\n')  # fmt: skip
    slow.chmod(0o755)
    study.environment = {**study.environment, "A2APERF": str(slow)}
    slurmd = (study.cluster.folder / "node006/slurmd.pid").read_text().strip()
    if hangs:
        study.cluster.run("kill", "-STOP", slurmd)
    try:
        id = study.submit("alltoall.sbatch", *ENDLESS, slurm=["-w", "node[005-006]"])
        assert wait_until(asked.exists, PATIENCE), study.output(id)
        study.cluster.run("scancel", *([] if what == "scancel" else ["--batch", "--signal=USR1"]), id)
        why = "the job was cancelled" if what == "scancel" else "the time limit is near"
        assert wait_until(lambda: "0 of 2 launches are good" in study.output(id), PATIENCE), study.output(id)
    finally:
        study.cluster.run("kill", "-CONT", slurmd)
    study.done(id, "CANCELLED" if what == "scancel" else "FAILED")
    assert [row["reason"] for row in study.log(id)] == [f"not begun: {why}"] * 2
    assert "not fit" not in study.output(id)
    assert not list(study.results.glob("nodes-*")) and not list(study.results.glob(".seen-*"))


def test_time_limit_requeue_and_resume(study):
    """The limit's signal comes at once here; the requeue and what follows are Slurm's own."""
    id = study.submit("alltoall.sbatch", "--requeue", *LONG, slurm=["-N", "2", "-t", "10", "--signal=B:USR1@60"])
    wait_for_points(study, id, 2)
    study.cluster.run("scancel", "--batch", "--signal=USR1", id)
    set_pace(study, HASTY)
    study.cluster.wait_for(id, lambda job: job.state in ("PENDING", "REQUEUED") or job.facts["Restarts"] == "1", PATIENCE)
    before = Results(first_file(study, id))
    done = [i for i, state in enumerate(before.states()) if state == COMPLETE]
    assert 2 <= len(done) < POINTS
    assert before.segments[0].end_state == 2
    with (study.results / f"log-{id}.tsv").open("a") as log:  # as a full disk would leave it
        log.write("002\t2026-11-2")
    study.done(id, seconds=2 * PATIENCE)

    assert study.cluster.job(id).facts["Restarts"] == "1"
    rows = study.log(id)
    assert [(row["launch"], row["status"] == "0") for row in rows] == [
        ("001", False), ("002", False), ("001", True), ("002", True),
    ]  # fmt: skip
    assert rows[0]["reason"].startswith("the time limit is near: stopped at an op")
    assert len(study.files(id)) == 2
    after = Results(first_file(study, id))
    assert after.states() == [COMPLETE] * POINTS
    # Nothing measured twice, nothing lost.
    assert [int(segment) for segment in after.columns["segment"]] == [int(i not in done) for i in range(POINTS)]
    for point in done:
        for name, samples in before.samples(point).items():
            assert (after.samples(point)[name] == samples).all()
    assert (study.results / f"report-{id}.html").is_file()


def test_the_time_limit_itself(study):
    """Slurm's signal comes by itself; without --requeue the job ends with what it has."""
    # Minutes of points: the signal comes in the first launch, however late.
    id = study.submit("alltoall.sbatch", *ENDLESS, slurm=["-N", "2", "-t", "60", "--signal=B:USR1@240"])
    wait_for_points(study, id, 1)
    # Now the limit is near: less than the 240 s ahead, and enough to end in.
    hours, minutes, _ = study.cluster.job(id).facts["RunTime"].split("-")[-1].split(":")
    near = int(hours) * 60 + int(minutes) + 4
    limited = study.cluster.run("scontrol", "update", f"jobid={id}", f"timelimit={near}")
    assert limited.returncode == 0, limited.stderr
    job = study.done(id, "FAILED")
    assert job.status == 1
    first, second = study.log(id)
    assert first["reason"].startswith("the time limit is near: stopped at an op")
    assert second["reason"] == "not begun: the time limit is near"
    cut = Results(first_file(study, id))
    assert 0 < cut.states().count(COMPLETE) < ENDLESS_POINTS
    assert cut.segments[0].end_state == 2
    assert (study.results / f"report-{id}.html").is_file()


def by_srun(study) -> Path:
    """The site with the other launcher."""
    site = study.folder / "by_srun.sh"
    site.write_text(SITE.read_text().replace("site_launcher=mpirun", "site_launcher=srun"))
    return site


def test_ranks_of_srun_end_at_an_op_too(study):
    id = study.submit("alltoall.sbatch", "--site", by_srun(study), *ENDLESS, slurm=["-N", "2"], site=False)
    wait_for_points(study, id, 1)
    study.cluster.run("scancel", "--batch", "--signal=USR1", id)
    study.done(id, "FAILED")
    results = Results(first_file(study, id))
    assert 1 <= results.states().count(COMPLETE) < ENDLESS_POINTS
    assert results.segments[0].end_state == 2


def rank_of(study, file: Path) -> int:
    """Process id, on the cluster, of one rank of the launch that writes the file."""
    said = study.cluster.run("pgrep", "-f", "--", f"^[^ ]*a2aperf alltoall .*--output {file}").stdout
    return int(said.split()[-1])


def node_of(study, process: int) -> str:
    """The node on which a process runs."""
    environment = study.cluster.run("cat", f"/proc/{process}/environ").stdout
    return dict(word.split("=", 1) for word in environment.split("\0") if "=" in word)["SLURMD_NODENAME"]


@pytest.mark.parametrize("go_on", [False, True])
def test_a_killed_rank(study, go_on):
    """Its node is named, and not one whose rank complained of it."""
    id = study.submit("alltoall.sbatch", *(["--go-on", *LONG] if go_on else ENDLESS), slurm=["-N", "4"])
    wait_for_points(study, id, 1)
    rank = rank_of(study, first_file(study, id))
    node = node_of(study, rank)
    study.cluster.run("kill", "-KILL", str(rank))
    set_pace(study, HASTY)
    assert study.done(id, "FAILED").status == 1
    first, second = study.log(id)
    assert first["status"] not in ("0", "-")
    assert re.fullmatch(rf"signal 9 \(Killed\) ended a rank on {node} \(process \d of mpirun\)", first["reason"])
    assert 1 <= complete_points(first_file(study, id)) < (POINTS if go_on else ENDLESS_POINTS)
    if go_on:
        assert second["status"] == "0"
        assert complete_points(study.results / study.plan(id)[1]["file"]) == POINTS
    else:
        assert second["reason"] == "not begun: launch 1 failed, and --go-on was not given"
    # What is there is reported, and what is missing.
    assert 'href="#missing"' in (study.results / f"report-{id}.html").read_text()


def test_a_killed_rank_of_srun(study):
    id = study.submit("alltoall.sbatch", "--site", by_srun(study), *ENDLESS, slurm=["-N", "2"], site=False)
    wait_for_points(study, id, 1)
    rank = rank_of(study, first_file(study, id))
    node = node_of(study, rank)
    study.cluster.run("kill", "-KILL", str(rank))
    study.done(id, "FAILED")
    assert re.fullmatch(rf"Killed: task \d of srun on {node}", study.log(id)[0]["reason"])


def test_a_killed_launcher(study):
    """From outside, so it says nothing: it is named, and not only its status."""
    id = study.submit("alltoall.sbatch", *ENDLESS, slurm=["-N", "2"])
    wait_for_points(study, id, 1)
    study.cluster.run("pkill", "-KILL", "-x", "mpirun")
    study.done(id, "FAILED")
    assert study.log(id)[0]["reason"] == "signal 9 (SIGKILL) ended mpirun"
    assert 1 <= complete_points(first_file(study, id)) < ENDLESS_POINTS


# In the place of the program: the last rank's daemon dies before any rank begins, so many times.
DAEMON_DIES = """#!/usr/bin/env bash
if [[ -v OMPI_COMM_WORLD_RANK ]] && (($(wc -l <{tries}) < {times})); then
    ((OMPI_COMM_WORLD_RANK == OMPI_COMM_WORLD_SIZE - 1)) || exec sleep 60
    echo >>{tries}
    kill -KILL $PPID
    exec sleep 60
fi
exec {program} "$@"
"""


def daemon_dies(study, program: Path, times: int) -> None:
    tries, script = study.folder / "tries", study.folder / "a2aperf"
    tries.touch()
    script.write_text(DAEMON_DIES.format(tries=tries, times=times, program=program))
    script.chmod(0o755)
    study.environment = {**study.environment, "A2APERF": str(script)}


LOST = r"mpirun lost its connection to node\d+"


def test_a_launch_that_mpirun_lost_at_its_start(study, program):
    """It is made once more, and the log has both."""
    daemon_dies(study, program, times=1)
    id = study.submit("alltoall.sbatch", "--launches", "2", "--", "--ops", "20", slurm=["-N", "2"])
    study.done(id)
    first, *rest = study.log(id)
    assert first["launch"] == "001" and first["status"] not in ("0", "-")
    assert re.fullmatch(rf"{LOST}, before anything was measured", first["reason"])
    assert [(row["launch"], row["status"]) for row in rest] == [("001", "0"), ("002", "0")]
    assert "2 of 2 launches are good" in study.output(id)


def test_a_launch_that_mpirun_loses_twice(study, program):
    """Once more, and not for ever."""
    daemon_dies(study, program, times=2)
    id = study.submit("alltoall.sbatch", "--launches", "2", "--", "--ops", "20", slurm=["-N", "2"])
    study.done(id, "FAILED")
    first, again, second = study.log(id)
    assert re.fullmatch(rf"{LOST}, before anything was measured", first["reason"])
    assert again["launch"] == "001" and re.fullmatch(LOST, again["reason"])
    assert second["reason"] == "not begun: launch 1 failed, and --go-on was not given"


def test_a_dead_node(study):
    """Its launch names it; the next is made by the others; one that needs as many nodes as there were is a gap."""
    id = study.submit("alltoall.sbatch", "--go-on", "--nodes", "3,4", "--seed", "2", *LONG, slurm=["-w", "node[005-008]"])
    wait_for_points(study, id, 1)
    study.cluster.signal_node("node006", "KILL")
    set_pace(study, HASTY)
    try:
        page = study.results / f"report-{id}.html"
        assert wait_until(page.is_file, PATIENCE), study.output(id)
    finally:
        # Slurm takes the job for ended when the dead node is back, or after SlurmdTimeout.
        study.cluster.revive("node006")
    assert study.done(id, "FAILED").status == 1
    plan, rows = study.plan(id), study.log(id)
    assert len(rows) == 4
    assert rows[0]["reason"] == "no answer from node006"
    assert plan[0]["subset"] == "node[005-008]"
    for planned, row in zip(plan[1:], rows[1:], strict=True):
        if planned["nodes"] == "4":
            assert row["reason"] == "not begun: it needs 4 nodes, and 3 are left"
        else:
            assert row["status"] == "0"
            assert planned["subset"] == "node[005,007-008]"
    assert {planned["nodes"] for planned in plan[1:]} == {"3", "4"}
    assert "node006\tuse\tbad\tleft out: does not answer" in (study.results / f"nodes-{id}.txt").read_text()


def test_scancel_while_a_dead_node_is_looked_for(study):
    """The launch that failed is in the log, with what is known so far."""
    id = study.submit("alltoall.sbatch", *ENDLESS, slurm=["-w", "node[005-008]"])
    wait_for_points(study, id, 1)
    study.cluster.signal_node("node006", "KILL")
    try:
        asks = ["pgrep", "-f", "^srun --overlap .*SLURMD_NODENAME"]
        assert wait_until(lambda: study.cluster.run(*asks).returncode == 0, PATIENCE), study.output(id)
        study.cluster.run("scancel", id)
        assert wait_until(lambda: "0 of 2 launches are good" in study.output(id), PATIENCE), study.output(id)
    finally:
        study.cluster.revive("node006")
    study.done(id, "CANCELLED")
    first, second = study.log(id)
    assert first["status"] not in ("0", "-"), first
    assert re.fullmatch(rf"{LOST}|no answer from node006", first["reason"]), first
    assert second["reason"] == "not begun: the job was cancelled"
    assert "left out" not in study.output(id)


def test_a_node_that_slurm_has_taken_from_the_job(study):
    """Slurm refuses every step that names it, so the nodes are those that the job has now."""
    id = study.submit("alltoall.sbatch", "--go-on", "--nodes", "3,4", "--seed", "2", *LONG, slurm=["-w", "node[005-008]"])
    wait_for_points(study, id, 1)
    study.cluster.signal_node("node006", "KILL")
    study.cluster.run("scontrol", "update", "nodename=node006", "state=down", "reason=test")
    set_pace(study, HASTY)
    try:
        assert study.done(id, "FAILED").status == 1
    finally:
        study.cluster.revive("node006")
    plan, rows = study.plan(id), study.log(id)
    reasons = [row["reason"] for row in rows]
    lost = reasons.index("no answer from node006")  # the launch under way, or on a busy machine the next one
    assert set(reasons[:lost]) <= {"-"}
    assert reasons[lost + 1 :] and set(reasons[lost + 1 :]) <= {"-", "not begun: it needs 4 nodes, and 3 are left"}
    good = {p["subset"] for p, row in zip(plan[lost:], rows[lost:], strict=True) if row["status"] == "0"}
    assert good == {"node[005,007-008]"}


def test_the_node_of_the_job_script_dies(study):
    """With it the script. Slurm keeps the allocation until the time limit; put back into the queue the job goes on."""
    id = study.submit("alltoall.sbatch", *LONG, slurm=["--requeue", "-w", "node[013-014]"])
    wait_for_points(study, id, 2)
    study.cluster.signal_node("node013", "KILL")
    set_pace(study, HASTY)
    done = complete_points(first_file(study, id))
    study.cluster.start("node013")
    study.cluster.run("scontrol", "requeue", id)
    study.cluster.wait_for(id, lambda job: job.facts["Restarts"] == "1", PATIENCE)
    study.done(id)
    assert [(row["launch"], row["status"]) for row in study.log(id)] == [("001", "0"), ("002", "0")]
    results = Results(first_file(study, id))
    assert results.states() == [COMPLETE] * POINTS
    assert list(results.columns["segment"]).count(0) == done >= 2


def test_a_switch_that_has_lost_a_node(study):
    """Its launches are made on what is left of it."""
    longer = ["--sizes", "1000000..1040000+1000", *(word for word in LONG[2:] if word not in ("--ops", "100000"))]
    words = ["--subsets", "per-switch", "--nodes", "1", "--ppn", "2", "--seed", "1", *longer]
    # The first launch is on the node that is lost and has to end with it: 41 points of at least 10 s, as
    # two ranks of one node take 50 µs for an op.
    set_pace(study, "1min", "ops = 200000")
    id = study.submit("alltoall.sbatch", "--go-on", *words, slurm=["-w", "node[009-012]"])
    wait_for_points(study, id, 1)
    assert [p["subset"] for p in study.plan(id)].count("node009") == 2 and study.plan(id)[0]["subset"] == "node011"
    set_pace(study, HASTY, "ops = 100")
    study.cluster.signal_node("node011", "KILL")
    study.cluster.run("scontrol", "update", "nodename=node011", "state=down", "reason=test")
    try:
        study.cluster.wait(id)
    finally:
        study.cluster.revive("node011")
    made = {p["subset"] for p, row in zip(study.plan(id), study.log(id), strict=True) if row["status"] == "0"}
    assert made == {"node009", "node012"}, (study.log(id), study.output(id))


@pytest.fixture
def patient_slurm(cluster):
    """A Slurm that says of no node by itself that it is lost, for longer than a test waits."""
    conf = cluster.folder / "slurm.conf"
    before = conf.read_text()
    conf.write_text(before.replace("SlurmdTimeout=300\n", "SlurmdTimeout=36000\n"))
    assert conf.read_text() != before
    cluster.run("scontrol", "reconfigure")
    assert "SlurmdTimeout           = 36000 sec" in cluster.run("scontrol", "show", "config").stdout
    yield
    conf.write_text(before)
    cluster.run("scontrol", "reconfigure")


@pytest.mark.parametrize("what", ["slurmd", "killed slurmd", "node"])
@pytest.mark.usefixtures("patient_slurm")
def test_a_node_that_hangs(study, what):
    """A slurmd that takes the next launch and never answers, or is not there; a node with its rank."""
    id = study.submit("alltoall.sbatch", "--go-on", "--nodes", "3,4", "--seed", "2", *LONG, slurm=["-w", "node[005-008]"])
    wait_for_points(study, id, 1)
    slurmd = (study.cluster.folder / "node006/slurmd.pid").read_text().strip()
    if what != "node":
        study.cluster.run("kill", "-STOP" if what == "slurmd" else "-KILL", slurmd)
    else:
        study.cluster.signal_node("node006", "STOP")
    set_pace(study, HASTY)
    try:
        page = study.results / f"report-{id}.html"
        assert wait_until(page.is_file, 4 * PATIENCE), study.output(id)
    finally:
        if what != "killed slurmd":
            study.cluster.signal_node("node006", "CONT")
        study.cluster.revive(*["node006"] * (what == "killed slurmd"))
    assert study.done(id, "FAILED").status == 1
    plan, rows = study.plan(id), study.log(id)
    assert plan[0]["nodes"] == "4"
    # What ran when its slurmd stopped did not need it.
    assert (rows[0]["status"] == "0") == (what != "node")
    assert [row["reason"] for row in rows].count("no answer from node006") == 1
    last = [p["subset"] for p, row in zip(plan, rows, strict=True) if row["status"] == "0"][-1]
    assert last == "node[005,007-008]"
    assert "node006\tuse\tbad\tleft out: does not answer" in (study.results / f"nodes-{id}.txt").read_text()


def test_a_drained_node(study):
    study.cluster.run("scontrol", "update", "nodename=node020", "state=drain", "reason=test")
    try:
        id = study.submit("alltoall.sbatch", "--launches", "1", "--sizes", "1000", "--", "--ops", "5", slurm=["-N", "19-20"])
        study.done(id)
    finally:
        study.cluster.run("scontrol", "update", "nodename=node020", "state=resume")
    assert [(row["nodes"], row["subset"]) for row in study.plan(id)] == [("19", "node[001-019]")]
    assert Results(study.files(id)[0]).columns["nodes"][0] == 19


@pytest.mark.parametrize("drop", [False, True])
def test_a_node_that_is_not_fit(study, program, drop):
    study.cluster.run_on("node004", "mount", "--bind", "/dev/null", program)
    try:
        id = study.submit("alltoall.sbatch", *(["--drop-bad-nodes"] if drop else []), "--launches", "1",
                          "--sizes", "1000", "--", "--ops", "5", slurm=["-w", "node[003-006]"])  # fmt: skip
        job = study.done(id, "COMPLETED" if drop else "FAILED")
    finally:
        study.cluster.run_on("node004", "umount", program)
    assert "node004 is not fit to measure: program:" in study.output(id)
    found = (study.results / f"nodes-{id}.txt").read_text()
    assert not list(study.results.glob(".seen-*"))
    assert re.search(r"^node004\tprogram\tbad\t.* does not run", found, re.MULTILINE)
    assert "node003\tprogram\tok\ta2aperf" in found
    if drop:
        assert [row["subset"] for row in study.plan(id)] == ["node[003,005-006]"]
        assert "node004\tuse\tbad\tleft out" in found
    else:
        assert job.status == 1
        assert "--drop-bad-nodes goes on without them" in study.output(id)
        assert study.files(id) == []
        # Who asks how the study stands is told.
        assert [row["reason"] for row in study.log(id)] == ["not begun: not fit to measure: node004"]
        status = study.cluster.run(study.environment["A2A"], "status", study.results)
        assert status.returncode == 1, status.stderr
        assert "0 of 1 launches good; ended" in status.stdout
        assert "not begun: not fit to measure: node004" in status.stdout
        assert re.search(r"node node004: program: .* does not run", status.stdout)


@pytest.mark.parametrize("kind", ["alltoall", "compare"])
def test_a_count_that_was_given_and_a_node_that_is_not_fit(study, program, kind):
    """Without the node it is one less, and the others stay as they are."""
    words = ["X=1,2", "--nodes", "4"] if kind == "compare" else ["--nodes", "2,4"]
    study.cluster.run_on("node004", "mount", "--bind", "/dev/null", program)
    try:
        id = study.submit(f"{kind}.sbatch", *words, "--drop-bad-nodes", "--launches", "1", "--sizes", "1000",
                          "--", "--ops", "5", slurm=["-w", "node[003-006]"])  # fmt: skip
        study.done(id)
    finally:
        study.cluster.run_on("node004", "umount", program)
    made = sorted(row["subset"] for row in study.plan(id))
    assert made == ["node[003,005-006]"] * 2 if kind == "compare" else ["node[003,005-006]", "node[003,005]"]
    assert "3 nodes are measured instead of 4: no more are left" in study.output(id)


def test_a_results_folder_that_is_not_shared(study):
    """One node has another folder of that name: rank 0 would write where nobody looks."""
    study.results.mkdir()
    study.cluster.run_on("node004", "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", study.results)
    try:
        id = study.submit("alltoall.sbatch", "--drop-bad-nodes", "--launches", "1", "--sizes", "1000",
                          "--", "--ops", "5", slurm=["-w", "node[003-006]"])  # fmt: skip
        study.done(id)
    finally:
        study.cluster.run_on("node004", "umount", study.results)
    assert f"node004 is not fit to measure: results: {study.results} is another folder here" in study.output(id)
    assert [row["subset"] for row in study.plan(id)] == ["node[003,005-006]"]


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        ('rm "$file"', "its file is not in "),
        ('truncate -s 5000 "$file"', "its file is not sound: it is shorter than its own header says"),
    ],
)
def test_a_launch_without_its_results_is_not_good(study, program, damage, says):
    """Something takes the file away, or a part of it, as soon as the launch has ended well."""
    damage_results(study, program, damage)
    id = study.submit("alltoall.sbatch", "--launches", "2", "--sizes", "1000", "--", "--ops", "5", slurm=["-N", "2"])
    study.done(id, "FAILED")
    first, second = study.log(id)
    assert first["status"] == "1" and says in first["reason"]
    assert second["reason"] == "not begun: launch 1 failed, and --go-on was not given"


def test_results_that_are_damaged_inside(study, program):
    """The analysis sees it at the end of the job."""
    overwrite = 'dd if=/dev/urandom of="$file" bs=1 seek=200 count=2000 conv=notrunc 2>/dev/null'
    damage_results(study, program, f'[[ $file != *-001.h5 ]] || {overwrite}')
    id = study.submit("alltoall.sbatch", "--launches", "2", "--sizes", "1000", "--", "--ops", "5", slurm=["-N", "2"])
    study.done(id, "FAILED")
    first, second, last = study.log(id)
    assert first["status"] == second["status"] == "0"
    assert last["launch"] == "001" and last["status"] == "1"
    assert last["reason"].startswith("its file is not sound: ")
    assert "1 of 2 launches are good" in study.output(id)
    # The other is reported all the same.
    assert (study.results / f"report-{id}.html").is_file()


def damage_results(study, program, command: str) -> None:
    """Every launch has this done to its "$file" as soon as it has ended well."""
    wrapped = study.folder / "a2aperf"
    wrapped.write_text(
        f"""#!/usr/bin/env bash
        {program} "$@" || exit
        while (($#)); do [[ $1 != --output ]] || file=$2; shift; done
        [[ ! -v file || $OMPI_COMM_WORLD_RANK != 0 ]] || {command}
        """
    )
    wrapped.chmod(0o755)
    study.environment = {**study.environment, "A2APERF": str(wrapped)}


def test_an_array_whose_task_fails_and_the_report_behind_it(study):
    array = study.submit("alltoall.sbatch", *LONG, slurm=["-N", "2", "--array=0-1"])
    behind = study.submit("report.sbatch", slurm=[f"--dependency=afterany:{array}"])
    jobs = {}

    def tasks() -> bool:
        said = study.cluster.run("scontrol", "show", "job", "-o", array).stdout
        jobs.update(re.findall(r"^JobId=(\d+) ArrayJobId=\d+ ArrayTaskId=(\d+) ", said, re.MULTILINE))
        return len(jobs) == 2

    assert wait_until(tasks, PATIENCE)
    good, bad = sorted(jobs, key=lambda id: jobs[id])  # by their task
    wait_for_points(study, bad, 1)
    study.cluster.run("scancel", f"{array}_1")
    study.done(bad, "CANCELLED")
    set_pace(study, HASTY)
    study.done(good)
    study.done(behind)
    assert [row["status"] for row in study.log(good)] == ["0", "0"]
    # In its first launch, or on a slow machine in the second.
    begun = sum(row["started"] != "-" for row in study.log(bad))
    stopped, *others = [row["reason"] for row in study.log(bad)[begun - 1 :]]
    assert stopped == "the job was cancelled: stopped at an op, what was complete is kept"
    assert others == ["not begun: the job was cancelled"] * (2 - begun)
    assert 'href="#missing"' in (study.results / "report.html").read_text()
    assert len(Results(study.results / "merged/all.h5").segments) == 2 + begun


def test_every_wait_ends(study):
    """A rank that is stopped for good is noticed by the program; the job goes on to its end."""
    impatient = ["5s" if word == "20s" else word for word in ENDLESS]
    id = study.submit("alltoall.sbatch", *impatient, slurm=["-N", "2"])
    wait_for_points(study, id, 1)
    study.cluster.run("kill", "-STOP", str(rank_of(study, first_file(study, id))))
    study.done(id, "FAILED")
    assert re.search(r"\b5(\.\d+)? s\b", study.log(id)[0]["reason"])
    assert Results(first_file(study, id)).states().count(PENDING) > 0
