# SPDX-License-Identifier: BSD-3-Clause
"""A file each dataset of whose root is opened once: its columns are asked for many times."""

from typing import Any

import h5py


class OpenedOnce(h5py.File):  # type: ignore[misc]
    """As h5py.File is. Nothing else may remove or replace datasets of its root meanwhile."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._opened: dict[str, h5py.Dataset] = {}
        super().__init__(*arguments, **options)

    def __getitem__(self, name: Any) -> Any:
        found = self._opened.get(name) if isinstance(name, str) else None
        if found is None:
            found = super().__getitem__(name)
            if isinstance(name, str) and isinstance(found, h5py.Dataset):
                self._opened[name] = found
        return found

    def __delitem__(self, name: Any) -> None:
        self._opened.pop(name, None)
        super().__delitem__(name)
