# SPDX-License-Identifier: BSD-3-Clause
"""Changes single bits and bytes of a file without a trailer, and sees what `a2a check` says of it.

Each mutant is looked at in a process of its own: HDF5 can crash on damage. It is forked
from one that has loaded all modules: a new one would take seconds.
"""

import faulthandler
import json
import sys
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import check, datasets, loading, sample_columns, schema, trailer, workloads
from a2aperf.errors import InputError
from support.edited import edited
from support.forked import forked

FOUND, SAME, OTHER, RAISED = "found", "same", "other", "raised"
_PENDING = schema.STATES.index("pending")
WARNED = "warned"
"""As a write that did not reach the disk would look, and told as one."""


def killed(path: Path, waiting: int = 0) -> Path:
    """As a launch leaves its file that was killed: with room for more ops, and no trailer.

    So many points, the last ones, are not measured: what they have is half written.
    """
    with edited(path) as file:
        file["state"][len(file["state"]) - waiting :] = _PENDING
        file.attrs["layout"] = "preallocated"
        for name, value in (("end_state", 0), ("end_reason", 0), ("ended", -1)):
            file["segments/0"][name][()] = value
        if "raw" in file:
            for name in datasets.RAW:
                if name in file["raw"] and name != "arrival":
                    values = file["raw"][name][()]
                    del file["raw"][name]
                    file["raw"].create_dataset(name, data=values)
            datasets.describe(file["raw"], datasets.RAW)
    return path


def mutant(content: bytes, random: np.random.Generator) -> bytes:
    """One bit flipped, or one byte replaced."""
    changed = bytearray(content)
    place = int(random.integers(len(content)))
    if random.integers(2):
        changed[place] ^= 1 << int(random.integers(8))
    else:
        changed[place] ^= int(random.integers(1, 256))
    return bytes(changed)


def shown(path: Path) -> list[Any]:
    """All that any command could show of a file."""
    found = loading.load([path])
    points = found.points.drop(columns="file")
    # what came out of a point that is not measured is nowhere shown
    described = {one.name: one for one in schema.COLUMNS} | found.columns
    results = [name for name, one in described.items() if one.result and name in points]
    # other texts are asked
    results = [x for x in results if described[x].kind != "string" or described[x].length]
    came_out = [name for name in results if name not in ("state", "segment")]
    points[came_out] = points[came_out].mask(points["state"] == "pending")
    parts: list[Any] = [points.to_csv(), repr(found.columns), repr(found.attributes[path.name])]
    parts += [repr(launch) for launch in found.launches.values()]
    for row in points.index[points["has_raw"]]:
        point = int(points["point"][row])
        raw = found.raw(path.name, point)
        arrays: list[NDArray[Any] | None] = [raw.begin, raw.send_done, raw.recv_done, raw.start]
        arrays += [raw.valid, raw.exit, found.arrival(path.name, point)]
        parts += [None if one is None else _bytes(one) for one in arrays]
        parts.append(repr(found.counters(path.name, point)))
    measured = points[points["has_raw"]]
    with h5py.File(path) as file:
        groups = {one.group.name for one in workloads.ALL if one.group}
        for group in sorted(groups & set(file)):
            parts += [_bytes(one[()]) for one in file[group].values()]
        for name, one in sample_columns.declared(file["raw"]).items() if "raw" in file else ():
            own = [_own(file, int(row["point"]), name, one) for _, row in measured.iterrows()]
            parts += [repr(one), own]
    return parts


def _own(file: h5py.File, point: int, name: str, one: sample_columns.SampleColumn) -> Any:
    """The samples of a workload's own that the point says it has."""
    has = int(file[one.count][point])
    return _bytes(file["raw"][name][point, : max(has, 0)])


def _bytes(values: NDArray[Any]) -> Any:
    """What is equal where the values are."""
    return repr(values.tolist()) if values.dtype == object else (values.shape, values.tobytes())


def fate(path: Path, before: list[Any]) -> str:
    """What `a2a check` makes of a file in its own process, which this one is."""
    try:
        findings = check.findings_of_damaged(path, progress=lambda done, of: None)
        if any(one.error for one in findings):
            return FOUND
        with trailer.unheeded():
            if shown(path) == before:
                return SAME
        return WARNED if any("reached the disk" in one.text for one in findings) else OTHER
    except InputError:
        return FOUND
    except MemoryError:  # a fate of its own (`forked`)
        raise
    except Exception:  # which a user would see
        traceback.print_exc()
        return RAISED


def main(path: Path, seed: int, count: int) -> None:
    """Prints how often each fate was met, and the mutants that were missed."""
    faulthandler.disable()
    content, name = path.read_bytes(), path.with_name("mutant.h5")
    name.write_bytes(content)
    before = shown(name)
    random = np.random.default_rng(seed)
    fates: Counter[str] = Counter()
    missed = []
    for number in range(count):
        name.write_bytes(mutant(content, random))
        what = forked(lambda: fate(name, before))
        fates[what] += 1
        if what in (OTHER, RAISED):  # who dies, hangs or is full is told as damage
            missed.append(number)
            name.rename(path.with_name(f"{what}-{number}.h5"))
    print(json.dumps({"fates": fates, "missed": missed}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
