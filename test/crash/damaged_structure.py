# SPDX-License-Identifier: BSD-3-Clause
"""Damages the structure of a results file, has `a2a` repair each of these files, and looks at what it kept.

Run with the Python that has `a2a`: each repair is a process of its own, for HDF5 can crash, forked from one that has
loaded all modules: a new one would take seconds."""

import faulthandler
import json
import re
import sys
import traceback
from collections import Counter
from pathlib import Path

import checksums
import h5py
import numpy as np
from a2aperf import repair, skeleton
from a2aperf.errors import InputError
from support.forked import forked

COMPLETE = 1
SECTOR = 512

WHOLE, LESS, REFUSED, FALSE, RAISED = "whole", "less", "refused", "false", "raised"


def structure_of(content: bytes, path: Path) -> list[int]:
    """Every byte that is no measurement, the copy of them not among them."""
    parts = skeleton.of(path)
    assert parts is not None
    last = content.index(b"a2aperf skeleton v1")
    places = [at for offset, part in parts for at in range(offset, min(offset + len(part), last))]
    assert len(places) > 10_000
    return places


def mutant(content: bytes, places: list[int], random: np.random.Generator) -> bytes:
    """One bit flipped, one byte replaced, or a sector gone."""
    changed = bytearray(content)
    place = places[random.integers(len(places))]
    match int(random.integers(4)):
        case 0 | 1:
            changed[place] ^= 1 << int(random.integers(8))
        case 2:
            changed[place] ^= int(random.integers(1, 256))
        case _:
            begin = place // SECTOR * SECTOR
            changed[begin : begin + SECTOR] = bytes(SECTOR)
    return bytes(changed)


class Truth:
    """What was written."""

    def __init__(self, content: bytes, places: list[int], path: Path) -> None:
        self.content, self.places, self.path = np.frombuffer(content, np.uint8), np.array(places), path
        path.write_bytes(content)
        with h5py.File(path, "r", locking=False) as file:
            self.sums = file["checksum"][()]
            self.plan = plan_of(file)
        self.done = np.flatnonzero(self.sums >= 0).tolist()

    def sound(self, damaged: bytes) -> set[int]:
        """Points of which no byte was hit: with a structure that is as it was they have their checksums."""
        restored = np.frombuffer(damaged, np.uint8).copy()
        restored[self.places] = self.content[self.places]
        self.path.write_bytes(restored.tobytes())
        with h5py.File(self.path, "r", locking=False) as file:
            return {p for p in self.done if self._is_right(file, p)}

    def _is_right(self, file: h5py.File, point: int) -> bool:
        try:
            return checksums.of_point(file, point) == self.sums[point]
        except OSError:  # what does not unpack any more
            return False


def plan_of(file: h5py.File) -> str:
    """What was asked, and who measured."""
    columns = [file[name][()].tolist() for name in ("role", "mode", "message_size", "window", "ranks")]
    launches = [sorted((n, str(v)) for n, v in launch.attrs.items()) for launch in file["segments"].values()]
    nodes = [launch["nodes"][()].tolist() for launch in file["segments"].values()]
    return repr((columns, launches, nodes))


def fate(path: Path, new: Path, truth: Truth, sound: set[int]) -> str:
    """What comes of a file in its own process, which this one is."""
    try:
        outcome = repair.written(path, new, progress=lambda done, of: None)
    except InputError:
        return REFUSED
    except MemoryError:  # a fate of its own (`forked`)
        raise
    except Exception:  # which a user would see
        traceback.print_exc()
        return RAISED
    with h5py.File(new, "r", locking=False) as file:
        sums, states = file["checksum"][()], file["state"][()]
        complete = set(np.flatnonzero(states == COMPLETE).tolist())
        if any(not (found == sums[p] == truth.sums[p]) for p, found in checksums.of_points(file, complete).items()):
            return FALSE
        kept = {p for p, told in enumerate(sums) if told >= 0}
        told = {int(point) for text in outcome.lost for point in re.findall(r"^point (\d+):", text)}
        if not set(truth.done) - kept <= told:
            return FALSE
        return WHOLE if kept >= sound and plan_of(file) == truth.plan else LESS


def main(path: Path, seed: int, count: int, without_copy: bool = False) -> None:
    """Prints how often each fate was met, and the files that were not repaired wholly."""
    faulthandler.disable()
    content = path.read_bytes()
    places = structure_of(content, path)
    if without_copy:
        content = content.replace(b"a2aperf skeleton v1", bytes(19))
    truth = Truth(content, places, path.with_name("truth.h5"))
    name, new = path.with_name("mutant.h5"), path.with_name("new.h5")
    random = np.random.default_rng(seed)
    fates: Counter[str] = Counter()
    missed = []
    for number in range(count):
        damaged = mutant(content, places, random)
        sound = truth.sound(damaged)
        name.write_bytes(damaged)
        new.unlink(missing_ok=True)
        what = forked(lambda: fate(name, new, truth, sound))
        fates[what] += 1
        print(number, what, file=sys.stderr, flush=True)
        if what != WHOLE:
            missed.append(number)
            if not without_copy:
                name.rename(path.with_name(f"{what}-{number}.h5"))
    print(json.dumps({"fates": fates, "missed": missed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), len(sys.argv) > 4)
