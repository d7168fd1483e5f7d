# SPDX-License-Identifier: BSD-3-Clause
"""`a2a submit` and `a2a doctor --local` with the scripts of this clone; test/slurm has a Slurm."""

from __future__ import annotations

import json
import math
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from a2aperf import baselines
from a2aperf.errors import InputError
from a2aperf.gating import compared
from conftest import Outcome

A2A = Callable[..., Outcome]
JOBS = Path(__file__).resolve().parents[2] / "jobs"


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The scripts of this clone, and a program that says what a2aperf says of time."""
    monkeypatch.setenv("A2APERF_JOBS", str(JOBS))
    monkeypatch.delenv("A2APERF_SITE", raising=False)
    program = tmp_path / "a2aperf"
    program.write_text('#!/bin/sh\necho "time: about 1 min 30 s if a message costs 4 us"\n')
    program.chmod(0o755)
    monkeypatch.setenv("A2APERF", str(program))


def lines(outcome: Outcome) -> list[list[str]]:
    """The lines for sbatch, as words."""
    assert outcome.status == 0, outcome.err
    found = [shlex.split(line) for line in outcome.out.splitlines() if line.startswith("sbatch")]
    assert found
    return found


def test_node_counts_are_subsets_of_one_allocation(a2a: A2A) -> None:
    outcome = a2a("submit", "-N", "80,20,40", "--dry-run")
    script = str(JOBS / "alltoall.sbatch")
    assert lines(outcome) == [["sbatch", "-N", "80", script, "--nodes", "20,40,80"]]
    # 3 launches of each: 10 s, 0.1 s a rank, 90 s
    seconds = 3 * sum(100 + 0.1 * nodes for nodes in (20, 40, 80))
    assert 20.9 < 80 * seconds / 3600 < 20.95
    assert "estimate: 21 node-hours in all" in outcome.out  # it has two digits
    assert "16 min" in outcome.out


def test_points_that_this_machine_has_no_memory_for_are_estimated(a2a: A2A, tmp_path: Path) -> None:
    """The nodes may have more; with a limit of one's own they are skipped there, too."""
    (tmp_path / "a2aperf").write_text(
        "#!/bin/sh\n"
        'case "$*" in *--memory-limit=1000TB) echo "time: about 2 h if"; exit;; esac\n'
        'echo "  tagged 1 B, skipped: tagged needs 8 GB and --memory-limit leaves 1 GB"\n'
        'echo "time: about 1 min 30 s if a message costs 4 us"\n'
    )
    assert " 6 h " in a2a("submit", "-N", "20", "--dry-run").out
    file = tmp_path / "sweep.toml"
    for config, time in (("ops = 100\n", " 6 h "), ("ops=100\nmemory-limit = '8GB'\n", " 5 min ")):
        file.write_text(config)
        for words in (["--config", str(file)], [f"--config={file}"]):
            assert time in a2a("submit", "-N", "20", "--dry-run", "--", *words).out
    limited = a2a("submit", "-N", "20", "--dry-run", "--", "--memory-limit", "8GB")
    assert " 5 min " in limited.out


FIVE = "--sizes 1000,4000,15000,30000,60000"


@pytest.mark.parametrize(
    ("options", "passed", "asked"),
    [
        ("--quick", "", f"{FIVE} --ops 30"),
        ("--quick", "--precision 1%", f"{FIVE} --precision 1%"),
        ("--quick", "--ops=50", f"{FIVE} --ops=50"),
        ("--quick", "-i 50", f"{FIVE} -i 50"),
        ("--quick", "-i50", f"{FIVE} -i50"),
        ("--check", "-m 1000:2000", "--ops 30 -m 1000:2000"),
        ("--quick", "--config run.toml", "--ops 30 --config run.toml"),
        ("--sizes 8", "", "--sizes 8"),
        ("", "", ""),
    ],
)
def test_the_estimate_is_of_what_the_job_will_measure(
    a2a: A2A, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, passed: str, asked: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text("sizes = 8\n", encoding="utf-8")
    program = tmp_path / "a2aperf"
    program.write_text(f'#!/bin/sh\necho "$*" >{tmp_path}/asked\necho "time: about 1 s if"\n')
    words = options.split() + (["--", *passed.split()] if passed else [])
    lines(a2a("submit", "-N", "4", "--dry-run", *words))
    found = Path("asked").read_text(encoding="utf-8").split(" --dry-run")[0]
    assert found.split() == ["alltoall", *asked.split()]


def test_options_reach_the_script_and_the_program(a2a: A2A) -> None:
    words = ["--ppn", "2", "--launches", "4", "--seed", "7", "--quick", "--go-on", "-t", "2:00:00"]
    words += ["-A", "physics", "--sbatch=--qos=low", "--results", "a 'b", "--sizes", "1000"]
    outcome = a2a("submit", "-N", "20", *words, "--dry-run", "--", "--mode", "write-imm")
    (line,) = lines(outcome)
    place = line.index(str(JOBS / "alltoall.sbatch"))
    assert line[:place] == [
        "sbatch", "-N", "20", "--time=2:00:00", "--account=physics", "--qos=low",
    ]  # fmt: skip
    assert line[place + 1 :] == [
        "--nodes", "20", "--ppn", "2", "--sizes", "1000", "--launches", "4", "--seed", "7",
        "--results", "a 'b", "--quick", "--go-on", "--", "--mode", "write-imm",
    ]  # fmt: skip


def test_separate_jobs_have_their_report_behind_them(a2a: A2A) -> None:
    outcome = a2a("submit", "-N", "20,40", "--separate", "--results", "r", "--dry-run")
    first, second, report = lines(outcome)
    assert (first[2], second[2]) == ("20", "40")
    assert report[1] == "--dependency=afterany:JOB1:JOB2"
    assert report[2:] == [str(JOBS / "report.sbatch"), "--results", "r"]


REFUSES = """#!/bin/sh
count=$(cat count 2>/dev/null || echo 0)
echo $((count + 1)) >count
[ "$count" -lt "$1" ] && echo "Submitted batch job $((7 + count))" && exit
echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2
exit 1
"""


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        (1, "submitted are 7, not 40 nodes and the report"),
        (2, "submitted are 7 and 8, not the report"),
    ],
)
def test_what_is_in_the_queue_when_a_job_is_refused_is_said(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, taken: int, left: str
) -> None:
    """Slurm refuses at will only by a limit of its database, which the emulated one has not."""
    programs = Path("programs").resolve()
    programs.mkdir()
    (programs / "sbatch").write_text(REFUSES.replace("$1", str(taken)))
    (programs / "sbatch").chmod(0o755)
    for name in ("scontrol", "sinfo"):
        (programs / name).write_text("#!/bin/sh\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    outcome = a2a("submit", "-N", "20,40", "--separate", "--results", "r")
    ids = ["7", "8"][:taken]
    assert outcome.status == 2
    assert outcome.err.count("\n") == 1
    assert "QOSMaxSubmitJobPerUserLimit" in outcome.err
    assert left in outcome.err
    assert f"'scancel {' '.join(ids)}'" in outcome.err
    line = shlex.split(outcome.err.partition("made by: ")[2])
    script = str(JOBS / "report.sbatch")
    assert line == ["sbatch", f"--dependency=afterany:{':'.join(ids)}", script, "--results", "r"]


@pytest.mark.parametrize(
    ("time", "says"),
    [("0", ""), ("UNLIMITED", ""), ("1", "limit of 0:01:00 is below the estimate")],
)
def test_a_limit_of_zero_is_not_below_the_estimate(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, time: str, says: str
) -> None:
    programs = Path("programs").resolve()
    programs.mkdir()
    facts = "PartitionName=main Default=YES TotalNodes=9 MaxTime=UNLIMITED DefaultTime=NONE"
    for name, text in (("sbatch", ""), ("sinfo", "exit 1"), ("scontrol", f"echo '{facts}'")):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    outcome = a2a("submit", "-N", "4", "-t", time, "--dry-run")
    assert outcome.status == 0, outcome.err
    assert says in outcome.out and ("time limit" in outcome.out) == bool(says)


@pytest.mark.skipif(shutil.which("scontrol") is None, reason="no scontrol here")
def test_a_first_job_that_is_refused_leaves_nothing(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = Path("programs").resolve()
    programs.mkdir()
    (programs / "sbatch").write_text(REFUSES.replace("$1", "0"))
    (programs / "sbatch").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    outcome = a2a("submit", "-N", "20,40", "--separate")
    assert outcome.err == "a2a: sbatch refused: error: QOSMaxSubmitJobPerUserLimit\n"


@pytest.mark.parametrize(
    ("answer", "words", "stays"),
    [("exec sleep 30", "the job may be in the queue", True), ("exit 1", "sbatch refused", False)],
)
def test_the_launches_of_a_screening_stay_where_sbatch_does_not_answer(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, answer: str, words: str, stays: bool
) -> None:
    programs = Path("programs").resolve()
    programs.mkdir()
    for name in ("sbatch", "scontrol", "sinfo"):
        (programs / name).write_text(f"#!/bin/sh\n{answer if name == 'sbatch' else 'exit 1'}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setattr("a2aperf.studies.slurm._SBATCH_SECONDS", 0.5)
    outcome = a2a("submit", "-N", "8", "--screen", "psm2", "--results", "r")
    assert outcome.status == 2 and words in outcome.err
    assert Path("r/screen.tsv").exists() == stays


def test_a_dry_run_of_a_screening_shows_its_design(a2a: A2A) -> None:
    words = ("submit", "-N", "8", "--screen", "psm2", "--results", "r", "--seed", "3", "--dry-run")
    out = a2a(*words).out
    design = out[out.index("no.") : out.index("sbatch")].splitlines()
    assert any(line.split()[:2] == ["1", "PSM2_RCVTHREAD=0"] for line in design)
    assert any(line.startswith("not in this round: PSM2_SDMA: conflicts") for line in design)
    launches = [line for line in design if set(line.split()[2:]) & {"+", "."}]
    assert len(launches) == 52 and "minimum detectable effect" in out
    assert not Path("r").exists()


def test_a_comparison_is_a_job_per_node_count(a2a: A2A) -> None:
    one = a2a("submit", "-N", "160", "--ppn", "2", "--compare", "PSM2_RCVTHREAD=0,1", "--dry-run")
    script = str(JOBS / "compare.sbatch")
    assert lines(one) == [["sbatch", "-N", "160", script, "PSM2_RCVTHREAD=0,1", "--ppn", "2"]]
    settings = ["--compare", "A=1,2", "--compare=--window=1,all"]
    first, second, report = lines(a2a("submit", "-N", "20,40", *settings, "--dry-run"))
    assert first[3:] == [script, "A=1,2", "--window=1,all"]
    assert second[:3] == ["sbatch", "-N", "40"]
    assert report[1].startswith("--dependency=")


def test_values_stay_text(a2a: A2A, tmp_path: Path) -> None:
    trap = f"X=$(touch {tmp_path}/pwned),`touch {tmp_path}/pwned`"
    (line,) = lines(a2a("submit", "-N", "20", "--compare", trap, "--dry-run"))
    assert trap in line
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("reason", "more"),
    [
        ("xor needs a power of two of ranks", ""),
        (
            "tagged needs 1 TB of receive space and --memory-limit leaves 1 GB",
            "; where it is not given, it is half of the free memory of this machine",
        ),
    ],
)
def test_a_study_that_would_measure_nothing_is_refused(
    a2a: A2A, tmp_path: Path, reason: str, more: str
) -> None:
    said = f"nothing can be measured, 1 point skipped: {reason}"
    (tmp_path / "a2aperf").write_text(f'#!/bin/sh\necho "a2aperf: {said}" >&2\nexit 3\n')
    outcome = a2a("submit", "-N", "20", "--dry-run")
    outcome.refused(said)
    assert outcome.err.endswith(f"{said}{more}\n")


def test_without_the_program_there_is_no_estimate(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A2APERF", "/nowhere")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("A2APERF_JOBS", str(shutil.copytree(JOBS, Path("jobs").resolve())))
    outcome = a2a("submit", "-N", "20", "--dry-run")
    assert "no estimate: a2aperf is not found" in outcome.out
    assert lines(outcome)


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)


def test_what_the_script_refuses_is_refused_in_its_words(a2a: A2A) -> None:
    a2a("submit", "-N", "20", "--compare", "A=1", "--dry-run").refused("two or more different")
    a2a("submit", "-N", "20", "--subsets", "odd", "--dry-run").refused("nested, random or per-swi")
    a2a("submit", "-N", "20", "--site", "none", "--dry-run").refused("no site profile")
    a2a("submit", "-N", "20", "--minutes", "5", "--dry-run").refused("--minutes: with --screen")
    a2a("submit", "-N", "1", "--dry-run").refused("has no peer")
    a2a("submit", "-N", "1,20", "--dry-run").refused("has no peer")
    for nodes in ("x", "0", "20,,40", "-3"):
        a2a("submit", f"-N={nodes}", "--dry-run").refused("-N '")


def test_without_slurm_the_way_is_said(a2a: A2A, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = Path("programs").resolve()
    programs.mkdir()
    (programs / "bash").symlink_to(shutil.which("bash") or "")
    monkeypatch.setenv("PATH", str(programs))
    a2a("submit", "-N", "20").refused("no Slurm on this machine", "jobs/local.sh")
    a2a("doctor").refused("no Slurm on this machine", "--local")


def test_scripts_that_are_nowhere(a2a: A2A, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A2APERF_JOBS", "/nowhere")
    a2a("submit", "-N", "20", "--dry-run").refused("A2APERF_JOBS=/nowhere", "no alltoall.sbatch")
    monkeypatch.delenv("A2APERF_JOBS")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    a2a("submit", "-N", "20", "--dry-run").refused("share/a2aperf/jobs")


def test_scripts_of_an_installation_are_found_beside_the_program(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prefix = tmp_path / "prefix with blanks"
    shutil.copytree(JOBS, prefix / "share/a2aperf/jobs")
    (prefix / "bin").mkdir()
    shutil.copy(tmp_path / "a2aperf", prefix / "bin/a2aperf")
    monkeypatch.delenv("A2APERF_JOBS")
    monkeypatch.setenv("PATH", f"{prefix}/bin", prepend=":")
    (line,) = lines(a2a("submit", "-N", "20", "--dry-run"))
    assert line[3] == str(prefix / "share/a2aperf/jobs/alltoall.sbatch")


def test_scripts_of_the_clone_are_found_from_any_folder(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shutil.copytree(JOBS, tmp_path / "clone/jobs")
    monkeypatch.delenv("A2APERF_JOBS")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "clone/build/a2a"))
    (line,) = lines(a2a("submit", "-N", "20", "--dry-run"))
    assert line[3] == str(tmp_path / "clone/jobs/alltoall.sbatch")


@pytest.mark.parametrize("is_written", [True, False])
def test_an_old_verdict_of_the_same_id_is_none(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    programs = Path("programs").resolve()
    programs.mkdir()
    monkeypatch.setattr("a2aperf.studies.waiting._SEEN", 0.0)
    Path("r").mkdir()
    text = Path("r/check-7.txt").resolve()
    text.write_text("OK: all was well\n")
    makes = f"echo 'WARNING: one node' >'{text}'" if is_written else ":"
    answers = {"sbatch": f"{makes}\necho Submitted batch job 7", "squeue": ":"}
    for name in ("sbatch", "squeue", "scontrol", "sinfo"):
        (programs / name).write_text(f"#!/bin/sh\n{answers.get(name, 'exit 1')}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    outcome = a2a("submit", "-N", "4", "--check", "--min-efficiency", "80%", "--results", "r")
    assert "all was well" not in outcome.out
    if is_written:
        assert outcome.status == 1 and "WARNING: one node" in outcome.out
    else:
        assert (
            outcome.status == 3
            and "check-7.txt is older: where it has begun its output says why" in outcome.err
        )


@pytest.mark.parametrize(
    ("ended", "waits"),
    [("CANCELLED|", False), ("CANCELLED|n[1-4]", True), ("FAILED|n1", True), ("", True)],
)
def test_a_job_that_never_began_is_waited_for_no_longer(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, ended: str, waits: bool
) -> None:
    """What other nodes wrote is seen late, and that job was on none."""
    monkeypatch.setattr("a2aperf.studies.waiting._SEEN", math.inf)
    text = Path("r/check-7.txt").resolve()
    text.parent.mkdir()

    def sleep(seconds: float) -> None:
        if seconds == 1:  # the verdict is looked for again
            assert waits
            text.write_text("OK: all is well\n")

    monkeypatch.setattr("time.sleep", sleep)
    Path("programs").mkdir()
    state = ended.partition("|")[0]
    answer = f"case $* in *%T\\|%N*) echo '{ended}' ;; *all*) echo '{state}' ;; esac"
    for name, said in {"sbatch": "echo Submitted batch job 7", "squeue": answer}.items():
        Path("programs", name).write_text(f"#!/bin/sh\n{said}\n")
        Path("programs", name).chmod(0o755)
    monkeypatch.setenv("PATH", str(Path("programs").resolve()), prepend=":")
    outcome = a2a("submit", "-N", "4", "--check", "--min-efficiency", "80%", "--results", "r")
    if waits:
        assert outcome.status == 0 and "OK: all is well" in outcome.out
    else:
        assert (
            outcome.status == 3 and "has ended (CANCELLED), and r/check-7.txt is not" in outcome.err
        )


def test_a_check_that_makes_no_sense_is_unknown_and_not_critical(a2a: A2A) -> None:
    for options in ((), ("-N", "4", "--odd")):
        assert a2a("submit", "--check", *options).status == 3, options
        assert a2a("submit", *options, "--", "--check").status == 2, options


def test_limits_with_a_mistake_are_told_before_a_check_is_submitted(a2a: A2A) -> None:
    Path("limits.toml").write_text("[[limit]]\nmax_p50 = 1\n")
    outcome = a2a("submit", "-N", "4", "--check", "--limits", "limits.toml", "--dry-run")
    assert outcome.status == 3 and outcome.out == ""
    assert outcome.err.startswith("a2a: limits.toml: limit 1: unknown key 'max_p50'")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--check", "--min-efficiency", "80"), "--min-efficiency 80: expected a share above 0"),
        (("--check", "--expect", "link,foo=1"), "--expect: unknown 'foo=1'"),
        (
            ("--check", "--against", "sprung"),
            "--against sprung: no such file, folder or baseline: did you mean spring?",
        ),
        (
            ("--check", "--against", "2026/winter"),
            "--against 2026/winter: no such file, folder or baseline: the baselines are gone and",
        ),
        (("--check", "--against", "gone"), "--against gone: none of its 1 files is there any more"),
        (("--check", "--against", "empty"), "--against empty: the folder holds no .h5 file"),
        (("--wait", "5"), "--wait: only a check is waited for"),
    ],
)
def test_what_a_check_cannot_use_is_told_before_it_is_submitted(
    a2a: A2A, words: tuple[str, ...], said: str
) -> None:
    Path("empty").mkdir()
    Path("there.h5").touch()
    register = {"spring": ["there.h5"], "gone": ["gone.h5"]}
    Path(baselines.FILE).write_text(json.dumps(register))
    outcome = a2a("submit", "-N", "4", *words, "--dry-run")
    assert outcome.status == (3 if "--check" in words else 2) and outcome.out == ""
    assert outcome.err.startswith(f"a2a: {said}")


def test_a_baseline_that_is_there_goes_in(a2a: A2A) -> None:
    Path("there.h5").touch()
    Path(baselines.FILE).write_text(json.dumps({"spring": ["there.h5"]}))
    for known in ("spring", "there.h5", "."):
        compared.require({**dict.fromkeys(compared.OPTIONS, ""), "--against": known}, True)
    Path(baselines.FILE).unlink()
    hint = "'a2a history FILES --save-baseline spring' gives files a name"
    with pytest.raises(InputError, match=hint):
        compared.require({**dict.fromkeys(compared.OPTIONS, ""), "--against": "spring"}, True)


SINFO = """#!/bin/sh
state=idle; [ -e asked ] && state=$STATE
for node in n1 n2 n3; do echo "$node|main*|up|idle|none"; done | sed "s/^\\(n1.*\\)idle/\\1$state/"
"""
SRUN = """#!/bin/sh
touch asked
case " $* " in
*n1*) echo "srun: error: Unable to allocate: Requested nodes are busy" >&2; exit 1 ;;
esac
printf '%s\\tprogram\\tok\\ta2aperf\\n' n2 n3
"""


def answer(monkeypatch: pytest.MonkeyPatch, sinfo: str, state: str) -> None:
    """Slurm's commands, outside a job, with $STATE in what they say."""
    programs = Path("programs").resolve()
    programs.mkdir()
    for name, text in (("sinfo", sinfo), ("srun", SRUN)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    monkeypatch.setenv("STATE", state)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)


@pytest.mark.parametrize("state", ["planned", "planned$", "reserved", "blocked"])
def test_a_node_that_somebody_else_will_get_is_not_bad(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    answer(monkeypatch, SINFO.replace("idle", "$STATE", 1), state)
    outcome = a2a("doctor")
    assert outcome.status == 0 and "2 of 2 nodes are fit" in outcome.out, outcome.err
    assert "busy, and not looked at: n1" in outcome.err


@pytest.mark.parametrize("state", ["allocated", "idle"])
def test_a_node_that_is_taken_just_now_makes_no_other_one_bad(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    answer(monkeypatch, SINFO, state)
    outcome = a2a("doctor")
    if state == "idle":  # it is srun that fails, whatever for
        outcome.refused("srun: error: Unable to allocate: Requested nodes are busy")
    else:
        assert outcome.status == 0 and "2 of 2 nodes are fit" in outcome.out
        assert "busy, and not looked at: n1" in outcome.err


def test_the_doctor_looks_at_this_machine(a2a: A2A) -> None:
    outcome = a2a("doctor", "--local", "--provider", "nonesuch")
    assert outcome.status in (0, 1)
    assert "of 1 nodes" in outcome.out
    for check in ("program", "memlock", "governor", "clock"):
        assert check in outcome.out
    for words in (("-N", "2"), ("--nodelist", "n1"), ("-p", "main")):
        a2a("doctor", "--local", *words).refused("--local checks this machine")


@pytest.mark.parametrize("answers", [True, False])
def test_the_doctor_in_a_job_looks_at_nodes_of_that_job(
    a2a: A2A, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    """Where squeue does not answer by what Slurm has told the job when it began."""
    answer(monkeypatch, SINFO, "idle")
    said = 'echo "main|n[2-3]"' if answers else "exit 1"
    for name, text in (("squeue", said), ("scontrol", "echo n2; echo n3"), ("srun", SRUN)):
        Path("programs", name).write_text(f"#!/bin/sh\n{text.removeprefix('#!/bin/sh')}\n")
        Path("programs", name).chmod(0o755)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[2-3]")
    monkeypatch.setenv("SLURM_JOB_PARTITION", "main")
    a2a("doctor", "-p", "nowhere").refused("-p nowhere: this job's nodes are of partition main\n")
    for words in ((), ("-p", "main"), ("-p", "opa,main")):
        outcome = a2a("doctor", *words)
        assert outcome.status == 0 and "2 of 2 nodes are fit" in outcome.out, outcome.err
