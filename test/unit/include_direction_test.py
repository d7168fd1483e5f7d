#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that includes point down the list of layers, and that each outside library has one user.

First the project itself, then copies of it with one wrong include each: a check that cannot fail
is none. Exit status 1 and one line per finding where something is wrong.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

LAYERS = ["base", "plan", "stats", "job", "fabric", "transfer", "measure", "record", "config", "app"]

# Library: what its headers look like, and who may include them (a layer or one file).
USERS = {
    "MPI": (re.compile(r"mpi\w*\.h"), {"job", "src/measure/mpi_baseline.cpp"}),
    "libfabric": (re.compile(r"rdma/.*"), {"fabric", "transfer"}),
    "HDF5": (re.compile(r"hdf5\w*\.h|H5\w*\.h"), {"record"}),
    "CLI11": (re.compile(r"CLI/.*|CLI11?\.hpp"), {"config"}),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".hpp", ".cpp", ".h", ".c"}


def sources(root: Path) -> list[Path]:
    found = [p for top in ("include", "src") for p in (root / top).rglob("*") if p.suffix in SUFFIXES]
    return sorted(p.relative_to(root) for p in found)


def layer_of(path: Path) -> str:
    """include/a2aperf/<layer>/x.hpp, src/<layer>/x.cpp; a file directly in src/ belongs to the app."""
    folders = path.parts[2 if path.parts[0] == "include" else 1 : -1]
    return folders[0] if folders else "app"


def target_of(root: Path, file: Path, name: str) -> Path | None:
    """The project's file that an include names; None for a header from outside."""
    for folder in (file.parent, Path("include"), Path("src")):
        if (root / folder / name).is_file():
            return Path((root / folder / name).resolve().relative_to(root.resolve()))
    return None


def find_in_line(root: Path, file: Path, quote: str, name: str) -> str | None:
    own = layer_of(file)
    target = target_of(root, file, name)
    if target is not None:
        other = layer_of(target)
        if other not in LAYERS:
            return f"{name} is in no known layer"
        if LAYERS.index(other) > LAYERS.index(own):
            return f"{own} includes {name} from {other}, the layer above it"
        return None
    if quote == '"' and name.startswith("a2aperf/"):
        return f"{name} does not exist"
    for library, (headers, users) in USERS.items():
        if headers.fullmatch(name) and own not in users and file.as_posix() not in users:
            return f"{name}: only {', '.join(sorted(users))} may use {library}"
    return None


def findings(root: Path) -> list[str]:
    files = sources(root)
    if not files:
        return [f"no source files in {root}"]
    found = []
    for file in files:
        if layer_of(file) not in LAYERS:
            found.append(f"{file}: '{layer_of(file)}' is no layer: there are {', '.join(LAYERS)}")
            continue
        for number, line in enumerate((root / file).read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            wrong = find_in_line(root, file, *match.groups()) if match else None
            if wrong:
                found.append(f"{file}:{number}: {wrong}")
    return found


# A wrong line, the file it is added to (made where missing), and what must be said about it.
BROKEN = [
    ("src/base/units.cpp", '#include "a2aperf/plan/point.hpp"', "the layer above it"),
    ("include/a2aperf/plan/layout.hpp", '#include "a2aperf/stats/summary.hpp"', "the layer above it"),
    ("src/stats/summary.cpp", "#include <a2aperf/record/table.hpp>", "the layer above it"),
    ("src/measure/loop.cpp", '  #  include "a2aperf/config/options.hpp"', "the layer above it"),
    ("src/plan/plan.cpp", '#include "../stats/summary.cpp"', "the layer above it"),
    ("src/plan/plan.cpp", '#include "a2aperf/plan/no_such.hpp"', "does not exist"),
    ("src/extra/x.cpp", "", "is no layer"),
    ("src/measure/loop.cpp", "#include <mpi.h>", "may use MPI"),
    ("src/record/recorder.cpp", "#include <rdma/fi_endpoint.h>", "may use libfabric"),
    ("src/main.cpp", "#include <hdf5.h>", "may use HDF5"),
    ("src/measure/loop.cpp", "#include <hdf5_hl.h>", "may use HDF5"),
    ("src/plan/size_list.cpp", "#include <CLI/CLI.hpp>", "may use CLI11"),
]
SOUND = [
    ("src/job/x.cpp", "#include <mpi.h>"),
    ("src/measure/mpi_baseline.cpp", "#include <mpi.h>"),
    ("src/fabric/x.cpp", "#include <rdma/fabric.h>"),
    ("include/a2aperf/transfer/x.hpp", "#include <rdma/fi_tagged.h>"),
    ("src/record/x.cpp", "#include <hdf5.h>"),
    ("src/config/x.cpp", "#include <CLI/CLI.hpp>"),
    ("src/main.cpp", '#include "a2aperf/base/units.hpp"'),
    ("src/stats/summary.cpp", '#include "a2aperf/plan/layout.hpp"'),
]


def findings_with(root: Path, file: str, line: str) -> list[str]:
    """What is found in a copy of the project to which one line was added."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for top in ("include", "src"):
            shutil.copytree(root / top, copy / top)
        target = copy / file
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a") as stream:
            stream.write(f"\n{line}\n")
        return findings(copy)


def main() -> int:
    root = Path(__file__).resolve().parents[2]
    wrong = findings(root)
    if not wrong:
        for file, line, words in BROKEN:
            found = findings_with(root, file, line)
            if len(found) != 1 or words not in found[0] or not found[0].startswith(file):
                wrong.append(f"the check itself: '{line}' in {file} gave {found or 'nothing'}")
        for file, line in SOUND:
            found = findings_with(root, file, line)
            if found:
                wrong.append(f"the check itself: '{line}' in {file} gave {found}")
    for finding in wrong:
        print(finding, file=sys.stderr)
    print(f"{len(sources(root))} files, {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
