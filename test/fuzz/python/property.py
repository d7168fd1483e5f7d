# SPDX-License-Identifier: BSD-3-Clause
"""What every target says of `a2a`: a property that does not hold is an exception, and libFuzzer keeps the input."""

import contextlib
import io
from pathlib import Path

from a2aperf import cli

FINE, NOT_SO, REFUSED = 0, 1, 2


class BrokenProperty(Exception):
    """The program did something that it never should, whatever it is given."""


def require(holds: bool, what: str) -> None:
    """Say what does not hold."""
    if not holds:
        raise BrokenProperty(what)


def a2a(*words: str | Path) -> tuple[int, str]:
    """Run the command in this process: its exit status, and its output or why it refuses.

    A refusal is one line of its own and nothing else; no warning of a library gets through to the user. Whatever it
    raises ends this process.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main([str(word) for word in words])
    said = err.getvalue()
    require(status in (FINE, NOT_SO, REFUSED), f"exit status {status}: {said}")
    require("Warning: " not in said, f"a library's words: {said}")
    if status == REFUSED and words[0] == "check" and not said:  # its verdict on a file that it could read
        require(": error: " in out.getvalue(), "not sound, and no error is told")
    elif status == REFUSED:
        line = said.removesuffix("\n").split("\n")[-1]
        require(line.startswith("a2a: ") and line.isprintable(), f"not one clear line: {said!r}")
        require(out.getvalue() == "", f"refused, and printed all the same: {out.getvalue()!r}")
        return status, line
    return status, out.getvalue()
