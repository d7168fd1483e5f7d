# SPDX-License-Identifier: BSD-3-Clause
"""The one place that writes to stdout and stderr (a test looks for others).

What is written may come out of a file that anybody made. So nothing is written but lines in which
every character is seen: an escape sequence in a label moves no cursor, and a new line in a host's
name begins no line that looks like one of ours.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Final, TextIO, TypeVar

from a2aperf.errors import InputError
from a2aperf.visible import visible

_Step = TypeVar("_Step")
LONG: Final = 64
"""Steps from which somebody who waits is told how many are left."""


class LostOutputError(InputError):
    """Standard output takes no results: it is closed, or its disk is full."""


class Bold(str):
    """A line that stands out, where a terminal shows it."""

    __slots__ = ()


def say(*lines: str) -> None:
    """Results: a line each on stdout; LostOutputError where it takes none."""
    if sys.stdout is None:
        raise LostOutputError("standard output is closed")
    _write(sys.stdout, lines)


def say_text(text: str) -> None:
    """The same of a text whose lines are ours: CSV, JSON."""
    say(*text.split("\n"))


def say_parted(blocks: Iterable[Iterable[str]]) -> None:
    """Blocks of lines with an empty line between two."""
    lines = [line for block in blocks for line in ("", *block)]
    say(*lines[1:])


def tell(*lines: str) -> None:
    """What is said beside the results: a line each on stderr."""
    _write(sys.stderr, lines)


_told: set[str] = set()


def tell_once(*lines: str) -> None:
    """Those of the lines that the command has not told yet, however often it reads a file."""
    tell(*(line for line in lines if line not in _told))
    _told.update(lines)


_left_out: list[str] = []


def leave_out(*reasons: str) -> None:
    """Tell of files that cannot be used, without which the rest is; so does the exit status."""
    _left_out.extend(reasons)
    tell_once(*(f"a2a: left out: {why}" for why in reasons))


def has_left_out() -> bool:
    """Whether the command went on without a file."""
    return bool(_left_out)


_unread: list[TextIO] = []


def is_unread() -> bool:
    """Whether whoever read stdout has seen enough (`… | head`): what follows goes nowhere."""
    return bool(_unread)


def forget() -> None:
    """Another command begins."""
    _told.clear()
    _left_out.clear()
    _unread.clear()


def is_watched() -> bool:
    """Whether somebody looks at stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def discard(stream: TextIO) -> None:
    """Nothing more may be flushed there: the rest goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def tracked(steps: Iterable[_Step], count: int, what: str) -> Iterable[_Step]:
    """The steps of long work, with a bar and the time left where somebody looks at stderr."""
    if count < LONG or not is_watched():
        return steps
    from rich.console import Console  # which takes a while
    from rich.progress import track

    return track(steps, what, count, console=Console(stderr=True), transient=True)


def _write(stream: TextIO | None, lines: tuple[str, ...]) -> None:
    if stream is None:  # closed by who started us
        return
    try:
        _write_to(stream, lines)
    except BrokenPipeError:  # who read has seen enough; the status is still to be found
        discard(stream)
        if stream is sys.stdout:
            _unread.append(stream)
    except OSError as error:
        discard(stream)
        if stream is sys.stdout:
            raise LostOutputError(f"standard output: {error.strerror}") from None


def _write_to(stream: TextIO, lines: tuple[str, ...]) -> None:
    is_terminal = stream.isatty()
    for line in lines:
        text = visible(line)
        is_bold = is_terminal and isinstance(line, Bold)
        stream.write(f"\x1b[1m{text}\x1b[0m\n" if is_bold else f"{text}\n")
    stream.flush()
