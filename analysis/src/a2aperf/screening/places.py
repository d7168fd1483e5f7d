# SPDX-License-Identifier: BSD-3-Clause
"""Where in a text of TOML a key or a table stands.

The reader of TOML says only what a document means. So the text is changed wherever the key could
be, each time to a name of its own, and read once more: the name that turns up in the table tells
the place. What merely looks like the key, in a text or a comment, turns up nowhere.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any, Final

from a2aperf import notation

_MARK: Final = "a2aperf-place-"
_TABLES: Final = "setting"
_HEAD: Final = re.compile(
    rf"^[ \t]*(?P<at>\[\[)[ \t]*[\"']?{_TABLES}[\"']?[ \t]*\]\][ \t]*(#[^\n]*)?$|(?P<inline>\{{)",
    re.MULTILINE,
)
_CLOSED: Final = re.compile(r"[ \t]*\}")


def of_key(text: str, number: int, key: str) -> tuple[int, int] | None:
    """Line and column of a key of the table with this number (−1: of the document), from 1.

    None where it cannot be told, as of a key that is written with escapes.
    """
    pattern = re.compile(rf"(?<![\w-])(?P<at>{re.escape(key)})(?=[\"']?[ \t]*[.=\]])")
    return _found(text, number, pattern, lambda _match, mark: mark)


def of_table(text: str, number: int) -> tuple[int, int] | None:
    """The same of where a table begins: its head, or the brace of one that stands in a list."""

    def marked(match: re.Match[str], mark: str) -> str:
        if match["at"]:
            return f"{match['at']}{_TABLES}]]\n{mark} = 1\n#"
        is_empty = _CLOSED.match(text, match.end())
        return f"{{{mark} = 1" + ("" if is_empty else ", ")

    return _found(text, number, _HEAD, marked)


def _found(
    text: str,
    number: int,
    pattern: re.Pattern[str],
    marked: Callable[[re.Match[str], str], str],
) -> tuple[int, int] | None:
    """The place of the match whose mark turns up in the table."""
    places: list[int] = []
    pieces: list[str] = []
    end = 0
    for match in pattern.finditer(text):
        name = "at" if match["at"] else "inline"
        pieces += [text[end : match.start(name)], marked(match, f"{_MARK}{len(places)}")]
        places.append(match.start(name))
        end = match.end(name)
    pieces.append(text[end:])
    try:
        table = _table(notation.of_toml("".join(pieces)), number)
    except ValueError:
        return None
    at = next((place for i, place in enumerate(places) if f"{_MARK}{i}" in table), None)
    if at is None:
        return None
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _table(document: dict[str, Any], number: int) -> dict[str, Any]:
    """A table by its number; empty where there is none."""
    if number < 0:
        return document
    tables = document.get(_TABLES, [])
    one: Any = next(itertools.islice(tables, number, None), {}) if isinstance(tables, list) else {}
    return one if isinstance(one, dict) else {}
