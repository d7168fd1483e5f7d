# SPDX-License-Identifier: BSD-3-Clause
"""Bad input: one clear line that says what is wrong and what would be right, exit status 2, no file touched."""

import os
import re
from pathlib import Path

import checksums
import h5py
import pytest
from refusals import refuses

ROOT = Path(__file__).resolve().parents[2]

# Words after "alltoall", and what the line must say.
BAD = [
    (("--provider", "tpc"), "did you mean tcp?"),
    (("--mode", "taged"), "expected one of tagged, msg, write-imm, read, write"),
    (("--mode", "tagged,read", "--complete-at", "sender"), "leave out read, or use --complete-at receiver"),
    (("--mode", "read", "--complete-at", "sender", "--dry-run", "--ranks", "2"), "no sender learns"),
    (("--schedule", "shfit"), "expected one of shift, xor"),
    (("--sizes", "0"), "is zero"),
    (("--sizes", "-1"), "--sizes"),
    (("--sizes", "99999999999999999999"), "--sizes"),
    (("--sizes", "2000..1000+10"), "reversed"),
    (("--sizes", "8kbit"), "unknown unit"),
    (("--iterations", "8"), "did you mean --ops?"),
    (("--ops", "none"), "whole number"),
    (("--ops",), "--ops needs N, for example --ops 100"),
    (("--szies", "8"), "did you mean --sizes?"),
    (("8",), "unexpected argument '8'"),
    (("--config", "missing.toml"), "--config: cannot read 'missing.toml': No such file or directory"),
    (("--resume",), "--output"),
    (("--nic", "all", "--endpoints", "1,2"), "--nic all: which adapter an endpoint has follows from how many"),
    (("--nic", "e0,e1", "--endpoints", "2", "--search"), "with --search 1, which its default setting has"),
    (("--nic", "e0,e0"), "'e0,e0' names a NIC twice"),
    (("--endpoints", "2,4", "--queues", "each,one"), "of --endpoints one number above 1 can be given"),
    (("--threads", "each"), "--threads: a rank has a thread for each of several endpoints: give --endpoints above 1"),
    (("--threads", "each", "--endpoints", "1", "--search"), "--threads: a rank has a thread for each of several endpoints"),
    (("--threads", "two", "--endpoints", "2"), "--threads: unknown threads 'two': expected one of one, each"),
    (("--threads", "each", "--endpoints", "2", "--queues", "one"), "--threads each: endpoints that have one queue have one domain"),
    (("--dry-run", "--ranks", "1"), "at least 2 ranks: give --ranks 2 or more"),
]


# The same of "pairs".
BAD_PAIRS = [
    (("--window", "4"), "--window is not an option of a2aperf pairs"),
    (("--baseline", "mpi"), "--baseline is not an option of a2aperf pairs"),
    (("--mode", "tagged,write-imm"), "pairs takes one mode"),
    (("--format", "compat"), "for pairs expected one of table, csv, json"),
    (("--steps", "0"), "whole number from 1"),
    (("--setps", "4"), "did you mean --steps?"),
    (("--dry-run",), "--dry-run needs --ranks N"),
    ((), "mpirun -n 4 a2aperf pairs"),
]


def test_commands_of_a2a_are_told_from_unknown_ones(a2aperf, tmp_path):
    commands = re.findall(r'CommandRow\(\s*"(\w+)"', (ROOT / "analysis" / "src" / "a2aperf" / "cli.py").read_text())
    assert {"suite", "table", "import"} <= set(commands)
    for name in commands:
        refuses(a2aperf(name, "--help"), f"{name} is a command of a2a, not of a2aperf: a2a {name}", tmp_path, [])
    refuses(a2aperf("siute"), "unknown command 'siute': expected one of alltoall, ", tmp_path, [])


@pytest.mark.parametrize(("words", "says"), BAD)
def test_bad_arguments(a2aperf, tmp_path, words, says):
    outcome = a2aperf("alltoall", *words)
    refuses(outcome, says, tmp_path, [])
    assert len(outcome.stderr.splitlines()) == 1


@pytest.mark.parametrize(("words", "says"), BAD_PAIRS)
def test_bad_arguments_of_pairs(a2aperf, tmp_path, words, says):
    outcome = a2aperf("pairs", *words)
    refuses(outcome, says, tmp_path, [])
    assert len(outcome.stderr.splitlines()) == 1


def test_one_rank_has_no_pairs(launch, tmp_path):
    refuses(launch(1, "pairs"), "pairs need at least 2 ranks", tmp_path, [])


def test_pairs_do_not_go_on_with_an_all_to_all(launch, tmp_path):
    words = ["--provider", "shm", "--sizes", "8", "--ops", "2", "--poll", "yield", "-o", "a.h5"]
    assert launch(2, "alltoall", *words).returncode == 0
    outcome = launch(2, "pairs", *words, "--resume")
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert outcome.returncode == 2 and len(lines) == 1 and "can't be resumed" in lines[0], outcome.stderr


def test_an_older_file_does_not_name_its_workload_and_is_gone_on_with(launch, tmp_path):
    words = ["--provider", "shm", "--sizes", "8", "--ops", "2", "--poll", "yield", "-o", "a.h5"]
    assert launch(2, "alltoall", *words).returncode == 0
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        assert file.attrs["workload"] == "alltoall"
        checksums.make_older(file)
        del file.attrs["workload"]
        for name in ("chunk", "chunks", "endpoints", "queues", "threads", "pinned_threads", "traffic_draws", "polling"):  # columns that came later
            del file[name]
    outcome = launch(2, "alltoall", *words, "--resume", "--chunk", "4")  # its messages were whole
    assert outcome.returncode == 2 and "chunk" in outcome.stderr, outcome.stderr
    outcome = launch(2, "alltoall", *words, "--resume")
    assert outcome.returncode == 0, outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["workload"] == "alltoall"
        assert file["gbps_rank"].attrs["better"] == "higher" and file["time_p50"].attrs["better"] == "lower"
        assert "better" not in file["ops"].attrs
        assert (file["state"][()] == 1).all()
        assert (file["chunk"][()] == 0).all() and (file["chunks"][()] == 1).all() and (file["endpoints"][()] == 1).all()
        assert (file["traffic_draws"][()] == 1).all()
        assert set(file["queues"].asstr()[()]) == {"each"}
        assert set(file["threads"].asstr()[()]) == {"one"} and not file["pinned_threads"][()].any()


def test_pairs_of_an_older_program_are_told_the_one_way_out(launch, tmp_path):
    words = ["--provider", "shm", "--sizes", "8", "--ops", "2", "--poll", "yield", "-o", "a.h5"]
    assert launch(2, "pairs", *words).returncode == 0
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        checksums.make_older(file)
        del file["raw/exit"]
    outcome = launch(2, "pairs", *words, "--resume")
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert outcome.returncode == 2 and "older a2aperf" in line, outcome.stderr
    # The same arguments would be refused again.
    assert "Name a new file with -o" in line and "Repeat" not in line


def test_bad_arguments_are_told_by_one_of_the_ranks(launch, tmp_path):
    refuses(launch(3, "alltoall", "--sizes", "0"), "is zero", tmp_path, [])


@pytest.mark.parametrize("command", ["alltoall", "pairs"])
def test_a_dry_run_ends_as_the_run_would_where_nothing_can_be_measured(a2aperf, launch, tmp_path, command):
    words = [command, "--sizes", "8,16", "--memory-limit", "1"]
    dry, wet = a2aperf(*words, "--dry-run", "--ranks", "2"), launch(2, *words, "--provider", "shm")
    for outcome in (dry, wet):
        (said,) = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
        assert outcome.returncode == 3, outcome.stderr
        assert re.match(r"a2aperf: nothing can be measured, 2 points skipped: tagged needs 8 B .*--memory-limit", said)
    assert "time:" not in dry.stdout
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--sizes", "8", "--endpoints", "2"], "a rank has 1 peer, and each is reached over one endpoint: 1 of 2 would be idle"),
        (["--sizes", "1000000", "--chunk", "1"], "1000000 chunks of 1 B to each of 1 peer are too many: give larger ones"),
    ],
)
def test_a_dry_run_skips_what_no_provider_could_measure(a2aperf, launch, tmp_path, words, why):
    words = ["alltoall", *words]
    dry, wet = a2aperf(*words, "--dry-run", "--ranks", "2"), launch(2, *words, "--provider", "shm")
    for outcome in (dry, wet):
        assert outcome.returncode == 3, outcome.stderr
        assert f"nothing can be measured, 1 point skipped: {why}" in outcome.stderr
    some = a2aperf("alltoall", "--sizes", "8", "--endpoints", "1,2", "--window", "1", "--dry-run", "--ranks", "3")
    assert some.returncode == 0, some.stderr
    assert "; 1 point to measure:" in some.stdout
    assert "skipped: a window of 1 can't be dealt over 2 endpoints" in some.stdout
    assert os.listdir(tmp_path) == []


def test_not_launched_by_mpi(a2aperf, tmp_path):
    refuses(a2aperf("alltoall"), "mpirun -n 4 a2aperf alltoall", tmp_path, [])


@pytest.mark.parametrize(("workload", "ranks", "least"), [("alltoall", 1, 2), ("interference", 3, 4)])
def test_too_few_ranks(launch, a2aperf, tmp_path, workload, ranks, least):
    refuses(launch(ranks, workload), f"at least {least} ranks: use mpirun -n {least} or more", tmp_path, [])
    dry = a2aperf(workload, "--dry-run", "--ranks", str(ranks))
    refuses(dry, f"at least {least} ranks: give --ranks {least} or more", tmp_path, [])


def test_existing_output(launch, tmp_path):
    (tmp_path / "a.h5").write_text("mine")
    refuses(launch(2, "alltoall", "-o", "a.h5"), "--force", tmp_path, ["a.h5"])
    assert (tmp_path / "a.h5").read_text() == "mine"


def test_foreign_file_to_resume(launch, tmp_path):
    (tmp_path / "a.h5").write_text("mine")
    refuses(launch(2, "alltoall", "-o", "a.h5", "--resume"), "a.h5", tmp_path, ["a.h5"])
    assert (tmp_path / "a.h5").read_text() == "mine"


def test_missing_folder(launch, tmp_path):
    refuses(launch(2, "alltoall", "-o", "no/such/a.h5"), "no/such", tmp_path, [])


@pytest.mark.parametrize(
    ("option", "text", "says"),
    [
        ("--attach", None, "cannot read 'facts.txt': No such file"),
        ("--attach", b"\x7fELF\0", "'facts.txt' is not a text file"),
        ("--node-facts", None, "--node-facts: no node has 'facts.txt'"),
        ("--node-facts", b"\x7fELF\0", "--node-facts: 'facts.txt' is not a text file (on "),
        ("--node-facts", b"a=1\ncable A\n", ", line 2: 'cable A' is not NAME=VALUE"),
    ],
)
def test_a_file_that_is_not_what_an_option_takes(launch, tmp_path, option, text, says):
    before = []
    if text is not None:
        (tmp_path / "facts.txt").write_bytes(text)
        before = ["facts.txt"]
    refuses(launch(2, "alltoall", option, "facts.txt"), says, tmp_path, before)


def test_two_attachments_of_one_name(launch, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "facts.txt").write_text("x")
    words = ("alltoall", "--attach", "a/facts.txt", "--attach", "b/facts.txt")
    refuses(launch(2, *words), "two files are called 'facts.txt'", tmp_path, ["a", "b"])


def test_required_variable(launch, tmp_path, monkeypatch):
    monkeypatch.setenv("PSM2_RCVTHREAD", "1")
    outcome = launch(2, "alltoall", "--require", "PSM2_RCVTHREAD=0", "--sizes", "8", "--ops", "2")
    refuses(outcome, "PSM2_RCVTHREAD", tmp_path, [])


def test_a_wrong_config_key(a2aperf, tmp_path):
    (tmp_path / "a.toml").write_text("szies = 8\n")
    refuses(a2aperf("alltoall", "--config", "a.toml"), "unknown key 'szies' (did you mean sizes?)", tmp_path, ["a.toml"])
