# SPDX-License-Identifier: BSD-3-Clause
"""The walk through a study, as docs/cluster.md shows it: its commands, in its order, on the emulated nodes."""

import functools
import os
import re

from blocks import ROOT, with_commands
from study import JOBS, PATIENCE, SITE


def test_the_walk_through(cluster, study, analysis):
    environment = {
        **study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE),
        "PATH": f"{analysis.parent}:{os.environ['PATH']}",
    }  # fmt: skip
    walk = [block for block in with_commands(under_slurm=True) if block.document == ROOT / "docs" / "cluster.md"]
    assert len(walk) >= 5
    last_status = [block for block in walk if block.commands.startswith("a2a status")][-1]
    for block in walk:
        if block is last_status:  # "and at the end"
            (id,) = study.submitted
            study.done(id, seconds=3 * PATIENCE)
        words = ["bash", "-ec", block.commands]
        run = functools.partial(cluster.run, *words, cwd=study.folder, env=environment, seconds=PATIENCE)
        outcome = cluster.when_all_respond(run) if "a2a doctor" in block.commands else run()
        assert outcome.returncode == 0, f"{block.name}: {block.commands}{outcome.stdout}{outcome.stderr}"
        if "--dry-run" not in block.commands:
            study.note(outcome.stdout)
        if block is last_status:
            assert "9 of 9 launches good; complete" in outcome.stdout


def test_the_line_for_cron(cluster, study, analysis):
    """The check of every night, as docs/monitoring.md has it: what stands behind the five fields, in an empty home."""
    text = (ROOT / "docs" / "monitoring.md").read_text()
    ((line,),) = [block.splitlines() for block in re.findall(r"```cron\n(.*?)```", text, re.DOTALL)]
    minute, hour, *days, command = line.split(" ", 5)
    assert 0 <= int(minute) < 60 and 0 <= int(hour) < 24 and days == ["*"] * 3
    assert "%" not in command  # which is a newline to cron
    (study.folder / "checks").mkdir()
    environment = {
        **study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE), "HOME": str(study.folder),
        "PATH": f"{analysis.parent}:{os.environ['PATH']}",
    }  # fmt: skip
    outcome = cluster.run("sh", "-c", command, cwd=study.folder, env=environment, seconds=2 * PATIENCE)
    said = (study.folder / "checks/last.txt").read_text()
    study.note(said)
    assert outcome.returncode == 0 and outcome.stdout == outcome.stderr == ""
    (id,) = study.submitted
    verdict = (study.folder / f"checks/nightly/check-{id}.txt").read_text()
    assert said.endswith(f"\n\n{verdict}")
    # An emulated link has no rate, so no share of it is known: never ok.
    status = int((study.folder / "checks/last.status").read_text())
    assert status == ["OK", "WARNING", "CRITICAL", "UNKNOWN"].index(verdict.split(":")[0]) != 0
    assert re.search(r"^unknown +efficiency .*the link rate or the nodes are unknown", verdict, re.MULTILINE), verdict
