# SPDX-License-Identifier: BSD-3-Clause
"""Whether all of a results file that is not a row is there: names, types, shapes, attributes, texts; the trailer."""

import re
import zlib

import checksums
import h5py
import numpy as np
from rows import Unsound

TRAILER = re.compile(rb"a2aperf digest v1 crc32=([0-9a-f]{8}) bytes=([0-9]{24})\n")


def require_whole(file: h5py.File, content: np.ndarray) -> None:
    """Unsound where it is not."""
    try:
        version, layout = int(file.attrs["schema_version"]), checksums.as_bytes(file.attrs["layout"])
        _read_all(file)
        if version >= 2:
            _require_digest(file)
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        raise Unsound(f"cannot be read: {error}") from error
    if version >= 2 and layout == b"compact":
        _require_trailer(content.tobytes())


def _read_all(file: h5py.File) -> None:
    def read(_: str, item: h5py.Dataset | h5py.Group) -> None:
        dict(item.attrs.items())
        if isinstance(item, h5py.Dataset) and item.size < 1 << 20:
            item[()]

    dict(file.attrs.items())
    file.visititems(read)


def _require_digest(file: h5py.File) -> None:
    if file["digest"][()] != checksums.digest(file):
        raise Unsound("its digest is wrong")


def _require_trailer(content: bytes) -> None:
    match = TRAILER.fullmatch(content[-64:])
    if not match:
        raise Unsound("is compact and has no trailer")
    if (zlib.crc32(content[:-64]), len(content) - 64) != (int(match[1], 16), int(match[2])):
        raise Unsound("its trailer is of other bytes")
