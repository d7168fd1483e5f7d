# SPDX-License-Identifier: BSD-3-Clause
"""Checks that includes point down the list of layers only, and that each outside library stays in its layer.

`layers.py [FOLDER]`: the root of the tree, by default the working folder. One line for every offence, exit
status 1 when there is any."""

import re
import sys
from pathlib import Path

LAYERS = ["base", "plan", "stats", "result", "job", "fabric", "transfer", "measure", "record", "config", "app"]

# Header of an outside library -> where it may be included: layers, or single files.
HOMES = {
    re.compile(r"mpi\w*\.h"): {"job", "measure/mpi_baseline.cpp"},
    re.compile(r"rdma/.*"): {"fabric", "transfer"},
    re.compile(r"hdf5.*|H5.*"): {"record"},
    re.compile(r"CLI/.*|CLI11.*"): {"config"},
    re.compile(r"hwloc.*"): {"job", "fabric", "measure"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def offences(root: Path) -> list[str]:
    found = []
    for folder in (root / "include" / "a2aperf", root / "src"):
        for path in sorted(folder.rglob("*.[ch]pp")):
            inside = path.relative_to(folder)
            layer = inside.parts[0]
            if layer not in LAYERS:
                found.append(f"{path.relative_to(root)}: '{layer}' is no layer; expected one of {', '.join(LAYERS)}")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                quote, header = match.groups()
                where = f"{path.relative_to(root)}:{number}: includes {header}"
                own = header.removeprefix("a2aperf/")
                if own != header:
                    target = own.split("/")[0]
                    if target not in LAYERS:
                        found.append(f"{where}, but '{target}' is no layer")
                    elif LAYERS.index(target) > LAYERS.index(layer):
                        found.append(f"{where}, but {target} is above {layer}")
                elif quote == '"' and "/" in header:
                    found.append(f"{where}, but a private header is for its own folder only")
                for pattern, homes in HOMES.items():
                    if pattern.fullmatch(header) and layer not in homes and str(inside) not in homes:
                        found.append(f"{where}, which belongs to {', '.join(sorted(homes))} only")
    return found


def main() -> int:
    lines = offences(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(lines), end="\n" if lines else "")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
