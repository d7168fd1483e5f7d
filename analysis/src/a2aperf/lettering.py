# SPDX-License-Identifier: BSD-3-Clause
"""How wide a text of a printed figure is, and its lines where it has to fit."""

from __future__ import annotations

import functools
import re

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextToPath

AT_BLANKS = r"(?<= )"
AT_COMMAS_TOO = r"(?<= )|(?<=,)(?! )"


@functools.lru_cache(maxsize=4096)
def width(text: str, size: float, bold: bool = False) -> float:
    """In inches; `size` in points."""
    font = FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")
    return float(TextToPath().get_text_width_height_descent(text, font, False)[0]) / 72


def wrapped(
    text: str, size: float, room: float, bold: bool = False, breaks: str = AT_BLANKS
) -> list[str]:
    """In lines no wider than `room` (inches); a word that is wider is cut. Of no text none."""
    lines = [""]
    for part in re.split(breaks, text):
        rest = part
        if lines[-1] and width((lines[-1] + rest).rstrip(), size, bold) > room:
            lines.append("")
        while width(rest.rstrip(), size, bold) > room and len(rest.rstrip()) > 1:
            fits = max(1, int(len(rest) * room / width(rest, size, bold)))
            while fits > 1 and width(rest[:fits], size, bold) > room:
                fits -= 1
            lines[-1] = rest[:fits]
            lines.append("")
            rest = rest[fits:]
        lines[-1] += rest
    return [line.rstrip() for line in lines if line.strip()]
