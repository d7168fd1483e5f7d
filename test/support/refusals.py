# SPDX-License-Identifier: BSD-3-Clause
"""What must hold where the program refuses what it was asked."""

import os


def refuses(outcome, says: str, folder, before: list[str]) -> None:
    """One line, status 2, and the folder as it was."""
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert outcome.returncode == 2, outcome.stderr
    assert len(lines) == 1 and says in lines[0], outcome.stderr
    assert outcome.stdout == ""
    assert sorted(os.listdir(folder)) == before
