# SPDX-License-Identifier: BSD-3-Clause
"""What a launch says of itself when it ends, and the status that goes with it."""

import os
import re

import h5py
import pytest

CALM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--warmup", "1", "--no-sentinel", "-o", "a.h5"]
PAIRS = [word for word in CALM if word != "--no-sentinel"]


def of_ours(stderr: str) -> list[str]:
    """Without the launcher's lines."""
    return [line for line in stderr.splitlines() if line.startswith("a2aperf: ")]


@pytest.mark.parametrize("command", ["alltoall", "pairs"])
def test_quiet_is_quiet(launch, command):
    words = CALM if command == "alltoall" else PAIRS
    outcome = launch(2, command, *words, "--sizes", "8", "--ops", "3", "-q")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert outcome.stdout


@pytest.mark.parametrize("more", [[], ["--verify-only"], ["--baseline", "mpi"], ["--mode", "tagged,write-imm"]])
def test_nothing_that_can_be_measured_leaves_no_file(launch, tmp_path, more):
    calm = CALM[:-2] if "--verify-only" in more else CALM  # it takes no file
    outcome = launch(2, "alltoall", *calm, "--sizes", "1TiB,2TiB", "--ops", "2", *more)
    assert outcome.returncode == 3, outcome.stderr
    (line,) = of_ours(outcome.stderr)
    assert re.match(r"a2aperf: nothing can be measured, \d points skipped: tagged needs 1 TiB of ", line), line
    assert outcome.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_no_pairs_that_can_be_measured(launch, tmp_path):
    outcome = launch(2, "pairs", *PAIRS, "--sizes", "1TiB")
    assert outcome.returncode == 3, outcome.stderr
    assert "nothing can be measured, 1 point skipped: " in outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_resuming_what_is_finished_and_what_is_not(launch):
    words = [*CALM, "--sizes", "8,1000", "--ops", "3"]
    assert "2 points measured: a.h5" in launch(2, "alltoall", *words).stderr
    outcome = launch(2, "alltoall", *words, "--resume")
    assert outcome.returncode == 0
    assert "nothing was left to do, 2 points measured before: a.h5" in outcome.stderr
    pairs = [*PAIRS, "--sizes", "8", "--ops", "3", "--force"]
    assert "1 point measured, " in launch(2, "pairs", *pairs).stderr
    pairs[-1] = "--resume"
    assert "nothing was left to do, 1 point measured before, " in launch(2, "pairs", *pairs).stderr


def test_what_is_complete_is_shown_where_it_could_not_be_measured_again(launch):
    words = [*CALM, "--sizes", "8,1KiB,4MiB", "--ops", "3"]
    first = launch(2, "alltoall", *words)
    assert first.returncode == 0, first.stderr
    again = launch(2, "alltoall", *words, "--resume", "--memory-limit", "2MiB")
    assert again.returncode == 0, again.stderr
    assert again.stdout == first.stdout
    assert "nothing was left to do, 3 points measured before: a.h5" in again.stderr


def test_a_resume_whose_sentinel_is_another_says_what_is_skipped(launch):
    words = [word for word in CALM if word != "--no-sentinel"] + ["--sizes", "8,4MiB", "--ops", "3"]
    assert launch(2, "alltoall", *words).returncode == 0
    again = launch(2, "alltoall", *words, "--resume", "--memory-limit", "2MiB")
    assert again.returncode == 2
    (line,) = of_ours(again.stderr)
    assert "point 0 has message_size 4194304 in the file and 8 in this launch (--sizes)" in line
    assert re.search(r"this launch skips .*4194304 B, which may be why: tagged needs 4 MiB of receive space", line), line


@pytest.mark.parametrize(
    "words",
    [["stream", "--messages", "20"], ["stream", "--messages", "20", "--format", "loopback"], ["echo", "--ops", "20"],
     ["echo", "--ops", "20", "--format", "csv"], ["open-loop", "--messages", "20"]],
)  # fmt: skip
def test_durations_say_first_that_cores_are_shared(launch, words):
    cores = len(os.sched_getaffinity(0))
    if cores >= 4:
        pytest.skip(f"4 ranks have a core each: there are {cores}")
    calm = ["--provider", "shm", "--sizes", "8", "--force", "-o", "a.h5"]
    shared = launch(4, *words, *calm)
    assert shared.returncode == 0, shared.stderr
    said = f"oversubscribed: 4 ranks on {cores} core"
    assert shared.stderr.startswith(said)
    assert "csv" in words or shared.stdout.startswith(f"# {said}")
    if cores >= 2:
        alone = launch(2, *words, *calm)
        assert alone.returncode == 0 and "oversubscribed" not in alone.stdout + alone.stderr


def test_the_heading_tells_how_ops_start(launch):
    outcome = launch(2, "alltoall", *CALM, "--sizes", "8", "--ops", "3")
    heading = [line for line in outcome.stdout.splitlines() if line.startswith("# shm")]
    assert len(heading) == 1 and "2 ranks on 1 node, ops start at a barrier;" in heading[0], outcome.stdout


def test_a_point_that_stopped_short_says_so(launch):
    outcome = launch(2, "alltoall", *CALM, "--sizes", "8", "--ops", "10000000", "--time-budget", "200ms")
    assert re.search(r"^ +2 .* tagged shift all, ended by --time-budget$", outcome.stdout, re.MULTILINE), outcome.stdout
    assert " left" not in outcome.stderr and "op " not in outcome.stderr  # no progress in a pipe
    precise = ["--sizes", "8", "--precision", "0.01%", "--min-ops", "6", "--max-ops", "20", "--force"]
    outcome = launch(2, "alltoall", *CALM, *precise)
    assert "tagged shift all, --precision not reached at --max-ops\n" in outcome.stdout, outcome.stdout


def test_a_precision_that_was_reached_is_that_of_either_side(launch, tmp_path):
    words = ["--sizes", "8,64,512,1000,4000,16000", "--precision", "10%", "--max-ops", "10000", "--time-budget", "5s"]
    outcome = launch(2, "alltoall", *CALM, *words)
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        middle, low, high = (file[name][:] for name in ("time_p50", "time_p50_low", "time_p50_high"))
        reached = file["stop_rule"][:] == 2
    assert (high[reached] <= 1.1 * middle[reached]).all()
    assert (low[reached] >= 0.9 * middle[reached]).all()


def test_what_providers_devices_and_the_node_say_of_themselves(a2aperf):
    """What is unknown is called so: it has a word and no number."""
    brief, said = a2aperf("providers").stdout, a2aperf("providers", "-v").stdout
    assert said.startswith(brief)
    sections = said[len(brief) :].strip().split("\n\n")
    names = [section.splitlines()[0] for section in sections]
    assert "shm over shm" in names
    assert names[-1] == "this node"
    for section in sections:
        for line in section.splitlines()[1:]:
            assert re.fullmatch(r"  \S.{31} \S.*", line), line
    assert re.search(r"^  memlock +\S", sections[-1], re.MULTILINE)
    assert re.search(r"^  receive queue +\d+$", said, re.MULTILINE)


def test_a_provider_that_is_hidden(launch, a2aperf, monkeypatch, tmp_path):
    monkeypatch.setenv("FI_PROVIDER", "tcp")
    outcome = launch(2, "alltoall", *[word.replace("shm", "net") for word in CALM], "--sizes", "8")
    assert outcome.returncode == 2, outcome.stderr
    (line,) = of_ours(outcome.stderr)
    assert re.match(r"a2aperf: --provider net cannot be used here: .*: FI_PROVIDER=tcp hides it; ", line), line
    assert "does not offer" not in line
    assert list(tmp_path.iterdir()) == []
    assert re.search(r"^  net .*: FI_PROVIDER=tcp hides it$", a2aperf("providers").stdout, re.MULTILINE)
    monkeypatch.setenv("FI_PROVIDER", "^net,sockets")
    missing = a2aperf("providers").stdout.partition("not here:")[2]
    assert [line.split()[0] for line in missing.splitlines() if "hides it" in line] == ["net", "sockets"]


def test_a_provider_without_its_device(launch, offered):
    reason = offered[1].get("verbs", "")
    if not reason.endswith("no RDMA device in /sys/class/infiniband"):
        pytest.skip("there is an RDMA device here")
    outcome = launch(2, "alltoall", *[word.replace("shm", "verbs") for word in CALM], "--sizes", "8")
    assert outcome.returncode == 2
    (line,) = of_ours(outcome.stderr)
    assert re.search(r"verbs cannot be used here: .*: no RDMA device in /sys/class/infiniband; ", line), line
