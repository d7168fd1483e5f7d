# SPDX-License-Identifier: BSD-3-Clause
"""Results files that others had in their hands: every command that reads one refuses it or makes sense of it."""

import contextlib
import csv
import io
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

import damage
import h5py
from a2aperf import loading, schema, sealing, trailer
from property import FINE, NOT_SO, a2a, require
from support import synthetic

_READERS = ("table", "check", "explain", "live", "merge", "export", "report", "history", "compare")
_NOT_SO = ("live", "compare")
"""Readers whose status 1 is an answer: a launch that failed, settings that differ."""
_ASKED_TOO_MUCH = {
    "merge": "stay apart|holds the same launch",
    "compare": "every point has mode=",
}
"""Words by which a reader refuses a question that a sound file need not answer."""


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="a2a-fuzz-"))


@cache
def _sound() -> Path:
    setup = synthetic.Setup(
        nodes=2, ppn=1, sizes=(1000, 60000), ops=8, baseline=True, sentinel=True, environment={"PSM2_RCVTHREAD": "0"},
        labels={"cable": "green"},
    )  # fmt: skip
    return synthetic.write_launch(_folder() / "sound.h5", setup)


@cache
def _other() -> Path:
    """Of another launch, to be merged."""
    return synthetic.write_launch(_folder() / "other.h5", synthetic.Setup(nodes=2, ppn=1, sizes=(1000,), ops=8, seed=9))


def target(data: bytes) -> None:
    """An input is a script of damage; a line `command NAME` says who else is to read the file."""
    script = data.decode(errors="surrogateescape")
    path = Path(shutil.copy(_sound(), _folder() / "results.h5"))
    damage.damage(path, script)
    _seal(path)
    before = path.read_bytes()
    is_sound = a2a("check", path)[0] == FINE
    status, out = a2a("table", path, "--csv", "--role", "all")
    require(not is_sound or status == FINE, f"'a2a check' says sound, and 'a2a table' ends with {status}")
    if status == FINE:
        rows = list(csv.DictReader(io.StringIO(out)))
        require(0 < len(rows) <= 6, f"{len(rows)} rows of 6 points")
        require(all(row["state"] in schema.STATES for row in rows), "a state has a word")
    for name in _READERS:
        if f"command {name}" in script:
            _read(name, path, is_sound)
    require(path.read_bytes() == before, "a reader changed the file")


def _seal(path: Path) -> None:
    """As who wrote it on purpose would: what its checksums don't tell has to be seen otherwise."""
    with contextlib.suppress(Exception):  # such as: a part is missing, or of another type
        with h5py.File(path, "r+") as file:
            sealing.seal(file)
        trailer.append(path)


def _read(name: str, path: Path, is_sound: bool) -> None:
    words: dict[str, list[str | Path]] = {
        "live": ["--once"],
        "merge": [_other(), "-o", _folder() / "merged.h5", "--force"],
        "export": ["--anonymize", "-o", _folder() / "export.h5", "--key", _folder() / "key", "--force"],
        "report": ["-o", _folder() / "report.html"],
        "compare": ["--by", "mode"],
    }
    status, said = a2a(name, path, *words.get(name, []))
    is_fine = status == FINE or (status == NOT_SO and name in _NOT_SO)
    if is_sound and not is_fine:
        right = _ASKED_TOO_MUCH.get(name)
        require(bool(right and re.search(right, said)), f"'a2a check' says sound, and 'a2a {name}' refuses: {said}")
    if status == FINE and name in ("merge", "export"):
        loading.load([_folder() / f"{'merged' if name == 'merge' else name}.h5"])
