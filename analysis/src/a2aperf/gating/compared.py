# SPDX-License-Identifier: BSD-3-Clause
"""What a check is to be compared with, looked at before it measures."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from a2aperf import baselines
from a2aperf.errors import InputError
from a2aperf.gating import given, limits_file
from a2aperf.labels import list_text
from a2aperf.percent import share

OPTIONS: Final = ("--against", "--min-efficiency", "--expect", "--limits")


def require(wanted: Mapping[str, str], check: bool) -> None:
    """InputError of a mistake in a text of OPTIONS, and of any where nothing is checked."""
    for name, text in wanted.items():
        if text and not check:
            raise InputError(f"{name} says what a check is compared with: give --check, too")
    if least := wanted["--min-efficiency"]:
        share("--min-efficiency", least, "80%")
    given.read(wanted["--expect"])
    if wanted["--against"]:
        _require_baseline(wanted["--against"])
    limits = Path(wanted["--limits"])
    if limits.is_file():
        limits_file.read(limits)


def _require_baseline(named: str) -> None:
    """InputError where it is neither a name that is known here nor a file or folder with results.

    The job starts in the folder that it is submitted from, and finds there what is found now.
    """
    path, known = Path(named), baselines.read()
    if not path.exists() and str(path) not in known:
        close = get_close_matches(named, known, 1, 0.6)
        if close:
            hint = f"did you mean {close[0]}?"
        elif known:
            hint = f"the baselines are {list_text(sorted(known), 8)}"
        else:
            hint = f"'a2a history FILES --save-baseline {path.name}' gives files a name"
        raise InputError(f"--against {named}: no such file, folder or baseline: {hint}")
    try:
        found = baselines.files_of([path], with_copies=True)
    except InputError as error:
        raise InputError(f"--against {error}") from None
    if not any(one.is_file() for one in found):
        raise InputError(f"--against {named}: none of its {len(found)} files is there any more")
