# SPDX-License-Identifier: BSD-3-Clause
"""Stages of test/run.sh beside each other: what they count, say and leave behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import PATIENCE, running_in, wait_until

ROOT = Path(__file__).resolve().parents[2]
SOURCED = [ROOT / "jobs/lib/say.sh", *(ROOT / f"test/support/{name}.sh" for name in ("counting", "again", "stages", "venv"))]
TELL = """
for stage in $order; do printf '%s' "${summary_of[$stage]-}${omissions_of[$stage]-}"; done
echo "$passed passed, $failed failed, $skipped skipped"
"""


def script_of(folder: Path, script: str) -> list[str]:
    sourced = "".join(f". {part}\n" for part in SOURCED)
    return ["bash", "-c", f"set -euo pipefail; top={ROOT}; results={folder}\n{sourced}{script}"]


def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        script_of(folder, script), cwd=folder, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
    )


def test_all_that_was_counted_comes_together_in_order(tmp_path):
    """Though the first stage ends last."""
    outcome = run(tmp_path, """
        wait_for() { until [[ -e $1 ]]; do sleep 0.02; done; }
        stage_a() { wait_for d; check one true; omit two 'no disk'; }
        stage_b() { check three true; }
        stage_c() { check four true; check five true; }
        stage_d() { check six true; touch d; }
        order='a b c d'
        run_beside '' 'a b' 'c d'
    """ + TELL)  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    lines = outcome.stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["one", "two", "skipped:", "three", "four", "five", "six", "5"]
    assert lines[-1] == "5 passed, 0 failed, 1 skipped"
    # What a stage says stands together.
    said = " ".join(line.split()[0] for line in outcome.stderr.splitlines() if not line.endswith(" begins"))
    assert len(said.split()) == 6 and "four five" in said and "one two" in said, said


def test_late_stages_go_on_where_a_list_is_through(tmp_path):
    """Here the second is: the first one's only stage waits for them."""
    outcome = run(tmp_path, """
        wait_for() { until [[ -e $1 ]]; do sleep 0.02; done; }
        stage_a() { wait_for d; check one true; }
        stage_b() { check two true; touch b; }
        stage_c() { wait_for b; check three true; touch c; }
        stage_d() { wait_for c; check four true; touch d; }
        order='a b c d'
        run_beside 'c d' 'a' 'b'
    """ + TELL)  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped"
    begun = [line.split()[0] for line in outcome.stderr.splitlines() if line.endswith(" begins")]
    assert sorted(begun[:2]) == ["a", "b"] and begun[2:] == ["c", "d"], outcome.stderr


def test_three_lists_beside_each_other(tmp_path):
    """None of the first stages ends before all have begun."""
    outcome = run(tmp_path, """
        wait_for() { until [[ -e $1 ]]; do sleep 0.02; done; }
        meet() { touch "$1"; wait_for a; wait_for b; wait_for c; check "$1" true; }
        stage_a() { meet a; }
        stage_b() { meet b; }
        stage_c() { meet c; }
        stage_d() { check four true; }
        order='a b c d'
        run_beside '' a 'b d' c
    """ + TELL)  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped"


@pytest.mark.parametrize(
    "stages", ["'' bad good", "'' good bad", "'' 'bad good' ''", "bad good ''", "'good bad' '' ''", "bad '' '' good", "'' good '' bad"]
)
def test_a_stage_that_fails_shows_its_log(tmp_path, stages):
    outcome = run(tmp_path, f"""
        stage_good() {{ check fine true; }}
        stage_bad() {{ check broken bash -c 'echo what is wrong; false'; }}
        order='good bad'
        run_beside {stages}
    """ + TELL)  # fmt: skip
    assert outcome.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped", outcome.stderr
    assert "--- broken failed; the end of its log:\nwhat is wrong\n" in outcome.stderr


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("die 'no build'", "it did not get to its end (status 1)"),
        ("false", "it did not get to its end (status 1)"),
        ("kill -TERM $BASHPID", "it did not get to its end (status 143)"),
        ("kill -KILL $BASHPID", "it did not get to its end (status 137)"),
    ],
)
def test_a_stage_that_does_not_get_to_its_end_fails(tmp_path, end, why):
    """What it had counted stays where it could tell, and the others go on."""
    outcome = run(tmp_path, f"""
        stage_bad() {{ check fine true; {end}; check never true; }}
        stage_good() {{ check sound true; }}
        stage_last() {{ check after true; }}
        order='bad good last'
        run_beside '' 'bad last' 'good'
    """ + TELL)  # fmt: skip
    told = outcome.stdout.splitlines()
    assert told[-1] == f"{2 if 'KILL' in end else 3} passed, 1 failed, 0 skipped", outcome.stdout + outcome.stderr
    assert any(line.startswith("bad ") and line.endswith(f"FAILED: {why}") for line in told)
    assert "never" not in outcome.stdout


def test_a_stage_that_looks_at_nothing_fails(tmp_path):
    outcome = run(tmp_path, "stage_empty() { :; }; order=empty; run_alone empty" + TELL)
    assert outcome.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped"
    assert "FAILED: nothing was looked at" in outcome.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_nothing_behind(tmp_path, number):
    """Not even what does not listen, or made itself a group as a launcher does."""
    one = "touch b; exec sleep 900"
    deaf = "trap '' INT; touch b; while :; do sleep 0.1; done"
    script = f"""
        stage_a() {{ check waits timeout 900 bash -c 'touch a; sleep 900; true'; }}
        stage_b() {{ check asks setsid bash -c "{deaf if number == signal.SIGTERM else one}"; }}
        end_stages_at_signals
        run_beside '' a b
        touch never
    """
    # Under nohup the tests inherit that some are ignored, and a shell cannot change that.
    process = subprocess.Popen(
        ["env", "--default-signal", *script_of(tmp_path, script)], cwd=tmp_path, stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert wait_until(lambda: (tmp_path / "a").exists() and (tmp_path / "b").exists(), PATIENCE)
    os.kill(process.pid, number)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 128 + number
    assert said.splitlines()[-1] == "ending what still runs", said
    assert running_in(tmp_path, 1) == []
    assert not (tmp_path / "never").exists()


def test_what_is_installed_already_is_not_installed_again(tmp_path):
    """Beside stages that use it."""
    for name in ("analysis/src", ".venv/bin"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("analysis/pyproject.toml", "analysis/constraints.txt", "analysis/src/a.py"):
        (tmp_path / name).touch()
    python = tmp_path / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\necho "$3" >>{tmp_path}/calls\ntouch {tmp_path}/.venv/bin/a2a\nchmod +x {tmp_path}/.venv/bin/a2a\n')
    python.chmod(0o755)

    def install() -> int:
        outcome = run(tmp_path, f"top={tmp_path}; install_analysis")
        assert outcome.returncode == 0, outcome.stderr
        return (tmp_path / "calls").read_text().split().count("install")

    assert [install(), install()] == [1, 1]
    (tmp_path / "analysis/src/a.py").write_text("changed")
    assert [install(), install()] == [2, 2]
    (tmp_path / ".venv/bin/a2a").unlink()
    assert install() == 3


def test_a_failure_whose_output_no_xml_may_have_is_counted(tmp_path):
    """As colours, which meson puts into its file as they are."""
    case = '<testcase classname="a" name="b"><failure message="\x1b[31mwrong"/></testcase>'
    (tmp_path / "a.xml").write_text(f"<testsuites><testsuite>{case}</testsuite></testsuites>")
    tally = [sys.executable, ROOT / "test/support/tally.py", tmp_path / "a.xml"]
    outcome = subprocess.run(tally, capture_output=True, text=True, timeout=PATIENCE)
    assert outcome.stdout.splitlines() == ["0 1 0", "failed: a b ([31mwrong)"], outcome.stderr


def test_a_second_look_at_what_failed(tmp_path):
    """What passes alone has passed and is told; what fails again has failed; what passed is not run again."""
    (tmp_path / "test_them.py").write_text(
        "from pathlib import Path\n"
        "def count(name):\n"
        "    with Path(name).open('a') as file: file.write('x')\n"
        "    return len(Path(name).read_text())\n"
        "def test_once(): assert count('once') == 2\n"
        "def test_always(): assert count('always') == 0\n"
        "def test_never(): assert count('never') == 1\n"
    )
    outcome = run(tmp_path, f"""
        stage_them() {{ MARK=1 suite 'some tests' {tmp_path}/them.xml {sys.executable} -m pytest -q test_them.py --junitxml {tmp_path}/them.xml; }}
        order=them
        run_beside '' them
        look_again
        printf '%s\\n' "${{summary[@]}}"
    """ + TELL)  # fmt: skip
    assert [len((tmp_path / name).read_text()) for name in ("once", "always", "never")] == [2, 2, 1], outcome.stderr
    told = outcome.stdout.splitlines()
    assert told[0].startswith("some tests, again      1 of 2 passed alone"), outcome.stdout + outcome.stderr
    assert told[1].startswith("some tests             1 passed, 2 failed")
    assert told[-1] == "2 passed, 1 failed, 0 skipped"
    assert "passed when it ran alone: test_them test_once\n" in outcome.stderr


END = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"


@pytest.mark.parametrize(
    "first",
    ["assert True", "assert count() == 2"],  # passes at once, or when it is run again
)
def test_a_suite_that_does_not_get_to_its_end_has_failed(tmp_path, first):
    """However well what it looked at went, then and when it ran alone."""
    (tmp_path / "test_them.py").write_text(
        "from pathlib import Path\n"
        "def count():\n"
        "    with Path('count').open('a') as file: file.write('x')\n"
        "    return len(Path('count').read_text())\n"
        f"def test_first(): {first}\n"
        f"def test_end(): {END}\n"
        "def test_never(): assert False\n"
    )
    outcome = run(tmp_path, f"""
        stage_them() {{ suite 'some tests' {tmp_path}/them.xml {sys.executable} -m pytest -q test_them.py --junitxml {tmp_path}/them.xml; }}
        order=them
        run_beside '' them
        look_again
    """ + TELL)  # fmt: skip
    assert "some tests did not get to its end (status 2)" in outcome.stderr
    failed = int(outcome.stdout.splitlines()[-1].split()[2])
    assert failed >= 1, outcome.stdout + outcome.stderr


def test_a_test_that_meson_ends_has_failed_and_does_so_again(tmp_path):
    (tmp_path / "meson.build").write_text(
        "project('them')\n"
        "shell = find_program('sh')\n"
        "test('good', shell, args: ['-c', 'exit 0'], suite: 'other')\n"
        "test('once', shell, args: ['-c', 'test -e once || { touch once; exit 1; }'], workdir: meson.current_source_dir(), suite: 'some')\n"
        "test('hangs', shell, args: ['-c', 'sleep 900'], timeout: 1, suite: 'some')\n"
    )
    subprocess.run(["meson", "setup", "build"], cwd=tmp_path, capture_output=True, timeout=PATIENCE, check=True)
    outcome = run(tmp_path, f"""
        stage_them() {{ suite them build/meson-logs/testlog.junit.xml meson test -C build; }}
        order=them
        run_beside '' them
        look_again
    """ + TELL)  # fmt: skip
    told = outcome.stdout.splitlines()
    assert told[-1] == "2 passed, 1 failed, 0 skipped", outcome.stdout + outcome.stderr
    assert "TIMEOUT" in outcome.stderr


@pytest.mark.parametrize(
    "options, taken",
    [
        ([], "0 1 2 3 4 5 e0 e1 a b c"),
        (["--share-slow", "3"], "0 3 e0 e1 a b c"),
        (["--share", "4", "-m", "not slow"], "a"),
        (["--share", "3", "--share-slow", "3"], "0 3 e0 e1 a"),
        (["--share-turn", "4", "--share-slow", "4"], "0 4 e0 e1 a b c"),
        (["--share", "2", "--share-turn", "7", "--share-slow", "6"], "1 e0 e1 b"),
        (["--share", "8", "--share-turn", "5", "--share-slow", "6"], "5 e0 e1 c"),
        (["--share-slow", "0"], "--share-slow 0: one test in how many? expected 1 or more"),
    ],
)
def test_a_share_of_slow_tests(tmp_path, options, taken):
    """The first of each file and each Nth after it, or those of a turn; what is marked `every` is always there."""
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow: some\n  every: all\n")
    (tmp_path / "test_them.py").write_text(
        "import pytest\n"
        "from pathlib import Path\n"
        "def note(name): Path('taken').open('a').write(f'{name} ')\n"
        "@pytest.mark.slow\n"
        "@pytest.mark.parametrize('name', [*map(str, range(6)), *(pytest.param(e, marks=pytest.mark.every) for e in ('e0', 'e1'))])\n"
        "def test_slow(name): note(name)\n"
        "@pytest.mark.parametrize('name', 'abc')\n"
        "def test_other(name): note(name)\n"
    )
    outcome = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "share", *options],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": ROOT / "test/support/plugins"}, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    if outcome.returncode == 0:
        assert (tmp_path / "taken").read_text().split() == taken.split()
    else:
        assert taken in outcome.stderr
