# SPDX-License-Identifier: BSD-3-Clause
"""A copy that `a2a` made of a results file is one that the program resumes, and the texts in it are those of the launch."""

import subprocess

import h5py
import pytest

BRIEF = {
    "interference": ["--phase", "40ms", "--alternations", "1", "--levels", "100", "--load-class", "sl1"],
    "qos": ["--path", "0:1,class=sl1", "--path", "2:3", "--duration", "200ms", "--interval", "100ms"],
}
TEXTS = {"interference": ["load_class_trouble"], "qos": ["paths/class_granted", "paths/class_verified", "paths/class_trouble", "paths/port"]}


@pytest.mark.parametrize("workload", BRIEF)
def test_it_is_resumed_and_its_texts_are_as_they_were(workload, launch, a2a, tmp_path):
    words = [workload, "--provider", "tcp", "--poll", "yield", *BRIEF[workload]]
    assert (outcome := launch(4, *words, "-o", "a.h5")).returncode == 0, outcome.stderr
    made = subprocess.run([a2a, "check", "--repair", "a.h5", "-o", "b.h5"], cwd=tmp_path, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    with h5py.File(tmp_path / "a.h5") as before, h5py.File(tmp_path / "b.h5") as copied:
        for name in TEXTS[workload]:
            assert copied[name].dtype == before[name].dtype == "S64"
            assert copied[name][...].tolist() == before[name][...].tolist()
        assert any(copied[name][...].any() for name in TEXTS[workload])
    again = launch(4, *words, "-o", "b.h5", "--resume")
    assert again.returncode == 0, again.stderr
