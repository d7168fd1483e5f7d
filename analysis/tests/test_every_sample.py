# SPDX-License-Identifier: BSD-3-Clause
"""Every sample text under every command: a result, or one line that says why there is none."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from a2aperf import plots
from conftest import DATA, Outcome

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("summed_once")]

Run = Callable[..., Outcome]
SAMPLES = sorted(
    [*DATA.glob("*.txt"), *DATA.glob("*.json"), *DATA.glob("perftest-4.5/*"), *DATA.glob("*.gz")]
)
RANKS = ("--ranks", "4")
"""Of a text that does not say how many ran."""
NO_RESULTS = "write-bw-only.json"
COMMANDS: dict[str, tuple[str, ...]] = {
    "table": ("table",),
    "table --json": ("table", "--role", "all", "--json"),
    "table --nodes": ("table", "--nodes"),
    "table --counters": ("table", "--counters"),
    "table --start-times": ("table", "--start-times"),
    "check": ("check",),
    "explain": ("explain",),
    "explain --json": ("explain", "--json"),
    "report": ("report", "-o", "out.html"),
    "history": ("history",),
    "history --json": ("history", "--json"),
    "history --per node": ("history", "--per", "node"),
    "gate": ("gate", "--min-efficiency", "50%"),
    "gate --expect": ("gate", "--expect", "link"),
    "export --flat": ("export", "--flat", "-o", "out.csv"),
    "export --anonymize": ("export", "--anonymize", "--key", "key", "-o", "out.h5"),
    **{f"compare {name}": ("compare", "--by", name) for name in ("mode", "engine", "interconnect")},
    **{f"plot {kind}": ("plot", kind, "-o", "out.svg") for kind in plots.KINDS},
    "plot compare by mode": ("plot", "compare", "--by", "mode", "-o", "out.svg"),
}


@pytest.fixture(params=SAMPLES, ids=[path.name for path in SAMPLES])
def sample(
    a2a: Run, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """The results file of one, in the working folder."""
    monkeypatch.chdir(tmp_path)
    path: Path = request.param
    if path.suffix == ".gz":
        Path("in.h5").write_bytes(gzip.decompress(path.read_bytes()))
        return "in.h5"
    made = a2a("import", path, "-o", "in.h5")
    if path.name == NO_RESULTS:
        made.refused(NO_RESULTS)
        pytest.skip("it has no results")
    if made.status == 2 and RANKS[0] in made.err:
        made = a2a("import", path, *RANKS, "-o", "in.h5")
    assert made.status == 0, made
    return "in.h5"


def test_every_command(a2a: Run, sample: str) -> None:
    faults = {}
    for name, (command, *words) in COMMANDS.items():
        kind = [words.pop(0)] if command == "plot" else []
        for old in Path().glob("out.*"):
            old.unlink()
        try:
            outcome = a2a(command, *kind, sample, *words)
        except Exception as error:  # all that goes wrong is told at once
            faults[name] = repr(error)
            continue
        lines = outcome.err.splitlines()
        if "a fault of a2a itself" in outcome.err:
            faults[name] = lines[0]
        elif outcome.status == 2 and (outcome.out or not lines or not lines[-1].startswith("a2a:")):
            faults[name] = f"refused without a line of why: {outcome}"
        elif outcome.status not in range(5):
            faults[name] = f"status {outcome.status}"
        elif outcome.status == 0 and "-o" in words and not [*Path().glob("out.*")]:
            faults[name] = "no file"
        elif outcome.status == 2 and [*Path().glob("out.*")]:
            faults[name] = "refused, and a file"
    assert faults == {}
