# SPDX-License-Identifier: BSD-3-Clause
"""The job scripts, and the program that they start: where they are, and what they answer."""

from __future__ import annotations

import csv
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies import passed, slurm

_MARK: Final = "alltoall.sbatch"
_SKIPPED: Final = (
    "--memory-limit leaves"  # the program's words on a point for which memory is short
)
_ADDED: Final = "# added\t"
_PLENTY: Final = "--memory-limit=1000TB"
_UNITS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}


@dataclass(frozen=True)
class Launches:
    """Of a job: the nodes of each, and the options that an all-to-all gets beside the user's."""

    nodes: Sequence[int]
    added: Sequence[str]


@dataclass(frozen=True)
class Scripts:
    """The folder `jobs`, of a clone or of an installation."""

    folder: Path

    def __getitem__(self, name: str) -> Path:
        """One script; relative to the working folder where it lies below it."""
        path = self.folder / name
        here = Path.cwd()
        return path.relative_to(here) if path.is_relative_to(here) else path

    def site(self, name: str) -> dict[str, str]:
        """What a site profile sets (of a list its last element); InputError in its words."""
        if not name:
            return {}
        done = slurm.run(["bash", str(self["show-site.sh"]), name])
        if done.returncode:
            raise InputError(_said(slurm.last_line(done)))
        return dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)

    def catalogues(self, name: str) -> list[Path]:
        """Settings of a site's own, as its profile has them."""
        found = self.site(name or os.environ.get("A2APERF_SITE", "")).get("site_catalogue")
        return [Path(found)] if found else []

    def plan(self, script: str, words: Sequence[str], nodes: int) -> Launches:
        """Every launch that a job with these words would make in such an allocation."""
        front, dashes, others = _split(words)
        command = [str(self[script]), *front, "--plan", str(nodes), *dashes, *others]
        done = slurm.run(["bash", *command])
        if done.returncode:
            raise InputError(_said(slurm.last_line(done)))
        said = done.stdout.splitlines()
        lines = [line for line in said if not line.startswith("# ")]
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        added = [line.removeprefix(_ADDED) for line in said if line.startswith(_ADDED)]
        return Launches([int(row["nodes"]) for row in rows], shlex.split(" ".join(added)))

    def program(self) -> Path | None:
        """a2aperf: named by A2APERF, built in this clone, installed beside the scripts, in PATH."""
        named = os.environ.get("A2APERF")
        candidates = [
            named or "",
            str(self.folder.parent / "build/release/src/app/a2aperf"),
            str(self.folder.parents[2] / "bin/a2aperf") if len(self.folder.parents) > 2 else "",
            "a2aperf",
        ]
        found = filter(None, (shutil.which(one) for one in candidates if one))
        return next(map(Path, found), None)

    def seconds(self, words: Sequence[str], ranks: int, ranks_per_node: int) -> float | None:
        """How long a launch measures, by the program's own estimate; None without the program.

        InputError in its words where it refuses, or where it would measure nothing.
        """
        program = self.program()
        if program is None:
            return None
        shape = ["--dry-run", "--ranks", str(ranks), "--ranks-per-node", str(ranks_per_node)]
        line = [str(program), "alltoall", *words, *shape]
        done = slurm.run(line)
        if (
            done.returncode == 0
            and _SKIPPED in done.stdout
            and "--memory-limit" not in passed.names(words)
        ):
            # This machine's memory is not that of the nodes, which may measure these points.
            done = slurm.run([*line, _PLENTY])
        if done.returncode:
            why = slurm.last_line(done)
            if _SKIPPED in why:  # the nodes may have more
                why += "; where it is not given, it is half of the free memory of this machine"
            raise InputError(why)
        found = re.search(r"^time: about ((?:[\d.e+-]+ \w+ )+)", done.stdout, re.MULTILINE)
        return _seconds(found[1].split()) if found else None


def find() -> Scripts:
    """Where they are: A2APERF_JOBS, ./jobs, the clone's, or share/a2aperf/jobs of a prefix.

    The clone is the one whose jobs/local.sh has put a2a into its build/a2a; the prefixes are a2a's
    and a2aperf's.
    """
    named = os.environ.get("A2APERF_JOBS")
    if named:
        if not (Path(named) / _MARK).is_file():
            raise InputError(f"A2APERF_JOBS={named}: there is no {_MARK} in it")
        return Scripts(Path(named).resolve())
    program = shutil.which("a2aperf")
    prefixes = [Path(sys.argv[0]).absolute().parents[1], Path(sys.prefix)]
    prefixes += [Path(program).resolve().parents[1]] if program else []
    candidates = [Path("jobs"), *(prefix / "share/a2aperf/jobs" for prefix in prefixes)]
    if Path(sys.prefix).parts[-2:] == ("build", "a2a"):
        candidates.insert(1, Path(sys.prefix).parents[1] / "jobs")
    for folder in candidates:
        if (folder / _MARK).is_file():
            return Scripts(folder.resolve())
    raise InputError(
        "the job scripts are not found: run this in the clone, or let A2APERF_JOBS name their "
        "folder (share/a2aperf/jobs of the installation)"
    )


def _split(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    place = words.index("--") if "--" in words else len(words)
    return list(words[:place]), list(words[place : place + 1]), list(words[place + 1 :])


def _seconds(words: Sequence[str]) -> float | None:
    """Of a duration as the program says it: "350 ms", "1 min 30 s", "2 h 05 min"."""
    numbers, units = words[::2], words[1::2]
    if not set(units) <= _UNITS.keys():
        return None
    return sum(float(x) * _UNITS[unit] for x, unit in zip(numbers, units, strict=True))


def _said(line: str) -> str:
    """A script's own words, without its name."""
    return re.sub(r"^[\w.-]+\.(sbatch|sh): ", "", line)
