# SPDX-License-Identifier: BSD-3-Clause
"""Files in /dev/shm: what killed launches leave, a later launch removes; where there is no room for them, it is
said."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import PATIENCE, wait_until
from results import Results

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
MEMORY = Path("/dev/shm")
REMOVED = re.compile(
    r"^a2aperf: removed (\d+) shared memory files? \(.*\) that killed launches left in /dev/shm on ", re.MULTILINE
)
# For longer than any test has patience.
LONG = ["--sizes", "16MiB", "--ops", "1000000", "--warmup", "1", "--poll", "yield"]


def segments() -> set[Path]:
    return set(MEMORY.glob("a2aperf.*"))


def rank_of(segment: Path) -> int:
    return int(segment.name.split(".")[3])


class Launch:
    """Two ranks that measure until they are told to stop."""

    def __init__(self, program: Path, folder: Path) -> None:
        before = segments()
        folder.mkdir()
        self.process = subprocess.Popen(
            [MPIRUN, "-t", str(PATIENCE), "2", program, "alltoall", "--provider", "shm", *LONG, "-o", "a.h5"],
            cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert wait_until(lambda: len(segments() - before) == 2 or self.process.poll() is not None, PATIENCE)
        assert self.process.poll() is None, self.process.stderr.read()
        self.segments = segments() - before

    def kill(self) -> None:
        """With the launcher last: it would tell the ranks to stop, which then remove their files."""
        ranks = [rank_of(segment) for segment in self.segments]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for rank in ranks:
                os.kill(rank, number)
        self.process.communicate(timeout=PATIENCE)

    def stop(self) -> str:
        self.process.send_signal(signal.SIGTERM)
        return self.process.communicate(timeout=PATIENCE)[1]


@pytest.fixture
def start(program, tmp_path, needs_provider) -> Iterator[type[Launch]]:
    needs_provider("shm")
    started: list[Launch] = []

    def one() -> Launch:
        started.append(Launch(program, tmp_path / str(len(started))))
        return started[-1]

    yield one
    for each in started:
        if each.process.poll() is None:
            each.stop()


def test_a_launch_removes_what_killed_ones_left_and_nothing_else(start, launch):
    living, *killed = start(), start(), start()
    for each in killed:
        each.kill()
    left = segments() - living.segments
    assert len(left) == 4
    others = [MEMORY / name for name in (f"{os.getpid()}:{os.getuid()}:0", "a2aperf.h5", f"{min(left).name}.kept")]
    for other in others:
        other.touch()
    try:
        outcome = launch(2, "alltoall", "--provider", "shm", "--sizes", "1KiB", "--ops", "20")
        assert outcome.returncode == 0, outcome.stderr
        assert [match.group(1) for match in REMOVED.finditer(outcome.stderr)] == ["4"]
        assert all(other.exists() for other in others)
    finally:
        for other in others:
            other.unlink(missing_ok=True)
    assert segments() == living.segments
    assert living.process.poll() is None
    again = launch(2, "alltoall", "--provider", "shm", "--sizes", "1KiB", "--ops", "20")
    assert again.returncode == 0
    assert not REMOVED.search(again.stderr)
    assert "stopped by signal 15" in living.stop()
    assert segments() == set()


def test_launches_over_other_providers_remove_them_too(start, launch, needs_provider):
    needs_provider("tcp")
    start().kill()
    outcome = launch(2, "alltoall", "--provider", "tcp", "--sizes", "1KiB", "--ops", "20", "--verify-only")
    assert outcome.returncode == 0, outcome.stderr
    assert REMOVED.search(outcome.stderr)
    assert segments() == set()


def test_what_is_refused_removes_nothing(start, launch):
    killed = start()
    killed.kill()
    assert launch(2, "alltoall", "--provider", "shm", "--sizes", "many").returncode == 2
    assert segments() == killed.segments


def with_room(room: str, folder: Path, ranks: int, *command: Path | str) -> subprocess.CompletedProcess[str]:
    inside = ["unshare", "-m", "bash", "-c", f'mount -t tmpfs -o size={room} tmpfs /dev/shm && exec "$@"', "inside"]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting takes root")
    return subprocess.run(
        [*inside, MPIRUN, str(ranks), *command], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
        env={**os.environ, "OMPI_MCA_btl": "self,tcp"},
    )  # fmt: skip


# An endpoint takes 4 MiB at once, and libfabric wants 16 for each core before it offers the provider.
ROOM = 16 * os.cpu_count() + 8


@pytest.mark.parametrize("command", ["qos", "alltoall"])
def test_every_endpoint_of_a_rank_takes_room(program, needs_provider, tmp_path, command):
    """Where it ends, a rank would get a signal."""
    needs_provider("shm")
    ranks, endpoints = 2, ROOM // 8 + 1
    words = ["qos", "--paths", str(endpoints)]
    if command == "alltoall":
        ranks = next(ranks for ranks in range(3, 100) if 4 * ranks * (ranks - 1) > ROOM)
        endpoints = ranks - 1
        words = ["alltoall", "--endpoints", str(endpoints), "--sizes", "8", "--ops", "5"]
    outcome = with_room(f"{ROOM}m", tmp_path, ranks, program, *words, "--provider", "shm")
    assert outcome.returncode == 3, outcome.stderr
    why = rf"{ranks} ranks here with {endpoints} endpoints each need about {4 * ranks * endpoints} MiB in /dev/shm and .* are free"
    assert re.search(why, outcome.stderr), outcome.stderr
    assert list(tmp_path.iterdir()) == []


def test_endpoints_with_one_queue_have_room_beside_the_others_or_are_left_out(program, needs_provider, tmp_path):
    needs_provider("shm")
    if ROOM >= 64:
        pytest.skip("what libfabric wants for more than three cores has room for both kinds")
    words = ["--endpoints", "2", "--queues", "each,one", "--sizes", "8", "--ops", "5", "--no-sentinel", "-o", "a.h5"]
    outcome = with_room(f"{ROOM}m", tmp_path, 4, program, "alltoall", "--provider", "shm", *words)
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    why = dict(zip(results.words("queues"), results.words("skip_reason"), strict=True))
    assert why["each"] == ""
    assert "with one queue, beside those with a queue each: rank 0 (" in why["one"]
    assert "4 ranks here with 4 endpoints each need about 64 MiB in /dev/shm" in why["one"]


@pytest.mark.parametrize(
    ("room", "ranks", "why"),
    [
        ("1m", 2, r"2 ranks here need about 8 MiB in /dev/shm and 1 MiB are free"),
        ("33m", 12, r"12 ranks here need about 48 MiB in /dev/shm and .* are free"),
        ("12m", 2, r"libfabric wants about .* in /dev/shm and .* are free"),
    ],
)
def test_too_little_room_is_said(program, needs_provider, tmp_path, room, ranks, why):
    needs_provider("shm")
    outcome = with_room(room, tmp_path, ranks, program, "alltoall", "--provider", "shm", "--sizes", "1KiB", "--ops", "20")
    assert outcome.returncode == 2, outcome.stderr
    assert re.search(
        rf"^a2aperf: --provider shm cannot be used here: .*{why}: remove files", outcome.stderr, re.MULTILINE
    )
    assert list(tmp_path.iterdir()) == []
