# SPDX-License-Identifier: BSD-3-Clause
"""The preflight on nodes: who answers, and what they say. Nothing is measured."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Final

from a2a import slurm, study
from a2a.errors import InputError
from a2a.scripts import Scripts
from a2a.study import Check

_SECONDS: Final = 55.0
_FREE: Final = ("idle", "mixed")


@dataclass(frozen=True)
class Asked:
    """What the nodes must be fit for, and which they are."""

    provider: str = ""
    ppn: int = 1
    site: str = ""
    nodes: int | None = None
    nodelist: str = ""
    partition: str = ""


def local(scripts: Scripts, asked: Asked) -> list[Check]:
    """What the machine that this runs on says."""
    done = slurm.run(_command(scripts, asked), _SECONDS)
    checks = study.checks_of(done.stdout.splitlines())
    if not checks:
        raise InputError(slurm.last_line(done))
    return checks


def nodes(scripts: Scripts, asked: Asked) -> list[Check]:
    """Nodes of Slurm: those of this allocation, those asked for, or all that are free.

    A node that Slurm does not give out is bad, with Slurm's reason; so is one that does not answer.
    """
    if shutil.which("srun") is None or shutil.which("sinfo") is None:
        raise InputError("there is no Slurm on this machine (no srun); --local checks this one")
    partition = asked.partition or scripts.site(asked.site).get("site_partition", "")
    if "SLURM_JOB_ID" in os.environ:
        wanted = _hosts(os.environ["SLURM_JOB_NODELIST"])
        closed: list[Check] = []
        place = ["--overlap"]
    else:
        wanted, closed = _offered(partition, asked.nodelist)
        if asked.nodes is not None:
            if asked.nodes > len(wanted):
                raise InputError(f"-N {asked.nodes}: {len(wanted)} nodes are free")
            wanted, closed = wanted[: asked.nodes], []
        place = ["--immediate=20", *([f"--partition={partition}"] if partition else [])]
    return [*_asked(scripts, asked, wanted, place), *closed]


def _asked(scripts: Scripts, asked: Asked, names: list[str], place: list[str]) -> list[Check]:
    if not names:
        return []
    words = [
        "srun",
        *place,
        f"--nodes={len(names)}",
        f"--ntasks={len(names)}",
        "--ntasks-per-node=1",
        f"--nodelist={','.join(names)}",
        "--mem=0" if "--overlap" in place else "--mem=64",
        "--mpi=none",
        "--no-kill",
        "--kill-on-bad-exit=0",
        "--time=1",
    ]
    done = slurm.run([*words, *_command(scripts, asked)], _SECONDS)
    checks = study.checks_of(done.stdout.splitlines())
    if not checks:
        raise InputError(f"srun brought no answer: {slurm.last_line(done)}")
    answered = {check.node for check in checks}
    silent = [Check(x, "answer", "bad", "none") for x in names if x not in answered]
    return sorted([*checks, *silent], key=lambda check: check.node)


def _command(scripts: Scripts, asked: Asked) -> list[str]:
    words = [str(scripts.folder / "doctor.sh"), "--ranks-per-node", str(asked.ppn)]
    words += ["--provider", asked.provider] if asked.provider else []
    return ["bash", *words, *(["--site", asked.site] if asked.site else [])]


def _offered(partition: str, nodelist: str) -> tuple[list[str], list[Check]]:
    """Free nodes, and a `bad` for each that is down or drained; busy ones are neither."""
    words = ["sinfo", "--noheader", "--Node", "--format", "%N|%T|%E"]
    words += [f"--partition={partition}"] if partition else []
    words += [f"--nodes={nodelist}"] if nodelist else []
    done = slurm.run(words)
    if done.returncode:
        raise InputError(f"sinfo: {slurm.last_line(done)}")
    rows = {row[0]: row for row in (x.split("|", 2) for x in done.stdout.splitlines())}
    if not rows:
        raise InputError("Slurm knows no such node: 'sinfo' shows which there are")
    free = [name for name, state, _ in rows.values() if state.rstrip("*~#$@+-") in _FREE]
    states = {name: (state, why) for name, state, why in rows.values() if name not in free}
    busy = ("allocated", "completing")
    closed = [
        Check(name, "state", "bad", f"{state}: {why}" if why != "none" else state)
        for name, (state, why) in states.items()
        if state.rstrip("*~#$@+-") not in busy
    ]
    return free, closed


def _hosts(names: str) -> list[str]:
    done = slurm.run(["scontrol", "show", "hostnames", names])
    if done.returncode:
        raise InputError(f"scontrol: {slurm.last_line(done)}")
    return [line for line in done.stdout.splitlines() if line]
