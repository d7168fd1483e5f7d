# SPDX-License-Identifier: BSD-3-Clause
"""Settings of a site that only a script can set: its hook before and after each launch, and its own catalogue."""

import re
import signal

import pytest
from launched_study import LaunchedStudy
from processes import PATIENCE, wait_until
from results import Results

SHM = ["--provider", "shm", "--sync", "barrier", "--poll", "yield", "--no-sentinel", "--sizes", "1000", "--ops", "3", "--warmup", "0"]
PROFILE = """\
site_hooked=(SITE_KNOB)
site_catalogue=ours.toml
site_hook() {
    echo "$1 $2 $3" >>CALLS
    [[ $1$3 != beforebad ]] || { echo "no knob here" >&2; false; }
    [[ $1$3 != afterstuck ]] || { echo "cannot be turned back"; false; }
    true
}
"""
CATALOGUE = """\
[[setting]]
name = "SITE_KNOB"
values = ["on"]
default = "off"
what = "Our knob."
source = "our notes"
"""


@pytest.fixture
def study(program, analysis, tmp_path):
    made = LaunchedStudy("run", tmp_path, program, analysis)
    (tmp_path / "site.sh").write_text(PROFILE.replace("CALLS", str(tmp_path / "calls")))
    (tmp_path / "ours.toml").write_text(CATALOGUE)
    return made


def calls(study):
    file = study.folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def of(value):
    return [f"before SITE_KNOB {value}", f"after SITE_KNOB {value}"]


def words(*values, launches=2):
    compared = ["--compare", f"SITE_KNOB={','.join(values)}", "--launches", str(launches)]
    return ["-n", "2", *compared, "--site", "./site.sh", "--", *SHM]


def test_it_is_called_around_each_launch(study):
    """A launch whose hook fails is not made, with its words; the value is restored all the same."""
    outcome = study.run(*words("on", "bad"))
    assert outcome.returncode == 1, outcome.stderr
    assert calls(study) == [*of("on"), *of("bad"), *of("bad"), *of("on")]
    assert [row["status"] for row in study.log()] == ["0", "1", "1", "0"]
    said = "site_hook before SITE_KNOB=bad: no knob here (exit status 1)"
    assert [row["reason"] for row in study.log()] == ["-", said, said, "-"]
    assert f"launch 2 failed: {said}" in outcome.stderr
    files = [study.results / row["file"] for row in study.plan()]
    assert [file.exists() for file in files] == [True, False, False, True]
    assert Results(files[0]).segments[0].environment["SITE_KNOB"] == "on"


def test_what_cannot_be_restored_ends_the_run(study):
    outcome = study.run(*words("on", "stuck"))
    assert outcome.returncode == 1, outcome.stderr
    assert calls(study) == [*of("on"), *of("stuck")]
    said = "site_hook after SITE_KNOB=stuck: cannot be turned back (exit status 1)"
    assert [row["reason"] for row in study.log()] == ["-", "-", *[f"not begun: {said}"] * 2]


def test_it_is_restored_where_the_launch_is_stopped(study):
    asked = words("on", "off")
    asked[asked.index("--ops") + 1] = "10000000"
    process = study.start(*asked)
    file = study.results / "compare-run-n1-s1-001.h5"
    assert wait_until(lambda: file.exists() or process.poll() is not None, PATIENCE)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + signal.SIGTERM, stderr
    assert calls(study) == of("on")


def test_its_catalogue_is_screened(study):
    """As the dry run shows it, with what it costs."""
    outcome = study.run("-n", "2", "--screen", "shm", "--site", "./site.sh", "--dry-run", "--", *SHM)
    assert outcome.returncode == 0, outcome.stderr
    assert "SITE_KNOB=on" in outcome.stdout and "Our knob." in outcome.stdout
    assert "minimum detectable effect" in outcome.stdout
    assert re.search(r"with the confirmation of what is left: 44 to \d+ launches", outcome.stdout)
    assert not study.results.exists()


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("site.sh", "site_hook()", "other()", "there is no function site_hook that sets SITE_KNOB"),
        ("site.sh", "(SITE_KNOB)", "(a-b)", "'a-b' is no name of a variable"),
        ("ours.toml", 'what = "Our knob."', "", "ours.toml:1:1: lacks 'what'"),
        ("ours.toml", 'values = ["on"]', 'values = ["off"]', "ours.toml:3:1: values: 'off' is the default"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(study, file, old, new, said):
    path = study.folder / file
    path.write_text(path.read_text().replace(old, new))
    outcome = study.run("-n", "2", "--screen", "shm", "--site", "./site.sh", "--", *SHM)
    assert outcome.returncode == 2, outcome.stderr
    assert said in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    assert not study.results.exists()
    assert calls(study) == []
