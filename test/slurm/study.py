# SPDX-License-Identifier: BSD-3-Clause
"""A folder that jobs are submitted from, and what they leave in it."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from cluster import Cluster, Job
from processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
JOBS = ROOT / "jobs"
SITE = Path(__file__).resolve().parent / "site.sh"
# What keeps a launch short where tens of ranks share a core; to be put behind "--".
BRIEF = ["--ops", "5"]


@dataclass
class Study:
    """A folder that jobs are submitted from, and what they leave in its results."""

    cluster: Cluster
    folder: Path
    environment: Mapping[str, str]
    jobs: Path = JOBS
    submitted: list[str] = field(default_factory=list)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def submit(self, script: str, *options: str | Path, slurm: list[str], site: bool = True) -> str:
        """sbatch of a script of jobs/ with sbatch's own options `slurm`; the job's id."""
        words = list(options)
        if site:
            here = words.index("--") if "--" in words else len(words)
            words[here:here] = ["--site", str(SITE)]
        self.submitted.append(
            self.cluster.sbatch(*slurm, self.jobs / script, *words, cwd=self.folder, env=self.environment)
        )
        return self.submitted[-1]

    def note(self, said: str) -> list[str]:
        """Ids of the jobs that a2a submit tells of: they are this study's."""
        ids = re.findall(r"^job (\d+)$", said, re.MULTILINE)
        self.submitted += ids
        return ids

    def output(self, id: str) -> str:
        """What the job printed."""
        return "".join(file.read_text() for file in self.folder.glob(f"*-{id}.out"))

    def done(self, id: str, state: str = "COMPLETED", seconds: float = PATIENCE) -> Job:
        """The job, which has ended in this state."""
        job = self.cluster.wait(id, seconds)
        assert job.state == state, f"{job.state}: {self.output(id)}"
        return job

    def plan(self, id: str) -> list[dict[str, str]]:
        return _rows(self.results / f"plan-{id}.tsv")

    def log(self, id: str) -> list[dict[str, str]]:
        return _rows(self.results / f"log-{id}.tsv")

    def files(self, id: str) -> list[Path]:
        return sorted(self.results.glob(f"*-{id}-*.h5"))


def _rows(file: Path) -> list[dict[str, str]]:
    lines = [line for line in file.read_text().splitlines() if not line.startswith("# ")]
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
