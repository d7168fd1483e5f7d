# SPDX-License-Identifier: BSD-3-Clause
"""Traffic that is not uniform: every message has the bytes that its matrix asks for, the file says which, and a
bad matrix is refused before anything is written."""

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from processes import PATIENCE
from results import COMPLETE, SKIPPED, Results

A2A = os.environ.get("A2A", Path(__file__).parents[2] / ".venv/bin/a2a")
EVERY = "tagged,msg,write-imm,read,write"
CALM = ("--sync", "barrier", "--poll", "yield")
QUICK = ("--ops", "3", "--warmup", "1", *CALM)
MATRIX = [[0, 5, 0, 1], [1, 0, 0, 0], [0, 0, 0, 3], [2, 0, 1, 0]]


def csv_of(rows: list[list[int]]) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def bytes_of(weights: np.ndarray, size: int) -> np.ndarray:
    """As docs/file-format.md has it."""
    ranks, total = len(weights), int(weights.sum())
    exact = [[(int(w) * ranks * (ranks - 1) * size + total // 2) // total for w in row] for row in weights]
    return np.where(weights > 0, np.maximum(exact, 1), 0)


def require_sound(file: Path) -> None:
    said = subprocess.run([A2A, "check", file], capture_output=True, text=True, timeout=PATIENCE)
    assert said.returncode == 0, said.stdout + said.stderr


@pytest.fixture
def measure(launch, tmp_path):
    def run(ranks: int, *words: str, quick=QUICK):
        outcome = launch(ranks, "alltoall", *quick, "-o", "a.h5", *words)
        assert outcome.returncode == 0, outcome.stderr
        return Results(tmp_path / "a.h5"), outcome

    return run


@pytest.mark.parametrize("provider", ["shm", "tcp", "net"])
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_every_mode_moves_every_byte(launch, needs_provider, provider, ranks):
    needs_provider(provider)
    traffics = "zipf=1.2,hot-rank=3x,permutation,shift=1,neighbours=1,sparse=60%,incast,outcast,bisection,moe(experts=8,top=2)"
    outcome = launch(
        ranks, "alltoall", "--provider", provider, "--mode", EVERY, "--traffic", traffics,
        "--sizes", "1,5000", "--verify-only", "--poll", "yield", "--schedule", "random,coloured", "--window", "1,all",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert f"{5 * 10 * 2 * 2 * 2} points verified, every byte of every message" in outcome.stdout


def mtx_of(matrix):
    """Each number that is not 0, by the places of source and destination, counted from 1."""
    there = [(i, j, x) for i, row in enumerate(matrix, 1) for j, x in enumerate(row, 1) if x]
    lines = [f"{len(matrix)} {len(matrix)} {len(there)}", *(f"{i} {j} {x}" for i, j, x in there)]
    return "%%MatrixMarket matrix coordinate integer general\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "text_of"), [("app.csv", csv_of), ("app.mtx", mtx_of)])
def test_the_file_has_the_matrix_and_what_it_asks_of_whom(measure, tmp_path, name, text_of):
    (tmp_path / name).write_text(text_of(MATRIX))
    results, outcome = measure(
        4, "--provider", "shm", "--sizes", "1,1000", "--traffic", f"uniform,{name},incast", "--trace", "--no-sentinel"
    )
    assert results.words("traffic") == ["uniform"] * 2 + [name] * 2 + ["incast"] * 2
    assert list(results.columns["traffic_matrix"]) == [-1, -1, 0, 0, 1, 1]
    assert results.states() == [COMPLETE] * 6
    with h5py.File(tmp_path / "a.h5") as file:
        weights = file["matrices/weight"][()]
    assert (weights[0] == np.array(MATRIX)).all()
    assert (weights[1][1:, 0] > 0).all()
    assert np.count_nonzero(weights[1]) == 3
    for point in range(2, 6):
        matrix = weights[results.columns["traffic_matrix"][point]]
        size = int(results.columns["message_size"][point])
        sizes = bytes_of(matrix, size)
        assert results.columns["largest_message"][point] == sizes.max()
        most = max(sizes.sum(axis=0).max(), sizes.sum(axis=1).max())
        assert results.columns["imbalance"][point] == pytest.approx(most / (sizes.sum() / 4))
        time = results.columns["time_p50"][point] if point < 4 else np.nan  # from a barrier incast has no rate
        assert results.columns["gbps_aggregate"][point] == pytest.approx(8 * sizes.sum() / time, nan_ok=True)
        assert results.columns["msg_rate"][point] == pytest.approx(np.count_nonzero(sizes) / time * 1e9, nan_ok=True)
        # A message came where there is one, and nowhere else; arrivals are by destination and source.
        assert ((results.raw["arrival"][point, :3] >= 0) == (matrix.T > 0)).all()
    assert np.isnan(results.columns["gbps_compat"][2:]).all()
    assert np.isnan(results.columns["bound"]).all()  # nothing passes a link
    assert list(results.columns["imbalance"][:2]) == [1, 1]
    rows = [line for line in outcome.stdout.splitlines() if " incast, imbalance 4.00 (rank 0 receives)" in line]
    assert len(rows) == 2


def test_a_matrix_of_equal_entries_measures_what_uniform_traffic_does(measure):
    results, _ = measure(3, "--provider", "shm", "--sizes", "1000", "--traffic", "uniform,sparse=100%", "--no-sentinel")
    first, second = (
        {name: results.columns[name][point] for name in ("largest_message", "imbalance", "buffer_slots")}
        for point in (0, 1)
    )
    assert first == second


def test_beside_mpi_the_same_matrix_in_turn(measure, tmp_path):
    (tmp_path / "app.csv").write_text(csv_of(MATRIX))
    results, outcome = measure(
        4, "--provider", "tcp", "--sizes", "1000", "--mode", "tagged,msg", "--traffic", "app.csv", "--baseline", "mpi",
        "--shuffle-ranks", "--seed", "5",
    )  # fmt: skip
    assert results.words("traffic") == ["app.csv"] * 6
    baselines = results.rows("baseline")
    assert [int(results.columns["state"][i]) for i in baselines] == [COMPLETE] * 2
    assert (results.columns["ratio"][baselines] > 0).all()
    assert "MPI_Alltoallv app.csv" in outcome.stdout


def test_beside_mpi_no_ratio_of_what_goes_one_way_from_a_barrier(measure, tmp_path):
    results, outcome = measure(
        3, "--provider", "shm", "--sizes", "1000", "--traffic", "incast", "--baseline", "mpi", "--no-sentinel",
    )  # fmt: skip
    assert list(results.columns["state"]) == [COMPLETE] * 2 and len(results.rows("baseline")) == 1
    for name in ("ratio", "ratio_low", "ratio_high"):
        assert np.isnan(results.columns[name]).all()
    assert "against MPI" not in outcome.stderr and " x MPI" not in outcome.stdout
    require_sound(tmp_path / "a.h5")


def test_what_finds_no_room_is_skipped_with_the_reason(launch, tmp_path):
    outcome = launch(
        4, "alltoall", "--provider", "shm", *QUICK, "--sizes", "1MB", "--traffic", "uniform,incast",
        "--memory-limit", "30MB", "--no-sentinel", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.states() == [COMPLETE, SKIPPED]
    assert "the messages of one rank need 12.0 MB in each direction" in results.words("skip_reason")[1]


def test_a_resumed_launch_has_the_same_traffic(launch, tmp_path):
    words = ("--provider", "shm", *QUICK, "--sizes", "64", "-o", "a.h5", "--resume")
    (tmp_path / "app.csv").write_text(csv_of(MATRIX))
    assert launch(4, "alltoall", *words, "--traffic", "app.csv,zipf=1.2").returncode == 0
    again = launch(4, "alltoall", *words, "--traffic", "app.csv,zipf=1.2")
    assert again.returncode == 0, again.stderr
    assert "measured before" in again.stderr
    (tmp_path / "app.csv").write_text(csv_of([*MATRIX[:3], [2, 0, 2, 0]]))
    for traffic, said in (
        ("app.csv,zipf=1.2", "has traffic_digest "),
        ("app.csv,zipf=2", "has traffic 'zipf=1.2' in the file and 'zipf=2' in this launch (--traffic, --redraw)"),
    ):
        other = launch(4, "alltoall", *words, "--traffic", traffic)
        assert other.returncode == 2
        assert said in other.stderr
        assert "(--traffic" in other.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["matrices/weight"][0] == np.array(MATRIX)).all()


@pytest.mark.parametrize(
    ("traffic", "why"),
    [
        ("zipff=1", "unknown traffic 'zipff'"),
        ("zipf", "a value is missing, as in zipf=1.2"),
        ("hot-rank=3", "expected a number from 1x to 1000x"),
        ("shift=3", "3 ranks have the distances 1 to 2, not 3"),
        ("hot-node=2x", "at least 2 nodes"),
        ("moe(experts=4,top=5)", "a token can't go to 5 of 4 experts, as in moe("),
        ("moe(experts=4", "'moe(experts=4': its values stand in parentheses, as in moe("),
        ("none.csv", "cannot read 'none.csv'"),
        ("shape.csv", "2 x 3 is not square"),
        ("ranks.csv", "a matrix of 2 x 2, and there are 3 ranks"),
        ("negative.csv", "line 2: '-1' is below 0"),
        ("zero.csv", "nothing is sent"),
        ("large.csv", "'1e999' is too large"),
        ("bad.mtx", "line 1: expected '%%MatrixMarket matrix coordinate integer general'"),
    ],
)
def test_bad_traffic_is_refused_in_one_line(launch, tmp_path, traffic, why):
    for name, text in {
        "shape": "0,1,2\n1,0,2\n",
        "ranks": "0,1\n1,0\n",
        "negative": "0,1,1\n-1,0,1\n1,1,0\n",
        "zero": "1,0,0\n0,1,0\n0,0,1\n",
        "large": "0,1e999,1\n1,0,1\n1,1,0\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "bad.mtx").write_text("3 3 1\n1 2 1\n")
    outcome = launch(3, "alltoall", "--provider", "shm", *QUICK, "--traffic", traffic, "--sizes", "8", "-o", "a.h5")
    assert outcome.returncode == 2
    lines = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert len(lines) == 1
    assert lines[0].startswith("a2aperf: --traffic")
    assert why in lines[0]
    assert not list(tmp_path.glob("*.h5*"))


DRAWN = "zipf=1.2,rotating-hot=4x,permutation,sparse=60%,moe(experts=8,top=2,tokens=16)"


def ratio_of_bounds(results: Results, point: int, weights: np.ndarray) -> np.ndarray:
    """Imbalance of each valid op, whose matrices come in turn."""
    first, draws = (int(results.columns[name][point]) for name in ("traffic_matrix", "traffic_draws"))
    size, attempts = (int(results.columns[name][point]) for name in ("message_size", "attempts"))
    asked = []
    for op in range(attempts):
        sizes = bytes_of(weights[first + op % draws], size)
        asked.append(max(sizes.sum(axis=0).max(), sizes.sum(axis=1).max()) / (sizes.sum() / len(sizes)))
    return np.array(asked)[results.raw["valid"][point, :attempts] != 0]


@pytest.mark.parametrize("provider", ["tcp", *(pytest.param(other, marks=pytest.mark.slow) for other in ("shm", "net"))])
def test_every_mode_moves_every_byte_of_every_draw(launch, needs_provider, provider):
    needs_provider(provider)
    outcome = launch(
        3, "alltoall", "--provider", provider, "--mode", EVERY, "--traffic", DRAWN, "--redraw", "op", "--sizes", "1,3000",
        "--verify-only", "--poll", "yield", "--schedule", "shift,greedy,coloured", "--chunk", "whole,1000",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert f"{5 * 5 * 2 * 3 * 2} points verified, every byte of every message" in outcome.stdout


@pytest.mark.parametrize("provider", ["shm", "tcp"])
def test_ops_have_the_matrices_of_the_file_in_turn(measure, needs_provider, tmp_path, provider):
    needs_provider(provider)
    words = ("--provider", provider, "--sizes", "1000", "--traffic", f"uniform,{DRAWN}", "--redraw", "op", "--trace")
    results, outcome = measure(3, *words, "--no-sentinel", quick=("--ops", "7", "--warmup", "2", *CALM))
    assert results.words("traffic") == [
        "uniform", "zipf=1.2/op", "rotating-hot=4x/op", "permutation/op", "sparse=60%/op",
        "moe(experts=8,top=2,capacity=1.25,tokens=16)/op",
    ]  # fmt: skip
    assert list(results.columns["traffic_draws"]) == [1, 32, 3, 32, 32, 32]
    assert list(results.columns["traffic_matrix"]) == [-1, 0, 32, 35, 67, 99]
    with h5py.File(tmp_path / "a.h5") as file:
        weights = file["matrices/weight"][()]
    assert weights.shape == (131, 3, 3)
    hot = [int(weights[32 + op].sum(axis=0).argmax()) for op in range(3)]
    assert sorted(hot) == [0, 1, 2]
    assert (hot[0] + 1) % 3 == hot[1]
    for point in range(1, 6):
        first, draws = (int(results.columns[name][point]) for name in ("traffic_matrix", "traffic_draws"))
        for op in range(7):
            came = results.raw["arrival"][point, op] >= 0
            assert (came == (weights[first + op % draws].T > 0)).all(), (point, op)
        asked = ratio_of_bounds(results, point, weights)
        assert results.columns["imbalance"][point] == pytest.approx(asked.mean())
    assert " rotating-hot=4x/op, imbalance 2.00 (mean of the ops)" in outcome.stdout
    require_sound(tmp_path / "a.h5")


def test_redrawn_traffic_beside_mpi_over_endpoints_and_resumed(launch, tmp_path):
    words = (
        "alltoall", "--ops", "12", "--warmup", "1", *CALM, "--provider", "tcp", "--sizes", "4000", "--traffic", "permutation,moe(experts=4,top=1)",
        "--redraw", "op", "--baseline", "mpi", "--schedule", "coloured", "--chunk", "1000", "--endpoints", "2", "-o", "a.h5",
        "--shuffle-ranks",
    )  # fmt: skip
    outcome = launch(4, *words)
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert set(results.states()) == {COMPLETE}
    assert (results.columns["ratio"][results.rows("baseline")] > 0).all()
    require_sound(tmp_path / "a.h5")
    again = launch(4, *words, "--resume")
    assert again.returncode == 0, again.stderr
    assert "measured before" in again.stderr
    once = launch(4, *words[: words.index("--redraw")], *words[words.index("--redraw") + 2 :], "--resume")
    assert once.returncode == 2
    assert "'permutation/op' in the file and 'permutation' in this launch (--traffic, --redraw)" in once.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--traffic", "rotating-hot=3x"), "the hot rank moves on with each op, and traffic is drawn once a launch: give --redraw op"),
        (("--traffic", "rotating-hot=3x", "--redraw", "launch"), "give --redraw op, or hot-rank for one that stays"),
        (("--redraw", "op"), "--redraw op: nothing of --traffic is drawn"),
        (("--traffic", "incast,shift=1", "--redraw", "op"), "every op would be the same: give one of zipf, hot-rank,"),
        (("--traffic", "zipf=1", "--redraw", "always"), "unknown moment 'always'"),
    ],
)
def test_what_cannot_be_redrawn_is_refused_in_one_line(launch, tmp_path, words, why):
    outcome = launch(3, "alltoall", "--provider", "shm", *QUICK, *words, "--sizes", "8", "-o", "a.h5")
    assert outcome.returncode == 2
    (line,) = [line for line in outcome.stderr.splitlines() if line.startswith("a2aperf: ")]
    assert why in line
    assert not list(tmp_path.glob("*.h5*"))


def test_more_bytes_than_there_are_numbers_for(a2aperf):
    outcome = a2aperf(
        "alltoall", "--dry-run", "--ranks", "4", "--traffic", "incast", "--sizes", str(2**62), "--memory-limit", "1GiB"
    )
    assert outcome.returncode == 2
    assert "are more than 9223372036854775807 B in one op" in outcome.stderr


def test_launches_of_any_size_are_merged_with_their_matrices(measure, tmp_path):
    """A study's launches: of 2, 3 and 4 ranks, drawn once or for each op, and one whose traffic is uniform."""
    made = []
    for ranks, words in ((3, ["hot-rank=3x"]), (4, ["zipf=1.2", "--redraw", "op"]), (4, ["uniform"]), (2, ["incast"])):
        measure(ranks, "--provider", "shm", "--sizes", "1000,2000", "--traffic", *words)
        made.append(tmp_path / f"{ranks}-{words[0]}.h5")
        (tmp_path / "a.h5").rename(made[-1])
    merged = tmp_path / "merged.h5"
    said = subprocess.run([A2A, "merge", *made, "-o", merged], capture_output=True, text=True, timeout=PATIENCE)
    assert (said.returncode, said.stderr) == (0, "")
    require_sound(merged)
    after, points = Results(merged), 0
    for path in made:
        before = Results(path)
        for old in range(len(before.columns["ranks"])):
            draws, ranks = int(before.columns["traffic_draws"][old]), int(before.columns["ranks"][old])
            assert draws == int(after.columns["traffic_draws"][points])
            weights = []
            for of, results, row in ((path, before, old), (merged, after, points)):
                first = int(results.columns["traffic_matrix"][row])
                with h5py.File(of) as file:
                    weights.append(file["matrices/weight"][first : first + draws] if first >= 0 else None)
            assert (weights[0] is None) == (weights[1] is None) == (path.name == "4-uniform.h5")
            if weights[0] is not None:
                assert np.array_equal(weights[1][:, :ranks, :ranks], weights[0])
                assert weights[1].sum() == weights[0].sum() > 0
            points += 1
    assert points == len(after.columns["ranks"])


def test_a_table_says_whose_traffic_is_not_uniform(measure, tmp_path):
    """Also where all of its rows have the same."""
    for traffic, is_told in (("hot-rank=3x", True), ("uniform", False)):
        measure(3, "--provider", "shm", "--sizes", "1000,2000", "--traffic", traffic)
        said = subprocess.run([A2A, "table", tmp_path / "a.h5"], capture_output=True, text=True, timeout=PATIENCE)
        assert said.returncode == 0, said.stderr
        assert said.stdout.splitlines()[0].startswith("traffic") == is_told
        assert said.stdout.count(traffic) == (2 if is_told else 0)
        (tmp_path / "a.h5").unlink()


def test_what_goes_one_way_from_a_barrier_is_not_held_against_the_uniform_traffic(measure, tmp_path):
    """Each rank counts from its own exit: the figure shows no rate of it either, and both say why."""
    said = "messages go one way"
    for traffic, is_told in (("incast", False), ("permutation", True)):
        _, outcome = measure(3, "--provider", "shm", "--sizes", "1000", "--traffic", f"uniform,{traffic}")
        assert (f"note: traffic {traffic}: ops start at a barrier and {said}" in outcome.stderr) != is_told
        assert ("in the uniform traffic its busiest one moved" in outcome.stderr) == is_told
        require_sound(tmp_path / "a.h5")
        rates = Results(tmp_path / "a.h5").columns["gbps_rank"]
        assert list(np.isfinite(rates)) == [True, True, is_told, True]  # between two sentinels
        assert ("no rate: barrier start" in outcome.stdout) != is_told
        for kind in (["traffic"], ["sizes"], ["scaling"], ["sizes", "--what", "msg_rate"]):
            words = [A2A, "plot", *kind, "a.h5", "-o", "a.svg"]
            drawn = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
            assert drawn.returncode == 0, drawn.stderr
            assert (said in drawn.stderr) != is_told
            assert (said in (tmp_path / "a.svg").read_text()) != is_told
        words = [A2A, "compare", "a.h5", "--by", "traffic"]
        compared = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
        assert (f"1 point left out: ops start at a barrier and {said}" in compared.stdout + compared.stderr) != is_told
        # Nothing else is said of such a time, and the uniform traffic beside it has its rate.
        words = [A2A, "explain", "a.h5", "--where", f"traffic={traffic}"]
        explained = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
        assert "nan" not in explained.stdout
        words = [A2A, "report", "a.h5", "-o", "a.html"]
        assert subprocess.run(words, capture_output=True, timeout=PATIENCE, cwd=tmp_path).returncode == 0
        page = (tmp_path / "a.html").read_text()
        assert "Best rate: \u2013" not in page and "Best rate: -" not in page
        assert ("1 point without a rate: ops start at a barrier" in page) != is_told
        (tmp_path / "a.h5").unlink()
