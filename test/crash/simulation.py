# SPDX-License-Identifier: BSD-3-Clause
"""Power cuts at every instant of what was noted: images that a disk may hold, each held against the promise once."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from disk import Disk, File, Image, plain_images, random_image, replay, single_images
from notes import Note
from promise import Promise, bytes_of
from rows import Form


@dataclass
class Outcome:
    """images: distinct ones of the named file. broken: of these, those with a breach; kinds: what was broken."""

    images: int = 0
    broken: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    examples: dict[str, tuple[int, bytes]] = field(default_factory=dict)  # by kind: the note, the image
    some: list[bytes] = field(default_factory=list)  # images for the command line

    def words(self) -> str:
        return f"{self.images} images, {self.broken} broken: {dict(self.kinds)}"


def simulate(notes: Sequence[Note], name: str, goal: int, seed: int = 1, keep: int = 0) -> Outcome:
    """Walks through the notes until there were goal distinct images; the first walk has all that is not random, or as
    much of it as the goal allows."""
    walk = _Walk(notes, name, goal, keep, np.random.default_rng(seed))
    before = -1
    while before < (now := walk.outcome.images) < goal:  # small folders have fewer
        walk.go()
        before = now
    return walk.outcome


class _Walk:
    """All notes once, and more than once where that gave too few images."""

    def __init__(self, notes: Sequence[Note], name: str, goal: int, keep: int, chance: np.random.Generator) -> None:
        self.notes, self.name, self.goal, self.keep = notes, name, goal, keep
        self.outcome = Outcome()
        self._chance = chance
        self._seen: set[bytes] = set()  # images
        self._held: set[bytes] = set()  # images and what had been acknowledged: it may be missing there
        self._forms: list[Form] = []
        self._is_first = True
        disk = Disk()
        self._instants = singles = 0
        for i, _ in enumerate(replay(disk, notes)):
            changed = [len(file.changed) for file in disk.may_be_named(name) if file and file.changed]
            self._instants += bool(changed)
            singles += sum(changed) * 2 * self._is_before_barrier(i)
        self._share = self.goal / max(singles, 1)

    def go(self) -> None:
        disk, promise = Disk(), Promise(self.name, self._forms)
        # Some come out alike.
        randoms = -(-(self.goal - self.outcome.images) * 5 // (4 * max(self._instants, 1)))
        for i, note in enumerate(replay(disk, self.notes)):
            promise.follow(disk, note)
            for file in disk.may_be_named(self.name):
                for image in self._images(file, randoms, is_thorough=self._is_before_barrier(i)):
                    self._look(promise, disk, file, image, i)
        self._is_first = False

    def _is_before_barrier(self, i: int) -> bool:
        return i + 1 == len(self.notes) or self.notes[i + 1].kind in "SER"

    def _images(self, file: File | None, randoms: int, *, is_thorough: bool) -> Iterator[Image | None]:
        if file is None:
            yield None
            return
        if self._is_first:
            yield from plain_images(file)
            if is_thorough:
                yield from (image for image in single_images(file) if self._chance.random() < self._share)
        for _ in range(randoms if file.changed else 0):
            yield random_image(file, self._chance)

    def _look(self, promise: Promise, disk: Disk, file: File | None, image: Image | None, note: int) -> None:
        key = image.key() if image else b""
        told = sorted(promise.acknowledged(file)) if file else []
        when = bytes([promise.must_exist, *told]) + b"|" + key
        if when in self._held:
            return
        self._held.add(when)
        outcome, is_new = self.outcome, image is not None and key not in self._seen
        self._seen.add(key)
        outcome.images += is_new
        if is_new and len(outcome.some) < self.keep and self._chance.random() < 1.5 * self.keep / self.goal:
            outcome.some.append(bytes_of(disk, image))
        if found := promise.breaches(disk, file, image):
            outcome.broken += 1
            outcome.kinds.update(found.keys())
            for kind in found:
                outcome.examples.setdefault(kind, (note, bytes_of(disk, image) if image else b""))
