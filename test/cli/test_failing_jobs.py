# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that die, stop or get signals; disks that fill; launches that do not fit: everybody ends, nothing is lost."""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import checksums
import counter_values
import h5py
import numpy as np
import pytest
from pairs_file import check_matrix
from processes import PATIENCE, parent, running_in, state, wait_until
from results import COMPLETE, STOP_RULE, Results, complete_points
from running_launch import SUPPORT, Launch, start

pytestmark = pytest.mark.slow

CALM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--warmup", "1", "--no-sentinel", "-o", "a.h5"]
# Points of 300 ms, and so many that a launch is met in the middle also by a test that has to wait for the CPU.
POINTS = 24
LONG = [*CALM, "--sizes", "100000..123000+1000", "--ops", "200000", "--time-budget", "300ms"]
FINISHED, INTERRUPTED, FAILED = 1, 2, 3
LOST_LAUNCHER = 195  # the status that Open MPI gives a rank whose launcher has gone
# shm's ranks share a spinlock: one that is stopped while it holds it stops its peers for good, inside libfabric.
STOPPABLE = ["net", "tcp"]


def over(provider: str, words: list[str]) -> list[str]:
    return [provider if word == "shm" else word for word in words]


def complete_rows(file: Path) -> int:
    return Results(file).states().count(COMPLETE)


def refused(outcome, says: str) -> None:
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert outcome.returncode == 2, outcome.stderr
    assert len(lines) == 1 and says in lines[0], outcome.stderr
    assert outcome.stdout == ""


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ('exec "$0" alltoall --ops $((5 + OMPI_COMM_WORLD_RANK))', "was started with different arguments from rank 0"),
        ('export PSM2_RCVTHREAD=$((OMPI_COMM_WORLD_RANK / 2)); exec "$0" alltoall --ops 5', "PSM2_RCVTHREAD is '0'"),
        ('((OMPI_COMM_WORLD_RANK)) || export FI_SHM_TX_SIZE=64; exec "$0" alltoall --ops 5', "FI_SHM_TX_SIZE is '64'"),
    ],
)
def test_ranks_that_were_started_differently(program, tmp_path, script, says):
    outcome = subprocess.run(
        [SUPPORT / "mpirun.sh", "3", "bash", "-c", script + " --provider shm --poll yield", program],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    refused(outcome, says)
    assert list(tmp_path.iterdir()) == []


THREADS = ["--endpoints", "2", "--threads", "each"]


@pytest.mark.parametrize("threads", [[], THREADS], ids=["one", "each"])
def test_a_killed_rank(start, tmp_path, threads):
    launch = start(3, *LONG, *threads, "--timeout", "3s")
    launch.wait_for_rows(2)
    launch.kill(signal.SIGKILL, [1])
    assert launch.end() != 0
    assert 2 <= complete_rows(tmp_path / "a.h5") < POINTS
    (segment,) = Results(tmp_path / "a.h5").segments
    named = r"\[\[\d+,1\],1\]" if segment.end_reason == "running" else r"a2aperf: rank 1 \("  # by the launcher, where it was faster
    assert re.search(named, launch.err.read_text())


def test_a_killed_rank_of_pairs_and_the_rest_resumed(start, tmp_path):
    file = tmp_path / "a.h5"
    words = [*[word for word in CALM if word != "--no-sentinel"], "--sizes", "100000..107000+1000"]
    launch = start(3, *words, "--ops", "400", "--timeout", "3s", command="pairs")
    assert wait_until(lambda: complete_points(file, "pair") >= 3 or launch.launcher.poll() is not None, PATIENCE)
    launch.kill(signal.SIGKILL, [0])
    assert launch.end() != 0
    before = Results(file)
    kept = [i for i, state in enumerate(before.states("pair")) if state == COMPLETE]
    assert 3 <= len(kept) < len(before)
    cells = check_matrix(file)

    assert start(3, *words, "--ops", "400", "--resume", command="pairs").end() == 0
    after = Results(file)
    assert after.states("pair") == [COMPLETE] * 16
    assert [i for i, segment in enumerate(after.columns["segment"]) if segment == 0] == kept
    assert cells <= check_matrix(file)


@pytest.mark.parametrize("threads", [[], THREADS], ids=["one", "each"])
def test_a_stopped_rank(start, tmp_path, threads):
    launch = start(3, *over("tcp", LONG), *threads, "--timeout", "2s")
    launch.wait_for_rows(2)
    launch.kill(signal.SIGSTOP, [1])
    assert launch.end() not in (0, 124, 137)  # ended by itself, not by the launcher's deadline
    said = r"a2aperf: rank [02] \(\S+\), point \d, tagged shift window all (endpoints 2 threads each )?\d+ B: .*(waited|nothing happened for) ([2-9]|\d\d+)(\.\d+)? s"
    assert any(re.match(said, line) for line in launch.says()), launch.says()
    assert 2 <= complete_rows(tmp_path / "a.h5") < POINTS
    assert Results(tmp_path / "a.h5").segments[0].end_state in (0, 3)


@pytest.fixture
def patient_launcher(monkeypatch):
    """Open MPI's kills ranks a second after it passed a signal on, in which they may not have had the CPU; and itself ends
    after five."""
    return lambda: monkeypatch.setenv("OMPI_MCA_odls_base_sigkill_timeout", "4")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("threads", [[], THREADS], ids=["one", "each"])
def test_a_signal(start, tmp_path, number, threads):
    launch = start(3, *LONG, *threads)
    launch.wait_for_rows(2)
    launch.kill(number, [0, 1, 2])
    assert launch.end() != 0
    assert launch.statuses() == dict.fromkeys(range(3), 128 + number)
    results = Results(tmp_path / "a.h5")
    assert 2 <= results.states().count(COMPLETE) < POINTS
    tells_of_a_stop(launch, results)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_launcher(start, tmp_path, patient_launcher, number):
    """It passes either on as SIGTERM. Where ranks had no CPU for five seconds it is gone before them, and MPI ends them."""
    patient_launcher()
    for _ in range(10):
        (tmp_path / "a.h5").unlink(missing_ok=True)
        launch = start(3, *LONG)
        launch.wait_for_rows(2)
        launch.launcher.send_signal(number)
        assert launch.end() != 0
        assert 2 <= complete_rows(tmp_path / "a.h5") < POINTS
        if LOST_LAUNCHER not in launch.statuses().values():
            break
    assert set(launch.statuses().values()) <= {128 + signal.SIGTERM, 128 + number}
    tells_of_a_stop(launch, Results(tmp_path / "a.h5"), is_heard=False)


# Rank 0 has a reader that goes after the first line.
UNHEARD = ["bash", "-c", '((OMPI_COMM_WORLD_RANK)) || exec > >(head -n 1 >/dev/null) 2>&1; exec "$0" "$@"']


def test_a_launch_that_nobody_listens_to(start, tmp_path):
    assert start(2, *FEW, within=UNHEARD).end() == 0
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE] * 6
    assert results.segments[0].end_state == FINISHED


def test_a_failure_that_nobody_listens_to(start, tmp_path):
    """The file is closed all the same."""
    file = tmp_path / "a.h5"
    launch = start(2, *over("tcp", LONG), "--timeout", "2s", within=UNHEARD)
    assert wait_until(lambda: complete_points(file) >= 2 or launch.launcher.poll() is not None, PATIENCE)
    launch.kill(signal.SIGSTOP, [1])
    assert launch.end() not in (0, 124, 137)
    assert 2 <= complete_rows(file) < POINTS
    assert Results(file).segments[0].end_state == FAILED


def test_a_launch_without_a_valid_op(start, launch, tmp_path):
    """Three ranks on one core hardly ever begin together: no figures, and so no success. Its samples are kept."""
    words = [*CALM, "--sizes", "8,16", "--ops", "2", "--force"]
    words[words.index("--sync") + 1] = "clock"
    words[words.index("--poll") + 1] = "spin"
    for _ in range(4):
        failed = start(3, *words, within=["taskset", "-c", str(min(os.sched_getaffinity(0)))])
        if status := failed.end():
            break
    assert status == 1
    assert failed.says() == [
        "a2aperf: no op of any point was valid: the samples in a.h5 tell why; "
        "--resume measures these points again, --force replaces the file"
    ]
    results = Results(tmp_path / "a.h5")
    assert (results.columns["ops"] == 0).all() and (results.columns["invalid"] > 0).all()
    assert (results.samples(0)["begin"].max(axis=1) > results.columns["late_limit"][0]).all()
    words.remove("--force")
    assert start(3, *words).end() == 2  # nothing is lost by accident
    again = start(3, *words, "--resume")
    assert again.end() in (0, 1), again.says()
    assert [segment.end_state for segment in Results(tmp_path / "a.h5").segments] == [FINISHED] * 2


def tells_of_a_stop(launch: Launch, results: Results, is_heard: bool = True) -> None:
    """In the file and to the user: at what, what is kept, how to go on; nobody is said to have waited in vain.

    is_heard: what ranks say comes through. A launcher that was stopped itself may have ended before they say it.
    """
    assert results.segments[0].end_state == INTERRUPTED
    message = results.segments[0].message
    by = r"15 \(Terminated; mpirun sends it on \^C, too\)|2 \(Interrupt\)"
    cause = r"rank \d \(\S+\) has ended; "
    assert re.match(rf"({cause})?stopped by signal ({by}) at point \d+, tagged shift", message)
    points = results.states().count(COMPLETE)
    kept = rf"{points} points? (is|are) complete in \S*a\.h5: --resume goes on with it"
    said = [re.sub(kept, "KEPT", line) for line in launch.says()]
    assert said == [f"a2aperf: {message}; KEPT"] or (not is_heard and said == [])


@pytest.mark.parametrize("provider", STOPPABLE)
@pytest.mark.parametrize(("fate", "stopped"), [(signal.SIGSTOP, 1), (signal.SIGKILL, 1), (signal.SIGSTOP, 2)])
def test_a_stop_that_an_op_cannot_wait_for(start, tmp_path, patient_launcher, fate, stopped, provider):
    """The op cannot end: its peer does nothing any more. The others get the signal, from the launcher at the latest.

    Open MPI's launcher wakes a stopped rank a second before it tells it to stop. Over tcp it finds its peers gone at once.
    """
    if fate == signal.SIGKILL:
        patient_launcher()
    for _ in range(5):
        launch = start(3, *over(provider, LONG), "--force")
        launch.wait_for_rows(2)
        launch.kill(fate, [stopped])
        if fate == signal.SIGSTOP:
            launch.kill(signal.SIGTERM, [rank for rank in range(3) if rank != stopped])
        assert launch.end() not in (0, 1)
        if 0 in launch.statuses():
            break  # else the launcher has killed it before it had the CPU
    assert launch.statuses()[0] == 128 + signal.SIGTERM
    tells_of_a_stop(launch, Results(tmp_path / "a.h5"))


@pytest.mark.parametrize("provider", STOPPABLE)
def test_a_rank_that_is_woken_before_it_is_told_to_stop(start, tmp_path, provider):
    """Open MPI's launcher wakes it, sleeps, and then tells it, here when it has long found its peers gone."""
    launch = start(3, *over(provider, LONG))
    launch.wait_for_rows(2)
    launcher, woken = launch.launcher_of_ranks(), launch.pid(1)
    launch.kill(signal.SIGSTOP, [1])
    os.kill(launcher, signal.SIGSTOP)
    launch.kill(signal.SIGTERM, [0, 2])
    assert wait_until(lambda: set(launch.statuses()) == {0, 2}, PATIENCE)
    os.kill(woken, signal.SIGCONT)
    time.sleep(2)  # more than a rank waits that was not stopped
    os.kill(woken, signal.SIGTERM)
    assert wait_until(lambda: len(launch.statuses()) == 3, PATIENCE)
    os.kill(launcher, signal.SIGCONT)
    assert launch.end() != 0
    assert launch.statuses() == dict.fromkeys(range(3), 128 + signal.SIGTERM)
    tells_of_a_stop(launch, Results(tmp_path / "a.h5"))


def test_ranks_that_slurm_stops_with_a_peer_that_was_stopped(start, tmp_path):
    """At its time limit: SIGCONT and SIGTERM to all."""
    launch = start(3, *LONG)
    launch.wait_for_rows(2)
    launch.kill(signal.SIGSTOP, [1])
    launch.kill(signal.SIGCONT, [0, 1, 2])
    launch.kill(signal.SIGTERM, [0, 1, 2])
    assert launch.end() != 0
    assert launch.statuses() == dict.fromkeys(range(3), 128 + signal.SIGTERM)
    tells_of_a_stop(launch, Results(tmp_path / "a.h5"))


def test_a_stop_during_a_baseline_that_cannot_end(start, launch, tmp_path, program):
    """MPI_Alltoall cannot be left: the file is closed beside it, and the process ends in it."""
    stopped = stopped_in_a_baseline(start, tmp_path, program)
    stopped.kill(signal.SIGTERM, [0])
    assert stopped.end() != 0
    assert stopped.statuses()[0] == 128 + signal.SIGTERM
    tells_of_a_stop(stopped, Results(tmp_path / "a.h5"))
    assert complete_rows(tmp_path / "a.h5") == 1
    outcome = launch(2, "alltoall", *BASELINE, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    assert complete_rows(tmp_path / "a.h5") == 2


def test_a_baseline_that_takes_longer_than_the_timeout(start, launch, tmp_path, program):
    """The file says so, and what is complete is kept."""
    failed = stopped_in_a_baseline(start, tmp_path, program, "--timeout", "10s")
    assert failed.end() != 0
    assert failed.statuses()[0] == 1
    (segment,) = Results(tmp_path / "a.h5").segments
    assert segment.end_state == FAILED
    assert re.fullmatch(
        r"rank 0 \(\S+\), .*2000 B.*: MPI_Alltoall of 2000 B did not end within 10 s: a rank is stopped, dead or far "
        r"behind", segment.message
    ), segment.message  # fmt: skip
    kept = "; 1 point is complete in a.h5: --resume goes on with it"
    assert failed.says() == [f"a2aperf: {segment.message}{kept}"]
    assert complete_rows(tmp_path / "a.h5") == 1
    outcome = launch(2, "alltoall", *BASELINE, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    assert complete_rows(tmp_path / "a.h5") == 2


BASELINE = [*CALM, "--sizes", "1000,2000", "--ops", "20", "--baseline", "mpi"]


def stopped_in_a_baseline(start, tmp_path, program, *more: str) -> Launch:
    """A launch whose rank 1 is stopped in an MPI_Alltoall of its second point."""
    library = program.parents[2] / "test" / "faults" / "libfault-mpi.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    fault = ["A2APERF_TEST_FAULT=call=MPI_Alltoall do=stop rank=1 nth=30", f"A2APERF_TEST_FAULT_LOG={notes}"]
    launch = start(2, *BASELINE, *more, within=["env", *fault, f"LD_PRELOAD={library}"])
    assert wait_until(lambda: notes.is_file() and " struck " in notes.read_text(), PATIENCE)
    assert wait_until(lambda: state(launch.pid(1)) == "T", PATIENCE)
    return launch


@pytest.mark.parametrize("provider", ["tcp", "net"])
def test_a_stop_during_the_first_exchange(start, tmp_path, program, provider):
    """Large messages are under way, to a peer that was stopped; there is no point yet, and no file."""
    library = program.parents[2] / "test" / "faults" / "libfault-fabric.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    fault = ["A2APERF_TEST_FAULT=call=send do=stop rank=1", f"A2APERF_TEST_FAULT_LOG={notes}"]
    words = over(provider, CALM)
    launch = start(2, *words, "--sizes", "64MiB", "--ops", "2", within=["env", *fault, f"LD_PRELOAD={library}"])
    assert wait_until(lambda: notes.is_file() and " struck " in notes.read_text(), PATIENCE)
    assert wait_until(lambda: state(launch.pid(1)) == "T", PATIENCE)
    launch.kill(signal.SIGTERM, [0])
    assert launch.end() != 0
    assert launch.statuses()[0] == 128 + signal.SIGTERM
    by = "signal 15 (Terminated; mpirun sends it on ^C, too)"
    assert launch.says() == [f"a2aperf: stopped by {by} while no point was being measured"]
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("call", ["MPI_Comm_split", "MPI_Finalize"])
def test_a_rank_that_is_missing_at_the_first_or_the_last_call(start, tmp_path, program, call):
    """Calls of MPI that cannot be left: who waits says so and ends, and what was measured is in the file."""
    library = program.parents[2] / "test" / "faults" / "libfault-mpi.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    fault = [f"A2APERF_TEST_FAULT=call={call} do=stop rank=1", f"A2APERF_TEST_FAULT_LOG={notes}"]
    words = [*CALM, "--sizes", "1000", "--ops", "5", "--timeout", "2s"]
    launch = start(2, *words, within=["env", *fault, f"LD_PRELOAD={library}"])
    assert launch.end() != 0
    assert " struck " in notes.read_text(), "the fault was not met"
    (line,) = launch.says()
    assert re.fullmatch(
        rf"a2aperf: rank 0 \(\S+\): {call} did not end within 2 s: a rank is stopped, dead or far behind", line
    ), line
    has_file = call == "MPI_Finalize"
    assert (tmp_path / "a.h5").exists() == has_file
    if has_file:
        assert complete_rows(tmp_path / "a.h5") == 1


def test_a_stop_while_mpi_starts(start, tmp_path, program):
    """A peer that never comes to it: a signal still ends who waits."""
    library = program.parents[2] / "test" / "faults" / "libfault-mpi.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    fault = ["A2APERF_TEST_FAULT=call=MPI_Init_thread do=stop rank=1", f"A2APERF_TEST_FAULT_LOG={notes}"]
    launch = start(2, *CALM, within=["env", *fault, f"LD_PRELOAD={library}"])
    assert wait_until(lambda: notes.is_file() and " struck " in notes.read_text(), PATIENCE)
    assert wait_until(lambda: state(launch.pid(1)) == "T", PATIENCE)
    launch.kill(signal.SIGTERM, [0])
    assert launch.end() != 0
    assert launch.statuses()[0] == 128 + signal.SIGTERM
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("is_told", [False, True])
def test_a_rank_that_stops_while_addresses_are_exchanged(start, tmp_path, program, is_told):
    """Who waits names it after the timeout, or ends of a signal before; no file was made."""
    library = program.parents[2] / "test" / "faults" / "libfault-mpi.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    gathers = 5  # of text: hosts, memory, cores and adapters, and then addresses
    fault = [f"A2APERF_TEST_FAULT=call=MPI_Iallgatherv do=stop rank=1 nth={gathers}", f"A2APERF_TEST_FAULT_LOG={notes}"]
    words = [*over("net", CALM), "--timeout", "60s" if is_told else "2s"]
    launch = start(2, *words, within=["env", *fault, f"LD_PRELOAD={library}"])
    assert wait_until(lambda: notes.is_file() and " struck " in notes.read_text(), PATIENCE)
    if is_told:
        assert wait_until(lambda: state(launch.pid(1)) == "T", PATIENCE)
        launch.kill(signal.SIGTERM, [0])
    assert launch.end() != 0
    (line,) = launch.says()
    if is_told:
        assert launch.statuses()[0] == 128 + signal.SIGTERM
        assert line.startswith("a2aperf: stopped by signal 15 "), line
    else:
        waited = r"a2aperf: rank 0 \(\S+\): it waited \S+ s to gather text from all ranks"
        assert re.fullmatch(rf"{waited}: rank 1 \(\S+\) is stopped, dead or far behind", line), line
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("call", ["fsync nth=1", "fdatasync nth=1", "fsync nth=3"])
def test_a_disk_that_takes_longer_than_the_timeout(start, tmp_path, program, call):
    """For a new file, after a point, when all is measured: nobody is accused, and the launch is good."""
    library = program.parents[2] / "test" / "faults" / "libfault-io.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / f"{tmp_path.name}.notes"
    fault = [f"A2APERF_TEST_FAULT=call={call} do=late:9000 rank=0", f"A2APERF_TEST_FAULT_LOG={notes}"]
    words = [*CALM, "--sizes", "1000", "--ops", "5", "--timeout", "5s"]
    launch = start(2, *words, within=["env", *fault, f"LD_PRELOAD={library}"])
    assert launch.end() == 0, launch.err.read_text()
    assert " struck " in notes.read_text(), "the fault was not met"
    assert launch.says() == []
    assert complete_rows(tmp_path / "a.h5") == 1


def test_ranks_leave_after_the_file_is_closed(start, tmp_path, program):
    """The launcher kills what is left a second after the first rank has gone, and the disk takes longer than that."""
    library = program.parents[2] / "test" / "faults" / "libfault-io.so"
    assert library.is_file(), f"{library} is not built"
    notes = tmp_path.parent / "fault-notes"
    fault = ["A2APERF_TEST_FAULT=call=fsync do=late:2000 rank=0 nth=3", f"A2APERF_TEST_FAULT_LOG={notes}"]
    launch = start(3, *LONG, within=["env", *fault, f"LD_PRELOAD={library}"])
    launch.wait_for_rows(2)
    launch.kill(signal.SIGTERM, [0, 1, 2])
    assert launch.end() != 0
    assert launch.statuses() == dict.fromkeys(range(3), 128 + signal.SIGTERM)
    assert " struck " in notes.read_text(), "the fault was not met"
    tells_of_a_stop(launch, Results(tmp_path / "a.h5"))


def test_a_killed_launch_is_resumed(start, launch, tmp_path):
    first = start(2, *LONG)
    first.wait_for_rows(3)
    first.kill(signal.SIGKILL, [0, 1])
    assert first.end() != 0
    before = Results(tmp_path / "a.h5")
    done = np.flatnonzero(before.columns["state"] == COMPLETE)
    assert 3 <= len(done) < POINTS

    outcome = launch(2, "alltoall", *LONG, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    after = Results(tmp_path / "a.h5")
    assert after.states() == [COMPLETE] * POINTS
    assert [int(point in done) for point in range(POINTS)] == [1 - int(s) for s in after.columns["segment"]]
    assert [segment.end_state for segment in after.segments] == [0, 1]
    for name in ("started", "duration", "attempts", "time_p50", "time_mean", "order"):
        assert (after.columns[name][done] == before.columns[name][done]).all()
    for point in done:
        for name, samples in before.samples(point).items():
            assert (after.samples(point)[name] == samples).all()
    assert set(after.columns["stop_rule"]) <= {STOP_RULE["time-budget"], STOP_RULE["ops"]}
    assert len([line for line in outcome.stdout.splitlines() if line.split()[:1] == ["2"]]) == POINTS

    # Cut short, such a file is refused and stays as it is.
    whole = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(whole[: len(whole) // 2])
    refused(launch(2, "alltoall", *LONG, "--resume"), "a.h5")
    assert (tmp_path / "a.h5").read_bytes() == whole[: len(whole) // 2]
    assert [file.name for file in tmp_path.iterdir()] == ["a.h5"]


def test_resume_refuses_another_schema_and_another_sweep(launch, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["temperature"] = [1.0, 2.0]
    refused(launch(2, "alltoall", *CALM, "--resume"), "a.h5")
    (tmp_path / "a.h5").unlink()
    assert launch(2, "alltoall", *CALM, "--sizes", "8", "--ops", "2").returncode == 0
    before = (tmp_path / "a.h5").read_bytes()
    refused(launch(2, "alltoall", *CALM, "--sizes", "16", "--ops", "2", "--resume"), "a.h5")
    refused(launch(2, "alltoall", *CALM, "--sizes", "8", "--ops", "2"), "--resume")
    assert (tmp_path / "a.h5").read_bytes() == before
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["schema_version"] = np.int32(99)
    refused(launch(2, "alltoall", *CALM, "--sizes", "8", "--ops", "2", "--resume"), "99")


def test_how_ops_start_is_kept_when_a_file_is_resumed(launch, tmp_path):
    """Also where it would be chosen otherwise now, as for more ranks than cores."""
    words = [word for word in CALM if word not in ("--sync", "barrier")] + ["--sizes", "8,16", "--ops", "2"]
    # 1: on oversubscribed cores maybe none of its ops was valid
    assert launch(3, "alltoall", *words, "--sync", "clock").returncode in (0, 1)
    outcome = launch(3, "alltoall", *words, "--resume")
    assert outcome.returncode in (0, 1), outcome.stderr
    assert "ops start on a common clock" in outcome.stdout
    first, again = (segment.attributes for segment in Results(tmp_path / "a.h5").segments)
    assert (first["sync"], first["sync_reason"]) == ("clock", "asked for")
    assert (again["sync"], again["sync_reason"]) == ("clock", "as in the launch before")
    before = (tmp_path / "a.h5").read_bytes()
    says = "a.h5 can't be resumed: its ops start by --sync clock and this launch's by --sync barrier."
    refused(launch(3, "alltoall", *words, "--sync", "barrier", "--resume"), says)
    assert (tmp_path / "a.h5").read_bytes() == before


def test_a_file_of_an_older_program_is_resumed(start, launch, tmp_path):
    """One that was killed, without the columns and samples that came later within the schema version."""
    first = start(2, *FEW)
    first.wait_for_rows(2)
    first.kill(signal.SIGKILL, [0, 1])
    assert first.end() != 0
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        checksums.make_older(file)
        beside = ("verification_", "values_of_", "rank_value", "node_value")
        untimed = [f"counters/{name}" for name in file["counters"] if name.startswith(beside)]
        assert {"counters/verification_port", "counters/values_of_ranks", "counters/values_of_nodes"} < {*untimed}
        later = [
            f"counters/{name}"
            for name in file["counters"]
            if f"counters/{name}" not in untimed
            and (name.startswith(("softirqs_", "node_")) or name in ("resident_memory", "locked_memory", "wall_time"))
        ]
        assert {"counters/wall_time", "counters/node_idle_time"} < {*later}
        for name in ("clock_error", "distance", "raw/exit", "segments/0/start_counters", *untimed, *later):
            del file[name]
    with h5py.File(tmp_path / "a.h5") as file:
        states, p50 = file["state"][()], file["time_p50"][()]
        begin = file["raw/begin"][()]
    done = states == COMPLETE
    assert 1 <= done.sum() < 6  # without checksums those do not count that wait for the disk

    outcome = launch(2, "alltoall", *FEW, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["state"][()] == COMPLETE).all()
        assert (file["time_p50"][()][done] == p50[done]).all() and (file["time_p50"][()] > 0).all()
        assert (file["segment"][()] == np.where(done, 0, 1)).all()
        for point in np.flatnonzero(done):
            made = file["attempts"][point]
            assert (file["raw/begin"][point, :made] == begin[point, :made]).all()
        # What the older one did not keep stays unknown, also for the new points where it is kept for all or none.
        assert np.isnan(file["clock_error"][()][done]).all() and not np.isnan(file["clock_error"][()][~done]).any()
        assert "exit" not in file["raw"]
        faults = file["counters/verification_minor_faults"][()]
        assert (faults[done] == -1).all() and (faults[~done] >= 0).all()
        for name in ("before_minor_faults", "after_minor_faults"):
            faults = counter_values.values_of(file, name)
            assert (faults[done] == -1).all() and (faults[~done] >= 0).all()
        for name in later:
            assert (file[name][()][done] == -1).all() and (file[name][()][~done] >= 0).all()
        assert "start_counters" not in file["segments/0"] and "start_counters" in file["segments/1"]


def test_a_rank_cannot_use_more_memory_than_there_is(launch, tmp_path):
    refused(launch(2, "alltoall", *CALM, "--sizes", "8", "--memory-limit", "900TiB"), "--memory-limit")
    outcome = launch(2, "alltoall", *CALM, "--sizes", "8,1TiB", "--ops", "2")
    assert outcome.returncode == 0, outcome.stderr
    assert "skipped: tagged needs" in outcome.stdout
    assert list(tmp_path.glob(".*")) == []


FEW = [word.replace("123000", "105000") for word in LONG]  # 6 points


def test_a_folder_that_is_removed_during_a_launch(start, tmp_path):
    (tmp_path / "results").mkdir()
    launch = start(2, *[word.replace("a.h5", "results/a.h5") for word in FEW])
    launch.wait_for_rows(2)
    shutil.rmtree(tmp_path / "results")
    assert launch.end() not in (0, 2)
    (said,) = launch.says()
    lost = r"the results of this launch are lost; \S*results/a\.h5 was removed or replaced during the launch"
    assert re.search(lost, said), said
    assert " measured" not in launch.err.read_text()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_folder_that_is_moved_during_a_launch(start, tmp_path, is_stopped):
    """Nothing is lost, and it is told where the results are."""
    (tmp_path / "results").mkdir()
    launch = start(2, *[word.replace("a.h5", "results/a.h5") for word in FEW])
    launch.wait_for_rows(2)
    (tmp_path / "results").rename(tmp_path / "old")
    if is_stopped:
        launch.kill(signal.SIGTERM, [0, 1])
    assert launch.end() not in (0, 2)
    (said,) = launch.says()
    moved = tmp_path / "old" / "a.h5"
    assert said.endswith(f"results/a.h5 was moved to {moved} during the launch") and "lost" not in said, said
    assert Results(moved).states().count(COMPLETE) >= 2
    assert [file.name for file in (tmp_path / "old").iterdir()] == ["a.h5"]


def test_a_file_that_is_removed_during_a_launch_is_written_again(start, tmp_path):
    launch = start(2, *FEW)
    launch.wait_for_rows(2)
    (tmp_path / "a.h5").unlink()
    assert launch.end() == 0
    assert Results(tmp_path / "a.h5").states() == [COMPLETE] * 6


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_file_that_is_replaced_during_a_launch(start, tmp_path, is_stopped):
    """The other's stays as it is, and nobody is told to resume it."""
    launch = start(2, *FEW)
    launch.wait_for_rows(2)
    (tmp_path / "b").write_bytes(b"precious")
    (tmp_path / "b").rename(tmp_path / "a.h5")
    if is_stopped:
        launch.kill(signal.SIGTERM, [0, 1])
    assert launch.end() not in (0, 2)
    (said,) = launch.says()
    assert said.endswith("a.h5 was removed or replaced during the launch") and "--resume" not in said, said
    assert (tmp_path / "a.h5").read_bytes() == b"precious"
    assert [file.name for file in tmp_path.iterdir()] == ["a.h5"]


ON_A_DISK = """
mount -t tmpfs -o "$2" disk "$1" || exit 77
cd "$1" && shift 2
"""
FILL = """
"$@" >"$KEPT/out" 2>"$KEPT/err" &
for ((i = 0; i < 6000; ++i)); do (($(grep -c '^ *2 ' "$KEPT/out") >= 2)) && break; sleep 0.02; done
cat /dev/zero >filler 2>/dev/null
wait $!
status=$?
rm filler
cp a.h5 "$KEPT"
exit $status
"""


def on_a_disk(tmp_path: Path, options: str, script: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    disk = tmp_path / "disk"
    disk.mkdir()
    outcome = subprocess.run(
        ["unshare", "-m", "bash", "-c", ON_A_DISK + script, "bash", disk, options, *command],
        env=os.environ | {"KEPT": str(tmp_path)}, capture_output=True, text=True, timeout=PATIENCE,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if outcome.returncode == 77 or outcome.stderr.startswith("unshare:"):
        pytest.skip(f"no private mount namespace can be made here ({outcome.stderr.strip()})")
    return outcome


@pytest.mark.parametrize(
    ("options", "words", "says"),
    [("ro", ["--ops", "2"], "can't be written to"), ("size=1m", ["--ops", "200000"], "free: ask for fewer --ops")],
)
def test_a_disk_that_does_not_take_it(program, tmp_path, options, words, says):
    outcome = on_a_disk(tmp_path, options, 'exec "$@"', SUPPORT / "mpirun.sh", "2", program, "alltoall", *CALM,
                        "--sizes", "8", *words)  # fmt: skip
    refused(outcome, says)


def test_a_disk_that_fills_up(program, tmp_path):
    outcome = on_a_disk(tmp_path, "size=64m", FILL, SUPPORT / "mpirun.sh", "2", program, "alltoall", *CALM,
                        "--sizes", "100000..107000+1000", "--ops", "50000", "--time-budget", "300ms")  # fmt: skip
    said = (tmp_path / "err").read_text()
    assert outcome.returncode not in (0, 2, 124, 137), said
    assert re.search(r"^a2aperf: rank 0 .*No space left on device", said, re.MULTILINE), said
    assert 2 <= complete_rows(tmp_path / "a.h5") < 8
