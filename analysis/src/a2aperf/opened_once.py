# SPDX-License-Identifier: BSD-3-Clause
"""A file whose members are opened once each: they are asked for many times."""

from __future__ import annotations

from typing import Any

import h5py

from a2aperf import making

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
        return self._kept(name, super().__getitem__(name))

    def __contains__(self, name: Any) -> bool:
        is_open = isinstance(name, str) and name in self._opened
        return is_open or bool(super().__contains__(name))

    def create_group(self, name: Any, *arguments: Any, **options: Any) -> Any:
        return self._kept(name, super().create_group(name, *arguments, **options))

    def create_dataset(
        self, name: Any, shape: Any = None, dtype: Any = None, data: Any = None, **options: Any
    ) -> Any:
        made = None
        if data is not None and shape is None and not options:
            made = making.filled(self, name, dtype, data)
        elif data is None and options.keys() <= {"fillvalue"}:
            made = making.blank(self, name, shape, dtype, options.get("fillvalue"))
        if made is None:
            made = super().create_dataset(name, shape, dtype, data, **options)
        return self._kept(name, made)

    def _kept(self, name: Any, found: Any) -> Any:
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
