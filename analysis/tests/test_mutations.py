# SPDX-License-Identifier: BSD-3-Clause
"""A changed bit or byte of a file is found by `a2a check`, or changes nothing that is shown."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from a2aperf import check, cli, trailer
from a2aperf.errors import STATUS_BAD_INPUT, InputError
from conftest import TABLE_2019, Outcome
from support import (
    mutants,
    native_echo,
    native_interference,
    native_open_loop,
    native_paths,
    native_streams,
    synthetic,
    synthetic_pairs,
)
from support.forked import forked
from support.synthetic import Setup

COUNT = int(os.environ.get("A2A_MUTANTS", "12"))
"""Of each form; 2000 in the long run."""
SMALL = Setup(nodes=2, ppn=1, sizes=(8, 1000), ops=12, environment={"PSM2_RCVTHREAD": "0"})


def alltoall(path: Path) -> Path:
    return synthetic.write_launch(path, SMALL)


def pairs(path: Path) -> Path:
    setup = Setup(nodes=3, ppn=1, sizes=(8, 60000), ops=12)
    return synthetic_pairs.write_pairs(path, setup, synthetic_pairs.Truth(pairs={(0, 1): 2.0}))


def merged(path: Path) -> Path:
    other = synthetic.write_launch(path.with_name("b.h5"), Setup(nodes=2, sizes=(8,), seed=2))
    one = alltoall(path.with_name("a.h5"))
    assert cli.main(["merge", str(one), str(other), "-o", str(path)]) == 0
    return path


def imported(path: Path) -> Path:
    assert cli.main(["import", str(TABLE_2019), "-o", str(path)]) == 0
    return path


def stream(path: Path) -> Path:
    return native_streams.write(path)


def qos(path: Path) -> Path:
    return native_paths.write(path)


def echo(path: Path) -> Path:
    return native_echo.write(path)


def open_loop(path: Path) -> Path:
    return native_open_loop.write(path)


def interference(path: Path) -> Path:
    return native_interference.write(path)


def slow(*forms: Callable[[Path], Path]) -> list[Any]:
    return [pytest.param(form, marks=pytest.mark.slow) for form in forms]


FORMS = (alltoall, pairs, stream, echo, open_loop, qos, interference, merged, imported)


@pytest.mark.parametrize("form", FORMS)
def test_no_change_of_a_finished_file_is_missed(
    a2a: Callable[..., Outcome], tmp_path: Path, form: Callable[[Path], Path]
) -> None:
    path = form(tmp_path / "x.h5")
    content, random = path.read_bytes(), np.random.default_rng(12)
    for _ in range(COUNT):
        path.write_bytes(mutants.mutant(content, random))
        trailer._of.cache_clear()  # two writes may have one time
        assert trailer.of(path) is trailer.Trailer.WRONG
    outcome = a2a("check", path)  # of the last one: each may end the process that reads it
    assert outcome.status == STATUS_BAD_INPUT and ": error: " in outcome.out, outcome


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_change_of_an_unfinished_file_is_missed(
    tmp_path: Path, form: Callable[[Path], Path]
) -> None:
    nothing_is_missed(mutants.killed(form(tmp_path / "x.h5")))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_no_change_of_a_file_is_missed_of_which_points_wait(
    tmp_path: Path, form: Callable[[Path], Path]
) -> None:
    nothing_is_missed(mutants.killed(form(tmp_path / "x.h5"), waiting=1))


def nothing_is_missed(path: Path) -> None:
    command = [sys.executable, "-m", "support.mutants", str(path), "12", str(COUNT)]
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["missed"] == [], (told, done.stderr)
    assert told["fates"]["found"] > 0


def test_damage_that_only_a_first_look_meets_is_found(tmp_path: Path) -> None:
    """HDF5 does not give names whose list of free places is damaged, but for a second time."""
    path = mutants.killed(qos(tmp_path / "x.h5"))
    content, before = path.read_bytes(), mutants.shown(path)
    fates = set()
    for heap in re.finditer(b"HEAP", content):
        changed = bytearray(content)
        changed[heap.start() + 16] ^= 4
        path.write_bytes(changed)
        fates.add(forked(lambda: mutants.fate(path, before)))
    assert mutants.FOUND in fates
    assert fates <= {mutants.FOUND, mutants.SAME}


@pytest.mark.parametrize("form", [stream, qos, *slow(open_loop, interference)])
def test_a_column_that_lost_its_name_is_told(tmp_path: Path, form: Callable[[Path], Path]) -> None:
    """As a flipped bit in HDF5's list of names does it, whichever of its own columns that is."""
    with h5py.File(alltoall(tmp_path / "a.h5")) as file:
        common = set(file)
    content = mutants.killed(form(tmp_path / "x.h5")).read_bytes()
    path = tmp_path / "mutant.h5"
    with h5py.File(tmp_path / "x.h5") as file:
        names = [one for one in set(file) - common if isinstance(file[one], h5py.Dataset)]
    assert names
    for name in names:
        path.write_bytes(content)
        with h5py.File(path, "r+") as file:
            file.move(name, f"{name[:-1]}~")
        try:
            told = check.findings_of_damaged(path, lambda done, of: None)
        except InputError:
            continue
        assert any(one.error for one in told), name
