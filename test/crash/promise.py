# SPDX-License-Identifier: BSD-3-Clause
"""What must be true of a results file after a power cut at any instant, and whether an image keeps it.

The promise follows the folder as the running machine sees it, which tells what each row is to hold; an image is
compared with that and, where the file has them, with its own checksums.
"""

from collections import Counter
from contextlib import suppress

from disk import Disk, File, Image, plain_images
from notes import Note
from rows import FINISHED, PENDING, Form, Rows, Unsound, open_image, read_rows
from whole import require_whole


class Measured:
    """What was measured into a file and the copies of it that took its name."""

    def __init__(self) -> None:
        self.acknowledged: set[int] = set()
        self.confirmed: set[int] = set()
        self.truth: dict[int, set[int]] = {}  # checksums that a row had when it was whole


class Promise:
    """Of the file of one name: follow() after every note, breaches() of every image that may be found then."""

    def __init__(self, name: str, forms: list[Form] | None = None) -> None:
        self.name = name
        self.must_exist = False
        self._measured: dict[File | None, Measured] = {None: Measured()}
        self._seen: tuple[File | None, bytes] = (None, b"")
        self._forms = [] if forms is None else forms  # grows; another promise of the same notes may have it, too
        self._opened: dict[bytes, Rows] = {}  # of images that are not in one piece: few

    def acknowledged(self, file: File | None = None) -> set[int]:
        """Rows that a power cut may not take; of the file that has the name now unless another is told."""
        return self._measured[file or self._seen[0]].acknowledged

    def follow(self, disk: Disk, note: Note) -> None:
        """Only whole files get the name, so from then on its rows can be read at any instant."""
        file = disk.names.get(self.name)
        if file is None:
            return
        if len(disk.past_names) == 1:
            self.must_exist = True
        now = next(plain_images(file))
        is_new = file is not self._seen[0]
        if is_new and file not in self._measured:
            # What replaces another file on purpose (--force) has rows of its own.
            self._measured[file] = Measured() if disk.is_replacing else self._measured[self._seen[0]]
        if is_new or now.key() != self._seen[1]:
            self._seen = (file, now.key())
            with suppress(Unsound):  # its images are breaches
                self._look(self._open(disk, now), self._measured[file], is_new)
        if note.kind in "SD" and disk.may_be_named(self.name) == [file] and not file.changed:
            self._measured[file].acknowledged |= self._measured[file].confirmed

    @staticmethod
    def _look(rows: Rows, of: Measured, is_new: bool) -> None:
        before, of.confirmed = of.confirmed, set()
        for point in range(len(rows)):
            is_confirmed = rows.is_confirmed(point)
            if is_confirmed:
                of.confirmed.add(point)
            # A row that changes while it is confirmed is not whole in between: nothing becomes true by that.
            if rows.is_measured(point) and (is_new or not is_confirmed or point not in before):
                of.truth.setdefault(point, set()).add(rows.checksum_of(point))
            if not rows.is_measured(point) and not is_new:
                of.acknowledged.discard(point)  # on purpose: it is measured again

    def rows(self, disk: Disk, image: Image) -> Rows | None:
        """None where its metadata is none that the file had; HDF5 need not survive such an image, and is not asked."""
        if (key := image.key()) in self._opened:
            return self._opened[key]
        content = disk.sectors.join(image.numbers, image.length)
        return next((form.rows(content) for form in self._forms if form.fits(content)), None)

    def _open(self, disk: Disk, image: Image) -> Rows:
        """Of the file as the running machine sees it: Unsound where it is no whole results file."""
        if rows := self.rows(disk, image):
            return rows
        content = disk.sectors.join(image.numbers, image.length)
        with open_image(content) as file:
            require_whole(file, content)
            if Form.is_of(file):
                self._forms.append(Form(content, file))
                return self._forms[-1].rows(content)
            return self._opened.setdefault(image.key(), read_rows(file))

    def breaches(self, disk: Disk, file: File | None, image: Image | None) -> Counter[str]:
        """What an image of a file breaks: kinds, and how often each."""
        if file is None or image is None:
            return Counter({"absent, and was there": 1} if self.must_exist else {})
        if (rows := self.rows(disk, image)) is None:
            return Counter({"its metadata is none that the file had": 1})
        return self.breaches_of(rows, file)

    def breaches_of(self, rows: Rows, file: File | None = None) -> Counter[str]:
        """Of rows that were read in another way; of the file that has the name now unless another is told."""
        found: Counter[str] = Counter()
        measured = self._measured[file or self._seen[0]]
        is_finished = rows.end == FINISHED
        for point in range(len(rows)):
            is_measured = rows.is_measured(point)
            if is_measured:
                checksum = rows.checksum_of(point)
                if checksum not in measured.truth.get(point, ()):
                    found["a row says complete and does not hold what was measured"] += 1
                if rows.checksum is not None and rows.checksum[point] != checksum:
                    found["a row says complete and its checksum is wrong"] += 1
            elif point in measured.acknowledged:
                found["an acknowledged row is missing"] += 1
            elif is_finished and rows.state[point] == PENDING and point in measured.truth:
                found["says finished, and a row is not measured"] += 1
        if is_finished and not all(map(rows.is_group_sound, rows.groups)):
            found["says finished, and a workload's group has not its checksum"] += 1
        return found


def bytes_of(disk: Disk, image: Image) -> bytes:
    return disk.sectors.join(image.numbers, image.length).tobytes()
