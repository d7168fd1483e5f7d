# SPDX-License-Identifier: BSD-3-Clause
"""What `meson install` leaves: complete, and it works wherever it is moved."""

import os
import pty
import re
import select
import shutil
import subprocess
from pathlib import Path

import pytest
from processes import PATIENCE

pytestmark = pytest.mark.slow

TOP = Path(__file__).resolve().parents[2]
MODULES = Path("/usr/share/modules/init/bash")


@pytest.fixture(scope="module")
def prefix(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation by an ordinary user, moved after it."""
    build = program.parents[2]
    if not (build / "meson-info").is_dir():
        pytest.skip(f"{program} does not lie in a build folder of meson")
    stage = tmp_path_factory.mktemp("stage")
    subprocess.run(
        ["meson", "install", "-C", build, "--no-rebuild", "--destdir", stage], check=True, capture_output=True
    )
    (binary,) = stage.rglob("bin/a2aperf")
    moved = tmp_path_factory.mktemp("moved to") / "with blanks"
    shutil.copytree(binary.parents[1], moved, symlinks=True)
    shutil.rmtree(stage)
    return moved


def bash(script: str, *arguments: str | Path, path: str = "") -> str:
    """What a script prints; it must succeed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("A2A", "SLURM"))}
    done = subprocess.run(
        ["bash", "-euc", script, "bash", *arguments], env=kept | ({"PATH": path} if path else {}),
        capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_is_there(prefix: Path) -> None:
    parts = [
        "bin/a2aperf", "share/man/man1/a2aperf.1", "share/bash-completion/completions/a2aperf",
        "share/bash-completion/completions/a2a", "share/a2aperf/jobs/lib/load.sh",
        "share/a2aperf/jobs/sites/README.md",
    ]  # fmt: skip
    assert [part for part in parts if not (prefix / part).is_file()] == []
    jobs = prefix / "share/a2aperf/jobs"
    installed = {str(file.relative_to(jobs)) for file in jobs.rglob("*") if file.is_file()}
    tracked = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "jobs"], cwd=TOP, capture_output=True, text=True)
    wanted = {line.removeprefix("jobs/") for line in tracked.stdout.splitlines()}
    # These build in a clone.
    assert wanted - installed == {"local.sh", "lib/build.sh", "lib/packages.sh"}
    assert all(os.access(jobs / name, os.X_OK) for name in ("preflight.sh", "doctor.sh"))


def test_the_scripts_work_without_the_clone_and_find_the_program(prefix: Path) -> None:
    jobs = prefix / "share/a2aperf/jobs"
    plan = bash('bash "$1/alltoall.sbatch" --plan 40', jobs)
    assert "\tn[1-20]\t" in plan and "\tn[1-40]\t" in plan
    checks = [line.split("\t") for line in bash('bash "$1/doctor.sh"', jobs).splitlines()]
    version = bash('"$1/bin/a2aperf" --version', prefix).splitlines()[0]
    assert [row[2:] for row in checks if row[1] == "program"] == [["ok", version]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["al"], ["alltoall"]),
        (["pa"], ["pairs"]),
        (["p"], ["pairs", "providers"]),
        (["alltoall", "--prov"], ["--provider"]),
        (["pairs", "--sus"], ["--suspects"]),
        (["alltoall", "--provider", "ps"], ["psm2", "psm3"]),
        (["alltoall", "--mode", "tagged,w"], ["tagged,write-imm", "tagged,write"]),
        (["alltoall", "--schedule", "node"], ["node-shift", "node-aware"]),
    ],
)
def test_completion(prefix: Path, words: list[str], expected: list[str]) -> None:
    script = """
        . "$1/share/bash-completion/completions/a2aperf"
        program=$1/bin/a2aperf
        shift
        COMP_WORDS=(a2aperf "$@") COMP_CWORD=$#
        _a2aperf "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        printf '%s\\n' "${COMPREPLY[@]}" """
    assert bash(script, prefix, *words).splitlines() == expected


def typed(prefix: Path, folder: Path, line: str) -> list[str]:
    """The words of a line after the Tab key, in a real shell at a real terminal."""
    leader, follower = pty.openpty()
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"], cwd=folder, stdin=follower, stdout=follower, stderr=follower,
        env={"PATH": f"{prefix / 'bin'}:{os.environ['PATH']}", "TERM": "dumb", "HOME": str(folder)},
        start_new_session=True,
    )  # fmt: skip
    os.close(follower)

    def until(mark: str) -> str:
        seen = ""
        while mark not in seen:
            assert select.select([leader], [], [], 60)[0], f"no {mark!r} in {seen!r}"
            seen += os.read(leader, 4096).decode(errors="replace")
        return seen

    try:
        completion = prefix / "share/bash-completion/completions/a2aperf"
        show = "show() { printf '%s' 'WORDS'; printf '<%s>' \"$@\"; printf '%s\\n' END; }"
        setup = f"bind 'set bell-style none' 'set enable-bracketed-paste off'; . '{completion}'; {show}; show ready\n"
        os.write(leader, setup.encode())
        until("WORDS<ready>END")
        # Tab, to the line's begin, a word before it.
        os.write(leader, f"{line}\t\x01show \n".encode())
        words = re.search(r"WORDS(<.*>)END", until(">END").replace("\r\n", ""))
        return words[1].strip("<>").split("><")
    finally:
        shell.kill()
        shell.wait()
        os.close(leader)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a2aperf alltoall -o my", ["a2aperf", "alltoall", "-o", "my results.h5"]),
        ("a2aperf pairs --attach fol", ["a2aperf", "pairs", "--attach", "folder/"]),
        ("a2aperf alltoall --prov", ["a2aperf", "alltoall", "--provider"]),
        ("mpirun -n 2 a2aperf alltoall --prov", ["mpirun", "-n", "2", "a2aperf", "alltoall", "--provider"]),
        ("mpirun -n 2 a2aperf alltoall -o my", ["mpirun", "-n", "2", "a2aperf", "alltoall", "-o", "my results.h5"]),
        ("srun -N 4 a2aperf pairs --sus", ["srun", "-N", "4", "a2aperf", "pairs", "--suspects"]),
        ("mpirun -n 2 a2aper", ["mpirun", "-n", "2", "a2aperf"]),
    ],
)
def test_completion_in_a_shell(prefix: Path, tmp_path: Path, line: str, expected: list[str]) -> None:
    (tmp_path / "my results.h5").touch()
    (tmp_path / "folder").mkdir()
    assert typed(prefix, tmp_path, line) == expected


def test_a_launcher_s_own_completion_stays(prefix: Path) -> None:
    script = """
        _of_srun() { COMPREPLY=(--own "$2"); }
        complete -F _of_srun srun
        . "$1/share/bash-completion/completions/a2aperf"
        COMP_WORDS=(srun --pa) COMP_CWORD=1
        _a2aperf_launched srun --pa srun
        printf '%s\\n' "${COMPREPLY[@]}" """
    assert bash(script, prefix).splitlines() == ["--own", "--pa"]


def test_the_module_file_finds_its_installation(prefix: Path) -> None:
    if not MODULES.is_file():
        pytest.skip(f"Environment Modules is not installed: no {MODULES}")
    script = """
        set +eu
        . "$2"
        module use "$1/share/modulefiles"
        module load a2aperf
        printf '%s\\n' "$(command -v a2aperf)" "$A2APERF_JOBS" "$MANPATH" """
    found, jobs, manuals = bash(script, prefix, MODULES).splitlines()
    assert Path(found) == prefix / "bin/a2aperf"
    assert Path(jobs) == prefix / "share/a2aperf/jobs"
    assert str(prefix / "share/man") in manuals.split(":")
