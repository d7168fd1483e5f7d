# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a launch in one word, as the rows of planned launches have them."""

from __future__ import annotations

from collections.abc import Sequence


def joined(settings: Sequence[str]) -> str:
    r"""With ; between them, and \; for one within a setting; jobs/lib/rows.sh reads it."""
    return ";".join(one.replace("\\", r"\\").replace(";", r"\;") for one in settings)
