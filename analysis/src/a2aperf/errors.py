# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong because of what the user gave."""

import re
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from a2aperf.visible import visible

DAMAGE: Final = (OSError, RuntimeError, KeyError, ValueError, IndexError, TypeError, MemoryError)
"""What h5py and numpy raise where a dataset is missing, unreadable, or of another type or shape."""


_OF_HDF5: Final = re.compile(
    r"(Can't|Unable to|Error|Unspecified error|[Aa]ddr|Link iteration|Insufficient precision) .*"
    r"\(.*\)"
    r"|.*errno = |.*codec can't decode"
)
_PARTS: Final = (
    (re.compile(r"attribute"), "an attribute cannot be read"),
    (re.compile(r"codec|Link iteration|local heap"), "a name cannot be read"),
    (re.compile(r"precision"), "a type cannot be read"),
    (re.compile(r"heap|references|end of input buffer|vlen|variable"), "a text cannot be read"),
    (re.compile(r"filter|inflate|chunk|raw data"), "samples cannot be unpacked"),
)


def what_is_damaged(error: BaseException) -> str:
    """In plain words: HDF5's own are of its inside, and of no help to who has the file."""
    said = str(error).strip("'\"")  # of a KeyError in quotes of either kind
    if not _OF_HDF5.match(said):
        return said
    named = re.search(r"object '([^']+)' doesn't exist", said)
    if named:
        return f"{named[1]} is missing"
    of = next((words for part, words in _PARTS if part.search(said)), "a part cannot be found")
    return f"its structure: {of}"


STATUS_BAD_INPUT: Final = 2
"""Exit status of a command, and of the job scripts, for input that cannot be used."""


STATUS_LEFT_OUT: Final = 3
"""Exit status of a command that did its work without files of a folder that cannot be used."""


class InputError(Exception):
    """Input that cannot be used: one line saying what is wrong and what would be right.

    The command line prints it as `a2a: …` and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        # What comes out of a file may hold anything, and goes to a terminal.
        super().__init__(visible(" ".join(message.split())))


def nearest(name: str, known: Sequence[str], alike: float = 0.6) -> str:
    """`did you mean PROVIDER?`, or where no known name is so much alike `expected one of …`."""
    close = get_close_matches(name, known, 1, alike)
    return f"did you mean {close[0]}?" if close else f"expected one of {', '.join(known)}"


def installing(package: str, extra: str) -> str:
    """What installs a package that is missing beside this one.

    A Python that is no environment, as Debian's, takes no packages: then both go into one.
    """
    if sys.prefix == sys.base_prefix:
        return f"python3 -m venv ~/a2a && ~/a2a/bin/pip install './analysis[{extra}]'"
    return f"{shlex.quote(sys.executable)} -m pip install {package}"
