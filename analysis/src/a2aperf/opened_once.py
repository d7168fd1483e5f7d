# SPDX-License-Identifier: BSD-3-Clause
"""A file whose members are opened once each: they are asked for many times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import h5py

from a2aperf import making

_MOST = 4096
"""Members that stay open; a file of many launches has more, which are opened when asked for."""


@dataclass
class _Whole:
    """What is known of the whole file."""

    is_only_read: bool
    opened: int = 0


class _Keeping(h5py.Group):  # type: ignore[misc]
    """Nothing else may remove or replace members meanwhile."""

    _opened: dict[str, h5py.Group | h5py.Dataset]
    _whole: _Whole

    def __getitem__(self, name: Any) -> Any:
        found = self._opened.get(name) if isinstance(name, str) else None
        if found is not None:
            return found
        return self._kept(name, self._open(name) or super().__getitem__(name))

    def _open(self, name: Any) -> h5py.Group | h5py.Dataset | None:
        """As h5py does, which asks the file each time how it was opened; None: that is left to it.

        What cannot be written is known to stay as it is, and h5py asks for its shape once.
        """
        if not isinstance(name, str) or not self._whole.is_only_read:
            return None
        found = h5py.h5o.open(self.id, name.encode())
        kind = h5py.h5i.get_type(found)
        if kind == h5py.h5i.DATASET:
            return h5py.Dataset(found, readonly=True)
        return h5py.Group(found) if kind == h5py.h5i.GROUP else None

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
            found = _Group(found.id, self._whole)
        if isinstance(name, str) and isinstance(found, h5py.Group | h5py.Dataset):
            self._whole.opened += 1
            if self._whole.opened <= _MOST:
                self._opened[name] = found
        return found

    def __delitem__(self, name: Any) -> None:
        self._opened.pop(name, None)
        super().__delitem__(name)


class _Group(_Keeping):
    def __init__(self, bind: h5py.h5g.GroupID, whole: _Whole) -> None:
        self._opened, self._whole = {}, whole
        super().__init__(bind)


class OpenedOnce(_Keeping, h5py.File):  # type: ignore[misc]
    """As h5py.File is."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._opened, self._whole = {}, _Whole(is_only_read=False)
        super().__init__(*arguments, **options)
        self._whole.is_only_read = self.mode == "r"
