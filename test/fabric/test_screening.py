# SPDX-License-Identifier: BSD-3-Clause
"""A screening with real launches: what a plan says is what the files show."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
A2A = Path(os.environ.get("A2A", ROOT / ".venv/bin/a2a"))
DUMMIES = [word for i in range(4) for word in ("--try", f"A2APERF_DUMMY_{i}=1")]

pytestmark = pytest.mark.slow


def a2a(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [A2A, "screen", *words], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def screened(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    launch: Callable[..., subprocess.CompletedProcess[str]],
    needs_provider: Callable[[str], str],
) -> dict:
    """All launches of a plan over shm, but one of them does not get a variable that its row has."""
    needs_provider("shm")
    words = ["--try", "FI_SHM_TX_SIZE", "--try", "FI_SHM_RX_SIZE", *DUMMIES, "--seed", "7", "-o", "screen.json"]
    assert a2a(tmp_path, "--provider", "shm", *words).returncode == 0
    plan = json.loads((tmp_path / "screen.json").read_text())
    names = [one["name"] for one in plan["settings"]]
    plan["forgotten"] = next(row for row in plan["launches"] if "A2APERF_DUMMY_0" in row["environment"])
    for row in plan["launches"]:
        for name in names:
            monkeypatch.delenv(name, raising=False)
        environment = dict(row["environment"])
        if row is plan["forgotten"]:
            del environment["A2APERF_DUMMY_0"]
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        required = [word for name, value in environment.items() for word in ("--require", f"{name}={value}")]
        outcome = launch(
            2, "alltoall", "--provider", "shm", "--sync", "barrier", "--sizes", "1000,60000", "--ops", "5", "--warmup", "1",
            "--label", f"screen={row['label']}", "-o", f"{row['label']}.h5", *required,
        )  # fmt: skip
        assert outcome.returncode == 0, outcome.stderr
    return plan


def test_every_launch_counts_that_had_its_settings(screened: dict, tmp_path: Path) -> None:
    outcome = a2a(tmp_path, ".", "--json")
    assert outcome.returncode == 0, outcome.stderr
    told = json.loads(outcome.stdout)
    assert told["plan"] == screened["id"]
    assert told["launches"] == len(screened["launches"]) - 1
    assert told["launch_pairs"] == (len(screened["launches"]) - 4) // 2 - 1
    assert len(told["effects"]) == len(screened["settings"]) * len(told["bands"])
    lost = screened["forgotten"]["label"]
    wrong = "A2APERF_DUMMY_0 was not set and should have been '1'; does not count"
    assert any(lost in note and wrong in note for note in told["notes"]), told["notes"]
