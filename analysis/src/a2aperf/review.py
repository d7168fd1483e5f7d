# SPDX-License-Identifier: BSD-3-Clause
"""What is left of texts in an anonymous copy, as a list that people look through."""

from __future__ import annotations

import re

from a2aperf import stored_texts, writer

_FREE = ("label", "message", "command_line", "note", "title", "node", "preamble", "skip_reason")
_OF_LIBFABRIC = re.compile(
    r"\s*[a-z_]+:\s*(\[[A-Z0-9_, ]*\]|FI_\w+|\(nil\)|0x[0-9a-f]+|\d+(\.\d+)?)?", re.ASCII
)


def remaining(document: writer.Document) -> list[str]:
    """What is left of texts, each once, for people to look at: `what: text`.

    What people wrote comes first, what libraries say of themselves last, where only lines are shown
    whose words could be anybody's. A text that several things have is one line.
    """
    kinds: dict[str, list[str]] = {}
    names: dict[str, list[str]] = {}
    spared = 0
    for what, text in sorted(stored_texts.left(document), key=lambda one: _suspicion(one[0])):
        if what == "fi_info" and _OF_LIBFABRIC.fullmatch(text):
            spared += 1
        elif what in stored_texts.NAMES:
            names.setdefault(stored_texts.NAMES[what], []).append(text)
        elif what not in kinds.setdefault(text.strip(), []):
            kinds[text.strip()].append(what)
    lines = [f"{', '.join(found)}: {text}" for text, found in kinds.items()]
    lines += [f"{what}: {', '.join(found)}" for what, found in names.items()]
    if spared:
        lines.append(f"fi_info: {spared} more lines, of libfabric's own words and numbers")
    return lines


def _suspicion(what: str) -> int:
    """The smaller, the more freely somebody wrote it."""
    kind = what.partition(" ")[0]
    if kind in _FREE or what == "name of a label":
        return 0
    return {"variable": 1, "fi_info": 3, "meaning": 3}.get(kind, 2)
