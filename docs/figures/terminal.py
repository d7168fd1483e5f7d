# SPDX-License-Identifier: BSD-3-Clause
"""What a command prints, as a picture of a terminal."""

from __future__ import annotations

import io
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

_THEME = TerminalTheme(
    (255, 255, 255),
    (26, 26, 26),
    [
        (26, 26, 26),
        (178, 60, 0),
        (0, 110, 80),
        (150, 100, 0),
        (0, 90, 143),
        (140, 70, 120),
        (0, 110, 130),
        (90, 90, 90),
    ],
)
# Like rich's own, without the web font that it would load, and with spaces that every viewer keeps.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xml:space="preserve"
 xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def output(words: Sequence[str], folder: Path) -> str:
    """What `a2a WORDS` prints in a folder, on a terminal that is wide enough."""
    done = subprocess.run(
        [sys.executable, "-m", "a2aperf", *words],
        cwd=folder,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode not in (0, 3, 4):  # 3 and 4 are answers of `a2a compare`
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def spoken(words: Sequence[str]) -> str:
    """The command as one would type it: files that differ in a number only become a pattern."""
    told = ["a2a"]
    for pattern, group in itertools.groupby(words, lambda word: re.sub(r"\d+(?=\.h5$)", "*", word)):
        alike = list(group)
        told.append(pattern if len(alike) > 1 else alike[0])
    return " ".join(told)


def picture(shown: Sequence[tuple[str, str]], rows: int) -> str:
    """SVG of commands and the first `rows` lines that each prints."""
    lines: list[Text] = []
    for command, text in shown:
        said = list(Text.from_ansi(text.rstrip()).split("\n"))
        lines += [Text(f"$ {command}", style="bold"), *said[:rows]]
        if len(said) > rows:
            lines.append(Text(f"… {len(said) - rows} more lines", style="bright_black"))
        lines.append(Text())
    width = max(100, *(line.cell_len for line in lines))
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    for line in lines[:-1]:
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)
    return console.export_svg(title="", theme=_THEME, code_format=_FORMAT, unique_id="a2a")
