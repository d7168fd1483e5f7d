# SPDX-License-Identifier: BSD-3-Clause
"""Launches killed at random instants, a rank or the launcher, or rank 0 after so many writes of the copy that a resumption or
the end makes: every point that was told is in the file, and true.

A2APERF_CRASH_KILLS asks for more than a dozen kills, A2APERF_CRASH_WORKLOADS for some workloads only (qos,open-loop).
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

import h5py
import numpy as np
import pytest
from launches import MPIRUN
from path_files import are_true_intervals
from processes import PATIENCE, parent, remove_what_killed_ranks_left, running_in, wait_until
from results import NO_MOMENT, Results, has_true_statistics
from rows import COMPLETE, Rows, read_rows

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("A2APERF_CRASH_KILLS", "12"))
AS_RANK = MPIRUN.parent / "as_rank.sh"
RANKS = 3
LAUNCHERS_PATIENCE = PATIENCE / 3
PROVIDERS = ("shm", "tcp", "net", "udp", "sockets")
OF_DURATIONS = ("shm", "tcp")
WITHOUT_LOAD = 2  # of sample_kind
ROUND = ["--pairs", "0:1,1:2,2:0", "--max-samples", "1000"]
WORKLOADS = {
    "alltoall": ["--no-sentinel", "--sizes", "8..8008+400", "--ops", "40", "--sync", "barrier"],
    "stream": [*ROUND, "--sizes", "8..8008+400", "--messages", "40", "--window", "8"],
    "pairs": ["--sizes", "8..8008+800", "--ops", "40", "--sync", "barrier"],
    "qos": ["--path", "0:1", "--path", "0:1,window=2", "--path", "1:2", "--sizes", "8..8008+400", "--duration", "200ms", "--interval", "100ms"],
    "echo": [*ROUND, "--sizes", "8..8008+400", "--ops", "40", "--outstanding", "3"],
    "open-loop": [*ROUND, "--sizes", "8..8008+400", "--messages", "40", "--rate", "2k"],
    "interference": ["--sizes", "8..8008+400", "--phase", "20ms", "--alternations", "2", "--levels", "100"],
}
CHOSEN = [name for name in os.environ.get("A2APERF_CRASH_WORKLOADS", "").split(",") if name] or list(WORKLOADS)
LONGEST_COPY = 900  # writes; a shorter one is done before
OF_FOUR = ("interference",)  # two victims and a load


class Launch:
    """Its ranks tell their process ids in a folder beside the one that they work in. preload: their environment."""

    def __init__(self, program: Path, folder: Path, provider: str, workload: str, preload: dict[str, str]) -> None:
        self.workload = workload
        self.ranks = RANKS + (workload in OF_FOUR)
        self.folder, self.pids = folder, folder.parent / f"{folder.name}-ranks"
        for made in (folder, self.pids):
            made.mkdir(exist_ok=True)
        for old in self.pids.iterdir():
            old.unlink()
        words = ["--provider", provider, "--poll", "yield", "--timeout", "20s", "--resume"]
        self.table, self.said = self.pids / "table", self.pids / "said"
        with self.table.open("w") as table, self.said.open("w") as said:
            self.process = subprocess.Popen(
                [MPIRUN, "-t", str(PATIENCE), str(self.ranks), AS_RANK, self.pids, "env",
                 *(f"{name}={value}" for name, value in preload.items()), program, workload, *WORKLOADS[workload], *words,
                 "-o", "a.h5"],
                cwd=folder, stdout=table, stderr=said, stdin=subprocess.DEVNULL,
            )  # fmt: skip

    def told(self) -> set[int]:
        """Message sizes of the table's rows: their points were acknowledged. The last line may be half a one."""
        lines = [line.split() for line in self.table.read_text().split("\n")[:-1]]
        if self.workload == "pairs":
            return {int(words[0]) for words in lines if ">" in words and words[0].isdigit()}
        if self.workload == "qos":
            return {int(words[4]) for words in lines if len(words) > 4 and ":" in words[2]}
        if self.workload == "interference":
            return {int(words[1]) for words in lines if words[:1] == ["tagged"] and words[1].isdigit()}
        if self.workload in ("stream", "echo", "open-loop"):
            return {int(words[2]) for words in lines if words[:1] == ["tagged"]}
        return {int(words[3]) for words in lines if words[:1] == [str(RANKS)]}

    def pid(self, rank: int) -> int | None:
        try:
            return int((self.pids / f"pid.{rank}").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def end(self) -> None:
        """Once its ranks have gone. Open MPI's launcher can wait for itself for ever then (in PMIx_server_finalize, of a
        few in a thousand): it is ended."""
        try:
            self.process.wait(LAUNCHERS_PATIENCE)
        except subprocess.TimeoutExpired:
            ranks = {self.pid(rank) for rank in range(self.ranks)}
            assert wait_until(lambda: not ranks & set(running_in(self.folder, 0)), PATIENCE)
            for pid in running_in(self.folder, 0):
                os.kill(pid, signal.SIGKILL)
            self.process.wait(PATIENCE)

    def kill(self, whom: str) -> bool:
        """A rank, by its number, or the process that started them; False where it is gone."""
        pid = self.pid(0 if whom == "mpirun" else int(whom))
        try:
            if pid is None or (whom == "mpirun" and parent(parent(pid)) <= 1):
                return False
            os.kill(parent(parent(pid)) if whom == "mpirun" else pid, signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            return False
        return True


def rows_of(file: Path) -> Rows | None:
    if not file.exists():
        return None
    with h5py.File(file, "r") as opened:
        return read_rows(opened)


def measured(rows: Rows | None) -> set[int]:
    return {point for point in range(len(rows)) if rows.is_measured(point)} if rows else set()


def are_true_totals(file: Path, point: int) -> None:
    """What a stream or round trips came to is what the ranks counted, and what was kept along the ticks."""
    with h5py.File(file, "r") as opened:
        row = {name: data[point] for name, data in opened.items() if isinstance(data, h5py.Dataset) and data.ndim == 1}
        names = [name for name, data in opened["raw"].items() if data.attrs.get("count") is not None]
        ticks = {name: opened["raw"][name][point, : row["ticks"]] for name in names}
        totals = {name: data[point, 0] for name, data in opened["raw"].items() if data.ndim == 3 and name not in ticks}
    if row["role"] == b"stream":
        assert row["messages"] == totals["messages_received"].sum() == totals["messages_sent"].sum() == 40 * RANKS
        assert row["bytes"] == row["messages"] * row["message_size"]
        for way in ("sent", "received"):
            counted = ticks[f"tick_{way}"]
            assert (np.where(counted == NO_MOMENT, 0, counted).sum(axis=0) == totals[f"messages_{way}"]).all()
    elif row["role"] == b"interference":
        is_trip = ticks["victim_time"] != NO_MOMENT  # load ranks have rows of their own
        assert row["alone_trips"] == (ticks["sample_kind"][is_trip] == WITHOUT_LOAD).sum()
    elif row["role"] == b"qos":
        assert totals["messages_received"].sum() == totals["messages_sent"].sum() > 0
        are_true_intervals(file, point)
    else:
        kept = np.sort(ticks["round_trip"][ticks["round_trip"] != NO_MOMENT])
        assert row["round_trips"] == totals["round_trips"].sum() == row["ops"] == len(kept) == 40 * RANKS
        assert (row["time_min"], row["time_p50"]) == (kept[0], kept[(len(kept) + 1) // 2 - 1])
        assert (row["time_min"], row["time_max"]) == (totals["shortest_trip"].min(), totals["longest_trip"].max())


def check(file: Path, before: set[int], told: set[int]) -> set[int]:
    """The points that are there now: those of before, and those of every size that was told."""
    rows = rows_of(file)
    now = measured(rows)
    assert before <= now, f"lost: {sorted(before - now)}"
    sizes = rows.columns["message_size"] if rows else []
    assert told <= set(map(int, sizes))
    assert {point for point, size in enumerate(sizes) if size in told} <= now
    if rows is not None:
        for point in now:
            assert rows.checksum[point] == rows.checksum_of(point)
        results = Results(file)
        complete = {point for point in now if rows.state[point] == COMPLETE}
        for point in complete & set(results.rows()):
            has_true_statistics(results, point)
        for point in complete & {*results.rows("stream"), *results.rows("echo"), *results.rows("open-loop"), *results.rows("qos"), *results.rows("interference")}:
            are_true_totals(file, point)
    return now


def meet(launch: Launch, chance: random.Random) -> str | None:
    """Kills a rank or the launcher at some instant, and says whom; nothing where it is gone."""
    assert wait_until(lambda: launch.pid(launch.ranks - 1) is not None or launch.process.poll() is not None, PATIENCE)
    rows = chance.choice([0, 0, 1, 3, 8])
    wait_until(lambda: len(launch.told()) >= rows or launch.process.poll() is not None, PATIENCE)
    time.sleep(chance.random() * (0.8 if rows == 0 else 0.1))  # any instant will do
    whom = chance.choice(["0", "0", str(RANKS - 1), "mpirun"])
    return whom if launch.kill(whom) else None


def test_kills_lose_nothing_that_was_told(program, offered, preload_recorder, tmp_path, foreign_shared_memory):
    there = [name for name in PROVIDERS if name in offered[0]]
    if not there:
        pytest.skip(f"none of {', '.join(PROVIDERS)} is here")
    chance = random.Random(20191)
    hit: Counter[str] = Counter()
    kept = launches = 0
    folder, before = tmp_path / "0", set()
    workloads = cycle(CHOSEN)
    provider, workload = there[0], next(workloads)
    while sum(hit.values()) < KILLS:
        copy = chance.choice([0, 0, 0, 1 if before else 2, 2])  # the first file that a launch makes, or the compact one
        writes = f"C{copy}:{chance.randrange(1, LONGEST_COPY)}"
        log = tmp_path / "writes"
        preload = preload_recorder(folder, log, writes) if copy else {}
        launch = Launch(program, folder, provider, workload, preload)
        launches += 1
        whom = None if copy else meet(launch, chance)
        launch.end()
        if copy and launch.process.returncode != 0:
            status = (launch.pids / "status.0").read_text().strip()
            assert status == str(128 + signal.SIGKILL), f"rank 0 ended by itself, with {status}: see {launch.said}"
            whom = f"0, file {copy}"
        log.unlink(missing_ok=True)
        assert running_in(folder) == []
        remove_what_killed_ranks_left(foreign_shared_memory)
        if whom:
            hit[f"{provider} {workload} {whom}"] += 1
        before = check(folder / "a.h5", before, launch.told())
        kept += len(before)
        if not whom or chance.random() < 0.5:
            folder, before = tmp_path / str(launches), set()
            workload = next(workloads)
            few = [name for name in there if name in OF_DURATIONS] if workload not in ("alltoall", "pairs") else []
            provider = chance.choice(few or there)
    print(f"{KILLS} kills {dict(hit)}, {launches} launches, {kept} points found")
    assert kept > 0
