# SPDX-License-Identifier: BSD-3-Clause
"""Power cuts at every instant of real launches: whatever a disk may then hold, docs/file-format.md holds.

Ten thousand distinct images: A2APERF_CRASH_IMAGES asks for another number, A2APERF_CRASH_COMMANDS for how many of them
the command line is given (40), A2APERF_CRASH_RESUMES for how many of these are resumed (6).
"""

import os
import subprocess
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import h5py
import pytest
from disk import Disk
from launches import RESUMED, WHOLE, WORKLOADS, command_of, note_launches, run
from notes import Note
from processes import PATIENCE
from rows import COMPLETE
from simulation import Outcome, simulate

pytestmark = pytest.mark.slow

IMAGES = int(os.environ.get("A2APERF_CRASH_IMAGES", "10000"))
COMMANDS = int(os.environ.get("A2APERF_CRASH_COMMANDS", "40"))
RESUMES = int(os.environ.get("A2APERF_CRASH_RESUMES", "6"))
CASES = [(workload, name) for workload in WORKLOADS for name in (WHOLE, RESUMED)]


@dataclass
class Noted:
    folder: Path
    notes: list[Note]


@pytest.fixture(scope="module")
def noted(program, preload_recorder, needs_shm, tmp_path_factory) -> dict[str, Noted]:
    found = {}
    for workload in WORKLOADS:
        folder = tmp_path_factory.mktemp(workload)
        found[workload] = Noted(folder, note_launches(program, preload_recorder, workload, folder))
    return found


@pytest.fixture(scope="module")
def needs_shm(offered) -> None:
    there, missing = offered
    if "shm" not in there:
        pytest.skip(f"shm is not here: {missing.get('shm')}")


@pytest.fixture(scope="module")
def outcomes(noted) -> dict[tuple[str, str], Outcome]:
    """Two at a time: the rest of the tests needs cores as well."""
    share = -(-IMAGES // len(CASES))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        tasks = {
            case: workers.submit(simulate, noted[case[0]].notes, case[1], share, seed, -(-COMMANDS // len(CASES)))
            for seed, case in enumerate(CASES)
        }
        return {case: task.result() for case, task in tasks.items()}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_nothing_was_written_that_is_not_noted(noted, workload):
    disk = Disk()
    for note in noted[workload].notes:
        disk.apply(note)
    there = {file.name: file.read_bytes() for file in noted[workload].folder.iterdir()}
    assert set(there) == {WHOLE, RESUMED}
    assert {name: bytes(file.content) for name, file in disk.names.items()} == there


def test_no_image_breaks_the_promise(outcomes, record_property):
    images = sum(outcome.images for outcome in outcomes.values())
    words = "\n".join(f"{workload} {name}: {outcome.words()}" for (workload, name), outcome in outcomes.items())
    record_property("images", images)
    print(words)
    assert sum(outcome.broken for outcome in outcomes.values()) == 0, words
    assert images >= IMAGES, words


def test_check_finds_every_image_sound(outcomes, a2a, tmp_path):
    parts: list[list[Path]] = []
    for (workload, name), outcome in outcomes.items():
        parts.append([tmp_path / f"{workload}-{i}-{name}" for i in range(len(outcome.some))])
        for file, image in zip(parts[-1], outcome.some, strict=True):
            file.write_bytes(image)

    def check(files: list[Path]) -> subprocess.CompletedProcess[str]:
        return subprocess.run([a2a, "check", *files], capture_output=True, text=True, timeout=PATIENCE)

    with ThreadPoolExecutor(2) as workers:
        for said in workers.map(check, parts):
            assert said.returncode == 0, said.stdout + said.stderr
    assert sum(map(len, parts)) >= COMMANDS * 3 // 4


def test_an_image_can_be_resumed(outcomes, program, tmp_path):
    given = [(workload, image) for (workload, _), outcome in outcomes.items() for image in outcome.some]
    for i, (workload, image) in enumerate(given[:: max(len(given) // RESUMES, 1)][:RESUMES]):
        file = tmp_path / f"{i}.h5"
        file.write_bytes(image)
        outcome = run(command_of(program, workload, file, "--resume"), tmp_path)
        assert outcome.returncode == 0, outcome.stderr
        with h5py.File(file) as opened:
            assert set(opened["state"][()].tolist()) == {COMPLETE}
