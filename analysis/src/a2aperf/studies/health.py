# SPDX-License-Identifier: BSD-3-Clause
"""The preflight on nodes: who answers, and what they say. Nothing is measured."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies import slurm, study
from a2aperf.studies.offer import Offer, offered
from a2aperf.studies.scripts import Scripts
from a2aperf.studies.study import Check

_SECONDS: Final = 57.0
_SRUN_SECONDS: Final = 50
_TIMED_OUT: Final = 124  # by timeout


@dataclass(frozen=True)
class Requirements:
    """What the nodes must be fit for, and which they are."""

    provider: str = ""
    ppn: int = 1
    site: str = ""
    nodes: int | None = None
    nodelist: str = ""
    partition: str = ""


def local(scripts: Scripts, asked: Requirements) -> list[Check]:
    """What the machine that this runs on says."""
    done = slurm.run(_command(scripts, asked), _SECONDS)
    checks = study.checks_of(done.stdout.splitlines())
    if not checks:
        raise InputError(slurm.last_line(done))
    return checks


@dataclass(frozen=True)
class Found:
    """What nodes say, and which were passed over because they are busy."""

    checks: list[Check]
    busy: list[str]


def nodes(scripts: Scripts, asked: Requirements) -> Found:
    """Nodes of Slurm: those of this allocation, those asked for, or all that are free.

    A node that Slurm does not give out is bad, with Slurm's reason; so is one that does not answer.
    InputError where srun itself fails, which says nothing of any node.
    """
    if shutil.which("srun") is None or shutil.which("sinfo") is None:
        raise InputError("there is no Slurm on this machine (no srun); --local checks this one")
    partition = asked.partition or scripts.site(asked.site).get("site_partition", "")
    if "SLURM_JOB_ID" in os.environ:
        offer = Offer({"": _in_allocation(asked)}, [], [])
    else:
        offer = offered(partition, _hosts(asked.nodelist) if asked.nodelist else None)
    if asked.nodes is not None:
        offer = offer.first(asked.nodes)
    if not offer.free and not offer.closed:
        raise InputError(f"no node is free to be looked at: {len(offer.busy)} are busy")
    places = list(offer.free.items())
    with ThreadPoolExecutor(max(len(places), 1)) as threads:
        said = list(threads.map(lambda place: _asked(scripts, asked, *place), places))
    checks = sorted((x for some in said for x in some.checks), key=lambda check: check.node)
    taken = [name for some in said for name in some.busy]
    return Found([*checks, *offer.closed], sorted([*offer.busy, *taken]))


def _in_allocation(asked: Requirements) -> list[str]:
    """The nodes of the job that this runs in, or those of them that are asked for."""
    # Slurm may have taken nodes from the job since it began; the environment still has them.
    job = f"--jobs={os.environ['SLURM_JOB_ID']}"
    now = slurm.run(["squeue", "--noheader", job, "--format=%P|%N"])
    said = "" if now.returncode else now.stdout.strip()
    partition, _, listed = said.partition("|")
    partition = partition or os.environ.get("SLURM_JOB_PARTITION", "")
    if asked.partition and partition and partition not in asked.partition.split(","):
        raise InputError(f"-p {asked.partition}: this job's nodes are of partition {partition}")
    has = _hosts(listed or os.environ["SLURM_JOB_NODELIST"])
    wanted = _hosts(asked.nodelist) if asked.nodelist else has
    foreign = [name for name in wanted if name not in has]
    if foreign:
        raise InputError(f"--nodelist: {foreign[0]} is not one of this job's nodes")
    return wanted


def _asked(scripts: Scripts, asked: Requirements, partition: str, names: list[str]) -> Found:
    """What these nodes say; without those that somebody else got since they were free."""
    try:
        return Found(_answers(scripts, asked, partition, names), [])
    except InputError:
        left = offered(partition, names).free.get(partition, []) if partition else []
        if not left or len(left) == len(names):
            raise
    taken = [name for name in names if name not in left]
    return Found(_answers(scripts, asked, partition, left), taken)


def _answers(
    scripts: Scripts, asked: Requirements, partition: str, names: list[str]
) -> list[Check]:
    """Of one step on these nodes; InputError where srun did not begin it."""
    inside = "SLURM_JOB_ID" in os.environ
    place = ["--overlap", "--mem=0"] if inside else ["--immediate=20", "--mem=64"]
    words = [
        # What the others said is kept when one hangs.
        *("timeout", "-k", "5", str(_SRUN_SECONDS), "srun"),
        *place,
        *([f"--partition={partition}"] if partition else []),
        f"--nodes={len(names)}",
        f"--ntasks={len(names)}",
        "--ntasks-per-node=1",
        f"--nodelist={','.join(names)}",
        "--mpi=none",
        "--no-kill",
        "--kill-on-bad-exit=0",
        "--time=1",
    ]
    done = slurm.run([*words, *_command(scripts, asked)], _SECONDS)
    checks = study.checks_of(done.stdout.splitlines())
    said = slurm.last_line(done)
    if not checks and done.returncode not in (0, _TIMED_OUT) and ": task" not in said:
        raise InputError(f"srun: {said.removeprefix('srun: ')}")
    answered = {check.node for check in checks}
    why = "none" if checks or done.returncode == _TIMED_OUT else f"none: {said}"
    silent = [Check(x, "answer", "bad", why) for x in names if x not in answered]
    return [*checks, *silent]


def _command(scripts: Scripts, asked: Requirements) -> list[str]:
    words = [str(scripts.folder / "doctor.sh"), "--ranks-per-node", str(asked.ppn)]
    words += ["--provider", asked.provider] if asked.provider else []
    return ["bash", *words, *(["--site", asked.site] if asked.site else [])]


def _hosts(names: str) -> list[str]:
    done = slurm.run(["scontrol", "show", "hostnames", names])
    if done.returncode:
        raise InputError(f"scontrol: {slurm.last_line(done)}")
    return list(dict.fromkeys(line for line in done.stdout.splitlines() if line))
