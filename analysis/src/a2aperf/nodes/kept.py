# SPDX-License-Identifier: BSD-3-Clause
"""The nights of many files, and the index that spares reading the same files every night.

The index lies beside the files, `a2a-nodes.json`; adapters, directions and pairs have one each.
What it says of a file holds while the file's
size, time and inode are the same; without it, or where it is damaged or of another version, the
files are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from a2aperf import __version__, asking, isolated, notation, output, regular, terminal
from a2aperf.errors import InputError
from a2aperf.nodes import names, nights
from a2aperf.nodes.night import Night, Per

_FORMAT: Final = 5
_MOST: Final = 20_000
"""Values of a file that are kept: of more, the pairs of many nodes, the file is read each time."""
_Known = dict[str, Any]


def index(folder: Path, per: Per = "node") -> Path:
    """The index of a folder."""
    return folder / f"a2a-{per}s.json"


def read(
    paths: Sequence[Path],
    per: Per = "node",
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[list[Night], dict[Path, str]]:
    """The nights of these files, each launch once; and of files that cannot be read, why not."""
    found: dict[str, Night] = {}
    refused: dict[Path, str] = {}
    by_folder: dict[Path, list[Path]] = {}
    for path in paths:
        by_folder.setdefault(path.parent, []).append(path)
    done = 0
    for folder, files in by_folder.items():
        with _kept(index(folder, per)) as known, closing(_each(files, known, per)) as answers:
            for path, said in zip(files, answers, strict=True):
                done += 1
                if isinstance(said, InputError):
                    refused[path] = str(said)
                    continue
                told, is_kept = said
                if is_kept:
                    progress(done, len(paths))
                    if sum(len(one.effects) for x in told for one in x.lines) <= _MOST:
                        with suppress(InputError):  # it is gone by now, and was read
                            mark = _mark(path)
                            known[path.name] = {**mark, "nights": [x.plain() for x in told]}
                for night in told:
                    found.setdefault(night.identity, night)
    ordered = sorted(found.values(), key=lambda night: (night.started, night.identity))
    return names.without_domains(ordered), refused


def _each(
    files: Sequence[Path], known: _Known, per: Per
) -> Generator[tuple[list[Night], bool] | InputError]:
    """The nights of each file, and whether to keep them: they were read just now.

    What is damaged is read each time, and told each time.
    """
    before: dict[Path, list[Night] | InputError | None] = {}
    for path in files:
        try:
            before[path] = _told(path, known)
        except InputError as error:
            before[path] = error
    new = [path for path in files if before[path] is None]
    reading = asking.each(
        new,
        lambda path: nights.with_damage(path, per),
        lambda path: isolated.call(path, nights.with_damage, path, per),
    )
    with closing(reading):
        for path in files:
            told = before[path]
            if told is not None:
                yield told if isinstance(told, InputError) else (told, False)
                continue
            said = next(reading)
            if isinstance(said, InputError):
                yield said
                continue
            terminal.tell_once(*(f"a2a: {what}" for what in said[1]))
            yield said[0], not said[1]


def _mark(path: Path) -> _Known:
    try:
        said = path.stat()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return {"size": said.st_size, "time": said.st_mtime_ns, "inode": said.st_ino}


def _told(path: Path, known: _Known) -> list[Night] | None:
    """What the index says of a file; None where it does not, or the file is another one now."""
    entry, mark = known.get(path.name), _mark(path)
    with suppress(ValueError, KeyError, TypeError, AttributeError):
        if entry is not None and {name: entry[name] for name in mark} == mark:
            return [Night.of_plain(one) for one in entry["nights"]]
    return None


@contextmanager
def _kept(file: Path) -> Iterator[_Known]:
    """What an index says; what is added is kept, by who interrupts a first look, too."""
    known = _known(file)
    before = dict(known)
    try:
        yield known
    finally:
        if known != before:
            _keep(file, known)


def _known(file: Path) -> _Known:
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = notation.of_json(regular.read_text(file))
        if said["format"] == _FORMAT and said["version"] == __version__:
            return dict(said["files"])
    return {}


def _keep(file: Path, known: _Known) -> None:
    """Where it may be written: the next time is only slower without it."""
    there = {name: entry for name, entry in known.items() if (file.parent / name).exists()}
    text = json.dumps({"format": _FORMAT, "version": __version__, "files": there})
    with suppress(InputError, OSError):
        output.replace(file, text.encode())
