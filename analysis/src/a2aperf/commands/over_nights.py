# SPDX-License-Identifier: BSD-3-Clause
"""`a2a history --per`: every node, adapter, direction or pair over many nights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from a2aperf import baselines, output, style, terminal
from a2aperf.errors import InputError
from a2aperf.labels import count_text
from a2aperf.nodes import clusters, figure, history, kept, told
from a2aperf.nodes.night import FEWEST_NODES, Per

_EVERY: Final = 50  # files that are read between two words of progress
_FIGURES: Final = (".png", ".svg", ".pdf")
_BOTH: Final = "files of 'a2aperf pairs', or of all-to-alls with a clock start,"
_PAIRS: Final = "files of 'a2aperf pairs'"
_WHAT: Final[dict[Per, str]] = {
    "node": _BOTH,
    "adapter": f"{_BOTH} with the adapter of every rank,",
    "direction": _PAIRS,
    "pair": _PAIRS,
}


def over_nights(
    paths: list[Path], per: Per, as_json: bool, drains: bool, plot: Path | None
) -> None:
    """Print it, and draw it where asked to; status 3 where some files could not be read."""
    if plot:
        output.require_suffix(plot, _FIGURES, "a figure", "--plot")
    files = baselines.files_of(paths, with_copies=True)
    nights, refused = kept.read(files, per, _progress)
    terminal.leave_out(*refused.values())
    if not nights:
        if len(refused) == len(files):
            raise InputError(f"none of {count_text(len(files), 'file')} can be read")
        raise InputError(
            f"nothing here tells {per}s apart: {_WHAT[per]} on {FEWEST_NODES} nodes or more do"
        )
    clusters.require_one(nights)
    found = history.of_nights(nights, per)
    if plot:
        _draw(found, plot)
    if drains:
        terminal.say(*told.drain_list(found))
    elif as_json:
        terminal.say_text(json.dumps(told.plain(found), indent=1))
    else:
        terminal.say(*told.lines(found))


def _draw(found: history.NodeHistory, path: Path) -> None:
    from a2aperf import drawing  # matplotlib takes a while, and most uses draw nothing

    page = drawing.draw(figure.figure(found), style.PAGE_WIDTH)
    drawing.write(page, path)


def _progress(done: int, files: int) -> None:
    if done % _EVERY == 0 and terminal.is_watched():
        terminal.tell(f"a2a: {done} of {files} files read")
