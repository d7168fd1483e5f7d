#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast our all-to-all is against MPI_Alltoall over the same network.

Each row is one launch of `a2aperf alltoall --baseline mpi`: the two take turns, block by block, on the same ranks and
buffers, and every message was verified before. The ratio is MPI's median op time over ours, above 1 where we are
faster, with its 95 % interval from whole blocks. Absolute times drift on shared machines; ratios of blocks side by side
hold. What differs between launches, such as where memory lies, that interval does not show: with --launches a row is the
median of so many launches, with the lowest and the highest of them.

The contests are those of Open MPI; with MPIRUN=mpirun.mpich and a program that was built with MPICH those of MPICH.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"


@dataclass(frozen=True)
class Contest:
    """A provider of ours and what MPI moves its messages over."""

    provider: str
    transport: str
    environment: dict[str, str] = field(default_factory=dict)
    is_mpich: bool = False


def over_ofi(provider: str) -> dict[str, str]:
    return {
        "OMPI_MCA_pml": "cm",
        "OMPI_MCA_mtl": "ofi",
        "OMPI_MCA_mtl_ofi_provider_include": provider,
    }


def over_ucx(transports: str) -> dict[str, str]:
    """Open MPI refuses UCX where it has a device for nothing but messages in memory, unless told that any will do."""
    return {
        "OMPI_MCA_pml": "ucx",
        "OMPI_MCA_pml_ucx_tls": "any",
        "OMPI_MCA_pml_ucx_devices": "any",
        "UCX_TLS": transports,
        "UCX_NET_DEVICES": "lo",
    }


def of_mpich(provider: str, where: str, environment: dict[str, str]) -> Contest:
    """MPICH of Debian, which moves messages by UCX."""
    return Contest(provider, f"MPICH, ucx, {where}", {"UCX_NET_DEVICES": "lo"} | environment, is_mpich=True)


# Ranks of one node, too, are strangers.
MPICH_OVER_TCP = {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self"}
OVER_TCP = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp"}
NO_CMA = {"FI_SHM_DISABLE_CMA": "1", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
CONTESTS = {
    "tcp-ofi": Contest("tcp", "mtl ofi, tcp;ofi_rxm", over_ofi("tcp;ofi_rxm")),
    "tcp-btl": Contest("tcp", "btl tcp", OVER_TCP),
    "net-ofi": Contest("net", "mtl ofi, net", over_ofi("net")),
    "net-btl": Contest("net", "btl tcp", OVER_TCP),
    # libfabric before 1.19 loses larger tagged messages here: 'a2aperf' skips them and says why.
    "shm-copy": Contest("shm", "btl vader, both copy", NO_CMA),
    "shm-cma": Contest("shm", "btl vader, both CMA"),
    "tcp-ucx": Contest("tcp", "ucx, tcp", over_ucx("tcp,self")),
    "net-ucx": Contest("net", "ucx, tcp", over_ucx("tcp,self")),
    "shm-ucx": Contest("shm", "ucx, shm", over_ucx("sm,self")),
    "shm-copy-ucx": Contest("shm", "ucx, shm; ours copies", {"FI_SHM_DISABLE_CMA": "1"} | over_ucx("sm,self")),
    "tcp-mpich": of_mpich("tcp", "tcp", MPICH_OVER_TCP),
    "net-mpich": of_mpich("net", "tcp", MPICH_OVER_TCP),
    "shm-mpich": of_mpich("shm", "shm", {"UCX_TLS": "sm,self"}),
}
WITH_MPICH = "mpich" in os.environ.get("MPIRUN", "")


def measure(program: str, contest: Contest, ranks: int, options: argparse.Namespace) -> list[dict]:
    """The rows of our own points, with ratio, ratio_low and ratio_high."""
    with tempfile.TemporaryDirectory() as folder:
        command = [MPIRUN, "-x", "-t", "300", str(ranks), program, "alltoall", "--provider", contest.provider]
        command += ["--sizes", options.sizes, "--ops", str(options.ops), "--baseline", "mpi", "--mode", options.modes]
        command += ["--memory", options.memory, "--quiet", "--format", "json", "-o", f"{folder}/ratio.h5"]
        done = subprocess.run(
            command, env=os.environ | contest.environment, capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise SystemExit(f"{contest.provider} against {contest.transport}: {done.stderr.strip()}")
    return [row for row in json.loads(done.stdout) if row["role"] == "measure" and row["state"] == "complete"]


def spread(rows: tuple[dict, ...]) -> tuple[float | None, float | None]:
    """What the ratio of a point lies between, given its rows, one per launch."""
    if len(rows) == 1:
        return rows[0]["ratio_low"], rows[0]["ratio_high"]
    ratios = [row["ratio"] for row in rows]
    return min(ratios), max(ratios)


def main() -> int:
    usable = [name for name, contest in CONTESTS.items() if contest.is_mpich == WITH_MPICH]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="build/release/src/app/a2aperf")
    parser.add_argument("contests", nargs="*", help=f"of {', '.join(usable)} (default: all)")
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--sizes", default="1000,8192,60000,262144")
    parser.add_argument("--modes", default="tagged,write-imm")
    parser.add_argument("--ops", type=int, default=300)
    parser.add_argument("--memory", choices=["default", "huge"], default="default")
    parser.add_argument("--launches", type=int, default=1)
    options = parser.parse_args()
    for name in options.contests:
        if name not in usable:
            parser.error(f"unknown contest '{name}': expected one of {', '.join(usable)}")

    heading = "95 % interval" if options.launches == 1 else f"of {options.launches} launches"
    print(f"{'ours':<15} {'MPI over':<22} {'ranks':>5} {'B':>7} {'ours us':>9} {'ratio':>6}  {heading:<16}   n")
    for name in options.contests or usable:
        contest = CONTESTS[name]
        for ranks in map(int, options.ranks.split(",")):
            launches = [measure(options.program, contest, ranks, options) for _ in range(options.launches)]
            for rows in zip(*launches, strict=True):  # one point
                low, high = spread(rows)
                time, ratio = (statistics.median(row[what] for row in rows) for what in ("time_p50", "ratio"))
                interval = "too few blocks" if low is None else f"{low:5.2f} to {high:5.2f}"
                print(
                    f"{contest.provider + ' ' + rows[0]['mode']:<15} {contest.transport:<22} {ranks:>5} "
                    f"{rows[0]['message_size']:>7} {time / 1e3:>9.1f} {ratio:>6.2f}  "
                    f"{interval:<16} {sum(row['ops'] for row in rows):>5}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
