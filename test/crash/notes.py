# SPDX-License-Identifier: BSD-3-Clause
"""What recorder.cpp noted: the calls that changed the files of one folder, in their order."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Note:
    """One call. kind and words are explained in recorder.cpp; data are the bytes of a W.

    N, which a scenario adds: 1 before a program that makes a file anew, 0 before one that goes on with it.
    """

    kind: str
    words: tuple[str, ...] = ()
    data: bytes = b""

    def number(self, i: int) -> int:
        return int(self.words[i])


def read_notes(log: Path) -> Iterator[Note]:
    """All of a log; a process that was killed while it noted leaves half a note at its end, which was not done."""
    whole = log.read_bytes()
    at = 0
    while (end := whole.find(b"\n", at)) >= 0:
        kind, *words = whole[at:end].decode().split("\t")
        at = end + 1
        data = b""
        if kind == "W":
            data = whole[at : at + int(words[2])]
            at += len(data) + 1
            if at > len(whole):
                return
        yield Note(kind, tuple(words), data)
