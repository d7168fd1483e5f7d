# SPDX-License-Identifier: BSD-3-Clause
"""--spare: more nodes are allocated than are measured, and the good ones are."""

import re

import pytest
from study import BRIEF, JOBS, PATIENCE, SITE

NODES = "node[008-019]"
WORDS = ["--launches", "1", "--sizes", "1000", "--"]


@pytest.fixture
def slow(study, program):
    """A program whose rank on node017 is told 200 ms late of messages, where every pair is looked at."""
    library = program.parents[2] / "test/faults/libfault-fabric.so"
    assert library.is_file(), f"{library} is not built"
    script = study.folder / "a2aperf"
    script.write_text(
        "#!/usr/bin/env bash\n"
        "if [[ $1 == pairs && $(uname -n) == node017 && -v OMPI_COMM_WORLD_RANK ]]; then\n"
        f"    export LD_PRELOAD={library} A2APERF_TEST_FAULT='call=received do=late:200 count=1000000'\n"
        "fi\n"
        f'exec {program} "$@"\n'
    )
    script.chmod(0o755)
    return str(script)


def uses(study, id: str) -> dict[str, tuple[str, str]]:
    """What the job did with the nodes that it does not measure on."""
    rows = [line.split("\t") for line in (study.results / f"nodes-{id}.txt").read_text().splitlines()]
    return {node: (verdict, text) for node, check, verdict, text in rows if check == "use"}


def test_a_slow_node_and_one_that_is_not_fit_are_left_out(study, cluster, program, slow):
    """Of twelve nodes nine are measured: 16 is not fit, 17 is slow, 19 is not needed."""
    study.environment = {**study.environment, "A2APERF": slow}
    cluster.run_on("node016", "mount", "--bind", "/bin/false", slow)
    try:
        id = study.submit("alltoall.sbatch", "--spare", "3", *WORDS, *BRIEF, slurm=["-w", NODES])
        study.done(id)
    finally:
        cluster.run_on("node016", "umount", slow)
    (row,) = study.plan(id)
    assert (row["nodes"], row["subset"]) == ("9", "node[008-015,018]"), study.output(id)
    used = uses(study, id)
    assert used["node016"] == ("bad", "left out: not fit, see above")
    assert used["node017"][0] == "bad" and re.match(r"left out: .*node017.* receives at ", used["node017"][1])
    assert used["node019"] == ("ok", "spare, and not needed")
    assert used.keys() == {"node016", "node017", "node019"}
    output = study.output(id)
    assert "left out: node016 (not fit" in output and "spare, and not needed: node019" in output


def test_too_few_good_nodes(study, cluster, program):
    """The job stops and says so; with --drop-bad-nodes it goes on with those that there are."""
    script = study.folder / "a2aperf"
    script.write_text(f'#!/usr/bin/env bash\nexec {program} "$@"\n')
    script.chmod(0o755)
    study.environment = {**study.environment, "A2APERF": str(script)}
    names = ["node016", "node017"]
    for name in names:
        cluster.run_on(name, "mount", "--bind", "/bin/false", script)
    try:
        words = ["--spare", "1", *WORDS, *BRIEF]
        id = study.submit("alltoall.sbatch", *words, slurm=["-w", NODES])
        study.done(id, "FAILED")
        why = "10 of 12 nodes are good, and 11 were wanted"
        assert why in study.output(id) and not study.files(id)
        assert [row["reason"] for row in study.log(id)] == [f"not begun: {why}"]
        id = study.submit("alltoall.sbatch", "--drop-bad-nodes", *words, slurm=["-w", NODES])
        study.done(id)
        assert [row["nodes"] for row in study.plan(id)] == ["10"]
    finally:
        for name in names:
            cluster.run_on(name, "umount", script)


def test_what_is_submitted(study, cluster, analysis, script):
    environment = {**study.environment, "A2APERF_JOBS": str(JOBS), "A2APERF_SITE": str(SITE)}
    words = ["submit", "-N", "2,4", "--spare", "2", "--launches", "1", "--sizes", "1000", "--dry-run", "--", *BRIEF]
    outcome = cluster.run(analysis, *words, cwd=study.folder, env=environment, seconds=PATIENCE)
    assert outcome.returncode == 0, outcome.stderr
    (line,) = [line for line in outcome.stdout.splitlines() if line.startswith("sbatch ")]
    assert " -N 6 " in line and "--nodes 2,4" in line and "--spare 2" in line
    outcome = script("alltoall.sbatch", "--spare", "4", "--plan", "4")
    assert outcome.returncode == 2 and "--spare 4: there are 4 nodes in all" in outcome.stderr
    outcome = script("check.sbatch", "--spare", "1", "--plan", "4")
    assert outcome.returncode == 3 and "a check looks at all of its nodes" in outcome.stderr
