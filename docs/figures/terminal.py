# SPDX-License-Identifier: BSD-3-Clause
"""What a command prints, as a picture of a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence

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
# Like rich's own, without the web font that it would load.
_FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def output(words: Sequence[object]) -> str:
    """What `a2a WORDS` prints on a terminal that is wide enough."""
    done = subprocess.run(
        [sys.executable, "-m", "a2a", *map(str, words)],
        env=os.environ | {"COLUMNS": "200", "FORCE_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode not in (0, 3, 4):  # 3 and 4 are answers of `a2a compare`
        raise RuntimeError(done.stderr.strip())
    return done.stdout


def picture(title: str, text: str, rows: int) -> str:
    """SVG of the first `rows` lines; the title is the command."""
    lines = Text.from_ansi(text).split("\n")
    left_out = len(lines) - rows
    shown = list(lines[:rows])
    if left_out > 0:
        shown.append(Text(f"… {left_out} more lines", style="bright_black"))
    width = max(60, *(line.cell_len for line in shown))
    console = Console(record=True, width=width, file=io.StringIO(), force_terminal=True)
    for line in shown:
        console.print(line, no_wrap=True, overflow="ignore", crop=False, highlight=False)
    return console.export_svg(
        title=f"$ {title}", theme=_THEME, code_format=_FORMAT, unique_id="a2a"
    )
