# SPDX-License-Identifier: BSD-3-Clause
"""The two commands of the README, in parts: what they build in, what they count, what the first leaves behind."""

import json
import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "jobs" / "lib"
SECONDS = 300  # a deadline, not an expectation


def bash(script: str, *words: str | Path, within: tuple[str, ...] = (), **settings) -> subprocess.CompletedProcess[str]:
    """A script that has the functions of jobs/lib and test/support."""
    parts = [LIBRARY / f"{name}.sh" for name in ("say", "build", "venv", "mpi", "commands")]
    parts += [ROOT / "test" / "support" / f"{name}.sh" for name in ("counting", "again")]
    sourced = "".join(f". {part}\n" for part in parts)
    return subprocess.run(
        [*within, "bash", "-c", f"set -euo pipefail; top={ROOT}\n{sourced}{script}", "bash", *words],
        capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, **settings,
    )  # fmt: skip


def built_tests(folder: Path) -> list[str]:
    said = subprocess.run(
        ["meson", "introspect", "--tests", folder], capture_output=True, text=True, timeout=SECONDS, check=True
    )
    return [test["name"] for test in json.loads(said.stdout)]


def configure(folder: Path, *options: str, **settings) -> None:
    outcome = bash('configure_build "$@"', folder, *options, **settings)
    assert outcome.returncode == 0, outcome.stderr


def test_a_folder_of_the_time_before_the_tests_could_be_built(tmp_path):
    """jobs/local.sh, then test/run.sh, where doctest comes between them."""
    without = ("unshare", "-rm", "sh", "-c", 'mount -t tmpfs none /usr/include/doctest && exec "$@"', "sh")
    if subprocess.run([*without, "true"], capture_output=True).returncode:
        pytest.skip("no private mount namespace can be made here")
    folder = tmp_path / "release"
    configure(folder, within=without)
    assert built_tests(folder) == []
    (folder / "compiled").touch()
    configure(folder, "-Dtests=enabled")
    assert len(built_tests(folder)) > 20
    assert (folder / "compiled").is_file()
    # The other way round nothing changes.
    made = (folder / "build.ninja").stat().st_mtime_ns
    configure(folder)
    assert (folder / "build.ninja").stat().st_mtime_ns == made
    assert len(built_tests(folder)) > 20


def test_a_folder_of_somebody_else(tmp_path):
    """Without our stamp: somebody's own, or an earlier commit's. What they set stays, unless we need otherwise."""
    folder = tmp_path / "release"
    subprocess.run(
        ["meson", "setup", folder, ROOT, "-Dtests=disabled", "-Doptimization=1"], check=True, capture_output=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert built_tests(folder) == []
    configure(folder, "-Dtests=enabled")
    assert len(built_tests(folder)) > 20
    assert "optimization = 1" in (folder / "meson-private" / "cmd_line.txt").read_text()


@pytest.mark.parametrize("stamp", ["sources /elsewhere\nmeson 0.1\ncompiler none\n", None])
def test_a_folder_that_cannot_be_used(tmp_path, stamp):
    """Moved here or by another Meson; or left half configured."""
    folder = tmp_path / "release"
    folder.mkdir()
    if stamp:
        (folder / "configured-for").write_text(stamp)
        (folder / "build.ninja").touch()
    configure(folder, "-Dtests=enabled")
    assert len(built_tests(folder)) > 20


def suite(tmp_path: Path, *cases: str, status: int = 0, may_lack: str = "") -> tuple[str, str]:
    junit = tmp_path / "junit.xml"
    written = f"echo '<testsuite>{''.join(cases)}</testsuite>' >{junit}" if cases else ":"
    outcome = bash(
        f'may_lack="{may_lack}"; results={tmp_path}; suite some {junit} bash -c "$1"; echo "$passed $failed $skipped"',
        f"{written}; exit {status}",
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.splitlines()[-1], outcome.stderr


def test_a_suite_is_counted(tmp_path):
    good, skipped = '<testcase name="a"/>', '<testcase name="b"><skipped message="no disk"/></testcase>'
    assert suite(tmp_path, good, good, skipped)[0] == "2 0 1"
    assert suite(tmp_path, good, status=1)[0] == "1 1 0"


def test_a_suite_without_a_test_fails(tmp_path):
    for cases in ([], ["<testsuite/>"]):
        counted, said = suite(tmp_path, *cases)
        assert counted == "0 1 0"
        assert "some: no test ran" in said


def test_a_suite_whose_tests_were_all_skipped_fails(tmp_path):
    """But where its stage has named the reason before: of each test."""
    lacking, other = (
        f'<testcase name="b"><skipped message="{why}"/></testcase>' for why in ("no disk: sda", "no doctest")
    )
    for may_lack in ("", "no tape|no floppy"):
        counted, said = suite(tmp_path, lacking, lacking, may_lack=may_lack)
        assert counted == "0 1 2"
        assert "some: no test ran, all were skipped" in said
    assert suite(tmp_path, lacking, other, may_lack="no disk: ")[0] == "0 1 2"
    assert suite(tmp_path, lacking, lacking, may_lack="no tape|no disk: ")[0] == "0 0 2"
    assert suite(tmp_path, '<testcase name="a"/>', other)[0] == "1 0 1"


def test_what_was_not_chosen_is_told(tmp_path):
    junit = tmp_path / "junit.xml"
    outcome = bash(
        f"results={tmp_path}; suite some {junit} bash -c \"$1\"; printf '%s\\n' \"${{omissions[@]}}\"",
        f"echo '<testsuite><testcase name=\"a\"/></testsuite>' >{junit}; echo '1 passed, 7 deselected in 2 s'",
    )
    assert outcome.stdout.splitlines()[-1] == "left out: 7 tests of some", outcome.stderr


def first_job(folder: Path, *options: str) -> list[str]:
    """What jobs/local.sh says, line by line."""
    command = [ROOT / "jobs" / "local.sh", "--no-install", "--sizes", "1000", "--ops", "5", *options]
    outcome = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stderr.splitlines()


def test_the_first_job_ends_in_a_report(tmp_path):
    """Its path is the last line; and the line that was run can be run again."""
    said = first_job(tmp_path, "-o", "first.h5")
    assert said[-1] == "first.html"
    assert (tmp_path / "first.html").read_text().startswith("<!DOCTYPE html>")
    (line,) = [line for line in said if " mpirun -n 4 " in line]
    assert line.endswith(" -o first.h5")
    (tmp_path / "first.h5").unlink()
    again = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "first.h5").is_file()


@pytest.mark.parametrize("option", ["--dry-run", "--verify-only"])
def test_a_first_job_that_measures_nothing_draws_nothing(tmp_path, option):
    assert not first_job(tmp_path, option)[-1].endswith(".html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("line", ["verify-only = true", "verify-only='yes' # every byte", "verify-only"])
def test_a_first_job_whose_config_file_measures_nothing(tmp_path, line):
    config = tmp_path / "a.toml"
    config.write_text(f"ops = 5\n{line}\n")
    assert not first_job(tmp_path, "--config", "a.toml")[-1].endswith(".html")
    assert list(tmp_path.iterdir()) == [config]


def test_a_first_job_that_measures_nothing_leaves_an_earlier_one_alone(tmp_path):
    (tmp_path / "first.h5").write_text("earlier")
    said = first_job(tmp_path, "--dry-run", "-o", "first.h5")
    assert not said[-1].endswith(".html")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("first.h5", "earlier")]


@pytest.mark.parametrize("line", ['output = "of config.h5"', "output='of config.h5' # here"])
def test_a_first_job_whose_config_file_names_the_output(tmp_path, line):
    (tmp_path / "a.toml").write_text(f"ops = 5\n{line}\n")
    command = [ROOT / "jobs" / "local.sh", "--no-install", "--sizes", "1000", "--config", "a.toml"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stderr.splitlines()[-1] == "of config.html"
    assert {file.name for file in tmp_path.iterdir()} == {"a.toml", "of config.h5", "of config.html"}


def test_without_a_package_index_it_is_said_why_there_is_no_report(tmp_path):
    """The measurement does not need one."""
    (tmp_path / "analysis").symlink_to(ROOT / "analysis")
    outcome = bash(
        f'top={tmp_path}; make_analysis || why_no_venv',
        env={**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"},
    )
    assert "ERROR: " in outcome.stdout and outcome.stdout.count("\n") == 1, outcome.stdout + outcome.stderr
    assert not (tmp_path / "build" / "a2a" / "requirements.txt").exists()


def test_an_environment_that_was_made_under_another_name_is_made_anew(tmp_path):
    """It runs from the sources, so its command would look for a package that is no longer there."""
    source = tmp_path / "analysis"
    source.mkdir()
    for name in ("pyproject.toml", "constraints.txt"):
        (source / name).write_bytes((ROOT / "analysis" / name).read_bytes())
    python = tmp_path / "build" / "a2a" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/false")
    wanted = (source / "pyproject.toml").read_text() + (source / "constraints.txt").read_text()
    (tmp_path / "build" / "a2a" / "requirements.txt").write_text(wanted)
    script = f"top={tmp_path}; make_analysis || why_no_venv"
    settings = {"env": {**os.environ, "PIP_INDEX_URL": "http://127.0.0.1:9/", "PIP_RETRIES": "0"}}
    untouched = bash(script, **settings)
    assert (untouched.stdout, untouched.stderr) == ("", "")
    # What such a folder held then.
    (tmp_path / "build" / "a2a" / "requirements.txt").write_text((source / "constraints.txt").read_text())
    outcome = bash(script, **settings)
    assert "ERROR: " in outcome.stdout, outcome.stdout + outcome.stderr
    assert not (tmp_path / "build" / "a2a" / "requirements.txt").exists()


@pytest.mark.parametrize("status", [0, 1])
def test_a_command_of_the_time_before_an_update_is_not_used(tmp_path, status):
    """A job measures without a2a; with one that fails it would end in a traceback after the last launch."""
    command = tmp_path / "a2a"
    command.write_text(f"#!/bin/sh\nexit {status}\n")
    command.chmod(0o755)
    script = f'. {LIBRARY}/program.sh; site_analysis= jobs={tmp_path}; find_analysis; printf %s "$a2a"'
    outcome = bash(script, env={**os.environ, "A2A": str(command)})
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout == ("" if status else str(command))
    assert bool(status) == (f"{command} does not run" in outcome.stderr)


@pytest.mark.parametrize(
    ("options", "given", "told"),
    [
        ((), {}, "none 1"),
        ((), {"LAUNCH_BINDING": "socket", "OMPI_MCA_mpi_yield_when_idle": "0"}, "socket 0"),
        (("-x",), {}, "unset unset"),
        (("-x",), {"LAUNCH_BINDING": "none", "OMPI_MCA_mpi_yield_when_idle": "1"}, "unset unset"),
    ],
)  # fmt: skip
def test_what_the_launcher_of_tests_leaves_to_others(tmp_path, options, given, told):
    """-x gives the machine to the ranks also where test/run.sh, which exports the contrary, is around it."""
    launcher = tmp_path / "mpirun"
    launcher.write_text('#!/bin/sh\necho "${LAUNCH_BINDING-unset} ${OMPI_MCA_mpi_yield_when_idle-unset}"\n', encoding="utf-8")
    launcher.chmod(0o755)
    around = {name: value for name, value in os.environ.items() if name not in ("LAUNCH_BINDING", "OMPI_MCA_mpi_yield_when_idle")}
    outcome = subprocess.run(
        [ROOT / "test/support/mpirun.sh", *options, "1", "true"], capture_output=True, text=True, timeout=SECONDS,
        env=around | given | {"MPIRUN": str(launcher)},
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == told
