# SPDX-License-Identifier: BSD-3-Clause
"""What the job scripts do with their options, and what they add to those of the program."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
JOBS = ROOT / "jobs"


def run(*words: str | Path, **around: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", *words], capture_output=True, text=True, timeout=PATIENCE, env={**os.environ, **around}, stdin=subprocess.DEVNULL
    )


@pytest.mark.parametrize(
    ("script", "words", "said"),
    [
        ("report.sbatch", ["--nodes", "20"], "--nodes means nothing here"),
        ("report.sbatch", ["--quick"], "--quick means nothing here"),
        ("screen.sbatch", ["--launches=50"], "--launches=50 means nothing here"),
        ("run.sh", ["A=1,2", "--ranks", "2", "--spare", "1"], "--spare means nothing here"),
        ("check.sbatch", ["--plan", "4", "--min-efficiency", "80"], "--min-efficiency '80': expected a share of the link rate"),
        ("check.sbatch", ["--plan", "4", "--expect", "link,foo"], "--expect 'link,foo': expected link, and after commas"),
        ("compare.sbatch", ["--plan", "4", "A=1,2", "--sizes", "1000", "--", "--sizes=8"], "--sizes is given twice"),
        ("alltoall.sbatch", ["--plan", "4", "--nodes", "2,4,2"], "--nodes 2,4,2: a number is there twice"),
        ("alltoall.sbatch", ["--plan", "4", "--min-efficiency", "80%"], "unknown option '--min-efficiency'"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(script, words, said, tmp_path):
    outcome = run(JOBS / script, "--results", tmp_path / "results", *words)
    status = 3 if script == "check.sbatch" else 2  # who checks has learnt nothing
    assert (outcome.returncode, outcome.stderr.count("\n")) == (status, 1), outcome.stderr
    assert said in outcome.stderr
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "status"),
    [(["--help"], 0), (["--plan", "4"], 0), (["--plan", "4", "--budget", "2"], 0), (["--plan", "4", "--bogus"], 2), (["--plan", "4", "--budget", "much"], 2)],
)
def test_what_measures_nothing_has_its_own_status_and_leaves_nothing(words, status, tmp_path):
    """Also where there is no folder of results yet."""
    for folder in ([], ["--results", tmp_path / "results"], ["--results", tmp_path]):
        outcome = run(JOBS / "alltoall.sbatch", *folder, *words)
        assert outcome.returncode == status, outcome.stderr
        assert outcome.stderr.count("\n") == (1 if status else 0), outcome.stderr
        assert not any(tmp_path.iterdir())


def test_there_is_no_report_without_who_makes_it(tmp_path):
    jobs = tmp_path / "jobs"  # where no a2a lies beside it
    shutil.copytree(JOBS, jobs)
    (tmp_path / "results").mkdir()
    outcome = run(jobs / "report.sbatch", "--results", tmp_path / "results", A2A="", PATH="/usr/bin:/bin")
    assert outcome.returncode not in (0, 2), outcome.stderr
    assert "a2a is not installed here" in outcome.stderr


@pytest.mark.parametrize(
    ("given", "option", "is_added"),
    [
        ("--ops 5", "--ops", False),
        ("--ops=5", "--ops", False),
        ("-i 5", "--ops", False),
        ("-i5", "--ops", False),
        ("--precision 1%", "--ops", False),
        ("-m 1:64", "--sizes", False),
        ("--domain lo", "--nic", False),
        ("--min-ops 5", "--ops", True),
        ("-x 5", "--ops", True),
        ("", "--nic", True),
    ],
)
def test_what_the_user_says_by_another_name_is_not_said_again(given, option, is_added):
    said = run(
        "-c", f'. {JOBS}/lib/options.sh; . {JOBS}/lib/launches.sh; passed=({given}) site_options=() keys=() words=(alltoall) chosen=()\n'
        f'add_unless_given {option} 1; echo "${{words[*]}}"',
    )  # fmt: skip
    assert said.stdout.strip() == ("alltoall" + f" {option} 1" * is_added), said.stderr


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("-i50 -m8 --sync barrier --window=1", "-i50 -m8 --sync barrier"),
        ("-i 50 --schedule linear -m 8", "-i 50 -m 8"),
    ],
)
def test_options_that_a_workload_has_are_kept_with_their_values(program, given, kept):
    said = run("-c", f'. {JOBS}/lib/launches.sh; program={program}; taken_by pairs {given}; echo "${{kept_words[*]}}"')
    assert said.stdout == f"{kept}\n", said.stderr


# As in docs of the program: comments, quotes of both kinds, lists, a blank anywhere.
CONFIG = """\
# provider = "verbs"
ops = 1000
 "sizes"= ["64", '1KiB']   # two
sync='none'
provider = "tcp;ofi_rxm" # over verbs
shuffle-ranks = false
quiet
"""


@pytest.mark.parametrize("words", ["passed=(--config {})", "passed=(--config={})", "site_options=(--config {})", "chosen=(--config={})"])
def test_a_file_that_the_user_names_counts_for_more_than_what_the_job_would_say(words, tmp_path):
    file = tmp_path / "run.toml"
    file.write_text(CONFIG)
    asked = "; ".join(f"add_unless_given {option} 1" for option in ("--ops", "--sizes", "--sync", "--provider", "--shuffle-ranks", "--seed"))
    said = run(
        "-c", f". {JOBS}/lib/options.sh; . {JOBS}/lib/launches.sh; passed=() site_options=() keys=() words=(alltoall) chosen=()\n"
        f'{words.format(file)}; {asked}; echo "${{words[*]}}"; site_provider=shm; provider_asked_for',
    )  # fmt: skip
    provider = "shm" if words.startswith("chosen") else "tcp;ofi_rxm"  # of one launch, not of the job
    assert said.stdout == f"alltoall --seed 1\n{provider}", said.stderr


@pytest.mark.parametrize("missing", ["", "/nowhere/at.toml", "."])
def test_of_a_file_that_is_none_the_program_tells(missing):
    said = run(
        "-c", f". {JOBS}/lib/options.sh; . {JOBS}/lib/launches.sh; passed=(--config '{missing}') site_options=() keys=() words=() chosen=()\n"
        'add_unless_given --ops 1; echo "${words[*]}"',
    )  # fmt: skip
    assert (said.stdout, said.stderr) == ("--ops 1\n", "")


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("output = 'a.h5'", [], "the job sets --output itself"),
        ("dry-run = true", [], "the job sets --dry-run itself"),
        ("sizes = 8", ["--sizes", "1000"], "--sizes is given twice"),
        ("dry-run = false\nsizes = 8", [], ""),
    ],
)
def test_what_the_job_sets_itself_stands_in_no_file(text, words, said, tmp_path):
    (tmp_path / "run.toml").write_text(text)
    outcome = run(JOBS / "alltoall.sbatch", "--plan", "4", *words, "--", "--config", tmp_path / "run.toml")
    assert outcome.returncode == (2 if said else 0), outcome.stderr
    assert said in outcome.stderr


def test_the_program_knows_what_is_taken_for_other_names(program):
    """Of the options in also_said."""
    shown = subprocess.run([program, "alltoall", "--help-all"], capture_output=True, text=True, check=True).stdout
    for line in ("  --nic, --domain ", "  -m, --message-size ", "  -i, --ops ", "  --precision "):
        assert f"\n{line}" in shown


def reason(folder: Path, call: str, error: str) -> str:
    (folder / "launch.err").write_text(error)
    parts = " ".join(f". {JOBS}/lib/{name}.sh;" for name in ("nodes", "program", "reason"))
    return run("-c", f"scratch={folder} site_launcher=mpirun missing=() launch_limit=0; {parts} {call}").stdout.strip()


def test_a_program_that_ends_in_its_own_way_is_quoted(tmp_path):
    """What the launcher says of it is no reason."""
    told = "mine: MY_SWITCH broke it\n----\nPrimary job  terminated normally, but 1 process returned\n" \
        "a non-zero exit code. Per user-direction, the job has been aborted.\n----\n"
    said = "mpirun ended with exit status 9 and did not say why; the first that was printed: mine: MY_SWITCH broke it"
    assert reason(tmp_path, "why_failed 9", told) == said
    assert reason(tmp_path, "why_failed 9", "") == "mpirun ended with exit status 9 and did not say why"


def test_a_file_that_is_complete_but_large_is_no_lost_rank(tmp_path):
    file = tmp_path / "a.h5"
    file.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(4096))
    said = f"a2aperf: {file} is complete but larger than necessary: cannot write a: No space left on device\n"
    assert "lost" not in reason(tmp_path, f"why_unsound {file}", said)


@pytest.mark.parametrize("threads", ["1", "64"])
def test_cores_are_counted_and_not_the_threads_of_openmp(threads):
    asked = f". {JOBS}/lib/say.sh; . {JOBS}/lib/mpi.sh; cores_here"
    assert run("-c", asked, OMP_NUM_THREADS=threads).stdout == run("-c", "env -u OMP_NUM_THREADS nproc").stdout
