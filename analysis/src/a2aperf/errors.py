# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong because of what the user gave."""


class InputError(Exception):
    """Input that cannot be used: one line saying what is wrong and what would be right.

    The command line prints it as `a2a: …` and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        line = " ".join(message.split())
        # what comes out of a file may hold anything, and goes to a terminal
        super().__init__("".join(c if c.isprintable() else _escaped(c) for c in line))


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
