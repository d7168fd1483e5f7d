# SPDX-License-Identifier: BSD-3-Clause
"""Analysis of the HDF5 files that a2aperf writes.

`runs = a2aperf.open("runs/*.h5")` is the way in from Python: see `help(a2aperf.Runs)`. The import
itself loads no library: that comes with the first use.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from a2aperf.errors import InputError
    from a2aperf.runs import Runs, open  # noqa: A004

__all__ = ["InputError", "Runs", "open"]
__version__ = version("a2aperf")

_HOME = {"InputError": "errors", "Runs": "runs", "open": "runs"}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_HOME})
