# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong because of what the user gave."""


class InputError(Exception):
    """Input that cannot be used: one line saying what is wrong and what would be right.

    The command line prints it as `a2a: …` and exits with status 2.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))
