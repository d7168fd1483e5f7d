# SPDX-License-Identifier: BSD-3-Clause
"""Power cuts at every instant of real launches: whatever a disk may then hold, docs/file-format.md holds.

Ten thousand distinct images: A2APERF_CRASH_IMAGES asks for another number, A2APERF_CRASH_COMMANDS for how many of them
the command line is given (100), A2APERF_CRASH_RESUMES for how many of these are resumed (6).
"""

import os
import subprocess
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import h5py
import pytest
from disk import Disk
from processes import PATIENCE
from rows import PENDING
from scenarios import OF_THE_ANALYSIS, SCENARIOS
from scene import NAME, Scene, Tools
from simulation import Outcome, simulate

pytestmark = pytest.mark.slow

IMAGES = int(os.environ.get("A2APERF_CRASH_IMAGES", "10000"))
COMMANDS = int(os.environ.get("A2APERF_CRASH_COMMANDS", "100"))
RESUMES = int(os.environ.get("A2APERF_CRASH_RESUMES", "6"))
OF_AN_END = (
    "how it ended is not as it was written: its checksum is wrong",
    "end_state and end_reason do not fit together",
)
# Of what the analysis writes at once there are two images, the old file and the new one.
LAUNCHES = len(SCENARIOS) - len(OF_THE_ANALYSIS)


@pytest.fixture(scope="module")
def scenes(program, a2a, preload_recorder, needs_providers, tmp_path_factory) -> dict[str, Scene]:
    """Two at a time: the rest of the tests needs cores as well."""
    tools = Tools(program, a2a, preload_recorder)
    made: dict[str, Future[Scene]] = {}
    folder = tmp_path_factory.mktemp("scenes")

    def make(name: str) -> Scene:
        play, of = SCENARIOS[name]
        scene = Scene(tools, folder / name.replace(" ", "-") / "folder")
        scene.folder.mkdir(parents=True)
        play(scene, *(made[before].result() for before in of))
        return scene

    with ThreadPoolExecutor(2) as workers:
        for name in SCENARIOS:
            made[name] = workers.submit(make, name)
    return {name: scene.result() for name, scene in made.items()}


@pytest.fixture(scope="module")
def needs_providers(offered) -> None:
    there, missing = offered
    for name in ("shm", "udp"):
        if name not in there:
            pytest.skip(f"{name} is not here: {missing.get(name)}")


@pytest.fixture(scope="module")
def outcomes(scenes) -> dict[str, Outcome]:
    images, keep = -(-IMAGES // LAUNCHES), -(-COMMANDS // LAUNCHES)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        tasks = {
            name: workers.submit(simulate, scene.notes, NAME, images, seed, keep)
            for seed, (name, scene) in enumerate(scenes.items())
        }
        return {name: task.result() for name, task in tasks.items()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_nothing_was_written_that_is_not_noted(scenes, name):
    disk = Disk()
    for note in scenes[name].notes:
        disk.apply(note)
    assert {file.name for file in scenes[name].folder.iterdir()} == {NAME} == set(disk.names)
    assert bytes(disk.names[NAME].content) == scenes[name].file.read_bytes()


@pytest.mark.every
def test_no_image_breaks_the_promise(outcomes, record_property):
    images = sum(outcome.images for outcome in outcomes.values())
    words = "\n".join(f"{name}: {outcome.words()}" for name, outcome in outcomes.items())
    record_property("images", images)
    print(words)
    assert sum(outcome.broken for outcome in outcomes.values()) == 0, words
    assert images >= IMAGES, words
    assert all(outcome.images >= 2 for outcome in outcomes.values()), words


@pytest.mark.every
def test_check_finds_every_image_sound(outcomes, a2a, tmp_path):
    parts: list[list[Path]] = []
    for name, outcome in outcomes.items():
        parts.append([tmp_path / f"{name}-{i}.h5" for i in range(len(outcome.some))])
        for file, image in zip(parts[-1], outcome.some, strict=True):
            file.write_bytes(image)

    def check(files: list[Path]) -> subprocess.CompletedProcess[str]:
        if not files:
            return subprocess.CompletedProcess([], 0, "", "")
        return subprocess.run([a2a, "check", *files], capture_output=True, text=True, timeout=PATIENCE)

    with ThreadPoolExecutor(2) as workers:
        for name, said in zip(outcomes, workers.map(check, parts), strict=True):
            errors = [line for line in said.stdout.splitlines() if "error: " in line]
            if name == "failing end":  # no barrier was to be had between why it ended and that it did
                errors = [line for line in errors if not line.endswith(OF_AN_END)]
            else:
                assert said.returncode == 0, said.stdout + said.stderr
            assert not errors and not said.stderr, said.stdout + said.stderr
    assert sum(map(len, parts)) >= COMMANDS * 3 // 4


def test_an_image_can_be_resumed(outcomes, scenes, tmp_path):
    given = [(name, image) for name, outcome in outcomes.items() if scenes[name].resumed for image in outcome.some]
    for i, (name, image) in enumerate(given[:: max(len(given) // RESUMES, 1)][:RESUMES]):
        file = tmp_path / f"{i}.h5"
        file.write_bytes(image)
        outcome = scenes[name].resumed(file)
        assert outcome.returncode == scenes[name].ends, f"{name}: {outcome.stderr}"
        with h5py.File(file) as opened:
            assert PENDING not in opened["state"][()]
