# SPDX-License-Identifier: BSD-3-Clause
"""What the memory of a launch's ranks consists of, by /proc/PID/smaps: a page that several share counts once in all."""

from __future__ import annotations

import re
import threading
from pathlib import Path

KINDS = ("heap", "other private", "shared", "files")
"""heap: what malloc took by brk; other private: anonymous mappings, message buffers, large blocks and stacks among them;
shared: segments in /dev/shm and shared mappings without a file that has a name; files: programs, libraries, and others."""
MAPPING = re.compile(r"[0-9a-f]+-[0-9a-f]+ (\S{4}) \S+ (\S+) (\d+) *(.*)")


def kind_of(rights: str, path: str) -> str:
    if path == "[heap]":
        return "heap"
    if path.startswith(("/dev/shm/", "/dev/zero", "/SYSV")) or (rights.endswith("s") and "(deleted)" in path):
        return "shared"
    if path.startswith("/"):
        return "files"
    return "shared" if rights.endswith("s") else "other private"


def consists_of(smaps: str) -> dict[str, int]:
    """B of each kind, the proportional share of this process."""
    taken = dict.fromkeys(KINDS, 0)
    kind = KINDS[0]
    for line in smaps.splitlines():
        if line.startswith("Pss:"):
            taken[kind] += int(line.split()[1]) * 1024
        elif mapping := MAPPING.match(line):
            kind = kind_of(mapping[1], mapping[4])
    return taken


def descendants(root: int, name: str) -> list[int]:
    """Processes of this name that root has started, by whatever way."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:  # it has ended
            continue
        pid, names_and_more = int(stat.parent.name), text.rpartition(")")
        names[pid] = names_and_more[0].partition("(")[2]
        parents[pid] = int(names_and_more[2].split()[1])
    found = []
    for pid, own in names.items():
        at = pid
        while at not in (0, 1, root):
            at = parents.get(at, 0)
        if at == root and own == name[:15]:
            found.append(pid)
    return found


class RankMemory(threading.Thread):
    """Looks at the ranks below a process again and again until most() asks for what it saw when they had most."""

    def __init__(self, root: int, name: str, pause: float) -> None:
        super().__init__(daemon=True)
        self._root, self._name, self._pause = root, name, pause
        self._most = dict.fromkeys(KINDS, 0)
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(self._pause):
            self._look()

    def _look(self) -> None:
        all_ranks = dict.fromkeys(KINDS, 0)
        for pid in descendants(self._root, self._name):
            try:
                smaps = Path(f"/proc/{pid}/smaps").read_text()
            except OSError:
                continue
            for kind, taken in consists_of(smaps).items():
                all_ranks[kind] += taken
        if sum(all_ranks.values()) > sum(self._most.values()):
            self._most = all_ranks

    def most(self) -> dict[str, int]:
        """B of each kind, of all ranks."""
        self._ended.set()
        self.join()
        return self._most
