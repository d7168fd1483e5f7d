# SPDX-License-Identifier: BSD-3-Clause
"""Plans as files: JSON that says which kind of plan it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from a2aperf import notation, regular
from a2aperf.errors import InputError

_Made = TypeVar("_Made")


def read(
    path: Path, schema: str, expected: str, make: Callable[[Mapping[str, Any]], _Made]
) -> tuple[_Made, object]:
    """What `make` makes of the file's content, and the id that it has there.

    InputError where the file is not of this schema (`expected` says what would be), or lacks what
    `make` asks for.
    """
    try:
        document = notation.of_json(regular.read_text(path))
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: not a plan: {words}") from None
    if not isinstance(document, dict) or document.get("schema") != schema:
        raise InputError(f"{path}: not a plan: expected {expected}")
    try:
        return make(document), document.get("id")
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: not a plan as it was written: {error!r}") from None
