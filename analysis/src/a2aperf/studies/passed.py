# SPDX-License-Identifier: BSD-3-Clause
"""Options of a2aperf that a user passes on: which ones they are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from a2aperf import regular

_ALIASES: Final = {
    "-i": "--ops",
    "-m": "--sizes",
    "--message-size": "--sizes",
    "--domain": "--nic",
}
_KEY: Final = re.compile(r"^\s*\"?([a-z][a-z-]*)\"?\s*(?:=|#|$)", re.MULTILINE)


def names(words: Sequence[str]) -> set[str]:
    """The long names of the options in these words, and in the file that their --config names.

    What is wrong with that file is the program's to say.
    """
    found = {word.partition("=")[0] if word.startswith("--") else word[:2] for word in words if
             word.startswith("-")}  # fmt: skip
    for name in _configs(words):
        try:
            text = regular.read_text(Path(name), errors="replace")
        except (OSError, ValueError):
            continue
        found |= {f"--{key}" for key in _KEY.findall(text)}
    return {_ALIASES.get(name, name) for name in found}


def _configs(words: Sequence[str]) -> Iterator[str]:
    for before, word in pairwise(["", *words]):
        if before == "--config":
            yield word
        elif word.startswith("--config="):
            yield word.partition("=")[2]
