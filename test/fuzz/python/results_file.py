# SPDX-License-Identifier: BSD-3-Clause
"""Results files that others had in their hands: every command that reads one refuses it or makes sense of it."""

import contextlib
import csv
import io
import shutil
import tempfile
from functools import cache
from pathlib import Path

import damage
import h5py
from a2aperf import loading, schema, sealing, trailer
from property import FINE, a2a, require
from support import synthetic

_READERS = ("table", "check", "explain", "live", "merge", "export", "report", "history", "compare")


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


def target(data: bytes) -> None:
    """An input is a script of damage; a line `command NAME` says who else is to read the file."""
    script = data.decode(errors="surrogateescape")
    path = Path(shutil.copy(_sound(), _folder() / "results.h5"))
    damage.damage(path, script)
    _seal(path)
    before = path.read_bytes()
    status, out = a2a("table", path, "--csv", "--role", "all")
    if status == FINE:
        rows = list(csv.DictReader(io.StringIO(out)))
        require(0 < len(rows) <= 6, f"{len(rows)} rows of 6 points")
        require(all(row["state"] in schema.STATES for row in rows), "a state has a word")
    for name in _READERS:
        if f"command {name}" in script:
            _read(name, path)
    require(path.read_bytes() == before, "a reader changed the file")


def _seal(path: Path) -> None:
    """As who wrote it on purpose would: what its checksums don't tell has to be seen otherwise."""
    with contextlib.suppress(Exception):  # such as: a part is missing, or of another type
        with h5py.File(path, "r+") as file:
            sealing.seal(file)
        trailer.append(path)


def _read(name: str, path: Path) -> None:
    words: dict[str, list[str | Path]] = {
        "live": ["--once"],
        "merge": [_sound(), "-o", _folder() / "merged.h5", "--force"],
        "export": ["--anonymize", "-o", _folder() / "export.h5", "--key", _folder() / "key", "--force"],
        "report": ["-o", _folder() / "report.html"],
        "compare": ["--by", "mode"],
    }
    status, _ = a2a(name, path, *words.get(name, []))
    if status == FINE and name in ("merge", "export"):
        loading.load([_folder() / f"{'merged' if name == 'merge' else name}.h5"])
