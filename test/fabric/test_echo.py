# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf echo`: round trips of some ranks to others, with what the samples say of them."""

import os
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from flow_files import histogram, require_true_trips, require_true_ways, trips
from refusals import refuses
from results import COMPLETE, NO_MOMENT, STOP_RULE, Results

CALM = ["--poll", "yield", "-o", "a.h5"]
MODES = "tagged,msg,write-imm,read,write"
A2A = Path(os.environ.get("A2A", Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))


@pytest.fixture
def echo(launch, tmp_path):
    def run(ranks: int, *words: str, provider: str = "shm", status: int = 0):
        outcome = launch(ranks, "echo", "--provider", provider, *CALM, *words)
        assert outcome.returncode == status, outcome.stderr
        return outcome

    return run


@pytest.mark.parametrize(
    ("provider", "ranks", "pairs", "clients"),
    [
        ("shm", 2, "halves", [0]),
        ("tcp", 4, "neighbours", [0, 2]),
        ("net", 3, "0:1,1:2,2:0", [0, 1, 2]),
    ],
)
def test_every_round_trip_is_kept_and_figures_are_those_of_the_samples(
    echo, needs_provider, tmp_path, provider, ranks, pairs, clients
):
    full_name = needs_provider(provider)
    words = ["--pairs", pairs, "--sizes", "1,100,4KiB", "--mode", MODES, "--outstanding", "1,4", "--ops", "120"]
    echo(ranks, *words, provider=provider)
    results = Results(tmp_path / "a.h5")
    assert set(results.words("provider")) == {full_name}
    assert set(results.words("role")) == {"echo"}
    assert set(results.words("echo_pairs")) == {pairs}
    assert set(results.columns["request_size"]) == {30}
    assert list(results.columns["state"]) == [COMPLETE] * 30
    assert results.words("mode") == [mode for mode in MODES.split(",") for _ in range(6)]
    assert set(results.columns["stop_rule"]) == {STOP_RULE["ops"]}
    for point in range(30):
        kept = trips(tmp_path / "a.h5", point)
        assert kept.shape == (120, ranks)
        assert (kept[:, clients] > 0).all()
        others = [rank for rank in range(ranks) if rank not in clients]
        assert (kept[:, others] == NO_MOMENT).all()
    require_true_trips(tmp_path / "a.h5", clients)
    require_true_ways(tmp_path / "a.h5", clients)


@pytest.mark.parametrize(
    ("words", "clients", "pairs", "named"),
    [
        (["--servers", "1"], [0, 1, 2], ("0:3", "1:3", "2:3"), "servers 1"),
        (["--clients", "1", "--servers", "2"], [0], ("0:2", "0:3"), "clients 1 servers 2"),
        (["--pairs", "0:1,0:2,1:0,3:0"], [0, 1, 3], ("0:1", "0:2", "1:0", "3:0"), "0:1,0:2,1:0,3:0"),
    ],
)
def test_a_server_has_several_clients_and_a_client_several_servers(echo, tmp_path, words, clients, pairs, named):
    echo(4, *words, "--sizes", "0,64", "--request", "0", "--mode", MODES, "--outstanding", "1,3", "--ops", "40")
    results = Results(tmp_path / "a.h5")
    assert set(results.words("echo_pairs")) == {named}
    assert list(results.columns["state"]) == [COMPLETE] * 20
    asked = [40 * sum(pair.startswith(f"{rank}:") for pair in pairs) for rank in range(4)]
    assert (results.raw["round_trips"][:, 0] == asked).all()
    assert (results.columns["ticks"] == max(asked)).all()
    require_true_trips(tmp_path / "a.h5", clients, pairs)
    require_true_ways(tmp_path / "a.h5", clients)
    if A2A.exists():
        done = subprocess.run([A2A, "check", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_no_client_waits_until_another_has_done(echo, monkeypatch, tmp_path):
    """Without its direct copy shm takes one read of a peer at a time, and refuses more of the same one."""
    monkeypatch.setenv("FI_SHM_DISABLE_CMA", "1")
    words = ["--servers", "1", "--sizes", "8", "--request", "64KiB", "--outstanding", "16", "--ops", "600"]
    echo(3, *words, "--mode", "read", "--timeout", "100s")
    require_true_trips(tmp_path / "a.h5", [0, 1], ("0:2", "1:2"))
    with h5py.File(tmp_path / "a.h5") as file:
        begins = file["raw/request_begin"][0, :600, :2]
    middle, last = np.quantile(begins, 0.5, axis=0), begins.max(axis=0)
    assert (middle < last[::-1]).all(), (middle, last)


@pytest.mark.parametrize("provider", ["shm", "tcp", "net", "sockets"])
def test_requests_and_answers_may_be_empty(echo, needs_provider, tmp_path, provider):
    needs_provider(provider)
    echo(2, "--sizes", "0,1", "--request", "0", "--mode", MODES, "--ops", "50", provider=provider)
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE] * 10
    assert list(results.columns["byte_rate"] > 0) == [False, True] * 5
    require_true_trips(tmp_path / "a.h5", [0])


def test_round_trips_beyond_the_most_are_counted(echo, tmp_path):
    outcome = echo(2, "--sizes", "8", "--ops", "100", "--max-samples", "30", "--request", "1KiB", "--outstanding", "3")
    results = Results(tmp_path / "a.h5")
    assert results.columns["round_trips"][0] == 100
    assert results.columns["ticks"][0] == 30
    assert results.columns["ticks_lost"][0] == 70
    assert results.columns["ops"][0] == 100
    said = "in 1 point a client had more than 30 round trips (--max-samples): percentiles are from a histogram of 0.1 % of 100 round trips"
    assert said in outcome.stderr
    assert results.columns["request_size"][0] == 1024
    require_true_trips(tmp_path / "a.h5", [0])
    require_true_ways(tmp_path / "a.h5", [0])
    assert results.columns["way_trips"][0] == 30


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["tcp", "shm"])
def test_percentiles_of_a_long_run_are_those_of_all_round_trips(echo, needs_provider, tmp_path, provider):
    """However many are kept; of one client, and of two with several requests under way."""
    needs_provider(provider)
    for ranks, outstanding in ((2, "1"), (4, "3")):
        words = ["--sizes", "8,100", "--outstanding", outstanding, "--ops", "1500", "--force"]
        for most in ("100", "20000"):
            echo(ranks, *words, "--max-samples", most, provider=provider)
            clients = list(range(ranks // 2))
            require_true_trips(tmp_path / "a.h5", clients)
            results = Results(tmp_path / "a.h5")
            assert set(results.columns["ops"]) == {1500 * len(clients)}
            assert (results.columns["ticks"] == min(int(most), 1500)).all()
            assert (results.columns["time_p999"] > 0).all()
            if A2A.exists():
                done = subprocess.run([A2A, "check", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
                assert done.returncode == 0, done.stdout


def test_a_run_with_a_histogram_is_resumed(echo, tmp_path):
    """Another limit is no other plan."""
    words = ["--sizes", "8,64", "--ops", "200"]
    echo(2, *words, "--max-samples", "20")
    before = [histogram(tmp_path / "a.h5", point) for point in range(2)]
    again = echo(2, *words, "--max-samples", "50", "--resume")
    assert "2 points measured before" in again.stderr
    assert [histogram(tmp_path / "a.h5", point) for point in range(2)] == before
    require_true_trips(tmp_path / "a.h5", [0])


def test_a_duration_ends_a_point(echo, tmp_path):
    """On a machine that is busy elsewhere there may be few round trips in it."""
    outcome = echo(2, "--sizes", "8", "--mode", MODES, "--duration", "500ms", "--outstanding", "3", "--max-samples", "100000")
    results = Results(tmp_path / "a.h5")
    assert set(results.columns["asked_duration"]) == {500_000_000}
    assert not set(results.columns["stop_rule"]) & {0, STOP_RULE["ops"]}
    assert "contradict" not in outcome.stderr
    require_true_trips(tmp_path / "a.h5", [0])
    require_true_ways(tmp_path / "a.h5", [0])


def test_ranks_without_a_round_trip_wait_for_those_that_have_them(echo, tmp_path):
    """For longer than the timeout."""
    words = ["--pairs", "0:1", "--sizes", "8", "--duration", "1h", "--max-samples", "9", "--time-budget", "5s"]
    echo(3, *words, "--timeout", "3s")
    assert list(Results(tmp_path / "a.h5").columns["state"]) == [COMPLETE]


@pytest.mark.skipif(not A2A.exists(), reason="the analysis is not installed")
def test_the_analysis_reads_it(echo, tmp_path):
    echo(2, "--sizes", "8,64", "--ops", "100", "--outstanding", "1,2", "--mode", MODES)
    for words, said in ((("check",), "sound\n"), (("table",), "\n"), (("explain",), "\n")):
        done = subprocess.run([A2A, *words, tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(said)


@pytest.mark.skipif(not A2A.exists(), reason="the analysis is not installed")
def test_the_lines_of_clusterperf(echo, tmp_path):
    """They are those that the analysis prints of the file, and it reads them back."""
    sizes = "1,100,1KiB,10KiB,1MiB"
    outcome = echo(2, "--sizes", sizes, "--ops", "300", "--outstanding", "1,2", "--request", "2KiB", "--format", "clusterperf")
    lines = outcome.stdout.splitlines()
    headings = [f"clusterperf 2 ranks on 1 node, shm, mode tagged, outstanding {count}" for count in (1, 2)]
    assert [line for line in lines if line.startswith("clusterperf")] == headings
    shown = subprocess.run([A2A, "table", "--layout", "clusterperf", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr
    figures = [line for line in lines if line.startswith("echo")]
    assert figures == [line for line in shown.stdout.splitlines() if line.startswith("echo")]
    # Of 300 round trips the p99.9 is the longest, and is not told.
    assert [line.split()[0] for line in figures] == 2 * [
        f"echo{name}" for size in ("1", "100", "1K", "10K", "1M") for name in (size, f"{size}.min", f"{size}.9", f"{size}.99", f"Bw{size}")
    ]
    assert all("send 2KB message, receive " in line for line in figures if "Bw" not in line)
    (tmp_path / "told.txt").write_text(outcome.stdout)
    done = subprocess.run([A2A, "import", tmp_path / "told.txt", "-o", tmp_path / "i.h5"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "50 figures of 10 points in 2 tables" in done.stdout + done.stderr
    read = subprocess.run([A2A, "table", "--columns", "mode,message_size", tmp_path / "i.h5"], capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    assert read.stdout.count("tagged") == 10


def test_a_file_is_resumed_with_the_same_round_trips_only(echo, tmp_path):
    words = ["--sizes", "8,64", "--ops", "50"]
    echo(2, *words)
    before = (tmp_path / "a.h5").read_bytes()
    for other, said in (
        (["--pairs", "1:0"], "(--pairs, --clients, --servers)"),
        (["--request", "31"], "request_size 30 in the file and 31 in this launch (--request)"),
        (["--outstanding", "2"], "outstanding 1 in the file and 2 in this launch (--outstanding)"),
    ):
        assert said in echo(2, *words, *other, "--resume", status=2).stderr
    assert "--ops 50" in echo(2, "--sizes", "8,64", "--ops", "51", "--resume", status=2).stderr
    refused = echo(2, "--sizes", "8,64", "--duration", "10ms", "--resume", status=2)
    assert "(--duration)" in refused.stderr
    assert (tmp_path / "a.h5").read_bytes() == before
    again = echo(2, *words, "--resume")
    assert "2 points measured before" in again.stderr
    assert len([line for line in again.stdout.splitlines() if line.lstrip().startswith("tagged")]) == 2


def test_what_does_not_fit_is_skipped_with_the_reason(echo, tmp_path):
    outcome = echo(2, "--sizes", "8,64KiB", "--ops", "5", "--outstanding", "1,64", "--memory-limit", "4MiB")
    reasons = Results(tmp_path / "a.h5").words("skip_reason")
    assert [bool(reason) for reason in reasons] == [False, False, False, True]
    assert "the messages of 64 round trips need" in reasons[3]
    assert "skipped: the messages of 64 round trips need" in outcome.stdout


@pytest.mark.parametrize("provider", ["shm", "tcp"])
def test_none_needs_a_place_for_each_rank(echo, needs_provider, tmp_path, provider):
    """The limit leaves a rank room for one message of each direction, not for one of each of four ranks: verified in rounds."""
    needs_provider(provider)
    sizes = ["--sizes", "1000000", "--request", "30", "--ops", "20", "--max-samples", "50"]
    words = [*sizes, "--mode", "tagged,write-imm,read,write", "--memory-limit", "30MB"]
    echo(4, *words, "--pairs", "0:1", provider=provider)
    assert Results(tmp_path / "a.h5").words("skip_reason") == [""] * 4
    require_true_trips(tmp_path / "a.h5", [0], ("0:1",))


def test_a_config_file_has_options_that_streams_have_too(a2aperf, tmp_path):
    """Each workload its own by the same name."""
    (tmp_path / "c.toml").write_text('pairs = "0:1"\noutstanding = "2"\nduration = "7ms"\nsizes = "8"\n')
    outcome = a2aperf("echo", "--dry-run", "--ranks", "3", "--config", tmp_path / "c.toml")
    assert outcome.returncode == 0, outcome.stderr
    assert "  tagged echo 0:1 outstanding 2 request 30 B answer 8 B\n" in outcome.stdout


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (3, ["--pairs", "halves"], "--pairs halves needs an even number of ranks, and there are 3"),
        (2, ["--pairs", "0:2"], "--pairs names rank 2, and there are 2 ranks: 0 to 1"),
        (2, ["--pairs", "loopback"], "unknown pairs 'loopback': expected halves, neighbours"),
        (2, ["--max-samples", "100000", "--ops", "100000", "--memory-limit", "4MiB"], "the samples of one point can take "),
        (2, ["--pairs", "1:1"], "rank 1 can't be its own partner"),
        (3, ["--clients", "3", "--servers", "1"], "3 clients and 1 server need 4 ranks, and there are 3"),
        (2, ["--servers", "2"], "1 client and 2 servers need 3 ranks, and there are 2"),
        (2, ["--clients", "0"], "--clients"),
        (2, ["--pairs", "0:1", "--servers", "1"], "--pairs and --servers exclude each other"),
        (2, ["--mode", "swap"], "unknown mode 'swap': expected one of tagged, msg, write-imm, read, write"),
        (2, ["--outstanding", "0"], "--outstanding"),
        (2, ["--outstanding", "65"], "--outstanding"),
        (2, ["--request", "1,2"], "--request: '1,2': expected one size"),
        (2, ["--ops", "5", "--duration", "1s"], "--ops and --duration exclude each other"),
        (2, ["--max-samples", "0"], "--max-samples"),
        (2, ["--format", "wide"], "--format: for echo expected one of table, clusterperf, csv, json"),
        (2, ["--window", "1"], "--window is not an option of a2aperf echo"),
    ],
)
def test_bad_input_is_one_line_and_no_file(echo, tmp_path, ranks, words, said):
    refuses(echo(ranks, "--sizes", "8", *words, status=2), said, tmp_path, [])
