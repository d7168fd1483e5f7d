# SPDX-License-Identifier: BSD-3-Clause
"""Launches that are there twice: their ops would count twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from a2aperf import reading
from a2aperf.asking import ask
from a2aperf.errors import InputError
from a2aperf.launch import Launch


def require_distinct(launches: Iterable[Launch]) -> None:
    """Refuse two files that hold the same launch; the segments of one file are its own affair."""
    seen: dict[tuple[Any, ...], Launch] = {}
    for launch in launches:
        key = identity(launch.attributes, launch.nodes)
        if key is None:
            continue
        other = seen.setdefault(key, launch)
        if other.path != launch.path:
            raise InputError(
                f"{launch.path}: holds the same launch as {other.path}; "
                "its ops would count twice: give one of the two"
            )


def identity(attributes: dict[str, Any], nodes: Sequence[str]) -> tuple[Any, ...] | None:
    """What no two launches share: its origin of time, its command line, its nodes.

    None of an import, which does not know when it was measured.
    """
    origin = int(attributes["time_origin"])
    return (origin, attributes["command_line"], tuple(nodes)) if origin > 0 else None


def key(launch: Launch) -> str:
    """The same of a launch in whatever file it is, as text; of an import in this file alone."""
    known = identity(launch.attributes, launch.nodes)
    return repr((known, 0) if known else ((launch.id,), launch.segment))


def without_copies(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that hold every launch once, and those whose launches are all in them.

    Of a merged file and its parts the parts stay, of two copies the first by name.
    """
    identities = {path: _identities(path) for path in paths}
    held = Counter(key for keys in identities.values() for key in keys)
    kept = list(paths)
    for path in sorted(paths, key=lambda p: (len(identities[p]), p), reverse=True):
        if identities[path] and all(held[key] > 1 for key in identities[path]):
            held.subtract(identities[path])
            kept.remove(path)
    left = set(kept)
    return kept, [path for path in paths if path not in left]


def _identities(path: Path) -> set[tuple[Any, ...]]:
    """The launches of a file; none where it cannot be read, which `load` says."""
    try:
        launches = ask(path, reading.launches)
    except InputError:
        return set()
    keys = [identity(*launch) for launch in launches]
    return set() if None in keys else {key for key in keys if key is not None}
