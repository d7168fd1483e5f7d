# SPDX-License-Identifier: BSD-3-Clause
"""A file whose members are opened once each: they are asked for many times."""

from __future__ import annotations

from typing import Any

import h5py

_MOST = 4096
"""Members that stay open; a file of many launches has more, which are opened when asked for."""


class _Keeping(h5py.Group):  # type: ignore[misc]
    """Nothing else may remove or replace members meanwhile."""

    _opened: dict[str, h5py.Group | h5py.Dataset]
    _all: list[int]  # how many, of the whole file

    def __getitem__(self, name: Any) -> Any:
        found = self._opened.get(name) if isinstance(name, str) else None
        if found is not None:
            return found
        found = super().__getitem__(name)
        if isinstance(found, h5py.Group):
            found = _Group(found.id, self._all)
        if isinstance(name, str) and isinstance(found, h5py.Group | h5py.Dataset):
            self._all[0] += 1
            if self._all[0] <= _MOST:
                self._opened[name] = found
        return found

    def __delitem__(self, name: Any) -> None:
        self._opened.pop(name, None)
        super().__delitem__(name)


class _Group(_Keeping):
    def __init__(self, bind: h5py.h5g.GroupID, all_: list[int]) -> None:
        self._opened, self._all = {}, all_
        super().__init__(bind)


class OpenedOnce(_Keeping, h5py.File):  # type: ignore[misc]
    """As h5py.File is."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._opened, self._all = {}, [0]
        super().__init__(*arguments, **options)
