#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast our streams and round trips are against those of fabtests, the programs that libfabric is tested with, or
against a minimal loop of our own.

A row is so many pairs of launches, ours and theirs, each pair in the other order than the one before; both processes of
each are pinned to a core, the same two. The ratio of a pair is ours over theirs for rates and theirs over ours for
times: above 1 where we are faster. Told are its median, its lowest and highest, and n. Both measure for about --seconds,
after a warm-up of their own, with the same provider, size and messages under way.

What they do is not quite the same. fi_rdm_tagged_bw and fi_rma_bw send a window, wait for its completions and then for
an answer of the other side; our window is one of credits, that move on one by one. fi_rma_bw writes and reads without
the other side's taking part, in both directions at once, and our stream with --duplex does so too, but its receiver sees
every message and frees its buffer. fi_rdm_tagged_pingpong tells the mean of half a round trip; held against it are our
mean and, apart from it, our median.

Build fabtests of the same version as libfabric, from its own sources: ./autogen.sh && ./configure --prefix=FOLDER &&
make install in fabtests/. Name FOLDER/bin by --fabtests.

Without --fabtests the project's own minimal loop stands in (bare_loop.cpp): the same calls of libfabric as
fi_rdm_tagged_bw and fi_rma_bw -o writedata make, and no more. It has the contests tagged and write-imm only, and a ratio
against it says nothing of fabtests. The first line says what the ratios are against.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
PORT = "47592"
DEADLINE = 120.0


@dataclass(frozen=True)
class Contest:
    """One of their programs and what of ours does the same."""

    theirs: tuple[str, ...]
    ours: tuple[str, ...]
    is_echo: bool = False


CONTESTS = {
    "tagged": Contest(("fi_rdm_tagged_bw",), ("stream", "--mode", "tagged")),
    "write-imm": Contest(("fi_rma_bw", "-e", "rdm", "-o", "writedata"), ("stream", "--mode", "write-imm")),
    "write": Contest(("fi_rma_bw", "-e", "rdm", "-o", "write"), ("stream", "--mode", "write", "--duplex")),
    "read": Contest(("fi_rma_bw", "-e", "rdm", "-o", "read"), ("stream", "--mode", "read", "--duplex")),
    "echo": Contest(("fi_rdm_tagged_pingpong",), ("echo", "--mode", "tagged"), is_echo=True),
}
STAND_IN = ("tagged", "write-imm")
"""The contests that bare_loop.cpp has."""
PINNED = ("bash", "-c", 'taskset -cp "$((OMPI_COMM_WORLD_LOCAL_RANK))" $$ >/dev/null && exec "$@"', "pinned")
WARMUP = 1000
PROVIDERS = {"shm": "shm", "tcp": "tcp;ofi_rxm", "net": "net"}


def ours(options: argparse.Namespace, contest: Contest, provider: str, size: int, window: int) -> list[float]:
    """Gbit/s of one direction, or mean and median of a round trip in µs."""
    command = [MPIRUN, "-x", "-t", str(int(DEADLINE)), "2", *PINNED]
    command += [options.program, *contest.ours, "--provider", provider, "--duration", f"{options.seconds}s"]
    if contest.is_echo:
        command += ["--request", str(size), "--sizes", str(size)]
    else:
        command += ["--sizes", str(size), "--window", str(window)]
    command += ["--quiet", "--format", "json", "--force", "-o", f"{options.folder}/contest.h5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    [row] = [row for row in json.loads(done.stdout) if row["role"] == contest.ours[0]]
    if row["state"] != "complete":
        raise SystemExit(f"{' '.join(contest.ours)} over {provider}, {size} B: {row['state']} ({row.get('reason')})")
    if contest.is_echo:
        return [row["time_mean"] / 1e3, row["time_p50"] / 1e3]
    return [row["gbps"] / (2 if "--duplex" in contest.ours else 1)]


def theirs(options: argparse.Namespace, contest: Contest, provider: str, size: int, window: int, n: int) -> float:
    """Their figure for n messages: Gbit/s, or µs of a round trip."""
    if not options.fabtests:
        return stand_in(options, contest, provider, size, window, n)
    program, *further = contest.theirs
    command = [f"{options.fabtests}/{program}", *further, "-p", PROVIDERS[provider], "-S", str(size), "-I", str(n)]
    command += ["-w", str(WARMUP), "-m", f"-E={PORT}"]
    command += [] if contest.is_echo else ["-W", str(window)]
    own_address = [] if provider == "shm" else ["-s", "127.0.0.1", "-B", "9333"]
    environment = os.environ | {"FI_SOCKETS_IFACE": "lo", "FI_TCP_IFACE": "lo"}
    server = subprocess.Popen(
        ["taskset", "-c", "0", *command, "-s", "127.0.0.1"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )
    try:
        time.sleep(0.3)  # it listens then, or the client tries again
        client = subprocess.run(
            ["taskset", "-c", "1", *command, *own_address, "127.0.0.1"],
            capture_output=True, text=True, timeout=DEADLINE, check=False, env=environment,
        )
        said, _ = server.communicate(timeout=DEADLINE)
    finally:
        server.kill()
    found = re.search(r"usec/xfer: ([\d.]+)", client.stdout)
    if client.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(command)}: {client.stdout}{client.stderr}{said}")
    micros = float(found[1])
    return 2 * micros if contest.is_echo else size * 8 / micros / 1e3


def stand_in(options: argparse.Namespace, contest: Contest, provider: str, size: int, window: int, n: int) -> float:
    """What the project's own minimal loop has for n messages: Gbit/s."""
    mode = contest.ours[contest.ours.index("--mode") + 1]
    numbers = [str(number) for number in (size, window, n, WARMUP)]
    command = [MPIRUN, "-x", "-t", str(int(DEADLINE)), "2", *PINNED, options.loop, PROVIDERS[provider], mode, *numbers]
    environment = os.environ | {"FI_SOCKETS_IFACE": "lo", "FI_TCP_IFACE": "lo"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = re.search(r"usec/xfer: ([\d.]+)", done.stdout)
    if done.returncode != 0 or not found:
        raise SystemExit(f"{' '.join(map(str, command))}: {done.stdout}{done.stderr.strip()}")
    return size * 8 / float(found[1]) / 1e3


def pairs_of(options: argparse.Namespace, name: str, provider: str, size: int, window: int) -> None:
    contest = CONTESTS[name]
    n = options.first
    rate = theirs(options, contest, provider, size, window, n)
    micros = rate if contest.is_echo else size * 8 / rate / 1e3
    n = max(2 * window, int(options.seconds * 1e6 / micros))
    mine: list[list[float]] = []
    other: list[float] = []
    for pair in range(options.pairs):
        turns = [lambda: mine.append(ours(options, contest, provider, size, window)),
                 lambda: other.append(theirs(options, contest, provider, size, window, n))]
        for turn in turns if pair % 2 == 0 else reversed(turns):
            turn()
    for which in range(len(mine[0])):
        ratios = [b / a[which] if contest.is_echo else a[which] / b for a, b in zip(mine, other, strict=True)]
        label = name if not contest.is_echo else f"{name} {('mean', 'p50')[which]}"
        print(
            f"{provider:<6} {label:<10} {size:>8} {'' if contest.is_echo else window:>6} "
            f"{statistics.median(a[which] for a in mine):>10.4g} {statistics.median(other):>10.4g} "
            f"{statistics.median(ratios):>6.3f}  {min(ratios):.3f} to {max(ratios):.3f}  {len(ratios):>3}",
            flush=True,
        )


def rivals(parser: argparse.ArgumentParser, options: argparse.Namespace) -> str:
    """What ours are compared with, which the first line says; a mistake ends here."""
    wanted = options.contests.split(",") if options.contests else list(CONTESTS if options.fabtests else STAND_IN)
    unknown = [name for name in wanted if name not in CONTESTS]
    if unknown:
        parser.error(f"--contests has no '{unknown[0]}': expected some of {', '.join(CONTESTS)}")
    options.contests = wanted
    if options.fabtests:
        missing = [CONTESTS[name].theirs[0] for name in wanted if not (options.fabtests / CONTESTS[name].theirs[0]).is_file()]
        if missing:
            parser.error(f"--fabtests {options.fabtests} has no {missing[0]}")
        return f"against fabtests, of {options.fabtests}"
    if lacking := [name for name in wanted if name not in STAND_IN]:
        parser.error(f"the contest {lacking[0]} needs --fabtests: the minimal loop has {' and '.join(STAND_IN)} only")
    if not options.loop:
        options.loop = options.program.resolve().parents[2] / "test/benchmark/bare-loop"
    if not options.loop.is_file():
        parser.error(f"neither --fabtests nor {options.loop}: build it (ninja test/benchmark/bare-loop)")
    return "against this project's own minimal loop (bare_loop.cpp), not fabtests: no --fabtests was given"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="build/release/src/app/a2aperf")
    parser.add_argument("--fabtests", type=Path, help="the folder of fi_rdm_tagged_bw and the others (default: the minimal loop)")
    parser.add_argument("--loop", type=Path, help="the minimal loop (default: test/benchmark/bare-loop in the program's build)")
    parser.add_argument("--contests", help=f"default: {','.join(CONTESTS)}, without fabtests {','.join(STAND_IN)}")
    parser.add_argument("--providers", default=",".join(PROVIDERS))
    parser.add_argument("--sizes", default="8,4096,65536,1048576")
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--first", type=int, default=20_000, help="messages by which theirs is timed at first")
    options = parser.parse_args()
    options.folder = os.environ.get("TMPDIR", "/tmp")
    print(rivals(parser, options), flush=True)
    other = "theirs" if options.fabtests else "loop"
    print(f"{'':<6} {'contest':<10} {'B':>8} {'window':>6} {'ours':>10} {other:>10} {'ratio':>6}  lowest, highest   n")
    print(f"{'':<6} Gbit/s one way{'; echo: µs of a round trip' if 'echo' in options.contests else ''}")
    for provider in options.providers.split(","):
        for name in options.contests:
            for size in map(int, options.sizes.split(",")):
                pairs_of(options, name, provider, size, options.window)
    return 0


if __name__ == "__main__":
    sys.exit(main())
