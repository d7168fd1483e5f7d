# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong because of what the user gave."""

from typing import Final

from a2aperf.visible import visible

DAMAGE: Final = (OSError, RuntimeError, KeyError, ValueError, IndexError, TypeError, MemoryError)
"""What h5py and numpy raise where a dataset is missing, unreadable, or of another type or shape."""


class InputError(Exception):
    """Input that cannot be used: one line saying what is wrong and what would be right.

    The command line prints it as `a2a: …` and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        # What comes out of a file may hold anything, and goes to a terminal.
        super().__init__(visible(" ".join(message.split())))
