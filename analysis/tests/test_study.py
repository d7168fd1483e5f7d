# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a study, `a2a status`, and what a report says is missing."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import studies
from a2aperf.errors import InputError
from a2aperf.studies import slurm, study
from a2aperf.studies.study import Check, Fate, Logged, unlike
from conftest import Outcome
from support import synthetic
from support.synthetic import Setup

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return studies.study(tmp_path / "results")


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Lets `squeue` answer so: what a real Slurm says is tested in test/slurm.

    A line is a job, with a broken bar between its columns.
    """
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs), prepend=":")

    def answers(text: str) -> None:
        script = programs / "squeue"
        said = "".join(f"{row}\x1e\n" for row in text.splitlines()).replace("¦", "\x1f")
        script.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)

    answers("")
    return answers


def test_every_launch_has_its_fate_and_the_last_line_of_the_log_counts(folder: Path) -> None:
    (job,) = study.read(folder)
    fates = [launch.fate for launch in job.launches]
    assert fates == [Fate.GOOD, Fate.GOOD, Fate.FAILED, Fate.NOT_BEGUN, Fate.WAITING]
    assert [launch.why for launch in job.launches] == [
        "",
        "",
        "the launch ended: node node005 does not answer (exit status 205)",
        "the node-hours are used up",
        "not reached",
    ]
    assert job.launches[0].seconds == 60
    studies.launch(folder, "7", 3, 8)
    studies.log(folder, "7", 3, "0")
    (job,) = study.read(folder)
    assert job.launches[2].fate is Fate.GOOD
    whole = job.launches[2].file.read_bytes()
    for kept in (0, 5000):
        job.launches[2].file.write_bytes(whole[:kept])
        assert job.of(Fate.FAILED)[-1] is job.launches[2]
        assert job.launches[2].why == "its file is shorter than its own header says"
    job.launches[2].file.unlink()
    assert job.launches[2].why == "its file is not there any more"


@pytest.mark.parametrize("cut", ["0", "003\t2026-11-20T17:3", "003\t-\t2026-11-20T17:30:05Z\t1"])
def test_a_log_whose_last_line_is_cut_short_tells_the_rest(folder: Path, cut: str) -> None:
    whole = study.read(folder)
    with (folder / "log-7.tsv").open("a") as log:
        log.write(cut)
    assert study.read(folder) == whole
    with (folder / "log-7.tsv").open("a") as log:
        log.write("\n")
    with pytest.raises(InputError, match="has not 5 columns"):
        study.read(folder)


def test_what_others_said_may_hold_any_character(
    a2a: A2A, folder: Path, queue: Callable[[str], None]
) -> None:
    said = "Node 3:\tpermission denied\r, page\f2\x85 gr\u00fcn"
    with (folder / "log-7.tsv").open("ab") as log:
        log.write(f"005\t-\t-\t1\t{said}\r\n".encode("latin-1"))
    with (folder / "nodes-7.txt").open("ab") as nodes:
        nodes.write(b"node006\tbios\tbad\tversion\r\xff\t1.0\n")
    (job,) = study.read(folder)
    assert len(job.launches) == 5
    assert job.launches[4].why.startswith("Node 3:\tpermission denied\r, page\f2\ufffd gr")
    assert (job.checks[-1].node, job.checks[-1].text) == ("node006", "version\r\ufffd\t1.0")
    told = a2a("status", folder)
    assert told.status == 1 and "permission denied" in told.out
    assert not {"\r", "\f", "\x85", "\t"} & set(told.out)


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("-", ()),
        ("A=1;--window=all", ("A=1", "--window=all")),
        (r"A=x\;y;B=\\;C=\t|\n", ("A=x;y", "B=\\", "C=\t|\n")),
        (r"A=\\\;;B=", ("A=\\;", "B=")),
    ],
)
def test_settings_are_the_text_that_they_were(
    tmp_path: Path, text: str, settings: tuple[str, ...]
) -> None:
    studies.plan(tmp_path, "1", [(4, text)], kind="compare")
    assert study.read(tmp_path)[0].launches[0].settings == settings


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("plan-7.tsv", ("launch\tnodes", "launch\tnode"), "has another header: a file of a study"),
        ("plan-7.tsv", ("\t2\tnode", "\ttwo\tnode"), "'two' is not a whole number"),
        ("plan-7.tsv", ("\t-\talltoall", "\talltoall"), "has not 6 columns"),
        ("log-7.tsv", ("2026-11-20T17:30:05Z", "yesterday"), "'yesterday' is not a time"),
        ("plan-7.tsv", ("kind", "\udcff"), "plan-7.tsv is not a text file"),
        ("plan-7.tsv", ("\t2\tnode", f"\t{'2' * 5000}\tnode"), "is not a whole number"),
        ("plan-7.tsv", ("\talltoall-7-", "\ta\x00b"), "plan-7.tsv is not a text file"),
        ("plan-7.tsv", ("\t2\tnode", "\t\x1b[31m\tnode"), "is not a whole number"),
        ("plan-7.tsv", ("\talltoall-7-", "\t" + "long" * 100), "is not a file name"),
        ("log-7.tsv", ("2026-11-20T17:30:05Z", "2026-11-20T17:30:05"), "is not a time"),
    ],
)
def test_a_damaged_plan_is_refused(
    a2a: A2A, folder: Path, name: str, change: tuple[str, str], words: str
) -> None:
    text = (folder / name).read_text().replace(*change)
    (folder / name).write_text(text, errors="surrogateescape")
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        study.read(folder)
    a2a("status", folder).refused(name, words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty: a file of a study has launch nodes"),
        (b"\n \n", "is empty"),
        (b"# kind\talltoall\n", "has no header"),
        (b"\x89HDF\r\n\x1a\n" + bytes(64), "is not a text file"),
    ],
)
def test_a_plan_that_is_none_is_told_as_what_it_is(
    a2a: A2A, folder: Path, content: bytes, words: str
) -> None:
    (folder / "plan-7.tsv").write_bytes(content)
    a2a("status", folder).refused(f"plan-7.tsv {words}")


def test_status_says_what_is_there_and_what_is_missing(
    a2a: A2A, folder: Path, queue: Callable[[str], None]
) -> None:
    outcome = a2a("status", folder)
    assert outcome.status == 1
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "job 7: alltoall on 4, 8, 16 nodes, 2 ranks per node"
    assert lines[1] == "2 of 5 launches good; ended"
    assert "nodes good failed not begun started not reached" in lines
    assert "4 1 - 1 - -" in lines and "8 1 1 - - -" in lines and "16 - - - - 1" in lines
    assert any(line.startswith("003 8 nodes") and "exit status 205" in line for line in lines)
    assert lines[-1] == "node node005: memlock: 64 KiB: too little"
    queue("7¦RUNNING¦5:00¦1:00:00¦node[001-016]¦None¦/home/me¦jobs/alltoall.sbatch")
    assert "running for 5:00 of 1:00:00 on node[001-016]" in a2a("status", folder).out


def test_status_of_a_job_that_runs_tells_how_long_it_will(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    studies.plan(tmp_path, "9", [(4, "-")] * 3)
    for number in (1, 2):
        studies.launch(tmp_path, "9", number, 4)
    studies.log(tmp_path, "9", 1, "0")
    queue("9¦RUNNING¦5:00¦1:00:00¦node[001-004]¦None¦/home/me¦jobs/alltoall.sbatch")
    outcome = a2a("status", tmp_path)
    assert outcome.status == 0
    assert "launch 002: 2 of 2 points; about 2 min to go" in outcome.out
    assert "missing" not in outcome.out
    for endless in ("UNLIMITED", "365-00:00:00"):
        queue(f"9¦RUNNING¦5:00¦{endless}¦node[001-004]¦None¦/home/me¦jobs/alltoall.sbatch")
        assert "running for 5:00, no time limit, on node[001-004]" in a2a("status", tmp_path).out
    queue("9¦PENDING¦0:00¦1:00:00¦¦Resources¦/home/me¦jobs/alltoall.sbatch")
    assert "waits (Resources)" in a2a("status", tmp_path).out
    queue("")
    outcome = a2a("status", tmp_path)
    assert outcome.status == 1
    assert "cut short" in outcome.out
    (plain,) = json.loads(a2a("status", tmp_path, "--json").out)
    assert [x["fate"] for x in plain["launches"]] == ["good", "started", "not reached"]


@pytest.mark.parametrize("kind", ["screen", "check", "compare"])
def test_a_job_that_may_go_on_is_complete_when_it_has_ended(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None], kind: str
) -> None:
    studies.plan(tmp_path, "9", [(4, "-")], kind)
    studies.launch(tmp_path, "9", 1, 4, kind)
    studies.log(tmp_path, "9", 1, "0")
    queue("9¦RUNNING¦5:00¦1:00:00¦node[001-004]¦None¦/home/me¦jobs/screen.sbatch")
    told = "all planned launches are good; running for 5:00 of 1:00:00 on node[001-004]"
    outcome = a2a("status", tmp_path)
    assert outcome.status == 0
    assert f"1 of 1 launches good; {told if kind != 'compare' else 'complete'}\n" in outcome.out
    queue("")
    assert "1 of 1 launches good; complete\n" in a2a("status", tmp_path).out


def test_a_job_that_is_taken_back_makes_what_failed_again(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    studies.plan(tmp_path, "9", [(4, "-")] * 4)
    for number in (1, 2):
        studies.launch(tmp_path, "9", number, 4)
    studies.log(tmp_path, "9", 1, "0")
    studies.log(tmp_path, "9", 2, "143", "the time limit is near: stopped at an op")
    studies.log(tmp_path, "9", 3, "-", "not begun: the time limit is near")
    log = tmp_path / "log-9.tsv"
    log.write_text(log.read_text().replace("2026-", "2025-"))

    def fates() -> list[str]:
        (plain,) = json.loads(a2a("status", tmp_path, "--json").out)
        return [x["fate"] for x in plain["launches"]]

    of_job = "1:00:00¦node[001-004]¦None¦/home/me¦jobs/alltoall.sbatch"
    for state in ("PENDING¦0:00", "RUNNING¦5:00"):
        queue(f"9¦{state}¦{of_job}")
        outcome = a2a("status", tmp_path)
        assert outcome.status == 0 and "missing" not in outcome.out
        assert fates() == ["good", "started", "not reached", "not reached"]
    for same_run in (f"9¦RUNNING¦9999-05:00:00¦{of_job}", f"9¦COMPLETING¦5:00¦{of_job}", ""):
        queue(same_run)
        assert a2a("status", tmp_path).status == 1
        assert fates() == ["good", "failed", "not begun", "not reached"]


@pytest.mark.parametrize("squeue", ["exit 1", "sleep 60"])
def test_status_where_slurm_does_not_answer(
    a2a: A2A,
    folder: Path,
    tmp_path: Path,
    queue: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    squeue: str,
) -> None:
    """What the folder has is told, and nothing of what only Slurm knows."""
    queue("")
    (tmp_path / "programs/squeue").write_text(f"#!/bin/sh\n{squeue}\n")
    run = slurm.run
    monkeypatch.setattr(slurm, "run", lambda words: run(words, seconds=2))
    studies.launch(folder, "7", 5, 8)
    outcome = a2a("status", str(folder))
    assert outcome.status == 1
    assert "; whether it runs is unknown: squeue is not here, or does not answer\n" in outcome.out
    assert "node node005 does not answer" in outcome.out
    assert "cut short" not in outcome.out


def test_status_of_a_complete_study(a2a: A2A, tmp_path: Path) -> None:
    studies.plan(tmp_path, "9", [(4, "A=1"), (4, "A=2")], kind="compare")
    for number in (1, 2):
        studies.launch(tmp_path, "9", number, 4, kind="compare")
        studies.log(tmp_path, "9", number, "0")
    outcome = a2a("status", tmp_path)
    assert outcome.status == 0
    assert "job 9: compare, A=1, A=2 on 4 nodes, 2 ranks per node" in outcome.out
    assert "2 of 2 launches good; complete" in outcome.out


def test_status_of_jobs_that_have_not_begun(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    """They have no plan yet, and maybe no folder: Slurm knows of them."""
    where, folder = tmp_path / "here", tmp_path / "here/results"
    waits = f"PENDING¦0:00¦1:00:00¦¦Resources¦{where}"
    queue(
        f"7¦{waits}¦/opt/a2aperf/jobs/compare.sbatch X=0,1 --nodes 4 -- --ops 5\n"
        f"8¦{waits}¦jobs/alltoall.sbatch --results {folder} --nodes 4\n"
        f"9¦{waits}¦jobs/alltoall.sbatch --results=elsewhere -- --results results\n"
        f"10¦{waits}¦other.sh alltoall.sbatch"
    )
    outcome = a2a("status", folder)
    assert outcome.status == 0
    assert outcome.out == (
        "job 7: compare\n  no plan yet; waits (Resources)\n\n"
        "job 8: alltoall\n  no plan yet; waits (Resources)\n"
    )
    folder.mkdir(parents=True)
    studies.plan(folder, "7", [(4, "X=0"), (4, "X=1")], kind="compare")
    outcome = a2a("status", folder)
    assert "job 7: compare, X=0, X=1 on 4 nodes" in outcome.out and "job 8: " in outcome.out
    plain = json.loads(a2a("status", folder, "--json").out)
    assert [(x["job"], x["kind"], len(x["launches"])) for x in plain] == [
        ("7", "compare", 2), ("8", "alltoall", 0)
    ]  # fmt: skip
    a2a("status", where).refused("no job in the queue writes to it")


def test_status_of_a_job_that_ended_before_it_had_a_plan(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    """Until it has one: Slurm may take it back. What a full disk has left of the file is told."""
    queue("")
    day = "2024-01-01T00:00:00Z"
    ended = tmp_path / "ended-7.tsv"
    ended.write_text(f"kind\tended\tstatus\treason\nsuite\t{day}\t1\tmodule load mpi failed\n")
    (tmp_path / "ended-10.tsv").touch()
    outcome = a2a("status", tmp_path)
    assert outcome.status == 1
    assert outcome.out == (
        "job 7: suite\n  ended before it had a plan: module load mpi failed (exit status 1)\n\n"
        "job 10: job\n  ended before it had a plan\n"
    )
    first, _ = json.loads(a2a("status", tmp_path, "--json").out)
    assert first["facts"] == {"ended": day, "status": "1", "reason": "module load mpi failed"}
    (tmp_path / "ended-10.tsv").unlink()
    waits = f"PENDING¦0:00¦1:00:00¦¦Resources¦{tmp_path}"
    queue(f"7¦{waits}¦jobs/alltoall.sbatch --results {tmp_path}")
    outcome = a2a("status", tmp_path)
    assert outcome.status == 0 and outcome.out.endswith("no plan yet; waits (Resources)\n")
    studies.plan(tmp_path, "7", [(4, "-")])
    assert "before it had a plan" not in a2a("status", tmp_path).out


def test_status_of_what_is_no_study(a2a: A2A, tmp_path: Path) -> None:
    a2a("status", tmp_path).refused("no plan-<job>.tsv")
    a2a("status", tmp_path / "none").refused("no such folder")
    plain = tmp_path / "job.txt"
    plain.touch()
    a2a("status", plain).refused("job.txt: is a file, not a folder; 'a2a status FOLDER'")


def test_status_of_a_job_that_never_begins(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    """It is not waited for, whether or not it has begun before."""
    never = f"PENDING¦0:00¦1:00:00¦¦DependencyNeverSatisfied¦{tmp_path}¦jobs/alltoall.sbatch"
    queue(f"9¦{never} --results {tmp_path}")
    said = "never begins (DependencyNeverSatisfied): 'scancel 9' removes it\n"
    outcome = a2a("status", tmp_path)
    assert outcome.status == 1
    assert outcome.out == f"job 9: alltoall\n  no plan yet; {said}"
    studies.plan(tmp_path, "9", [(4, "-")])
    outcome = a2a("status", tmp_path)
    assert outcome.status == 1
    assert f"0 of 1 launches good; {said}" in outcome.out
    studies.launch(tmp_path, "9", 1, 4)
    studies.log(tmp_path, "9", 1, "0")
    outcome = a2a("status", tmp_path)
    assert outcome.status == 0
    assert "1 of 1 launches good; complete" in outcome.out


def test_spaces_and_bars_in_the_queue(
    a2a: A2A, tmp_path: Path, queue: Callable[[str], None]
) -> None:
    """Slurm quotes nothing: a path with spaces is told from a script and its first word."""
    script = tmp_path / "my jobs/alltoall.sbatch"
    script.parent.mkdir()
    script.touch()
    results = tmp_path / "of two|three"
    waits = f"PENDING¦0:00¦1:00:00¦¦ReqNodeNotAvail|Reserved¦{tmp_path}"
    queue(
        f"7¦{waits}¦{script} --results {results} --nodes 4\n"
        f"8¦{waits}¦my jobs/alltoall.sbatch --results=of two|three -- --ops 5\n"
        f"9¦{waits}¦jobs/compare.sbatch --results of two|three X=0,1\n"
        f"10¦{waits}¦run my jobs/alltoall.sbatch --results of two|three\n"
        f"11¦{waits}¦jobs/alltoall.sbatch --results of two\n"
    )
    outcome = a2a("status", results)
    assert outcome.status == 0
    kinds = ("job 7: alltoall", "job 8: alltoall", "job 9: compare")
    assert outcome.out == "\n\n".join(
        f"{job}\n  no plan yet; waits (ReqNodeNotAvail|Reserved)" for job in kinds
    ) + "\n"  # fmt: skip


def test_a_report_on_a_study_says_what_is_missing(a2a: A2A, folder: Path) -> None:
    (folder / "merged").mkdir()
    merged = folder / "merged" / "all.h5"
    assert a2a("merge", *sorted(folder.glob("*.h5")), "-o", merged).status == 0
    assert a2a("report", folder).status == 0
    page = (folder / "report.html").read_text()
    assert (
        "3 of 5 planned launches of job 7 have no complete file, on 4, 8 and 16 nodes: "
        "the launch ended: node node005 does not answer (exit status 205), the node-hours are used "
        "up and not reached."
    ) in page
    assert "Nodes not fit to measure in job 7: node005." in page
    assert page.count("node005 does not answer (exit status 205)") == 2
    assert 'href="#missing"' in page
    # By its files the same job is found; files of no study have nothing missing.
    other = folder / "one.html"
    assert a2a("report", next(folder.glob("*-001.h5")), "-o", other).status == 0
    assert 'href="#missing"' in other.read_text()
    alone = folder.parent / "alone.h5"
    next(folder.glob("*-001.h5")).rename(alone)
    assert a2a("report", alone, "-o", other).status == 0
    assert 'href="#missing"' not in other.read_text()


def test_a_report_is_put_beside_its_results(a2a: A2A, folder: Path) -> None:
    first, second, *_ = sorted(folder.glob("*.h5"))
    for given, page in (
        ([first], first.with_suffix(".html")),
        ([folder], folder / "report.html"),
        ([first, second], folder / "report.html"),
    ):
        assert not page.exists()
        outcome = a2a("report", *given)
        assert outcome.status == 0
        assert outcome.err.startswith(f"a2a: {page} (")
        assert page.read_text().startswith("<!DOCTYPE html>")
        page.unlink()


def test_a_report_needs_a_place(a2a: A2A, folder: Path) -> None:
    """Results in several folders; and results that have the name that the page would get."""
    first, second, *_ = sorted(folder.glob("*.h5"))
    elsewhere = second.rename(folder.parent / second.name)
    a2a("report", first, elsewhere).refused("-o PAGE.html", "several folders")
    odd = first.rename(folder / "odd.html")
    before = odd.read_bytes()
    a2a("report", odd).refused("odd.html", "-o")
    assert odd.read_bytes() == before


def test_without_an_answer_nothing_is_said_of_the_queue(
    tmp_path: Path, queue: Callable[[str], None], a2a: A2A
) -> None:
    queue("")
    (tmp_path / "programs/squeue").write_text("#!/bin/sh\nexit 1\n")
    outcome = a2a("status", tmp_path)
    outcome.refused("holds no plan")
    assert "queue" not in outcome.err


def test_folders_in_any_encoding_in_the_queue(
    folder: Path, queue: Callable[[str], None], a2a: A2A
) -> None:
    queue("")
    script = folder.parent / "programs/squeue"
    row = r"9\037RUNNING\0370:01\0371:00\037n1\037None\037/home/m\374ller\037x\036\n"
    script.write_text(f"#!/bin/sh\nprintf '{row}'\n")
    assert list(slurm.queue() or {}) == ["9"]
    assert "job " in a2a("status", folder).out


def test_who_knows_of_studies() -> None:
    """The commands; what says what is missing or failed; the gate of a job; what opens files.

    Nobody else.
    """
    package = Path(study.__file__).parents[1]
    words = re.compile(r"^\s*(?:from|import) (a2aperf\.studies.*)$", re.MULTILINE)
    known = {
        str(path.relative_to(package)): words.findall(path.read_text())
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in ("commands", "studies")
    }
    told = {name: imports for name, imports in known.items() if imports}
    of_screenings = {"screening/failures.py", "screening/section.py"}
    of_values = {"baselines.py", "runs.py"}
    assert set(told) == {"report.py", "gaps.py", "gating/job.py", *of_screenings, *of_values}
    assert all(
        line == "a2aperf.studies import first"
        if name in of_values
        else line.startswith("a2aperf.studies.study import ")
        for name, x in told.items()
        for line in x
    )


def test_nodes_that_are_not_like_the_others() -> None:
    rows = [Check(f"n{i}", "kernel", "ok", "6.1.2" if i == 3 else "6.1.1") for i in range(5)]
    rows += [Check(f"n{i}", "port", "ok", "hfi1_0/1 ACTIVE") for i in range(4)]
    rows += [Check(f"n{i}", "load", "ok", f"{i} busy") for i in range(5)]
    rows.append(Check("n9", "answer", "bad", "none within 50 s"))
    assert unlike(rows) == [
        Check("n3", "kernel", "warn", "6.1.2, and 4 of 5 nodes have 6.1.1"),
        Check("n4", "port", "warn", "none, and 4 of 5 nodes have hfi1_0/1 ACTIVE"),
    ]
    halves = [Check(f"n{i}", "cpu", "ok", "old" if i < 2 else "new") for i in range(4)]
    assert [one.node for one in unlike(halves)] == ["n0", "n1", "n2", "n3"]
    assert unlike(rows[:3]) == [] == unlike([])


# Looks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("merged", [False, True])
def test_a_study_is_judged_at_the_error_of_its_look(
    tmp_path: Path, a2a: Callable[..., Outcome], merged: bool
) -> None:
    """Where the plan says for which; one that is given counts for more."""
    rows = ["launch\tnodes\tppn\tsubset\tsettings\tfile"]
    log = ["launch\tstarted\tended\tstatus\treason"]
    files = []
    for i in range(16):
        value = "0110"[i % 4]
        name = f"compare-run-n4-s{value}-{i + 1:03}.h5"
        setup = Setup(seed=i, sizes=(1000,), ops=20, environment={"PSM2_RCVTHREAD": value})
        files.append(synthetic.write_launch(tmp_path / name, setup))
        rows.append(f"{i + 1:03}\t4\t2\tn[1-4]\tPSM2_RCVTHREAD={value}\t{name}")
        log.append(f"{i + 1:03}\t2026-11-20T17:30:05Z\t2026-11-20T17:31:05Z\t0\t-")
    plan = tmp_path / "plan-run.tsv"
    plan.write_text("\n".join(["# kind\tcompare", "# error\t0.5%", *rows]) + "\n")
    (tmp_path / "log-run.tsv").write_text("\n".join(log) + "\n")
    asked: list[Path] = [tmp_path]
    if merged:
        (tmp_path / "merged").mkdir()
        asked = [tmp_path / "merged/compare-run.h5"]
        assert a2a("merge", *files, "-o", asked[0]).status == 0
    words = ("compare", *asked, "--by", "PSM2_RCVTHREAD")
    told = a2a(*words).out
    assert "99.5 % interval" in told
    assert told.splitlines()[-1] == (
        f"error 0.5 %: that of the look for which the launches of {tmp_path} are planned"
    )
    assert "95 % interval" in a2a(*words, "--error", "5%").out
    if not merged:
        assert a2a("report", tmp_path, "-o", tmp_path / "page.html").status == 0
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert "for which the launches of" in page
        assert "99.5 % interval" in page
        (tmp_path / "log-run.tsv").write_text("\n".join(log[:-1]) + "\n")
        assert "of which not all are there" in a2a(*words).out
    plan.write_text(plan.read_text().replace("0.5%", "none"))
    refused = a2a(*words)
    assert refused.status == 2
    assert "the plan's error 'none' is no share" in refused.err


@pytest.mark.parametrize(
    ("reason", "was_stopped"),
    [
        ("the run was stopped by SIGINT: stopped at an op, what was complete is kept", True),
        ("the time limit is near: stopped before its first op", True),
        ("signal 9 (Killed) ended a rank on node013 (process 1 of mpirun)", False),
        ("stopped by signal 15", False),
    ],
)
def test_what_a_job_ended_by_itself_did_not_fail(reason: str, was_stopped: bool) -> None:
    assert Logged(None, None, 143, reason).was_stopped is was_stopped
