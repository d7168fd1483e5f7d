# SPDX-License-Identifier: BSD-3-Clause
"""What callgrind's files have in common for the benchmarks that read them."""

from __future__ import annotations

import re


class Names:
    """Of functions: a file says each once, behind its number in parentheses, and then the number alone."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def read(self, text: str) -> str:
        number, name = re.match(r"\((\d+)\)(?: (.*))?", text).groups()
        if name is not None:
            self._of[number] = name
        return self._of[number]
