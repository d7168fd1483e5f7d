# SPDX-License-Identifier: BSD-3-Clause
"""What a disk may hold of one folder after a power cut, at any instant of what recorder.cpp noted.

A file that was synced is there as it was. Of what was written since, a disk may hold any part: every sector (512 B)
as it was at any moment since that sync, independently of every other one, and the file any of the lengths that it had.
A sync that failed leaves it so for good: Linux takes the pages for written then, and no later sync writes them again,
unless they change once more.
Names change in their order; after a sync of the folder they are certain, without it the last changes may be missing.
A cache writes back pages (4 KiB), of which a power cut can leave some sectors old: both are among the images.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from notes import Note

SECTOR = 512
PAGE = 8  # sectors


class Sectors:
    """Contents of sectors, each kept once and known by its number; number 0 is zeros."""

    def __init__(self) -> None:
        self._numbers = {bytes(SECTOR): 0}
        self._contents = np.zeros((1024, SECTOR), np.uint8)

    def number(self, content: bytes) -> int:
        found = self._numbers.setdefault(content, len(self._numbers))
        if found == len(self._contents):
            self._contents = np.concatenate([self._contents, np.zeros_like(self._contents)])
        self._contents[found] = np.frombuffer(content, np.uint8)
        return found

    def join(self, numbers: np.ndarray, length: int) -> np.ndarray:
        return self._contents[numbers].reshape(-1)[:length]


@dataclass(frozen=True)
class Image:
    """What a file may hold: the numbers of its sectors, and its length. Equal content has equal numbers."""

    numbers: np.ndarray
    length: int

    def key(self) -> bytes:
        return self.length.to_bytes(8, "little") + self.numbers.tobytes()


@dataclass(eq=False)
class File:
    """A file as the running machine sees it, and what is certain to be on its disk."""

    sectors: Sectors
    content: bytearray = field(default_factory=bytearray)
    synced: list[int] = field(default_factory=list)
    # What happened since the last sync. Of a sector: the numbers that it had, by the note that changed it.
    changed: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=lambda: [0])
    # By the last sync that failed: how many of a sector's changes it was to write.
    refused: dict[int, int] = field(default_factory=dict)

    def write(self, at: int, data: bytes, note: int) -> None:
        end = at + len(data)
        grown = max(len(self.content), end)
        self._resize(grown)
        self.content[at:end] = data
        for i in range(at // SECTOR, -(-end // SECTOR)):
            self.changed.setdefault(i, []).append((note, self._number(i)))

    def truncate(self, length: int, note: int) -> None:
        before = len(self.content)
        self._resize(length)
        for i in range(length // SECTOR, -(-before // SECTOR)):
            self.changed.setdefault(i, []).append((note, self._number(i)))

    def sync(self) -> None:
        kept = {i: self.changed[i] for i, count in self.refused.items() if count == len(self.changed[i])}
        count = -(-len(self.content) // SECTOR)
        self.synced = (self.synced + [0] * count)[:count]
        for i, changes in self.changed.items():
            if i < count and i not in kept:
                self.synced[i] = changes[-1][1]
        self.changed, self.refused = kept, {i: len(changes) for i, changes in kept.items()}
        self.lengths = [len(self.content)]

    def refuse_sync(self) -> None:
        self.refused = {i: len(changes) for i, changes in self.changed.items()}

    def image(self, versions: dict[int, int], length: int) -> Image:
        """versions: of each sector how many of its changes are on the disk; none where it is not named."""
        count = -(-length // SECTOR)
        numbers = np.zeros(count, np.int32)
        known = self.synced[:count]
        numbers[: len(known)] = known
        for sector, version in versions.items():
            if version > 0 and sector < count:
                numbers[sector] = self.changed[sector][version - 1][1]
        return Image(numbers, length)

    def _resize(self, length: int) -> None:
        if length > len(self.content):
            self.content.extend(bytes(length - len(self.content)))
        else:
            del self.content[length:]
        if self.lengths[-1] != length:
            self.lengths.append(length)

    def _number(self, sector: int) -> int:
        content = bytes(self.content[sector * SECTOR : (sector + 1) * SECTOR])
        return self.sectors.number(content.ljust(SECTOR, b"\0"))


class Disk:
    """The folder: apply() follows the notes, images() says what a power cut may leave at this moment."""

    def __init__(self) -> None:
        self.sectors = Sectors()
        self.names: dict[str, File] = {}  # as the running machine sees them
        self.past_names: list[dict[str, File]] = [
            {}
        ]  # since the last sync of the folder; the last are the present ones
        self.is_replacing = False  # what gets a name now is there instead of what had it, and no copy of that
        self._inodes: dict[int, File] = {}
        self._count = 0

    def apply(self, note: Note) -> None:
        self._count += 1
        getattr(self, f"_{note.kind}")(note)

    def file(self, note: Note) -> File:
        return self._inodes[note.number(0)]

    def _rename_all(self, names: dict[str, File]) -> None:
        self.names = names
        self.past_names.append(names)

    def _C(self, note: Note) -> None:  # noqa: N802
        self._inodes[note.number(0)] = made = File(self.sectors)
        if note.words[1]:
            self._rename_all({**self.names, note.words[1]: made})

    def _W(self, note: Note) -> None:  # noqa: N802
        self.file(note).write(note.number(1), note.data, self._count)

    def _Z(self, note: Note) -> None:  # noqa: N802
        file = self.file(note)
        length = max(0, min(note.number(2), len(file.content) - note.number(1)))
        file.write(note.number(1), bytes(length), self._count)

    def _T(self, note: Note) -> None:  # noqa: N802
        self.file(note).truncate(note.number(1), self._count)

    def _S(self, note: Note) -> None:  # noqa: N802
        self.file(note).sync()

    def _N(self, note: Note) -> None:  # noqa: N802
        self.is_replacing = bool(note.number(0))

    def _E(self, note: Note) -> None:  # noqa: N802
        self.file(note).refuse_sync()

    def _D(self, _: Note) -> None:  # noqa: N802
        self.past_names = [self.names]

    def _R(self, note: Note) -> None:  # noqa: N802
        old, new = note.words
        self._rename_all({**{name: file for name, file in self.names.items() if name != old}, new: self.names[old]})

    def _X(self, note: Note) -> None:  # noqa: N802
        one, other = note.words
        self._rename_all({**self.names, one: self.names[other], other: self.names[one]})

    def _L(self, note: Note) -> None:  # noqa: N802
        self._rename_all({**self.names, note.words[1]: self.file(note)})

    def _U(self, note: Note) -> None:  # noqa: N802
        self._rename_all({name: file for name, file in self.names.items() if name != note.words[0]})

    def may_be_named(self, name: str) -> list[File | None]:
        """What the name may stand for after a power cut now; None is nothing."""
        found: list[File | None] = []
        for names in self.past_names:
            if (file := names.get(name)) not in found:
                found.append(file)
        return found


def plain_images(file: File) -> Iterator[Image]:
    """As the machine sees it, as it was synced last, and both of these but for the last change."""
    now = {sector: len(changes) for sector, changes in file.changed.items()}
    length = len(file.content)
    yield file.image(now, length)
    if not now and len(file.lengths) == 1:
        return
    yield file.image({}, file.lengths[0])
    yield file.image({}, length)
    last = max((changes[-1][0] for changes in file.changed.values()), default=0)
    of_last = {sector for sector, changes in file.changed.items() if changes[-1][0] == last}
    yield file.image({sector: now[sector] for sector in of_last}, length)
    yield file.image({sector: count - (sector in of_last) for sector, count in now.items()}, length)


def single_images(file: File) -> Iterator[Image]:
    """Every page alone, and all others without it; each sector likewise."""
    now = {sector: len(changes) for sector, changes in file.changed.items()}
    length = len(file.content)
    for whole in (PAGE, 1):
        groups: dict[int, dict[int, int]] = {}
        for sector, count in now.items():
            groups.setdefault(sector // whole, {})[sector] = count
        for group in groups.values():
            yield file.image(group, length)
            yield file.image({sector: count for sector, count in now.items() if sector not in group}, length)


def random_image(file: File, chance: np.random.Generator) -> Image:
    """Pages or sectors, few or most of them, each as it was at some moment since the sync, or all at one moment."""
    sectors = np.fromiter(file.changed, np.int64, len(file.changed))
    groups = sectors // (PAGE if chance.random() < 0.6 else 1)
    share = chance.choice([0.1, 0.5, 0.9])
    written = dict(zip(np.unique(groups).tolist(), (chance.random(len(groups)) < share).tolist(), strict=False))
    moments = [note for changes in file.changed.values() for note, _ in (changes[0], changes[-1])]
    until = chance.integers(min(moments), max(moments) + 1) if moments and chance.random() < 0.5 else None
    versions = {}
    for sector, group in zip(sectors.tolist(), groups.tolist(), strict=True):
        if written[group]:
            changes = file.changed[sector]
            if until is not None:
                versions[sector] = sum(note <= until for note, _ in changes)
            else:
                versions[sector] = len(changes) if chance.random() < 0.8 else int(chance.integers(len(changes) + 1))
    length = len(file.content) if chance.random() < 0.9 else int(chance.choice(file.lengths))
    return file.image(versions, length)


def replay(disk: Disk, notes: Iterable[Note]) -> Iterator[Note]:
    """Applies one note after the other, and gives each when it is done."""
    for note in notes:
        disk.apply(note)
        yield note
