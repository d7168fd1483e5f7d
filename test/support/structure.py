# SPDX-License-Identifier: BSD-3-Clause
"""What a results file is made of, read with h5py alone: a line for every group, dataset and attribute, no values.

`structure.py FILE`. Of an attribute that says what a column is, its text counts as structure."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

# Attributes whose text is part of the format, not of this launch.
SAID = {"CLASS", "NAME", "better", "coordinates", "counters", "flag_meanings", "flag_values", "long_name"}
SAID |= {"schema", "units", "workload"}
# Made by HDF5 for dimension scales: references, and which dataset they are in.
REFERENCES = {"DIMENSION_LIST", "REFERENCE_LIST"}
# Their lengths are those of this machine and of the user's environment; and those of what lasts as long as it takes.
VARIES = re.compile(r"environment_\w+|(verification_)?port|port_index|port_names|values_of_nodes|node_value|tick|bucket")


def type_name(kind: np.dtype) -> str:
    string = h5py.check_string_dtype(kind)
    if string is not None:
        return "text" if string.length is None else "fixed text"
    return kind.name


def dimensions(item: h5py.Dataset) -> str:
    """Names where the dimensions have scales, with the lengths."""
    if not item.shape:
        return "scalar"
    varies = VARIES.fullmatch(item.name.rsplit("/", 1)[-1])
    names = [scales[0].name.rsplit("/", 1)[-1] if len(scales := list(d.values())) else "" for d in item.dims]
    lengths = [
        "…" if varies or VARIES.fullmatch(name) else str(length)
        for name, length in zip(names, item.shape, strict=True)
    ]
    return ", ".join(f"{name} {length}".strip() for name, length in zip(names, lengths, strict=True))


def attributes(item: h5py.Group | h5py.Dataset) -> Iterator[str]:
    for name in sorted(set(item.attrs) - REFERENCES):
        kind = type_name(item.attrs.get_id(name).dtype)
        value = item.attrs[name]
        value = value.decode() if isinstance(value, bytes) else value
        yield f"  @{name} {kind}" + (f" = {value}" if name in SAID else "")


def structure(path: Path) -> str:
    lines = []
    with h5py.File(path, "r") as file:
        lines += ["/", *attributes(file)]

        def tell(name: str, item: h5py.Group | h5py.Dataset) -> None:
            is_group = isinstance(item, h5py.Group)
            lines.append(f"/{name}/" if is_group else f"/{name} {type_name(item.dtype)} [{dimensions(item)}]")
            lines.extend(attributes(item))

        file.visititems(tell)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(structure(Path(sys.argv[1])), end="")
