# SPDX-License-Identifier: BSD-3-Clause
"""Which variables the libfabric of this machine knows, as the program says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

_NAME: Final = re.compile(r"^  (FI_\w+)", re.MULTILINE)
_SECONDS: Final = 60
"""Devices may be slow to answer; then nobody knows."""


def variables(program: Path | str | None) -> frozenset[str]:
    """Of libfabric and the providers that it has loaded; none where nobody can say."""
    if program is None:
        return frozenset()
    try:
        told = subprocess.run(
            [program, "providers", "--variables"],
            capture_output=True, text=True, timeout=_SECONDS, check=True, errors="replace",
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(_NAME.findall(told.stdout))
