# SPDX-License-Identifier: BSD-3-Clause
"""Which value of a compared setting a study means the others to be held against: its first.

Which launch came first does not tell it: one that failed is made again at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from a2aperf.errors import InputError
from a2aperf.studies import look
from a2aperf.studies.study import Launch

_FIRST = re.compile(r"-s1-\d+\.h5")
"""Ends the name of a file with the first values of all settings."""


def values(files: Iterable[Path]) -> dict[str, str]:
    """By name of the setting, as columns have it; empty where no plan of a comparison names them.

    A plan that cannot be read is one that does not: who needs it says so.
    """
    found: dict[str, str] = {}
    try:
        jobs = look.jobs_of(files)
    except (InputError, OSError, RuntimeError):  # also of a link that leads to itself
        return {}
    for job in jobs:
        if job.kind == "compare":
            first = next((one for one in job.launches if _is_first(one)), None)
            for setting in first.settings if first else ():
                name, _, value = setting.partition("=")
                option = name.removeprefix("--")
                found.setdefault(option.replace("-", "_") if option != name else name, value)
    return found


def _is_first(launch: Launch) -> bool:
    return _FIRST.search(launch.file.name) is not None
