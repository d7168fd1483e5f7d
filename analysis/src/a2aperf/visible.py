# SPDX-License-Identifier: BSD-3-Clause
"""Texts that others wrote, as they can be shown: nothing in them acts on a terminal or a page."""

from __future__ import annotations

import re
import unicodedata

_LINE = re.compile(r"[^\n\t]+")
_BEYOND_ASCII = re.compile(r"[^\n\x20-\x7e]")


def visible(text: str) -> str:
    r"""One line in which every character is seen: `\x1b` stands for an escape, `\n` for a new line.

    So do characters that have no width or turn the direction of what follows. Spaces of any kind
    stay, and letters of any script.
    """
    if text.isprintable():
        return text
    return "".join(one if _is_seen(one) else _escaped(one) for one in text)


def visible_lines(text: str) -> str:
    """The same of a text that may have lines and tabs: on a page or in a figure they do no harm."""
    return _LINE.sub(lambda found: visible(found.group()), text)


def json_visible(text: str) -> str:
    r"""JSON that says the same and is seen wholly: JSON has `\u001b` for what `visible` escapes."""
    return _BEYOND_ASCII.sub(_in_json, text)


def _is_seen(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def _in_json(found: re.Match[str]) -> str:
    character = found.group()
    if _is_seen(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))
