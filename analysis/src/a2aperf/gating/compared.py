# SPDX-License-Identifier: BSD-3-Clause
"""What a check is to be compared with, looked at before it measures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from a2aperf.errors import InputError
from a2aperf.gating import given, limits_file
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
    limits = Path(wanted["--limits"])
    if limits.is_file():
        limits_file.read(limits)
