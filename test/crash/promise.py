# SPDX-License-Identifier: BSD-3-Clause
"""What must be true of a results file after a power cut at any instant, and whether an image keeps it.

The promise follows the folder as the running machine sees it, which tells what each row is to hold; an image is
compared with that and, where the file has them, with its own checksums.
"""

from collections import Counter
from contextlib import suppress

from disk import Disk, File, Image, plain_images
from notes import Note
from rows import Form, Rows, Unsound, open_image, read_rows
from whole import require_whole


class Promise:
    """Of the file of one name: follow() after every note, breaches() of every image that may be found then."""

    def __init__(self, name: str, forms: list[Form] | None = None) -> None:
        self.name = name
        self.must_exist = False
        self.acknowledged: set[int] = set()
        self._truth: dict[int, set[int]] = {}  # checksums that a row had when it was whole
        self._confirmed: set[int] = set()
        self._seen: tuple[File | None, bytes] = (None, b"")
        self._forms = [] if forms is None else forms  # grows; another promise of the same notes may have it, too
        self._opened: dict[bytes, Rows] = {}  # of images that are not in one piece: few

    def follow(self, disk: Disk, note: Note) -> None:
        """Only whole files get the name, so from then on its rows can be read at any instant."""
        file = disk.names.get(self.name)
        if file is None:
            return
        if len(disk.past_names) == 1:
            self.must_exist = True
        now = next(plain_images(file))
        is_new = file is not self._seen[0]
        if is_new or now.key() != self._seen[1]:
            self._seen = (file, now.key())
            with suppress(Unsound):  # its images are breaches
                self._look(self._open(disk, now), is_new)
        if note.kind in "SD" and disk.may_be_named(self.name) == [file] and not file.changed:
            self.acknowledged |= self._confirmed

    def _look(self, rows: Rows, is_new: bool) -> None:
        before, self._confirmed = self._confirmed, set()
        for point in range(len(rows)):
            is_confirmed = rows.is_confirmed(point)
            if is_confirmed:
                self._confirmed.add(point)
            # A row that changes while it is confirmed is not whole in between: nothing becomes true by that.
            if rows.is_measured(point) and (is_new or not is_confirmed or point not in before):
                self._truth.setdefault(point, set()).add(rows.checksum_of(point))
            if not rows.is_measured(point) and not is_new:
                self.acknowledged.discard(point)  # on purpose: it is measured again

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

    def breaches(self, disk: Disk, image: Image | None) -> Counter[str]:
        """What an image breaks: kinds, and how often each."""
        if image is None:
            return Counter({"absent, and was there": 1} if self.must_exist else {})
        if (rows := self.rows(disk, image)) is None:
            return Counter({"its metadata is none that the file had": 1})
        return self.breaches_of(rows)

    def breaches_of(self, rows: Rows) -> Counter[str]:
        """Of rows that were read in another way."""
        found: Counter[str] = Counter()
        for point in range(len(rows)):
            is_measured = rows.is_measured(point)
            if is_measured:
                checksum = rows.checksum_of(point)
                if checksum not in self._truth.get(point, ()):
                    found["a row says complete and does not hold what was measured"] += 1
                if rows.checksum is not None and rows.checksum[point] != checksum:
                    found["a row says complete and its checksum is wrong"] += 1
            elif point in self.acknowledged:
                found["an acknowledged row is missing"] += 1
        return found


def bytes_of(disk: Disk, image: Image) -> bytes:
    return disk.sectors.join(image.numbers, image.length).tobytes()
