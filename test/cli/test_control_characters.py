# SPDX-License-Identifier: BSD-3-Clause
"""What the program says of names that others chose acts on no terminal."""

import os
import subprocess
from pathlib import Path

import h5py
import pytest
from processes import PATIENCE

MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"

NAME = "a\x1b[2J\u202e.h5"
WORDS = [
    "alltoall",
    "--provider",
    "shm",
    "--sync",
    "barrier",
    "--poll",
    "yield",
    "--sizes",
    "8",
    "--ops",
    "3",
    "-o",
    NAME,
]


def require_seen(outcome) -> str:
    text = outcome.stdout + outcome.stderr
    assert all(line.isprintable() for line in text.replace("\t", " ").split("\n")), repr(text)
    return text


def test_names_of_files(launch, a2aperf):
    assert r"1 point measured: a\x1b[2J" in require_seen(launch(2, *WORDS))
    refused = launch(2, *WORDS)
    assert refused.returncode == 2
    assert r"a\x1b[2J" in require_seen(refused)
    assert r"a\x1b[2J" in require_seen(launch(3, *WORDS, "--resume"))
    assert r"x\x1b[2J" in require_seen(a2aperf("alltoall", "--dry-run", "--config", "x\x1b[2J"))


@pytest.mark.parametrize("text", ["\x1b]0;mine\x07", "a2aperf: sound\nx", "\x9b31m"])
def test_what_a_file_says_at_resume(launch, tmp_path, text):
    """In every text of its launch; whatever comes of it is said in characters that are seen."""
    assert launch(2, *WORDS).returncode == 0
    with h5py.File(tmp_path / NAME, "r+") as file:
        segment = file["segments/0"]
        for name, value in list(segment.attrs.items()):
            if isinstance(value, str):
                segment.attrs[name] = value + text
        for name in ("nodes", "environment_name", "environment_value"):
            segment[name][...] = [one + text.encode() for one in segment[name][()]]
        for name in ("mode", "schedule", "provider", "skip_reason"):
            file[name][...] = [one + text.encode() for one in file[name][()]]
    require_seen(launch(2, *WORDS, "--resume"))
    require_seen(launch(3, *WORDS, "--resume"))


def test_what_a_configuration_says(a2aperf, tmp_path):
    for text in ('mode = "x\x1b[2J"\n', "mo\x1b[2Jde = 1\n", "[x\x1b[2J]\nmode = 1\n"):
        (tmp_path / "x.toml").write_text(text)
        outcome = a2aperf("alltoall", "--dry-run", "--config", "x.toml")
        assert outcome.returncode == 2
        require_seen(outcome)


def test_words_of_the_environment(program, tmp_path):
    """libfabric, which has them first, says them as they are; of its lines the program knows nothing."""
    words = [MPIRUN, "2", program, *WORDS]
    environment = {**os.environ, "FI_PROVIDER": "tc\x1b[2Jp"}
    outcome = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, env=environment)
    ours = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert r"FI_PROVIDER=tc\x1b[2Jp hides it" in "".join(ours)
    assert all(line.isprintable() for line in ours), ours
