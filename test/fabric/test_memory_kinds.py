# SPDX-License-Identifier: BSD-3-Clause
"""Streams and round trips with their messages in one kind of memory and in another, in one launch."""

import subprocess
from pathlib import Path

import checksums
import h5py
import pytest
from flow_files import require_true_streams, require_true_trips
from memory import HUGE_PAGES, gives_huge_pages
from results import COMPLETE, SKIPPED, Results, text

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
KINDS = ("default", "huge")
BOTH = ("--memory", ",".join(KINDS))
# The words of a kernel that gives none, in a namespace of mounts.
NEVER = f"""
echo 'always madvise [never]' >never && mount --bind never {HUGE_PAGES} || exit 77
exec "$@"
"""


@pytest.fixture
def needs_huge_pages() -> None:
    if not gives_huge_pages():
        pytest.skip("the kernel gives no huge pages")


def measured(outcome, path: Path) -> Results:
    assert outcome.returncode == 0, outcome.stderr
    return Results(path)


@pytest.mark.parametrize("provider", ["tcp", "shm"])
def test_streams_in_both(launch, needs_provider, needs_huge_pages, tmp_path, provider):
    """All modes: those that write or read name the peer's buffer of the kind that is used."""
    needs_provider(provider)
    words = ["stream", "--provider", provider, "--mode", "tagged,msg,write-imm,write,read", *BOTH, "--window", "4"]
    outcome = launch(2, *words, "--sizes", "8,70000", "--messages", "200", "--order", "shuffled", "-o", "a.h5")
    results = measured(outcome, tmp_path / "a.h5")
    assert results.words("memory") == ["default", "default", "huge", "huge"] * 5
    assert text(results.segments[0].attributes["memory"]) == "default,huge"
    done = results.columns["state"] == COMPLETE
    for mode in ("tagged", "msg"):
        assert done[[one == mode for one in results.words("mode")]].all()
    assert all(why == "" or "memory" not in why for why in results.words("skip_reason"))
    checksums.require_right(tmp_path / "a.h5")


def test_streams_are_true_in_both(launch, needs_provider, needs_huge_pages, tmp_path):
    needs_provider("shm")
    words = ["stream", "--provider", "shm", *BOTH, "--sizes", "8,100000", "--messages", "300", "-o", "a.h5"]
    outcome = launch(2, *words)
    assert outcome.returncode == 0, outcome.stderr
    require_true_streams(tmp_path / "a.h5", [(0, 1)], 300)
    assert "memory" in outcome.stdout.splitlines()[1 + outcome.stdout.startswith("# oversubscribed")]


def test_round_trips_in_both(launch, needs_provider, needs_huge_pages, tmp_path):
    needs_provider("tcp")
    words = ["echo", "--provider", "tcp", *BOTH, "--sizes", "100,50000", "--ops", "100", "--mode", "tagged,write-imm,read,write", "-o", "a.h5"]
    results = measured(launch(2, *words), tmp_path / "a.h5")
    assert results.words("memory") == ["default", "default", "huge", "huge"] * 4
    require_true_trips(tmp_path / "a.h5", [0])


def test_a_dry_run_counts_the_buffers_of_both(a2aperf):
    words = ["stream", "--sizes", "1MiB", "--memory-limit", "1GiB", "--dry-run", "--ranks", "2"]
    assert "\nmessage buffers: 67 MiB per rank, 134 MiB per node\n" in a2aperf(*words).stdout
    both = a2aperf(*words, *BOTH).stdout
    assert "\nmessage buffers: 134 MiB per rank, 268 MiB per node\n" in both
    assert "2 points to measure" in both


def test_kinds_share_the_limit(launch, needs_provider, needs_huge_pages, tmp_path):
    """A window of 1 MiB messages fits with one kind and not with two."""
    needs_provider("shm")
    words = ["stream", "--provider", "shm", "--sizes", "1MiB", "--messages", "20", "--memory-limit", "200MiB"]
    one = measured(launch(2, *words, "-o", "a.h5"), tmp_path / "a.h5")
    assert list(one.columns["state"]) == [COMPLETE]
    outcome = launch(2, *words, *BOTH, "-o", "b.h5")
    assert outcome.returncode == 3
    assert "nothing can be measured, 2 points skipped" in outcome.stderr
    assert "--memory-limit leaves" in outcome.stderr
    assert not (tmp_path / "b.h5").exists()


def in_namespace(program: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    outcome = subprocess.run(
        ["unshare", "-m", "bash", "-c", NEVER, "never", MPIRUN, "2", program, *words, "-o", "a.h5"],
        cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if outcome.returncode == 77 or "unshare failed" in outcome.stderr:
        pytest.skip(f"no other words of the kernel can be made here ({outcome.stderr.strip()})")
    return outcome


def test_a_kind_that_is_not_there_is_skipped_with_the_reason(program, needs_provider, tmp_path):
    needs_provider("shm")
    words = ["--provider", "shm", "--sizes", "8,64"]
    outcome = in_namespace(program, tmp_path, "stream", *words, "--messages", "100", *BOTH)
    results = measured(outcome, tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, COMPLETE, SKIPPED, SKIPPED]
    why = f" has no memory of the kind huge: {HUGE_PAGES} says never"
    assert [one.endswith(why) for one in results.words("skip_reason")] == [False, False, True, True]
    assert outcome.stdout.count(why) == 2
    for command in (["alltoall"], ["pairs"], ["echo"]):
        (tmp_path / "a.h5").unlink(missing_ok=True)
        outcome = in_namespace(program, tmp_path, *command, *words, "--memory", "huge")
        assert outcome.returncode == 3
        assert "nothing can be measured" in outcome.stderr
        assert why in outcome.stderr
        assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize("workload", ["alltoall", "pairs"])
def test_others_take_one(a2aperf, workload):
    outcome = a2aperf(workload, "--dry-run", "--ranks", "4", *BOTH)
    said = f"a2aperf: --memory: {workload} takes one kind: default here, and another launch for the next\n"
    assert (outcome.returncode, outcome.stderr) == (2, said)


def test_a_file_of_an_older_program_is_resumed(launch, needs_provider, tmp_path):
    """Its points have no kind of their own, the launch has."""
    needs_provider("shm")
    words = ["stream", "--provider", "shm", "--sizes", "8,64", "--messages", "100", "-o", "a.h5"]
    assert launch(2, *words).returncode == 0
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        checksums.make_older(file)
        del file["memory"]
    other = launch(2, *words, *BOTH, "--resume")
    assert other.returncode == 2
    assert "it has 2 points and this launch 4" in other.stderr
    other = launch(2, *words, "--memory", "huge", "--resume")
    assert other.returncode == 2
    assert "with --memory default and this launch has --memory huge" in other.stderr
    outcome = launch(2, *words, "--resume")
    results = measured(outcome, tmp_path / "a.h5")
    assert results.words("memory") == ["default", "default"]
    assert list(results.columns["segment"]) == [0, 0]


def test_others_kinds_are_not_resumed(launch, needs_provider, needs_huge_pages, tmp_path):
    needs_provider("shm")
    words = ["stream", "--provider", "shm", "--sizes", "8", "--messages", "100", "-o", "a.h5"]
    assert launch(2, *words, *BOTH).returncode == 0
    before = (tmp_path / "a.h5").read_bytes()
    outcome = launch(2, *words, "--resume")
    assert outcome.returncode == 2
    assert "(--memory: 'huge' in the file only)" in outcome.stderr
    assert (tmp_path / "a.h5").read_bytes() == before
    outcome = launch(2, *words, *BOTH, "--resume")
    assert outcome.returncode == 0, outcome.stderr
