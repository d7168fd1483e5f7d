# SPDX-License-Identifier: BSD-3-Clause
"""Named baselines, and results files given as files, folders or such names.

A baseline is a name for a list of files, kept in `a2a-baselines.json` in the working folder (or in
the file that A2A_BASELINES names). Paths in it are relative to that file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from a2aperf import copies, loading, notation, output, regular, terminal
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.studies import first

FILE = "a2a-baselines.json"


def register() -> Path:
    """The file that holds the names."""
    return Path(os.environ.get("A2A_BASELINES", FILE))


def read() -> dict[str, list[Path]]:
    """All baselines by name; empty where none was ever saved."""
    path = register()
    try:
        found = notation.of_json(regular.read_text(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a list of baselines: {error}") from None
    if not isinstance(found, dict) or not all(
        isinstance(files, list) and all(isinstance(file, str) for file in files)
        for files in found.values()
    ):
        raise InputError(f"{path}: not a list of baselines: expected names with lists of files")
    return {name: [path.parent / file for file in files] for name, files in found.items()}


def save(name: str, files: Iterable[Path]) -> Path:
    """Names these files; an earlier baseline of the name is replaced. Returns the register."""
    path = register()
    known = {**read(), name: list(files)}
    folder = path.parent.resolve()
    relative = {
        key: [os.path.relpath(os.path.realpath(file), folder) for file in value]
        for key, value in sorted(known.items())
    }
    output.replace(path, (json.dumps(relative, indent=1) + "\n").encode())
    return path


def _is_merged(file: Path) -> bool:
    return file.parent.name == "merged" and any(file.parent.parent.glob("plan-*.tsv"))


def _is_environment(folder: Path) -> bool:
    try:
        return regular.is_file(folder / "pyvenv.cfg")
    except OSError:  # which looking into it will tell
        return False


def _h5_files(folder: Path) -> Iterator[Path]:
    """At any depth, but for Python environments: h5py brings files of its own there."""

    def refuse(error: OSError) -> None:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}")

    seen: set[tuple[int, int]] = set()  # links may lead around
    for here, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        there = Path(here).stat()
        if (there.st_dev, there.st_ino) in seen:
            folders.clear()
            continue
        seen.add((there.st_dev, there.st_ino))
        folders[:] = [name for name in folders if not _is_environment(Path(here, name))]
        yield from (Path(here, name) for name in files if name.endswith(".h5"))


def load(given: Sequence[Path], files: Sequence[Path]) -> Results:
    """What is in the files meant, which `files_of` has; `loading.load` says what it raises.

    Of those that only a folder stands for one that cannot be used is left out and told.
    """
    try:
        found = loading.load(files, _not_named(given, files))
    except loading.NothingLeftError as error:
        terminal.leave_out(*error.left_out)
        raise
    terminal.leave_out(*found.left_out)
    return found


def load_studies(given: Sequence[Path], files: Sequence[Path]) -> Results:
    """As `load`, with what plans beside the files say of the settings that are compared."""
    return replace(load(given, files), compared=first.values(files))


def _not_named(given: Sequence[Path], files: Iterable[Path]) -> frozenset[Path]:
    known = read()
    of_names = (known.get(str(path), []) for path in given if not path.exists())
    named = {os.path.realpath(file) for file in (*given, *chain.from_iterable(of_names))}
    return frozenset(file for file in files if os.path.realpath(file) not in named)


def files_of(given: Iterable[Path], with_copies: bool = False) -> list[Path]:
    """The files meant by files, folders (their `.h5` files, at any depth) and names of baselines.

    Each file once, in the order given; folders in alphabetical order. A study's folder `merged`
    holds the same launches once more and is passed over; so is any other copy in a folder, which
    is said on stderr; `with_copies` they stay, and no file is opened. Python environments, such as
    a clone's build/a2a, are not looked into.
    """
    known = read()
    found: dict[Path, None] = {}
    for path in given:
        if path.is_dir():
            inside = sorted(file for file in _h5_files(path) if not _is_merged(file))
            if not inside:
                raise InputError(f"{path}: the folder holds no .h5 file")
            kept, twice = (inside, []) if with_copies else copies.without_copies(inside)
            for copy in twice:
                said = "holds launches that other files here hold, too, and is left out"
                terminal.tell(f"a2a: {copy}: {said}")
            found |= dict.fromkeys(kept)
        elif not path.exists() and str(path) in known:
            found |= dict.fromkeys(known[str(path)])
        elif not path.exists() and known:
            names = ", ".join(known)
            raise InputError(f"{path}: no such file or folder, and the baselines are {names}")
        else:
            found[path] = None
    return list(found)
