#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Includes point down the list of layers (test/support/layers.py): in the project, and in copies of it with one
line added that breaks the rule or keeps it. A check that cannot fail is none."""

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "support"))
import layers  # noqa: E402

# A wrong line, the file it is added to (made where missing), and what must be said about it.
BROKEN = [
    ("src/base/units.cpp", '#include "a2aperf/plan/point.hpp"', "plan is above base"),
    ("include/a2aperf/plan/layout.hpp", '#include "a2aperf/stats/summary.hpp"', "stats is above plan"),
    ("src/stats/summary.cpp", "#include <a2aperf/record/table.hpp>", "record is above stats"),
    ("src/measure/x.cpp", '  #  include "a2aperf/config/options.hpp"', "config is above measure"),
    ("src/record/x.cpp", '#include "a2aperf/measure/engine.hpp"', "record sees no layer above result"),
    ("src/config/x.cpp", '#include "a2aperf/record/table.hpp"', "config sees no layer above result"),
    ("src/plan/plan.cpp", '#include "../stats/summary.cpp"', "for its own folder only"),
    ("src/plan/plan.cpp", '#include "a2aperf/extra/x.hpp"', "'extra' is no layer"),
    ("src/extra/x.cpp", "", "'extra' is no layer"),
    ("src/measure/x.cpp", "#include <mpi.h>", "job, measure/mpi_baseline.cpp only"),
    ("src/record/x.cpp", "#include <rdma/fi_endpoint.h>", "transfer only"),
    ("src/app/main.cpp", "#include <hdf5.h>", "record only"),
    ("src/measure/x.cpp", "#include <hdf5_hl.h>", "record only"),
    ("src/plan/size_list.cpp", "#include <CLI/CLI.hpp>", "config only"),
    ("src/app/launch.cpp", "auto copy = fi_dupinfo(info);", "uses fi_dupinfo"),
    ("src/measure/setup.cpp", "auto order = FI_ORDER_WAW; // which one", "uses FI_ORDER_WAW"),
    ("src/app/launch.cpp", "auto name = offer.info().fabric_attr;", "uses fabric_attr"),
    ("include/a2aperf/measure/setup.hpp", "struct fid_ep* endpoint;", "uses fid_ep"),
    ("src/measure/op_loop.cpp", 'say("\\"//"); MPI_Barrier(all);', "uses MPI_Barrier"),
    ("src/app/launch.cpp", "/* the file */ H5Fflush(file);", "uses H5Fflush"),
    ("src/app/main.cpp", "CLI::App app;", "uses CLI"),
    ("src/app/launch.cpp", "auto sum = crc32(0, bytes, 4);", "uses crc32"),
    ("src/measure/x.cpp", "hwloc_topology_t all;", "uses hwloc_topology_t"),
    ("include/a2aperf/measure/setup.hpp", "std::memcpy(message, &number, 8);", "uses std::memcpy, which belongs to fabric"),
    ("include/a2aperf/transfer/mode.hpp", "memset(message, 0, size);", "uses memset, which belongs to fabric"),
    ("src/measure/x.cpp", "#include <infiniband/verbs.h>", "fabric only"),
    ("src/app/launch.cpp", "ibv_device_attr limits;", "uses ibv_device_attr"),
    ("include/a2aperf/stats/x.hpp", '#include "a2aperf/stats/samples.hpp"', "its place is src/stats/x.hpp"),
]
SOUND = [
    ("src/job/x.cpp", "#include <mpi.h>"),
    ("src/measure/mpi_baseline.cpp", "#include <mpi.h>"),
    ("src/fabric/x.cpp", "#include <rdma/fabric.h>"),
    ("src/fabric/x.cpp", "#include <infiniband/verbs.h>"),
    ("include/a2aperf/transfer/mode.hpp", "#include <rdma/fi_tagged.h>"),
    ("src/record/x.cpp", "#include <hdf5.h>"),
    ("src/config/x.cpp", "#include <CLI/CLI.hpp>"),
    ("src/app/main.cpp", '#include "a2aperf/base/units.hpp"'),
    ("src/stats/summary.cpp", '#include "a2aperf/plan/layout.hpp"'),
    ("src/record/x.cpp", '#include "y.hpp"'),
    ("src/base/units.cpp", '// #include "a2aperf/plan/point.hpp"'),
    ("include/a2aperf/measure/exchange.hpp", "fi_cq_data_entry entry;"),
    ("include/a2aperf/measure/exchange_flags.hpp", "ssize_t status = -FI_EAGAIN;"),
    ("src/app/main.cpp", '// fi_getinfo says so'),
    ("src/fabric/memory.cpp", "std::memcpy(to, from, size);"),
    ("src/measure/x.cpp", "memory.copy(from, to, size); // and no memcpy()"),
    ("src/app/main.cpp", '/* fi_getinfo\nMPI_Init */ say("FI_PROVIDER \\" FI_LOG_LEVEL");'),
    ("src/app/main.cpp", 'say(R"(MPI_Init"H5Fopen)");'),
    ("src/app/main.cpp", "const char quote = '\"'; // MPI_Init\nsay('\"', 1'000);"),
]


def offences_with(file: str, line: str) -> list[str]:
    """What is found in a copy of the project to which one line was added."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for top in ("include", "src"):
            shutil.copytree(ROOT / top, copy / top)
        target = copy / file
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("a") as stream:
            stream.write(f"\n{line}\n")
        return layers.offences(copy)


def main() -> int:
    wrong = layers.offences(ROOT)
    if not wrong:
        for file, line, words in BROKEN:
            found = offences_with(file, line)
            if len(found) != 1 or words not in found[0] or not found[0].startswith(file):
                wrong.append(f"layers.py: '{line}' in {file} gave {found or 'nothing'}")
        for file, line in SOUND:
            if found := offences_with(file, line):
                wrong.append(f"layers.py: '{line}' in {file} gave {found}")
    for finding in wrong:
        print(finding, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
