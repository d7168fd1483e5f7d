# SPDX-License-Identifier: BSD-3-Clause
"""Shares as people write them: in per cent, or as a number below 1."""

import re

from a2aperf.errors import InputError


def share(option: str, text: str, example: str) -> float:
    """A share as people write it, above 0 and below 1: `2%`, `0.02`."""
    matched = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(%?)", text.strip())
    found = float(matched[1]) / (100 if matched[2] else 1) if matched else 0.0
    if not 0 < found < 1:
        raise InputError(
            f"{option} {text}: expected a share above 0 and below 100 %, such as {example}"
        )
    return found
