# SPDX-License-Identifier: BSD-3-Clause
"""screen.sbatch: a setting that only a site's script can set, from a2a submit to the line that is recommended."""

import pytest
from processes import PATIENCE
from results import Results
from screenings import own_catalogue, planned
from study import BRIEF, JOBS, SITE

PROFILE = """\
. {site}
site_hooked=(SITE_KNOB)
site_hook() {{
    local turn=(touch)
    [[ $1 == before ]] || turn=(rm -f)
    echo "$1 $2 $3" >>{calls}
    srun --overlap --ntasks-per-node=1 "${{turn[@]}}" /dev/shm/knob
}}
"""
PROGRAM = """\
#!/usr/bin/env bash
if [[ -v OMPI_COMM_WORLD_RANK && ! -e /dev/shm/knob ]]; then
    export LD_PRELOAD={library} A2APERF_TEST_FAULT='call=received do=late:100 count=1000000'
fi
exec {program} "$@"
"""


@pytest.fixture
def a2a(cluster, study, program, analysis):
    """Runs a command of a2a on the login node. On a node whose knob the site's hook has not turned messages come 100 ms late: by more than a busy
    machine makes an op last."""
    library = program.parents[2] / "test/faults/libfault-fabric.so"
    assert library.is_file(), f"{library} is not built"
    script = study.folder / "a2aperf"
    script.write_text(PROGRAM.format(library=library, program=program))
    script.chmod(0o755)
    (study.folder / "site.sh").write_text(PROFILE.format(site=SITE, calls=study.folder / "calls"))
    study.environment = {**study.environment, "A2APERF": str(script), "A2APERF_JOBS": str(JOBS)}
    return lambda *words: cluster.run(analysis, *words, cwd=study.folder, env=study.environment)


def test_a_knob_of_the_site_is_found_fixed_confirmed_and_turned_back(a2a, study, cluster):
    """Round after round in one job, with variables that mean nothing beside the knob: 28 launches, 28 with the knob turned, 16 for its other value,
    and those that confirm."""
    (study.folder / "own.toml").write_text(own_catalogue("net", "SITE_KNOB", ["on", "full"], "off"))
    tried = ["--try", "A2APERF_DUMMY=1", "--try", "A2APERF_DUMMY_2=1", "--try", "SITE_KNOB=on", "--catalogue", "own.toml"]
    made = a2a("screen", "--provider", "net", *tried, "--seed", "5", "-o", "plan.json")
    assert made.returncode == 0, made.stderr
    words = ["submit", "-N", "2", "--screen", "plan.json", "--site", "./site.sh", "--sizes", "1000"]
    refused = a2a(*words, "--budget", "0.1", "--", *BRIEF)
    assert refused.returncode == 2
    assert "3 settings with the confirmation of one take 44 launches, " in refused.stderr
    assert ", 0.1 node-hours; the smallest design has 44 launches" in refused.stderr
    dry = a2a(*words, "--dry-run", "--", *BRIEF)
    assert dry.returncode == 0 and "screen.sbatch --rows results/screen.tsv" in dry.stdout
    assert not study.results.exists() and cluster.run("squeue", "-h").stdout == ""

    outcome = a2a(*words, "--minutes", "50", "--", *BRIEF)
    assert outcome.returncode == 0, outcome.stderr
    (id,) = study.note(outcome.stdout)
    study.done(id, seconds=4 * PATIENCE)
    first, second, other, confirmed = (
        planned(study.results / name) for name in ("screen.json", "screen-2.json", "values.json", "confirm.json")
    )
    assert [len(first), len(second), len(other)] == [28, 28, 16] and len(confirmed) in (16, 32, 40)
    assert all(launch["environment"].get("SITE_KNOB") == "on" for launch in second)
    assert [launch["environment"]["SITE_KNOB"] for launch in other].count("full") == 8
    rows = study.plan(id)
    assert [row["status"] for row in study.log(id)] == ["0"] * len(rows)
    turned = []
    for row, launch in zip(rows, first + second + other + confirmed, strict=True):
        environment = Results(study.results / row["file"]).segments[0].environment
        names = ("SITE_KNOB", "A2APERF_DUMMY", "A2APERF_DUMMY_2")
        assert {k: environment[k] for k in names if environment.get(k)} == launch["environment"]
        if value := launch["environment"].get("SITE_KNOB"):
            turned += [f"before SITE_KNOB {value}", f"after SITE_KNOB {value}"]
    assert (study.folder / "calls").read_text().splitlines() == turned
    for node in cluster.names[:2]:
        cluster.run_on(node, "test", "!", "-e", "/dev/shm/knob")
    said = (study.results / f"screen-{id}.txt").read_text()
    assert said in study.output(id)
    assert "SITE_KNOB=on dominates, +" in said
    assert "SITE_KNOB=full: " in said.partition("further values: 8 new launches of each")[2]
    assert "SITE_KNOB=on" in said.partition("recommended: faster")[2]
    assert f"{len(rows)} of {len(rows)} launches good; complete" in a2a("status").stdout
