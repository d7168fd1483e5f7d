# SPDX-License-Identifier: BSD-3-Clause
"""Every command that the documents show is run as it stands there, in the order of the document."""

import re
import subprocess
from pathlib import Path

import pytest
from blocks import DOCUMENTS, ROOT, Block, blocks, with_commands

pytestmark = [pytest.mark.slow, pytest.mark.every]

SECONDS = 900  # a deadline, not an expectation
# The blocks of a document are one shell's: what one exports the next one has. A verdict of compare is no failure.
SHELL = """
set -eo pipefail
state=$1
[[ ! -f $state ]] || . "$state"
trap 'status=$?; export -p >"$state"; exit $status' EXIT
a2a() {
    local status=0
    command a2a "$@" || status=$?
    [[ $1 == compare && $status == [34] ]] || return $status
}
set --
"""
# Enough ops that not all of them are while two ranks have one core by turns.
MEASURE = "mpirun -n 2 a2aperf alltoall --provider shm --sizes 1000,8000 --ops 1000 --no-sentinel --quiet"
GIVEN = {
    "run.h5": f"{MEASURE} --baseline mpi",
    "before": f"FI_SHM_DISABLE_CMA=0 {MEASURE}",
    "today": f"FI_SHM_DISABLE_CMA=1 {MEASURE}",
    "results": MEASURE,
    "nightly": MEASURE,
    "accepted": MEASURE,
}


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[Path, Path]:
    """A folder for each document that looks like the clone, in which a reader is; what they write stays in it."""
    return {document: tmp_path_factory.mktemp(document.stem) for document in DOCUMENTS}


@pytest.fixture
def run(folders, program):
    """Runs lines in the shell of a document."""

    def in_shell(document: Path, lines: str) -> subprocess.CompletedProcess[str]:
        clone = folders[document] / "clone"
        if not clone.exists():
            look_like_the_clone(clone)
            if document != ROOT / "README.md":  # which is where a reader begins
                in_shell(document, ". build/env.sh\n")
        return subprocess.run(
            ["bash", "-c", SHELL + lines, "bash", folders[document] / "state"], cwd=clone, capture_output=True, text=True,
            timeout=SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    assert program == ROOT / "build/release/src/app/a2aperf", "the documents are about build/release"
    return in_shell


def look_like_the_clone(clone: Path) -> None:
    assert (ROOT / "build/bin/a2a").exists(), "no build/bin/a2a: jobs/local.sh and test/run.sh put it there"
    (clone / "build").mkdir(parents=True)
    for there in [*ROOT.iterdir(), *(ROOT / "build").iterdir()]:
        here = clone / there.relative_to(ROOT)
        if not here.exists() and there.suffix not in (".h5", ".html"):
            here.symlink_to(there)


def measure_given(names: str, run, document: Path) -> None:
    for name in names.split():
        kind = next(kind for kind in GIVEN if name.startswith(kind))
        outcome = run(document, f"[[ -e {name} ]] || {{ mkdir -p $(dirname {name}); {GIVEN[kind]} -o {name}; }}\n")
        assert outcome.returncode == 0, outcome.stderr


@pytest.mark.parametrize("block", [pytest.param(block, id=block.name) for block in with_commands(under_slurm=False)])
def test_a_block_runs_as_it_stands(block: Block, run):
    if reason := block.remarked("not run by the test: (.*)"):
        pytest.skip(reason)
    measure_given(block.remarked("given: (.*)") or "", run, block.document)
    outcome = run(block.document, block.commands)
    expected = int(block.remarked(r"exit status (\d+): .*") or 0)
    assert outcome.returncode == expected, f"{block.text}\n{outcome.stdout[-3000:]}\n{outcome.stderr[-3000:]}"


def test_the_sample_is_what_the_program_prints_now(run):
    """The headings word for word; of the lines that every launch ends with their words without the figures."""
    readme = ROOT / "README.md"
    (sample,) = [block for block in blocks(readme) if block.remarked("printed by (.*)")]
    command = sample.remarked("printed by (.*)")
    outcome = run(readme, f"{command} --sizes 1000,60000 --ops 20 -o sample.h5\n")
    assert outcome.returncode == 0, outcome.stderr
    # Not every machine has fewer cores than ranks.
    *first, heading = [line for line in sample.text.splitlines() if line.startswith((" ranks", "# "))]
    assert heading in outcome.stdout.splitlines()
    assert first[-1].split(";")[-1] in [line.split(";")[-1] for line in outcome.stdout.splitlines()]
    for line in sample.text.splitlines():
        if line.startswith(("best:", "a2aperf and a2a")) or " measured: " in line or line.endswith(".html"):
            assert without_figures(line) in map(without_figures, outcome.stderr.splitlines()), (line, outcome.stderr)


def without_figures(line: str) -> str:
    """Figures, names of files and the place of the clone differ."""
    line = re.sub(r"[~/]\S*/build/", "build/", line)
    line = re.sub(r"\S+\.(h5|html)", r"FILE.\1", line)
    return re.sub(r"[0-9.]+", "0", line)


@pytest.mark.parametrize("document", [*DOCUMENTS, ROOT / "docs" / "notebook.ipynb"], ids=lambda path: path.name)
def test_packages_go_into_an_environment(document: Path):
    """Debian's Python takes none beside its own: a bare `pip install` is refused there."""
    text = document.read_text("utf-8")
    assert not re.findall(r"(?<!bin/)(?<!-m )pip install .*", text)
