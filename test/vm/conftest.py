# SPDX-License-Identifier: BSD-3-Clause
"""One boot of the virtual machine in which every case of verbs is measured; the tests look at what it left."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cases import ALL, Case
from results import Results

HERE = Path(__file__).resolve().parent
DEADLINE_S = 2400


@dataclass
class Outcome:
    case: Case
    status: int
    log: str
    results: Results
    packets: tuple[int, int]  # that left the first host in RoCE: with the traffic class set, with any other
    bytes_sent: int


@pytest.fixture(scope="session")
def machine(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the guest wrote to."""
    folder = tmp_path_factory.mktemp("vm")
    cases = folder / "cases"
    cases.write_text("".join(case.line(name) + "\n" for name, case in ALL.items()))
    command = 'exec "$0" "$1" </output/cases'
    ended = subprocess.run(
        [HERE / "machine.sh", "-t", str(DEADLINE_S), folder, "bash", "-c", command, HERE / "adapter_cases.sh", program],
        capture_output=True, text=True, timeout=DEADLINE_S + 200, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if ended.returncode == 77:
        pytest.skip(ended.stdout.strip())
    console = folder / "console.log"
    assert ended.returncode == 0, ended.stderr + (console.read_text(errors="replace") if console.exists() else "")
    return folder


@pytest.fixture(scope="session")
def outcome(machine: Path) -> Callable[[str], Outcome]:
    """What became of a case: outcome("two")."""

    def look(name: str) -> Outcome:
        log = (machine / f"{name}.log").read_text()
        status = int((machine / f"{name}.status").read_text())
        assert status == 0, log
        entries = json.loads((machine / f"{name}.wire").read_text())
        filters = [entry for entry in entries if "actions" in entry.get("options", {})]
        counts = {entry["pref"]: entry["options"]["actions"][0]["stats"] for entry in filters}
        return Outcome(
            ALL[name], status, log, Results(machine / f"{name}.h5"),
            (counts[1]["packets"], counts[2]["packets"]), counts[1]["bytes"] + counts[2]["bytes"],
        )  # fmt: skip

    return look
