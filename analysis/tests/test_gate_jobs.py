# SPDX-License-Identifier: BSD-3-Clause
"""`a2a gate` of a job's folder, and of files of pairs: nodes, launches, weak links, history."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import h5py
import pytest

import studies
from a2aperf.nodes import moves
from conftest import Outcome
from support import synthetic, synthetic_pairs
from support.edited import edited
from support.synthetic import Setup
from support.synthetic_pairs import Truth

pytestmark = pytest.mark.usefixtures("summed_once")

A2A = Callable[..., Outcome]
PAIRS = Setup(nodes=8, ppn=1, sizes=(1_000_000,), ops=10)
NODES = [f"node{i:03}" for i in range(1, 9)]
NEXT = [f"node{i:03}" for i in range(9, 17)]
HEALTHY = "node001\tprogram\tok\ta2aperf 0.1.0\nnode002\tprogram\tok\ta2aperf 0.1.0\n"


def checked(
    a2a: A2A, *words: str | Path
) -> tuple[int, dict[str, list[dict[str, str]]], dict[str, str]]:
    """Status, checks by their name, candidates."""
    outcome = a2a("gate", *words, "--json")
    made = json.loads(outcome.out)
    assert outcome.status == made["status"]
    checks: dict[str, list[dict[str, str]]] = {}
    for one in made["checks"]:
        checks.setdefault(one["check"], []).append(one)
    return outcome.status, checks, made["candidates"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Job 7, a check on eight nodes that went well."""
    folder = tmp_path / "results"
    folder.mkdir()
    studies.plan(folder, "7", [(8, "-"), (8, "-")], "check")
    studies.launch(folder, "7", 1, 8, "check")
    made = synthetic_pairs.write_pairs(tmp_path / "made.h5", PAIRS)
    (folder / "check-7-n8-base-002.h5").write_bytes(made.read_bytes())
    studies.log(folder, "7", 1, "0")
    studies.log(folder, "7", 2, "0")
    (folder / "nodes-7.txt").write_text(HEALTHY)
    return folder


def test_a_job_in_which_all_is_well(a2a: A2A, folder: Path) -> None:
    status, checks, candidates = checked(a2a, folder, "--job", "7", "--min-efficiency", "1%")
    assert status == 0 and not candidates
    assert set(checks) == {"nodes", "weak links", "efficiency"}
    assert checks["nodes"][0]["at"] == "2 nodes"
    assert checks["weak links"][0]["why"] == "nothing stands out"


def test_nodes_of_a_job(a2a: A2A, folder: Path) -> None:
    rows = HEALTHY + "".join(f"node00{i}\tkernel\tok\t6.1.{i // 4}\n" for i in range(1, 5))
    rows += "node003\tload\twarn\t9 of 8 busy\nnode004\tload\twarn\t8 of 8 busy\n"
    rows += "node002\tmemlock\tbad\t64 KiB\nnode002\tuse\tbad\tleft out: not fit, see above\n"
    rows += "node009\tuse\tbad\tleft out: does not answer\n"
    (folder / "nodes-7.txt").write_text(rows)
    status, checks, candidates = checked(a2a, folder, "--job", "7")
    assert status == 2
    told = [(one["verdict"], one["at"], one["why"]) for one in checks["nodes"]]
    assert ("critical", "node002", "memlock: 64 KiB") in told
    assert ("critical", "node009", "use: left out: does not answer") in told
    assert (
        "warning", "node003 and node004", "load: 9 of 8 busy (node003; others likewise)"
    ) in told  # fmt: skip
    assert any(at == "node004" and "kernel: 6.1.1, and 3 of 4 nodes" in why for _, at, why in told)
    assert candidates == {
        "node002": "memlock: 64 KiB", "node009": "use: left out: does not answer"
    }  # fmt: skip
    last = a2a("gate", folder, "--job", "7").out.splitlines()[-1]
    assert last == "candidates to drain: node009 and node002"


def test_a_node_to_drain_has_the_name_that_slurm_has_for_it(
    a2a: A2A, folder: Path, tmp_path: Path
) -> None:
    """Its system calls it by its domain, too; the preflight has found it unfit, and it is slow."""
    slow = Truth(senders={3: 2.0, 6: 2.0})
    made = synthetic_pairs.write_pairs(tmp_path / "slow.h5", replace(PAIRS, seed=5), slow)
    with edited(made) as opened:
        opened["segments/0/nodes"][...] = [f"{name}.cluster" for name in NODES]
    (folder / "check-7-n8-base-002.h5").write_bytes(made.read_bytes())
    rows = "".join(f"{name}\tprogram\tok\ta2aperf 0.1.0\n" for name in NODES)
    (folder / "nodes-7.txt").write_text(rows + "node004\tmemlock\tbad\t64 KiB\n")
    status, _, candidates = checked(a2a, folder, "--job", "7")
    assert status == 2 and sorted(candidates) == ["node004", "node007"]
    assert candidates["node004"] == "memlock: 64 KiB"


def test_nights_of_another_cluster_in_the_folder_name_no_node(a2a: A2A, folder: Path) -> None:
    """Nodes of both have the same names."""
    for day in range(moves.LEAST):
        cpu = "another" if day % 2 else "synthetic CPU"
        setup = replace(
            PAIRS, seed=20 + day, started=PAIRS.started + timedelta(days=day),
            node_facts={"cpu_model": cpu},
        )  # fmt: skip
        synthetic_pairs.write_pairs(folder / f"night-{day}.h5", setup)
        if day == 2:  # too few nights to say anything of a node
            assert "history" not in checked(a2a, folder, "--job", "7")[1]
    status, checks, candidates = checked(a2a, folder, "--job", "7")
    assert status == 3 and not candidates
    assert checks["history"][0]["why"].startswith("different clusters: cpu_model is 'syn")


@pytest.mark.parametrize("sound", [moves.LEAST, 3])
def test_nights_that_cannot_be_read_are_unknown(a2a: A2A, folder: Path, sound: int) -> None:
    """Node003 may be slow in them. The job's own file has a check already."""
    for day in range(1, sound + 3):
        setup = replace(PAIRS, seed=20 + day, started=PAIRS.started - timedelta(days=30 - day))
        file = synthetic_pairs.write_pairs(folder / f"night-{day:02}.h5", setup)
        if day > sound:
            file.write_bytes(file.read_bytes()[:5000])
    words = (folder, "--job", "7", "--min-efficiency", "1%")
    for _ in range(2):  # by the files, and by the index beside them
        status, checks, _ = checked(a2a, *words)
        assert status == 3
        lost = [one["why"] for one in checks["history"] if one["verdict"] == "unknown"]
        assert [f"night-{day:02}.h5: " in why for day, why in enumerate(lost, sound + 1)] == [
            True, True
        ]  # fmt: skip
        assert len(checks["history"]) == (3 if sound == moves.LEAST else 2)
    first = a2a("gate", *words).out.splitlines()[0]
    assert first.startswith("UNKNOWN: 2 unknown, ") and f"night-{sound + 1:02}.h5" in first
    own = folder / "check-7-n8-base-002.h5"
    own.write_bytes(own.read_bytes()[:5000])
    _, checks, _ = checked(a2a, *words)
    assert "launch 002: " in checks["launches"][0]["why"]
    assert not any(own.name in one["why"] for one in checks["history"])


def test_what_is_damaged_and_can_be_read_is_not_ok(a2a: A2A, tmp_path: Path) -> None:
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", PAIRS)
    assert a2a("gate", file).status == 0
    with h5py.File(file, "r+") as opened:
        opened["state"][0] = 65
    status, checks, _ = checked(a2a, file)
    assert status == 3 and checks["weak links"][0]["verdict"] == "ok"
    (one,) = checks["files"]
    said = "point 0: its state is not as it was written (65): complete"
    assert one["verdict"] == "unknown" and one["why"].startswith(f"{file}: {said}")


def test_what_a_job_lacks_is_unknown(a2a: A2A, folder: Path) -> None:
    studies.log(folder, "7", 2, "1", "signal 9 (Killed) ended a rank on node002")
    status, checks, _ = checked(a2a, folder, "--job", "7")
    assert status == 3
    assert "launch 002: signal 9" in checks["launches"][0]["why"] and "weak links" not in checks
    studies.log(folder, "7", 1, "-", "not begun: the job was cancelled")
    (folder / "nodes-7.txt").unlink()
    status, checks, _ = checked(a2a, folder, "--job", "7")
    assert status == 3
    assert checks["files"][0]["why"] == "no launch is good"
    assert checks["nodes"][0]["why"] == "there is no preflight of the job"


def test_a_busy_node_hides_not_that_no_launch_is_good(a2a: A2A, folder: Path) -> None:
    """Nobody knows how fast anything is; a node that is not fit is critical all the same."""
    busy = HEALTHY + "node002\tload\twarn\t9 of 8 busy\n"
    (folder / "nodes-7.txt").write_text(busy)
    studies.log(folder, "7", 2, "1", "signal 9 (Killed) ended a rank on node002")
    assert checked(a2a, folder, "--job", "7")[0] == 1  # one is good
    studies.log(folder, "7", 1, "-", "not begun: the job was cancelled")
    status, checks, _ = checked(a2a, folder, "--job", "7")
    assert status == 3 and checks["nodes"][0]["verdict"] == "warning"
    first = a2a("gate", folder, "--job", "7").out.splitlines()[0]
    assert first == (
        "UNKNOWN: 1 warning, 3 unknown of 4 checks; launches: launch 001: not begun: the job was "
        "cancelled"
    )
    (folder / "nodes-7.txt").write_text(busy + "node001\tmemlock\tbad\t64 KiB\n")
    assert checked(a2a, folder, "--job", "7")[0] == 2


@pytest.mark.parametrize(
    ("factor", "loss", "state"), [(1.0, "10%", 0), (1.5, "50%", 1), (1.5, "10%", 2)]
)
def test_a_node_that_sends_slowly(
    a2a: A2A, tmp_path: Path, factor: float, loss: str, state: int
) -> None:
    setup = replace(PAIRS, seed=5)
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", setup, Truth(senders={3: factor}))
    _, checks, candidates = checked(a2a, file, "--min-efficiency", "1%", "--loss", loss)
    (one,) = checks["weak links"]
    assert int(one["status"]) == state
    assert list(candidates) == (["node004"] if state else [])
    if state:
        assert float(one["measured"]) == pytest.approx(1 / factor, rel=0.05)


@pytest.mark.parametrize("nodes", [2, 3])
def test_too_few_nodes_to_tell_who_is_weak(a2a: A2A, tmp_path: Path, nodes: int) -> None:
    """One of them is at a fifth of the rate, and it may as well be the others that are fast."""
    setup = replace(PAIRS, nodes=nodes)
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", setup, Truth(senders={1: 5.0}))
    status, checks, candidates = checked(a2a, file, "--min-efficiency", "1%")
    (one,) = checks["weak links"]
    assert status == 3 and int(one["status"]) == 3 and not candidates
    assert f"of {nodes} senders and receivers nobody can be told from the others" in one["why"]
    assert "not judged: " in a2a("explain", file).out


def test_two_pairs_to_each_rank_are_too_few_to_be_ok(a2a: A2A, tmp_path: Path) -> None:
    """Between two nodes of two ranks: all from one to the other are slow, and it is not ok."""
    setup = replace(PAIRS, nodes=2, ppn=2)
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", setup, Truth(pairs={(0, 1): 20.0}))
    status, checks, candidates = checked(a2a, file, "--min-efficiency", "1%")
    (one,) = checks["weak links"]
    assert status == 3 and int(one["status"]) == 3 and not candidates
    assert "8 pairs that are alike are too few to tell one from the others" in one["why"]


@pytest.mark.parametrize(("factor", "status"), [(1.0, 0), (2.0, 2)])
def test_the_links_of_a_file_of_pairs_are_checked_unasked(
    a2a: A2A, tmp_path: Path, factor: float, status: int
) -> None:
    setup = replace(PAIRS, seed=5)
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", setup, Truth(senders={3: factor}))
    got, checks, candidates = checked(a2a, file)
    assert (got, list(checks)) == (status, ["weak links"])
    assert list(candidates) == (["node004"] if status else [])
    outcome = a2a("gate", file, "--candidates")
    assert (outcome.status, bool(outcome.out)) == (status, bool(status))
    # What is to be asked of an all-to-all nobody has said; what is asked for is not there.
    both = synthetic.write_launch(tmp_path / "a.h5", Setup(sizes=(8000,), ops=20))
    for files in ([both], [both, file]):
        outcome = a2a("gate", *files)
        assert outcome.status == 3 and "give --against" in outcome.err and not outcome.out
    assert a2a("gate", both, file, "--candidates").status == status
    assert checked(a2a, tmp_path / "none.h5")[1]["files"][0]["verdict"] == "unknown"
    assert checked(a2a, file, "--min-efficiency", "1%")[1]["files"][0]["verdict"] == "unknown"


def night(folder: Path, day: int, truth: Truth | None = None, names: Sequence[str] = NODES) -> Path:
    """A night's matrix of pairs of these nodes; senders of `truth` are counted along them."""
    setup = replace(
        PAIRS, nodes=len(names), seed=4 + day, started=datetime(2026, 3, day, tzinfo=UTC)
    )
    file = synthetic_pairs.write_pairs(folder / f"{day}.h5", setup, truth)
    with edited(file) as opened:
        opened["segments/0/nodes"][...] = list(names)
    return file


def test_what_was_weak_in_an_earlier_night_is_not_told_of_the_last(
    a2a: A2A, tmp_path: Path
) -> None:
    """It may have been mended since; weak in the last night is weak."""
    assert a2a("gate", night(tmp_path, 1, Truth(senders={7: 2.0}))).status == 2
    night(tmp_path, 2)
    status, checks, candidates = checked(a2a, tmp_path)
    assert (status, candidates) == (0, {})
    (one,) = checks["weak links"]
    assert one["n"] == "1 launch"
    assert one["why"] == (
        "nothing stands out; 1 earlier launch left out as far as a later job has the same nodes"
    )
    assert "1 earlier launch left out" in a2a("gate", tmp_path).out  # also where it is piped
    night(tmp_path, 3, Truth(senders={3: 2.0}))
    night(tmp_path, 4, names=[f"other{i}" for i in range(8)])  # is no later night of the others
    status, checks, candidates = checked(a2a, tmp_path)
    assert (status, list(candidates)) == (2, ["node004"])


@pytest.mark.parametrize(
    "later",
    [
        [NODES[7:] + NEXT[:7]],  # shares one node
        [[*NODES[:3], *NODES[4:], NEXT[0]]],  # all but the weak one
        [NODES[7:] + NEXT[:7], NEXT],  # the last one shares none with the first
        [NODES[2:5]],  # too few to be judged
    ],
    ids=["one-node", "all-others", "chain", "too-few"],
)
def test_a_weak_node_stays_weak_until_a_later_job_that_can_be_judged_has_it(
    a2a: A2A, tmp_path: Path, later: list[list[str]]
) -> None:
    has_it = any("node004" in names and len(names) >= 4 for names in later)
    night(tmp_path, 1, Truth(senders={3: 2.0}))
    for day, names in enumerate(later, 2):
        night(tmp_path, day, names=names)
    status, checks, candidates = checked(a2a, tmp_path)
    verdicts = [one["verdict"] for one in checks["weak links"]]
    assert (status, list(candidates)) == ((0, []) if has_it else (2, ["node004"]))
    assert ("critical" in verdicts) == (not has_it)
    assert ("unknown" in verdicts) == any(len(names) < 4 for names in later)
    night(tmp_path, 9, names=NODES)
    status, checks, candidates = checked(a2a, tmp_path)
    assert (status, candidates) == (0, {})


def test_a_weak_pair_stays_weak_until_a_later_job_has_both_of_its_nodes(
    a2a: A2A, tmp_path: Path
) -> None:
    night(tmp_path, 1, Truth(pairs={(2, 6): 3.0}))
    night(tmp_path, 2, names=NODES[:5] + NEXT[:3])
    night(tmp_path, 3, names=NODES[5:] + NEXT[3:])
    status, checks, _ = checked(a2a, tmp_path)
    assert status == 2
    assert checks["weak links"][0]["why"].startswith("node003 → node007: ")
    night(tmp_path, 4, names=NODES[1:] + NEXT[:1])
    assert checked(a2a, tmp_path)[0] == 0


def test_an_oversubscribed_job_says_nothing_of_how_its_nodes_are_now(
    a2a: A2A, tmp_path: Path
) -> None:
    night(tmp_path, 1, Truth(senders={3: 2.0}))
    with edited(night(tmp_path, 2)) as opened:
        opened["segments/0/node_of_rank"][...] = [0] * 8
    status, checks, candidates = checked(a2a, tmp_path)
    assert (status, list(candidates)) == (2, ["node004"])
    assert checks["weak links"][0]["why"].startswith("oversubscribed: 8 ranks on 1 core of node001")
    night(tmp_path, 3)
    assert checked(a2a, tmp_path)[0] == 0


def test_refusals(a2a: A2A, folder: Path) -> None:
    for words, said in (
        ((folder, "--job", "8"), "has no plan of it: expected one of 7"),
        ((folder / "check-7-n8-base-001.h5", "--job", "7"), "expected the one folder"),
        ((folder,), "or --job ID"),
    ):
        outcome = a2a("gate", *words)
        assert outcome.status == 3 and said in outcome.err and not outcome.out


def test_candidates_alone(a2a: A2A, folder: Path, tmp_path: Path) -> None:
    rows = HEALTHY + "node002\tmemlock\tbad\t64 KiB\n"
    (folder / "nodes-7.txt").write_text(rows)
    outcome = a2a("gate", folder, "--job", "7", "--candidates")
    assert (outcome.status, outcome.out) == (2, "node002 memlock: 64 KiB\n")
    setup = replace(PAIRS, seed=5)
    file = synthetic_pairs.write_pairs(tmp_path / "x.h5", setup, Truth(senders={3: 2.0}))
    outcome = a2a("gate", file, "--candidates")  # nothing else is asked for
    (line,) = outcome.out.splitlines()
    assert line.startswith("node004 node004 sends at ")
