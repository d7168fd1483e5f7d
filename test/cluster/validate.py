#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/validation.md and its figure anew, from the tests of this folder.

    analysis/.venv/bin/python test/cluster/validate.py            measures, in some twelve minutes, and writes
    analysis/.venv/bin/python test/cluster/validate.py --draw     writes from the last measurement

Root, for the clusters; the built program; and the package a2a with its dependencies, for the figure
(analysis/run-checks.sh makes that environment). Nothing else should run meanwhile.
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from a2aperf import style

TOP = Path(__file__).resolve().parents[2]
RESULTS = TOP / "build" / "validation.xml"
FIGURE = TOP / "docs" / "figures" / "validation.svg"
PAGE = TOP / "docs" / "validation.md"
LAUNCHES = TOP / "build" / "validation-psm2"
COMPARISON = TOP / "build" / "validation-psm2.json"
A_SIDE = 8
Facts = dict[str, str]


def measure() -> None:
    """Runs the tests with every link; RESULTS holds what they tell, also of those that failed."""
    python = TOP / ".venv" / "bin" / "python"
    words = [python, "-m", "pytest", TOP / "test/cluster", "-q", "-rs", "--tb=short", "--junitxml", RESULTS]
    subprocess.run(words, env=os.environ | {"A2APERF_VALIDATION": "1"}, check=False, stdout=sys.stderr)


def compare_psm2() -> None:
    """The receive thread on and off by turns, A B B A, over psm2's shared memory; COMPARISON holds what is made of it."""
    shutil.rmtree(LAUNCHES, ignore_errors=True)
    LAUNCHES.mkdir(parents=True)
    program = os.environ.get("A2APERF", TOP / "build/release/src/app/a2aperf")
    support = TOP / "test" / "support"
    words = ["--sizes", "1000,60000", "--ops", "500", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "-q"]
    for i, value in enumerate("0110" * (A_SIDE // 2)):
        subprocess.run(
            [support / "with_psm2.sh", support / "mpirun.sh", "-t", "60", "2", program, "alltoall", "--provider", "psm2",
             *words, "-o", LAUNCHES / f"{i:02}.h5"],
            env=os.environ | {"PSM2_RCVTHREAD": value}, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
    # Its exit status tells programs of the verdict: other than 0 is no failure here.
    said = subprocess.run(
        [TOP / ".venv/bin/a2a", "compare", *sorted(LAUNCHES.glob("*.h5")), "--by", "PSM2_RCVTHREAD", "--json"],
        check=False, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    COMPARISON.write_text(said.stdout)


def read() -> list[Facts]:
    """The facts of each test, with its outcome."""
    told = []
    for case in ElementTree.parse(RESULTS).iter("testcase"):
        facts = {item.get("name", ""): item.get("value", "") for item in case.iter("property")}
        if case.find("skipped") is not None:
            raise SystemExit(f"{case.get('name')} was skipped: {case.find('skipped').get('message')}")
        bad = case.find("failure") is not None or case.find("error") is not None
        told.append(facts | {"outcome": "failed" if bad else "passed"})
    return told


def error(link: Facts) -> float:
    """In percent, against the nearer end of what is known; 0 between the ends."""
    net, low, high = (float(link[name]) for name in ("net_mbit", "low", "high"))
    return (net / min(max(net, low), high) - 1) * 100


def draw(links: list[Facts]) -> None:
    """Share of the link's rate that came out as payload, against what framing leaves."""
    shapes = sorted({(int(link["hosts"]), int(link["ranks_per_host"])) for link in links})
    rates = sorted({float(link["mbit"]) for link in links})
    with plt.rc_context({"svg.hashsalt": "a2aperf", "font.size": 8}):
        figure, axes = plt.subplots(figsize=(style.PAGE_WIDTH, 2.6), layout="constrained")
        low, high = (100 * float(links[0][end]) / float(links[0]["mbit"]) for end in ("low", "high"))
        axes.axhspan(low * 0.98, high * 1.02, color=style.GRID, lw=0, label="known answer ± 2%")
        axes.axhspan(low, high, color=style.GREY, lw=0, label="known answer, from framing alone")
        for i, (look, shape) in enumerate(zip(style.LOOKS, shapes, strict=False)):
            of_shape = [link for link in links if (int(link["hosts"]), int(link["ranks_per_host"])) == shape]
            at = [rates.index(float(link["mbit"])) + (i - (len(shapes) - 1) / 2) * 0.12 for link in of_shape]
            shares = [100 * float(link["net_mbit"]) / float(link["mbit"]) for link in of_shape]
            name = f"{shape[0]} hosts × {shape[1]} rank{'s' * (shape[1] > 1)}"
            axes.plot(at, shares, ls="", marker=look.marker, color=look.color, ms=5, label=name)
        axes.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
        axes.set(xlabel="rate of every link, each way (Mbit/s)", ylabel="payload that came out\n(% of the rate)")
        bottom = min(97.0, *(100 * float(link["net_mbit"]) / float(link["mbit"]) for link in links)) - 0.5
        axes.set_ylim(bottom, high * 1.02 + 0.3)
        axes.grid(axis="y", color=style.GRID, lw=0.4)
        axes.set_axisbelow(True)
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.savefig(FIGURE, metadata={"Date": None})


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def comparison() -> str:
    """The receive thread on against off, a row for each size."""
    (found,) = json.loads(COMPARISON.read_text())
    rows = [
        [f"{cell['message_size']}", f"{cell['launches_candidate']} : {cell['launches_baseline']}",
         f"{cell['time_candidate'] / 1e3:.2f} : {cell['time_baseline'] / 1e3:.2f}", f"{cell['ratio']:.3f}",
         f"{cell['ratio_low']:.3f} to {cell['ratio_high']:.3f}", f"{cell['p']:.2f}", cell["verdict"]]
        for cell in found["cells"]
    ]  # fmt: skip
    return table(["message (B)", "launches", "p50 (µs)", "ratio", "95% interval", "p", "verdict"], rows)


def flows(facts: Iterable[Facts]) -> str:
    """Streams and round trips, a row for each answer."""
    rows = []
    for answer in (one for told in facts for one in json.loads(told["answers"])):
        found = sorted(answer["found"])
        ends = [f"{answer[end]:.2f}" for end in ("low", "high")]
        rows.append(
            [answer["what"], answer["unit"] or "—", " to ".join(dict.fromkeys(ends)), f"{statistics.median(found):.2f}",
             f"{found[0]:.2f} to {found[-1]:.2f}", f"{answer['error']:+.1%}", f"{answer['within']:.0%}", f"{len(found)}"]
        )  # fmt: skip
    return table(["what", "unit", "known", "median", "least to largest", "error", "allowed", "n"], rows)


def page(links: list[Facts], answers: list[Facts], others: list[Facts]) -> str:
    errors = [error(link) for link in links]
    within = sum(abs(one) <= 2 for one in errors)
    link_rows = [
        [link["mbit"], link["hosts"], link["ranks_per_host"], f"{float(link['low']):.1f} to {float(link['high']):.1f}",
         f"{float(link['net_mbit']):.1f}", f"{one:+.1f}%", link["ops"], f"{(float(link['wire_ratio']) - 1) * 100:.2f}%"]
        for link, one in zip(links, errors, strict=True)
    ]  # fmt: skip
    other_rows = [[one["case"], one.get("known", ""), one.get("measured", ""), one["outcome"]] for one in others]
    links_head = [
        "link (Mbit/s)", "hosts", "ranks a host", "known (Mbit/s)", "measured", "error", "n", "headers on the wire",
    ]  # fmt: skip
    return TEXT.format(
        links=table(links_head, link_rows), flows=flows(answers),
        others=table(["what was done", "known beforehand", "what came out", ""], other_rows), psm2=comparison(), a_side=A_SIDE,
        within=within, count=len(links), worst=max(errors, key=abs), machine=f"Linux {platform.release()}",
        cores=len(os.sched_getaffinity(0)),
    )  # fmt: skip


TEXT = """<!-- SPDX-License-Identifier: BSD-3-Clause -->
# Validation

What the program says is compared with answers that are known before it runs. `test/cluster/validate.py` made this
page: it runs the tests of `test/cluster`, with more links than `test/run.sh cluster` has, on this machine
({machine}, {cores} cores). All hosts are network namespaces of one machine; nothing here needs a fabric.

## Links of known rate

Every host has one link, shaped alike in both directions by a token bucket whose flows share it evenly. A frame of
9014 bytes carries 8948 bytes of payload; the other way's acknowledgements, of 66 bytes, come for every second frame at
the most. So between 98.9% and 99.3% of the rate is payload, whatever the number of hosts and ranks; nothing is fitted.
An op lasts a second, 200 times what the bucket lets pass at once. The figure compared with that is `gbps_node_net`
at the median of n ops.

![Payload that came out, in percent of the link's rate, against what framing leaves](figures/validation.svg)

{links}

{within} of {count} are within 2% of what is known; the largest error is {worst:+.1f}%. The error counts from the nearer
end of the interval. The last column is the cross-check: bytes that the link's own counter, read by the program around
each point, added to the payload of the ops. It must lie between 0 and 1.1%, and does not depend on time.

Ranks go ahead of whatever else the machine does: all hosts share its cores, and a rank that gets its core late leaves a
link idle. Where they did not, the same four ranks a host at 50 Mbit/s fell short by 7.3%. Flows take turns by the packet, and what
the kernel hands down as one packet may hold seven frames: eight hosts at 50 Mbit/s then ended so far apart that 2.0 to
3.6% were lost. So slow links are handed two frames at once.

That flows share a link evenly is part of the known answer. With one queue per port for all of them, links idle while
others are still busy, and the same all-to-all loses a tenth of the rate at 4 and 8 hosts; so does one whose
acknowledgements wait behind the other direction's data. A real fabric's loss of that kind is what the program is for.

## Streams and round trips

`a2aperf stream` and `a2aperf echo`, one rank a host. Links of known rate are those above. A known delay is a cable
(`test/cluster/relay.py`): each way a frame takes its length at the cable's rate, once the one before it has gone, and then
the delay; the time counts from when the kernel had the frame. What follows from rate and delay:

- a stream that no window holds up has the payload's share of the link, and streams that share a link have it together;
- over a delay, a window of w messages comes in each round trip; that is twice the delay, the time of a credit, and of the
  w/16 messages that a credit tells of; where the receiver reads messages, in each two;
- a receiver that pauses for D after N messages takes D and the time of N − w messages for them where w < N, and D where w = N;
- a round trip takes twice the delay and the time of its request and its answer, or, where the answers of all that are under way
  leave no gap, the time of as many; the rate times the mean time is the number under way (Little's law), but for places
  that are idle at the end.

n launches, all of which count; `test/run.sh cluster` takes the first of up to four that is near enough. No round trip was
shorter than its cable allows. The ranks, which all poll, and the cable share this machine's cores with its other work,
which makes each of them late by some 0.1 to 0.3 ms. A pause holds the buffer of the message that it comes with, too: the
time of one message more.

{flows}

The table shows the program as it is since it found this: a receiver has sixteen credits under way at the most, and told of
each freed message as long as it had one left. The messages of a larger window, one by one on a slow link, were told a round
trip later: over 15 ms each way a window of 64 took 38.8 ms instead of 30.7, over 40 ms it took 90.8 instead of 80.7. Now the
credits share the window.

With libfabric 1.17 the provider is `net`. `tcp;ofi_rxm`, measured by hand over the same links, once each: one way 99.3 Mbit/s
with messages of 16 KiB and 98.9 with 64 KiB, both ways 98.7 each with 16 KiB, but with 64 KiB 68.6 by tag and 50.5 without.
It fetches messages of more than 16 KiB after a request of its own, in one direction at a time: a round trip with an answer of
64 KiB took 22.8 ms over a delay of 5 ms, twice as long as with `net`.

## Uneven traffic

`a2aperf alltoall --traffic`, four hosts of two ranks, links of 100 Mbit/s, messages of 1 MB on average, measured by hand: an
op takes what the link of the busiest host needs for its bytes. The figures are the payload that passes that link at the median,
in Mbit/s; 98.9 to 99.3 are known, and what the bucket lets pass at once makes up to 0.5% more of a second. `net` by tag in
three launches of five ops, each with matrices of its own (`--seed`), the others once, of three ops.

| traffic | `net`, tagged | least to largest | error | `net`, msg | `net`, write-imm | `tcp;ofi_rxm`, write-imm | `tcp;ofi_rxm`, tagged |
| --- | --- | --- | --- | --- | --- | --- | --- |
| uniform | 99.2 | 99.2 to 99.3 | +0.0% | 99.1 | 99.1 | 99.1 | 60.7 |
| zipf=1.2 | 99.6 | 99.5 to 99.6 | +0.3% | 99.2 | 99.5 | 99.5 | 91.8 |
| hot-rank=3x | 99.3 | 99.2 to 99.8 | +0.5% | 99.1 | 99.2 | 99.1 | 71.1 |
| hot-node=4x | 99.3 | 99.2 to 99.5 | +0.2% | 99.2 | 99.3 | 99.3 | 93.4 |
| permutation | 98.9 | 98.9 to 99.1 | -0.0% | 98.5 | 99.1 | 98.7 | 98.9 |
| shift=3 | 99.0 | 98.9 to 99.0 | +0.0% | 98.9 | 99.0 | 99.0 | 98.9 |
| neighbours=2 | 99.1 | 99.1 to 99.3 | +0.0% | 99.2 | 99.1 | 99.2 | 53.8 |
| sparse=30% | 99.3 | 99.2 to 99.6 | +0.4% | 99.6 | 99.5 | 99.2 | 83.7 |
| incast | 99.3 | 99.3 to 99.3 | +0.0% | 99.3 | 99.3 | 99.3 | 99.3 |
| outcast | 99.4 | 99.4 to 99.5 | +0.2% | 99.2 | 99.3 | 99.5 | 99.3 |
| bisection | 99.1 | 99.0 to 99.1 | +0.0% | 99.1 | 99.1 | 99.1 | 55.0 |

All are within 3% but those of `tcp;ofi_rxm` by tag: it fetches messages of more than 16 KiB in one direction at a time. What two
ranks exchange both ways loses nearly half, what each sends to one and receives from another nothing, and an incast or outcast,
which has one direction, nothing. Its writes are not fetched.

Schedules, eight hosts of one rank, `net`, messages of 800 kB on average, medians of three ops in one launch: with
`--window 1` each rank of `sparse=40%` sends its messages one after another, and the busiest link carried 88.5 Mbit/s in `shift`,
99.0 in `coloured` and 99.3 in `greedy`; with `--window all` 98.9, 99.5 and 99.0. With `zipf=1.2` and `hot-rank=3x`, where one
rank has most to receive whatever the order, all lie between 98.3 and 99.7.

## Interference

`a2aperf interference` between two hosts over links of 100 Mbit/s that flows share evenly (`test/cluster/test_interference.py`). A stream as the
load takes half of the link, so what victims move the same way takes twice its time alone: answers of 256 KiB or a window of 8 messages of 32 KiB.
Without load the 95 % interval has 1 in 19 of 20 runs on average; less than 17 come in one of 60.

| what | known | measured |
| --- | --- | --- |
| impact on round trips, mean | 2 within 5% | 2.07, load 52.0 of 99.7 Mbit/s |
| impact on a stream, mean | 2 within 5% | 2.00, load 49.6 of 99.0 Mbit/s |
| no load, round trips: runs whose interval has 1 | 17 of 20 or more | 20 of the median, 19 of the mean |
| no load, a stream, by hand | 17 of 20 or more | 19 of the median, 19 of the mean |

## Waiting at a relay

Over a relay that serves each message for 15 ms, one after the other, messages of an open loop wait as Lindley's recursion has it of the moments when they
were due (`test/cluster/test_relay_laws.py`), 80 messages at each load, in one launch.

| load | mean wait, service times: known | measured | error | allowed |
| --- | --- | --- | --- | --- |
| 0.3 | 0.1906 | 0.1908 | +0.1% | 2% |
| 0.6 | 0.6474 | 0.6475 | +0.0% | 2% |
| 0.9 | 2.6921 | 2.6866 | -0.2% | 2% |

## Slow links, bad days, disturbed ranks

Every message of a run is verified, the completed point is looked for in the file, and everything must end on its own.
Where this machine's own delays are as frequent as what a test does to a rank (a pause once a second, a core that is
taken), up to four launches are looked at, one after the other, until one names a rank or tells the two apart: on a quiet
machine the pause once a second was named in the first launch five times, and in the second twice.

{others}

A fabric link that is cut does not touch the control network, over which MPI launches and agrees: as on most clusters.
A host that *sends* slowly cannot be identified by who finishes last: all others wait for it. A pause shorter than a
few ops' time is named only where pauses are more frequent than what else this machine does to its ranks: 5 ms once a
second are in the op times, 5 ms in every 50 ms are named.

## Faults inside

`test/faults` puts faults into the calls that the program makes of libfabric, MPI, the C library and memory: libraries
preloaded in tests, counting calls, so that the n-th one of a rank fails as a real one would. Nothing of it is in the
program. In each case everything ends on its own, no figure comes of an op that failed, and every point that was told
complete is in the file with the statistics of its samples.

| what goes wrong | what comes of it |
| --- | --- |
| messages lost, doubled, misdirected, or with a wrong byte, in a verified op (shm, net; tagged, write-imm) | the run fails, and says whose message it was, in which op, and which byte |
| completions lost, doubled or failed in a timed op; a send or the posting of a receive refused | the run fails at that point, and says which peer's message or send it was; the point before is kept |
| no room for 5000 sends or receives in a row (FI_EAGAIN) | weathered; no room for ever ends at the deadline and names the peer |
| a completion 400 ms late | in the figures of that op |
| a call that opens something: fabric, domain, memory, queue, addresses, endpoint | the run fails, and names the call, the rank and, where it is known, the way out |
| an error of MPI, at any call: of those made again and again the first, the last and two between | the same; an error of the last two calls, when the file is whole, is told |
| no memory for some allocation, or for the message buffers | the same: "out of memory" |
| any write, sync, rename, open or read of the results file (ENOSPC, EIO, EMFILE) | the run fails and names the file, and what was acknowledged is in it; where only the last copy could not be made, the file stays larger, and that is told |
| reads and writes of half of what was asked for | made whole |
| a `--config` file or an attachment that can be read to the half only | refused |
| /proc/meminfo cannot be read | the run fails and says so |

A byte that goes wrong in a timed op is not seen: the bytes are looked at before the ops of a point, not during them,
and its time is a true one. Libraries below (the C++ library's directory iterator, HDF5, MPI, libfabric) may end the process
when they get no memory themselves; that ends the run too, and what was told is in the file (five of their allocations,
spread over a run).

## Power cuts and kills

`test/crash` notes every call that the first rank makes on its results file (a preloaded library: opening, writing, lengths,
syncs, links, names, with the data) and builds from that what a disk may hold after a power cut at any instant: a file as it
was synced last; of what was written since, each sector of 512 bytes as it was at any moment, pages and sectors alone, all
but one, and at random; every length that it had; a change of a name only from the folder's sync on, or before. The files
are those of an all-to-all that is killed among its points, in the copy that its resumption makes, and in the compact one; of
pairs, and of one beside MPI's, killed and resumed; of points without a valid op, measured again in their places; of a file that a
power cut tore, resumed and cut again; of one that `--force` replaces; and of a disk that refuses a write (EIO, ENOSPC) or a
sync in each of these phases. Of a sync that failed no later one makes good what was written before. Each image is compared with what was measured:
whatever says complete holds exactly that with a right checksum; what a sync confirmed is there; the file is never absent once
it was there, and its metadata are those of the old file or of the new one.

| what | tried | broken |
| --- | --- | --- |
| distinct images, of the program as it was before it ordered data, sync and state | 10251 | 3227, with rows that said complete without their samples |
| distinct images since | 12940 | 0 |
| images of a launch whose barrier failed once, of the program as it was before it trusted no later one | 754 | 157 |
| of these, given to `a2a check` | 100 | 0 |
| of these, resumed to the end | 6 | 0 |
| thirteen orders of writing that are known to be wrong (no sync, state first, renamed before the sync, a sync that failed, finished before its rows, …) | 13 | 13: all are found |
| an ext4 on a loop device, some pages written back, shut down under a launch, mounted again: before | 10 files of 12 cuts | 4 |
| the same since | 66 files of 100 cuts, with 1410 acknowledged points | 0 |
| a rank or the launcher killed at a random instant (shm, tcp, net, udp, sockets; all-to-alls and pairs; the file resumed after half of them) | 1000 kills (770 of them on 23 November 2026, at three ranks, 854 launches) | 0 points lost that were told |
| the same of streams and round trips (shm, tcp) | 400 kills, 205 and 195 (23 November 2026, at three ranks, 400 launches, 2369 points found) | 0 points lost that were told |

Of the last 770 kills one left an `mpirun` of Open MPI 4.1.4 that waited for itself and no process of the program; it was
ended by hand.

`test/run.sh python` does all of it with forty images for `a2a check`, five cuts and twelve kills; `A2APERF_CRASH_IMAGES`,
`A2APERF_CRASH_COMMANDS`, `A2APERF_CRASH_CUTS` and `A2APERF_CRASH_KILLS` ask for more. The cuts need root and loop devices. A
disk that acknowledges a sync and loses the data after all is outside of what any program can do about it.

## Real providers without their hardware

| provider | how it is run | what that shows | what it can't |
| --- | --- | --- | --- |
| psm2 | the real libpsm2 over its shared-memory path, a made-up device and sysfs folder in a private mount namespace (`test/support/with_psm2.sh`) | every mode with every schedule, every byte verified, at 2, 3, 4 and 8 ranks; that what it needs of the environment is set; that nothing is left behind | the adapter: its receive thread starts on the adapter's path only, so PSM2_RCVTHREAD 0 and 1 must come out alike here, and say nothing of the 2.3 times that it made in 2019 |
| verbs;ofi_rxm | the kernel's software RoCE in a virtual machine under plain emulation, two adapters on two hosts with a cable between them (`test/vm`) | every mode with every byte verified at 2 to 4 ranks; the choice of the adapter; that messages cross the cable, counted there; that a traffic class set from outside is on every packet | speed, and what a real adapter's firmware does |
| psm3 | the real psm3 of libfabric 1.21, which the Python package of Intel's MPI runtime carries: over its shared memory, and between hosts in network namespaces over its TCP sockets (`test/run.sh psm3`) | every mode with every byte verified at 2 and 4 ranks and on 3 hosts; tcp and shm of that libfabric | RDMA adapters |
| shm, tcp, net, udp, sockets | as they are, at 2 to 7 ranks (`test/fabric`) | the providers themselves | a network between hosts, but for the clusters above |

PSM2_RCVTHREAD=1 against 0 over psm2's shared memory, {a_side} launches a side by turns (A B B A), two ranks. The receive
thread does not run there, so the known answer is that no difference may be called; `a2a compare --by PSM2_RCVTHREAD`:

{psm2}

*undecided* and *no difference* both agree with it: the first says that launches on this machine differ too much to
claim that the sides are equal within 2%.

## Fuzzing

Every parser and every reader is given inputs that nobody thought of (`test/fuzz`, libFuzzer with AddressSanitizer and
UndefinedBehaviorSanitizer, atheris). A target holds what it accepts to properties, and what it refuses to one clear
line; any other exception, a read beyond the end, memory without bound or a hang fails. Each run of `test/run.sh`
replays the corpora and explores with a bounded number of inputs, the same every time.

| target | what it is given | properties beside those |
| --- | --- | --- |
| `units` | sizes, durations | exact when written out again; what is shown is the value within its three digits |
| `sizes` | lists and ranges, OSU's too | 1 to 10000 distinct sizes of 1 to 2^63 - 1 bytes; a range ascends; a list is the sum of its items |
| `command_line` | the words behind `a2aperf` | every option in the range that its help names; the recorded command line reads as the same words |
| `config_file` | a `--config` file | means what the same options mean on the command line |
| `resume` | a results file, damaged by a script of edits | refused and untouched, or resumed to its end, compacted and sound again |
| `import_text` | text for `a2a import` | what is accepted can be read and shown, its figures finite and positive |
| `study_folder` | plan, log and preflight of a study | `a2a status` gives every launch a fate, in JSON as in text |
| `options` | `-N`, `--where`, `--columns` | counts ascend; some of the points, never more |
| `results_file` | a results file, damaged as above | all readers of `a2a`; none changes the file |

Tried so far: 136,000 inputs of `sizes`, 20,000 of `units`, 19,000 of `command_line`, 2,000 of `config_file`, some hundred
each of `resume` and `results_file`, some dozen of the rest beside their corpora: a beginning, on a machine that had other
work. It found what the corpora's names say: reads beyond the end of lists of different lengths, exceptions for shapes
without end, control characters in messages, numbers of 5000 digits, times without a zone.

`analysis/tests/test_mutations.py` changes one bit or byte of a file, and `a2a check` must find it, or nothing that any command
shows may be another (23 November 2026):

| file | mutants | found | HDF5 dies of it, which is told as damage | nothing shown is different | missed |
| --- | --- | --- | --- | --- | --- |
| finished: an all-to-all, pairs, a stream, merged, imported | 2000 of each | all, by the trailer | | | 0 |
| unfinished: a stream | 2000 | 575 | 3 | 1421 | 1: a column's name was gone and `check` ended in a traceback; mended since |
| unfinished: an all-to-all | 250 | 90 | 0 | 159 | 1: found, but after 27 s of CPU time and so beyond the test's deadline on a busy machine: HDF5 takes a damaged list of scales for a huge one |
| unfinished: pairs | 250 | 109 | 2 | 139 | 0 |
| unfinished: merged | 250 | 91 | 0 | 159 | 0 |
| unfinished: imported | 250 | 164 | 0 | 86 | 0 |

`A2A_MUTANTS=2000` before pytest makes as many of the other unfinished ones; `test/run.sh` makes 12, of every workload.

`test/crash/damaged_structure.py` flips a bit, replaces a byte or clears a sector of 512 bytes in what HDF5 finds its way by, in the
unfinished file that the recorder leaves after seven of twelve synthetic points, and `a2a check --repair` makes a new one of it (25 November 2026,
500 files with the copy of the structure, 500 as they were before there was one):

| what is in the new file | with the copy | without |
| --- | --- | --- |
| every point that was not hit, what was asked, who measured | 500 | 273 |
| less | 0 | 36 |
| nothing: it cannot be repaired | 0 | 173 |
| nothing: HDF5 does not return within 10 s of CPU time | 0 | 18 |

No point was called complete that was not what was measured. `test/run.sh` makes 50 of each of four launches.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", action="store_true", help="write from the last measurement")
    if not parser.parse_args().draw:
        compare_psm2()
        measure()
    facts = read()
    links = [one for one in facts if "net_mbit" in one]
    draw(links)
    answers = [one for one in facts if "answers" in one]
    PAGE.write_text(page(links, answers, [one for one in facts if "net_mbit" not in one and "answers" not in one]))
    print(f"{PAGE.relative_to(TOP)} and {FIGURE.relative_to(TOP)}: {len(facts)} cases")


if __name__ == "__main__":
    main()
