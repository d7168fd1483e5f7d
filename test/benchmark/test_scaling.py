# SPDX-License-Identifier: BSD-3-Clause
"""A tiny look at how launches grow; and whose memory is whose."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE, wait_until

FOLDER = Path(__file__).resolve().parent
SCRIPT = FOLDER / "scaling.py"
sys.path.insert(0, str(FOLDER))

from rank_memory import consists_of, descendants  # noqa: E402

SMAPS = """\
55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]
Rss:                 100 kB
Pss:                  90 kB
VmFlags: rd wr mr mw me ac
7f0000000000-7f0000200000 rw-p 00000000 00:00 0
Pss:                2000 kB
7f1000000000-7f1000200000 rw-s 00000000 00:19 7                          /dev/shm/vader_segment.host.0
Pss:                 300 kB
7f1000000000-7f1000200000 rw-s 00000000 00:01 9                          /dev/zero (deleted)
Pss:                   4 kB
7f2000000000-7f2000200000 r-xp 00000000 fe:01 5                          /usr/lib/libfabric.so.1
Pss:                   7 kB
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
Pss:                  20 kB
"""


def test_a_mapping_is_of_one_kind() -> None:
    assert consists_of(SMAPS) == {"heap": 90 * 1024, "other private": 2020 * 1024, "shared": 304 * 1024, "files": 7 * 1024}


def test_processes_below_a_process_are_found_by_name() -> None:
    with subprocess.Popen(["bash", "-c", "sleep 900 & echo started; wait"], stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout.readline() == "started\n"
            assert wait_until(lambda: bool(descendants(parent.pid, "sleep")), PATIENCE)  # it may not be sleep yet
            found = descendants(parent.pid, "sleep")
            assert len(found) == 1 and descendants(parent.pid, "bash") == [parent.pid]
            assert descendants(found[0], "bash") == []
        finally:
            subprocess.run(["kill", *map(str, descendants(parent.pid, "sleep"))], check=False)


def test_a_tiny_launch(program: Path) -> None:
    pytest.importorskip("h5py")
    empty = program.resolve().parents[2] / "test/benchmark/empty-mpi"
    if not empty.is_file():
        pytest.skip(f"{empty} is not built")
    words = ["--ranks", "2", "--sizes", "1000", "--memory-limit", "1MiB", "--look", "0.02", "--stay", "0.5", "--provider", "shm"]
    done = subprocess.run(
        [sys.executable, SCRIPT, program, *words], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    first, _, _, ours, of_ours, other, of_other = done.stdout.splitlines()
    assert first == "shm, sizes 1000, window all, 2 warm-ups and 5 ops, memory limit 1MiB"
    assert ours.split()[:2] == ["2", "ours"] and other.split()[:2] == ["2", "empty"]
    assert 0 < float(ours.split()[2]) < float(ours.split()[4])  # the first op, the whole run
    assert 0 < float(other.split()[2])
    assert re.search(r"heap [\d.]+, other private [\d.]+ \(message buffers up to 0\.00\), shared", of_ours), of_ours
    assert re.search(r"heap [\d.]+, other private [\d.]+, shared", of_other), of_other
