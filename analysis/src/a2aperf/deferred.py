# SPDX-License-Identifier: BSD-3-Clause
"""Modules that take a while to import, and that most commands never ask."""

import importlib
from typing import TYPE_CHECKING, Any


class Module:
    """One that is imported when something of it is asked for the first time."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = getattr(importlib.import_module(self._name), name)
        setattr(self, name, found)  # from now on without this function
        return found


if TYPE_CHECKING:
    import pandas as pandas
else:
    pandas = Module("pandas")
