# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf stream`: messages of some ranks to others for a time, with what the samples say of them."""

import os
import re
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from flow_files import require_true_streams
from refusals import refuses
from results import COMPLETE, SKIPPED, Results

CALM = ["--poll", "yield", "-o", "a.h5"]
MODES = "tagged,msg,write-imm,read,write"
A2A = Path(os.environ.get("A2A", Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))


@pytest.fixture
def stream(launch, tmp_path):
    def run(ranks: int, *words: str, provider: str = "shm", status: int = 0):
        outcome = launch(ranks, "stream", "--provider", provider, *CALM, *words)
        assert outcome.returncode == status, outcome.stderr
        return outcome

    return run


@pytest.mark.parametrize(
    ("provider", "ranks", "pairs", "who"),
    [
        ("shm", 2, "halves", [(0, 1)]),
        ("tcp", 4, "neighbours", [(0, 1), (2, 3)]),
        ("net", 3, "0:1,1:2,2:0", [(0, 1), (1, 2), (2, 0)]),
        ("net", 3, "all-to-one", [(1, 0), (2, 0)]),
        ("shm", 3, "one-to-all", [(0, 1), (0, 2)]),
    ],
)
def test_what_was_sent_has_come(stream, needs_provider, tmp_path, provider, ranks, pairs, who):
    full_name = needs_provider(provider)
    words = ["--pairs", pairs, "--sizes", "1,8,4096", "--mode", MODES, "--window", "1,16", "--messages", "300"]
    stream(ranks, *words, provider=provider)
    results = Results(tmp_path / "a.h5")
    assert set(results.words("provider")) == {full_name}
    assert set(results.words("role")) == {"stream"}
    assert set(results.words("stream_pairs")) == {pairs}
    assert list(results.columns["state"]) == [COMPLETE] * 30
    require_true_streams(tmp_path / "a.h5", who, 300)


@pytest.mark.skipif(not A2A.exists(), reason="the analysis is not installed")
def test_the_analysis_reads_it(stream, tmp_path):
    stream(2, "--sizes", "8,64", "--messages", "100", "--mode", MODES)
    for words, said in ((("check",), "sound\n"), (("table",), "\n"), (("explain",), "\n")):
        done = subprocess.run([A2A, *words, tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.endswith(said)


@pytest.mark.parametrize(("provider", "pairs", "who"), [("tcp", "all-to-one", [(1, 0), (2, 0)]), ("shm", "0:1,1:2,2:0", [(0, 1), (1, 2), (2, 0)])])
def test_a_trace_has_every_message(stream, needs_provider, tmp_path, provider, pairs, who):
    """An interval for each look that found something: of as many messages as one reading of the queue can give, at most."""
    needs_provider(provider)
    stream(3, "--pairs", pairs, "--sizes", "8,4096", "--mode", "tagged,read", "--messages", "300", "--trace", provider=provider)
    require_true_streams(tmp_path / "a.h5", who, 300)
    with h5py.File(tmp_path / "a.h5") as file:
        assert set(file["traced"].asstr()[:]) == {"yes"} and not file["ticks_lost"][:].any()
        ticks, came = file["ticks"][:], file["raw/tick_received"]
        receivers = sorted({receiver for _, receiver in who})
        for point, count in enumerate(ticks):
            seen = came[point, :count][:, receivers]
            assert seen.max() <= 16 * len(who), "one look"
            assert ((seen > 0).sum(axis=0) >= 300 * len(who) / len(receivers) / (16 * len(who))).all()
    refused = stream(3, "--pairs", pairs, "--sizes", "8,4096", "--mode", "tagged,read", "--messages", "300", "--resume", provider=provider, status=2)
    assert "traced 'yes' in the file and 'no' in this launch (--trace)" in refused.stderr


def test_a_trace_beyond_its_room_is_counted(stream, needs_provider, tmp_path):
    needs_provider("shm")
    outcome = stream(2, "--sizes", "8", "--messages", "3000", "--trace", "--max-samples", "20")
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["ticks"][0] == 20 and file["ticks_lost"][0] > 0
        lost = int(file["ticks_lost"][0])
        assert file["raw/messages_received"][0].sum() == 3000 > file["raw/tick_received"][0].clip(0).sum()
    assert re.search(rf"up to {lost} intervals? of a rank not kept", outcome.stderr.replace(",", "")), outcome.stderr


@pytest.mark.parametrize("provider", ["tcp", "net", "shm"])
def test_messages_may_be_empty(stream, needs_provider, tmp_path, provider):
    needs_provider(provider)
    stream(2, "--sizes", "0,1", "--mode", MODES, "--messages", "100", provider=provider)
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE] * 10
    assert list(results.columns["messages"]) == [100] * 10
    assert list(results.columns["bytes"]) == [0, 100] * 5
    assert (results.columns["gbps"] >= 0).all()
    if A2A.exists():
        for command in ("check", "table", "explain"):
            done = subprocess.run([A2A, command, tmp_path / "a.h5"], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


def test_a_duration_has_its_intervals_and_those_beyond_the_most_are_counted(stream, tmp_path):
    outcome = stream(2, "--sizes", "8", "--duration", "350ms", "--max-samples", "3")
    results = Results(tmp_path / "a.h5")
    assert results.columns["ticks"][0] == 3
    assert results.columns["ticks_lost"][0] == 1
    assert "up to 1 interval of a rank not kept, for there was no room for more of a point (--max-samples)" in outcome.stderr
    assert results.columns["stream_time"][0] > 0
    (point,) = Results(tmp_path / "a.h5").raw["messages_sent"]
    assert point[0, 0] == results.columns["messages"][0] > 0


@pytest.mark.parametrize("words", [("--duration", "350ms", "--max-samples", "4"), ("--messages", "1", "--trace", "--max-samples", "1")])
def test_room_for_as_many_intervals_as_there_are_is_room_for_all(stream, tmp_path, words):
    """What came after the end, be it nothing, is a row of its own and no interval."""
    outcome = stream(2, "--sizes", "8", *words)
    results = Results(tmp_path / "a.h5")
    assert results.columns["ticks"][0] == int(words[-1]) + 1
    assert results.columns["ticks_lost"][0] == 0
    assert "not kept" not in outcome.stderr
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["raw/tick_received"][0].clip(0).sum() == results.columns["messages"][0]


@pytest.mark.parametrize("threads", ["one", "each"])
def test_a_pause_ends_with_the_duration(stream, needs_provider, tmp_path, threads):
    """One of many that would follow one another, each of them a hundred times as long."""
    needs_provider("tcp")
    pairs = ("--pairs", "loopback", "--threads", "each") if threads == "each" else ()
    stream(2, "--sizes", "8", "--duration", "200ms", "--free-delay", "20s/1", *pairs, provider="tcp")
    columns = Results(tmp_path / "a.h5").columns
    assert columns["messages"][0] > 0
    assert columns["stream_time"][0] < 20e9


def test_a_file_has_room_for_the_intervals_of_its_duration(stream, tmp_path):
    """And not for as many as --max-samples allows, which no disk would hold."""
    stream(2, "--sizes", "8", "--duration", "150ms", "--max-samples", "10000000")
    assert list(Results(tmp_path / "a.h5").columns["ticks"]) == [3]


def test_a_stream_has_no_times_of_ops(stream, tmp_path):
    stream(2, "--sizes", "8", "--messages", "10")
    columns = Results(tmp_path / "a.h5").columns
    assert not [name for name in columns if name.startswith(("time_", "span_", "rank_time", "warmup"))]


def test_a_window_beyond_the_receive_queue_is_skipped_with_the_reason(stream, tmp_path):
    done = stream(2, "--sizes", "8", "--messages", "10", "--window", "8,1000000")
    assert "1 point measured, 1 skipped: a.h5" in done.stderr
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, SKIPPED]
    assert "1000000 receives are posted at a time, of messages and credits, and shm has room for" in results.words("skip_reason")[1]


def test_both_directions_are_counted_together(stream, tmp_path):
    stream(2, "--sizes", "8", "--messages", "200", "--duplex", "--mode", MODES)
    results = Results(tmp_path / "a.h5")
    assert set(results.words("duplex")) == {"both ways"}
    assert (results.columns["messages"] == 400).all()
    assert (results.raw["messages_received"][:, 0] == 200).all()


@pytest.mark.parametrize("ranks", [1, 2])
@pytest.mark.parametrize("provider", ["tcp", "net", "shm"])
def test_a_loopback_needs_one_rank(stream, needs_provider, tmp_path, provider, ranks):
    needs_provider(provider)
    words = ["--pairs", "loopback", "--sizes", "0,8,4096,1MiB", "--mode", MODES, "--messages", "100"]
    stream(ranks, *words, provider=provider)
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE] * 20
    assert (results.raw["messages_received"][:, 0] == 100).all()


@pytest.mark.parametrize("mode", MODES.split(","))
def test_a_receiver_that_pauses_gives_its_law(stream, tmp_path, mode):
    """The sender sends 20 messages while it pauses, and then waits for the rest of the pause."""
    stream(2, "--mode", mode, "--sizes", "8", "--window", "20", "--free-delay", "0,20ms/20,20ms/40", "--messages", "201")
    columns = Results(tmp_path / "a.h5").columns
    assert list(columns["free_delay"]) == [0, 20e6, 20e6]
    assert list(columns["free_every"]) == [-1, 20, 40]
    # The last pause of the first comes with the last messages under way: nothing need come after it.
    assert columns["stream_time"][1] >= 9 * 20e6
    assert columns["stream_time"][2] >= 4 * 20e6
    assert (columns["longest_wait"][1:] > 0).all()


def test_the_inject_path_is_used_as_asked(stream, tmp_path):
    stream(2, "--sizes", "8,1MiB", "--messages", "10", "--inject", "auto,on,off")
    results = Results(tmp_path / "a.h5")
    assert results.words("asked_inject") == ["auto", "auto", "on", "on", "off", "off"]
    assert list(results.columns["state"]) == [COMPLETE, COMPLETE, COMPLETE, SKIPPED, COMPLETE, COMPLETE]
    assert list(results.columns["inject"])[:3] == [1, 0, 1]
    assert list(results.columns["inject"])[4:] == [0, 0]
    assert "do not go by the inject path of shm" in results.words("skip_reason")[3]


def test_completions_are_as_asked(stream, tmp_path):
    words = ["--mode", "tagged,write-imm", "--sizes", "0,8", "--cq-mod", "1,16", "--completion", "default,delivery"]
    told = stream(2, *words, "--messages", "100").stdout
    results = Results(tmp_path / "a.h5")
    assert results.words("completion") == (["default"] * 4 + ["delivery"] * 4) * 2
    assert list(results.columns["cq_mod"]) == [1, 1, 16, 16] * 4
    # Injected is what asks for nothing; shm delivers no message of 0 B at that level.
    assert list(results.columns["inject"])[:4] == [1, 1, 0, 0]
    of_nothing = [SKIPPED, COMPLETE]
    assert list(results.columns["state"]) == ([COMPLETE] * 4 + of_nothing * 2) * 2
    assert set(results.words("skip_reason")) == {"", "shm never delivers a message of 0 B with FI_DELIVERY_COMPLETE"}
    assert any("completion cq-mod" in line for line in told.splitlines()[1:3])
    checksums.require_right(tmp_path / "a.h5")
    if A2A.exists():
        done = subprocess.run([A2A, "check", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("provider", ["shm", "tcp"])
def test_a_thread_for_each_end_of_a_loopback(stream, needs_provider, tmp_path, provider):
    """Between points with both ends in one thread, whose messages are to go where they went before."""
    needs_provider(provider)
    words = ["--pairs", "loopback", "--threads", "each,one", "--mode", MODES, "--sizes", "0,8,64KiB", "--messages", "300"]
    told = stream(2, *words, provider=provider).stdout
    results = Results(tmp_path / "a.h5")
    threads = results.words("threads")
    assert threads == (["each"] * 3 + ["one"] * 3) * len(MODES.split(","))
    assert set(results.words("skip_reason")) == {""}
    assert list(results.columns["messages"]) == [600] * len(threads)
    assert " threads " in told
    with h5py.File(tmp_path / "a.h5") as file:  # the receiver's thread is counted
        counted = file["counters/threads"][()]
    is_each = np.array(threads) == "each"
    assert (counted[is_each] == counted[~is_each] + 1).all()
    checksums.require_right(tmp_path / "a.h5")
    if A2A.exists():
        done = subprocess.run([A2A, "check", tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_a_provider_does_not_tell_is_skipped_with_the_reason(stream, needs_provider, tmp_path):
    name = needs_provider("tcp")
    if name != "tcp;ofi_rxm":
        pytest.skip(f"{name} is not layered")
    words = ["--mode", "tagged,msg,write", "--sizes", "8", "--cq-mod", "1,4", "--completion", "default,delivery"]
    stream(2, *words, "--inject", "auto,on", "--messages", "100", provider="tcp")
    results = Results(tmp_path / "a.h5")
    of = dict(zip(zip(results.words("mode"), results.words("completion"), results.columns["cq_mod"],
                      results.words("asked_inject")), results.words("skip_reason")))  # fmt: skip
    assert of["tagged", "default", 4, "auto"] == of["write", "delivery", 4, "auto"] == ""
    assert "completes messages in no order" in of["msg", "default", 4, "auto"]
    assert "takes no notice of FI_DELIVERY_COMPLETE where messages are sent" in of["tagged", "delivery", 1, "auto"]
    assert of["write", "default", 4, "on"] == "a message that is injected completes nowhere"


PUBLISHED = [
    *("Test duration (secs)", "Data length (bytes)", "Total messages received", "Total data bytes received"),
    *("Messages per sec", "Data bytes per sec", "Rx thread free delay (us)", "Tx thread max get send buffer (us)"),
]


def test_the_published_columns(stream, tmp_path):
    words = ["--mode", "tagged,msg", "--window", "4,8", "--sizes", "0,8", "--free-delay", "0,1ms/4"]
    told = stream(2, *words, "--messages", "100", "--format", "loopback").stdout
    lines = told.splitlines()
    heading = "".join(f"{name}  " for name in PUBLISHED)
    assert lines.count(heading) == 8
    results = Results(tmp_path / "a.h5")
    rows = [line.split() for line in lines if line.startswith(" ")]
    assert [len(row) for row in rows] == [8] * 16
    assert all(len(line) == len(heading) for line in lines if line.startswith(" "))
    for row, point in zip(rows, np.argsort(results.columns["order"]), strict=True):
        of = {name: column[point] for name, column in results.columns.items() if column.ndim > 0}
        assert row[0] == f"{of['stream_time'] * 1e-9:.6f}"
        assert [int(value) for value in row[1:4]] == [of["message_size"], of["messages"], of["bytes"]]
        assert [int(value) for value in row[4:6]] == [round(of["msg_rate"]), round(of["byte_rate"])]
        assert [int(value) for value in row[6:]] == [of["free_delay"] // 1000, round(of["longest_wait"] / 1000)]
    if A2A.exists():
        (tmp_path / "told.txt").write_text(told)
        done = subprocess.run([A2A, "import", tmp_path / "told.txt", "-o", tmp_path / "i.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / "i.h5") as again:
            for name in ("messages", "bytes", "message_size"):
                assert sorted(again[name][()]) == sorted(results.columns[name])
            assert set(again["mode"].asstr()[()]) == {"tagged", "msg"}


def test_ranks_without_a_stream_wait_for_those_that_have_one(stream, tmp_path):
    """For longer than the timeout."""
    words = ["--pairs", "0:1", "--sizes", "8", "--messages", "2000000000", "--time-budget", "5s", "--timeout", "3s"]
    stream(3, *words)
    assert list(Results(tmp_path / "a.h5").columns["state"]) == [COMPLETE]


def test_whether_messages_were_injected_is_in_the_file(stream, tmp_path):
    stream(2, "--sizes", "8,1MiB", "--messages", "10")
    assert list(Results(tmp_path / "a.h5").columns["inject"]) == [1, 0]


def test_a_file_is_resumed_with_the_same_streams_only(stream, tmp_path):
    points = ["--sizes", "8", "--mode", "tagged,write"]
    words = [*points, "--messages", "100"]
    stream(2, *words)
    before = (tmp_path / "a.h5").read_bytes()
    refused = stream(2, *points, "--messages", "101", "--resume", status=2)
    assert "asked_messages 100 in the file and 101 in this launch (--messages)" in refused.stderr
    refused = stream(2, *words, "--pairs", "1:0", "--resume", status=2)
    assert "(--pairs)" in refused.stderr
    assert (tmp_path / "a.h5").read_bytes() == before
    assert "2 points measured before" in stream(2, *words, "--resume").stderr


def test_a_stream_does_not_sleep(launch, tmp_path):
    outcome = launch(2, "stream", "--poll", "block", "-o", "a.h5")
    assert outcome.returncode == 2
    assert "--poll: for stream expected one of auto, spin, yield" in outcome.stderr
    assert not (tmp_path / "a.h5").exists()


@pytest.mark.parametrize(
    ("ranks", "words", "said"),
    [
        (3, ["--pairs", "halves"], "--pairs halves needs an even number of ranks, and there are 3"),
        (2, ["--pairs", "0:2"], "--pairs names rank 2, and there are 2 ranks: 0 to 1"),
        (2, ["--pairs", "thirds"], "unknown pairs 'thirds': expected halves, neighbours, all-to-one"),
        (2, ["--pairs", "loopback", "--duplex"], "--duplex: in a loopback a rank is both ends"),
        (2, ["--pairs", "0:1,1:0", "--duplex"], "the pair 1:0 is there twice"),
        (2, ["--free-delay", "-1ms"], "--free-delay: duration '-1ms' is negative"),
        (2, ["--free-delay", "1ms/0"], "--free-delay: "),
        (2, ["--free-delay", "2s", "--timeout", "2s"], "--free-delay 2 s is not below --timeout 2 s"),
        (2, ["--inject", "maybe"], "--inject: unknown use of the inject path 'maybe': expected one of auto, on, off"),
        (2, ["--completion", "soon"], "--completion: unknown completion of a send 'soon': expected one of default, transmit, delivery"),
        (2, ["--completion", "delivery", "--mode", "msg,read"], "--completion: in mode read the receivers start the transfers"),
        (2, ["--cq-mod", "0"], "--cq-mod: "),
        (2, ["--cq-mod", "4", "--mode", "read"], "nothing completes at the sender: leave out read"),
        (2, ["--threads", "each"], "--threads: only in a loopback a rank is both ends: take --pairs loopback"),
        (2, ["--threads", "two", "--pairs", "loopback"], "--threads: unknown threads 'two': expected one of one, each"),
        (2, ["--window", "all"], "--window: a stream has a number of buffers, not all"),
        (2, ["--format", "compat"], "--format: for stream expected one of table, loopback, csv, json"),
    ],
)
def test_bad_input_is_one_line_and_no_file(stream, tmp_path, ranks, words, said):
    refuses(stream(ranks, "--sizes", "8", *words, status=2), said, tmp_path, [])
