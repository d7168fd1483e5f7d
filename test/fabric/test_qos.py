# SPDX-License-Identifier: BSD-3-Clause
"""`a2aperf qos`: paths side by side, and what each of them got, interval by interval."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import checksums
import h5py
import numpy as np
import pytest
from path_files import are_true_intervals, paths_of
from processes import PATIENCE
from refusals import refuses
from results import COMPLETE, SKIPPED, Results

CALM = ["--poll", "yield", "-o", "a.h5"]
TIMES = (1, 5, 25)  # as long, until what waits for its core has moved


def lasting(times: int) -> list[str]:
    return ["--duration", f"{600 * times}ms", "--interval", f"{200 * times}ms"]


SHORT = lasting(1)
MPIRUN = Path(__file__).resolve().parents[1] / "support" / "mpirun.sh"
A2A = Path(os.environ.get("A2A", Path(__file__).resolve().parents[2] / ".venv/bin/a2a"))


@pytest.fixture
def qos(launch, tmp_path):
    def run(ranks: int, *words: str, provider: str = "shm", status: int = 0):
        outcome = launch(ranks, "qos", "--provider", provider, *CALM, *words)
        assert outcome.returncode == status, outcome.stderr
        return outcome

    return run


@pytest.mark.parametrize("provider", ["shm", "tcp", "net"])
def test_each_path_gets_what_was_sent_on_it(qos, needs_provider, tmp_path, provider):
    """Between the same ranks, both ways, and beside those of other ranks; every size, every way to move."""
    full_name = needs_provider(provider)
    words = ["--path", "0:1,size=8", "--path", "0:1,size=64KiB,window=4", "--path", "1:0,size=0", "--path", "2:1,start=200ms"]
    file = tmp_path / "a.h5"
    for times in TIMES:
        qos(3, *words, *lasting(times), "--force", "--mode", "tagged,msg,write-imm,read,write", provider=provider)
        if all(path["messages"].sum() > 0 for point in range(5) for path in paths_of(file, point)):
            break
    results = Results(file)
    assert set(results.words("provider")) == {full_name}
    assert set(results.words("role")) == {"qos"}
    assert list(results.columns["state"]) == [COMPLETE] * 5
    for point, mode in enumerate(results.words("mode")):
        are_true_intervals(file, point)
        paths = paths_of(file, point)
        assert [(p["source"], p["destination"], p["message_size"], p["window"]) for p in paths] == [
            (0, 1, 8, 32), (0, 1, 65536, 4), (1, 0, 0, 32), (2, 1, 4096, 32)]  # fmt: skip
        assert {p["mode"] for p in paths} == {mode}
        assert [p["connected"] for p in paths] == [0, 0, 0, 200_000_000]
        assert all(p["messages"].sum() > 0 for p in paths)
    checksums.require_right(file)


@pytest.mark.parametrize("provider", ["shm", "tcp", "net"])
def test_paths_may_go_by_modes_of_their_own(qos, needs_provider, tmp_path, provider):
    needs_provider(provider)
    modes = ["write-imm", "tagged", "read", "write", "msg"]
    words = [word for i, mode in enumerate(modes) for word in ("--path", f"{i % 2}:{1 - i % 2},mode={mode},size={8 << 3 * i}")]
    told = qos(2, *words, *SHORT, provider=provider)
    file = tmp_path / "a.h5"
    results = Results(file)
    assert (list(results.columns["state"]), results.words("mode")) == ([COMPLETE], ["mixed"])
    paths = paths_of(file, 0)
    assert [path["mode"] for path in paths] == modes
    assert [path["message_size"] for path in paths] == [8 << 3 * i for i in range(5)]
    assert all(path["messages"].sum() > 0 for path in paths)
    are_true_intervals(file, 0)
    rows = [line.split() for line in told.stdout.splitlines() if re.match(r" *\S+ +\d+ +\d:\d ", line)]
    assert [row[0] for row in rows] == modes
    with h5py.File(file) as opened:
        asked = opened["path_list"].asstr()[0].split("; ")
    assert [text.split("mode=")[1] for text in asked] == modes
    checksums.require_right(file)


@pytest.mark.parametrize(
    ("paths", "injects"), [(["0:1,size=8"], 1), (["1:0,size=8"], 1), (["0:1,size=64KiB", "1:0,size=8"], 0), (["0:1,size=8", "1:0,size=64KiB"], 0)]
)
def test_whether_messages_are_injected_is_known_of_every_sender(qos, tmp_path, paths, injects):
    qos(2, *[word for path in paths for word in ("--path", path)], *SHORT)
    assert list(Results(tmp_path / "a.h5").columns["inject"]) == [injects]


def test_a_mode_of_its_own_is_beside_those_of_the_launch(qos, tmp_path):
    qos(2, "--path", "0:1,mode=msg", "--path", "0:1", "--mode", "tagged,msg", *SHORT)
    assert Results(tmp_path / "a.h5").words("mode") == ["mixed", "msg"]
    assert [[path["mode"] for path in paths_of(tmp_path / "a.h5", i)] for i in (0, 1)] == [["msg", "tagged"], ["msg", "msg"]]
    again = qos(2, "--path", "0:1,mode=msg", "--path", "0:1", "--mode", "tagged,msg", *SHORT, "--resume")
    assert "mixed" in again.stdout
    qos(2, "--path", "0:1,mode=read", "--path", "0:1,mode=read", *SHORT, "--force")
    assert Results(tmp_path / "a.h5").words("mode") == ["read"], "one mode of all paths is the point's"


def test_paths_that_have_no_rank_in_common_are_each_over_an_endpoint_of_its_own(qos, needs_provider, tmp_path):
    """Of a number that they may share, where classes are set alike: each has what it asked for, and the port that it leaves by."""
    needs_provider("tcp")
    classes = ["bulk", "bulk", "low-latency", "sl1", ""]
    ends = ["0:1", "3:2", "1:0", "2:3", "3:2"]
    words = [word for end, name in zip(ends, classes, strict=True) for word in ("--path", end + (f",class={name}" if name else ""))]
    for times in TIMES:
        qos(4, *words, *lasting(times), "--force", provider="tcp")
        paths = paths_of(tmp_path / "a.h5", 0)
        if all(path["messages"].sum() > 0 for path in paths):
            break
    are_true_intervals(tmp_path / "a.h5", 0)
    assert [f"{path['source']}:{path['destination']}" for path in paths] == ends
    assert all(path["messages"].sum() > 0 for path in paths)
    granted = ["bulk", "bulk", "low-latency", "", ""]
    assert [path["class_granted"] for path in paths] == granted
    assert [path["class_verified"] for path in paths] == (granted if may_see_packets() else [""] * 5)
    assert len({path["port"] for path in paths}) == 1 and paths[0]["port"] != ""
    checksums.require_right(tmp_path / "a.h5")


def test_figures_are_those_of_the_shared_part(qos, tmp_path):
    file = tmp_path / "a.h5"
    for seconds in (0.6, 2.4, 9.6):  # a busy machine may leave no interval in which both were at work
        qos(2, "--path", "0:1", "--path", "0:1,size=100,start=250ms", "--duration", f"{seconds}s", "--interval", "200ms", "--force")
        early, late = paths_of(file, 0)
        if len(late["begin"]):
            break
    assert (late["begin"] >= 250_000_000).all() and (early["begin"] == 0).any()
    shared = [np.flatnonzero(path["begin"] >= 250_000_000) for path in (early, late)]
    assert len(shared[0]) == len(shared[1]) == len(late["begin"])
    bytes_of = [float(path["bytes"][rows].sum()) for path, rows in zip((early, late), shared, strict=True)]
    with h5py.File(file) as opened:
        row = {name: data[0] for name, data in opened.items() if isinstance(data, h5py.Dataset) and data.ndim == 1}
    assert row["bytes"] == sum(bytes_of)
    assert row["shared_intervals"] == len(late["begin"])
    lengths = [path["length"][rows].sum() for path, rows in zip((early, late), shared, strict=True)]
    assert abs(row["shared_time"] - np.mean(lengths)) <= 1
    assert row["gbps"] == pytest.approx(8 * row["bytes"] / row["shared_time"])
    assert row["jain"] == pytest.approx(sum(bytes_of) ** 2 / (2 * sum(b * b for b in bytes_of)))


def test_a_path_that_gets_nothing_is_told_and_ends_nothing(qos, tmp_path):
    """Its receiver frees a buffer only when it looks: a window of 1 and a start behind all whole intervals but its own."""
    for times in TIMES:
        told = qos(3, "--path", "0:1", "--path", f"2:1,start={450 * times}ms", *lasting(times), "--force", "--format", "qos")
        lines = re.findall(r"^Rx_(\d) received (\d+) data bytes in (\d+) messages over last ([\d.]+) seconds$", told.stdout, re.MULTILINE)
        if first := [line for line in lines if line[0] == "0"]:
            break
    assert first and all(int(size) == 4096 * int(count) for _, size, count, _ in lines)
    late = paths_of(tmp_path / "a.h5", 0)[1]
    assert len(late["begin"]) == 0, "it had no whole interval"
    with h5py.File(tmp_path / "a.h5") as opened:
        assert opened["shared_intervals"][0] == 0 and opened["shared_time"][0] == -1 and np.isnan(opened["jain"][0])


def test_paths_of_a_file_and_by_number(qos, tmp_path):
    (tmp_path / "paths.txt").write_text("# two\n0:1,size=8 # small\n\n1:0,window=2\n")
    qos(2, "--path-file", "paths.txt", *SHORT, "--sizes", "16,32")
    with h5py.File(tmp_path / "a.h5") as opened:
        assert [text.split(";")[0] for text in opened["path_list"].asstr()[:]] == ["0:1 size=8 window=32 mode=tagged"] * 2
    assert [[p["message_size"] for p in paths_of(tmp_path / "a.h5", point)] for point in (0, 1)] == [[8, 16], [8, 32]]
    qos(2, "--paths", "4", *SHORT, "--force")
    assert [(p["source"], p["destination"]) for p in paths_of(tmp_path / "a.h5", 0)] == [(0, 1)] * 4


def test_no_share_is_given_where_the_sender_decides(qos, tmp_path):
    """With a window of one there is a gap behind every message."""
    told = qos(2, "--path", "0:1,window=1,size=8", "--path", "0:1,window=1,size=8", *SHORT)
    with h5py.File(tmp_path / "a.h5") as opened:
        assert opened["shared_time"][0] > 0
    shares = [path["idle"].sum() / path["length"].sum() for path in paths_of(tmp_path / "a.h5", 0)]
    if max(shares) <= 0.01:
        pytest.skip(f"its threads had no gaps here: idle for {100 * max(shares):.2f} % of the time")
    assert "no share is the fabric's: the sender of path" in told.stdout
    assert "Jain" not in told.stdout
    rows = [line.split() for line in told.stdout.splitlines() if ":" in line and line.split()[0] == "tagged"]
    assert [row[9] for row in rows] == ["—", "—"]


@pytest.mark.parametrize("form", ["table", "csv"])
def test_shares_of_few_intervals_are_told(qos, needs_provider, tmp_path, form):
    needs_provider("tcp")
    words = ["--paths", "2", "--sizes", "1MiB", "--window", "16", "--format", form, "--force"]
    few = qos(2, *words, "--duration", "800ms", "--interval", "200ms", provider="tcp")
    idle = [path["idle"].sum() / path["length"].sum() for path in paths_of(tmp_path / "a.h5", 0)]
    if not 0 <= min(idle) <= max(idle) <= 0.01:
        assert "shares rest on" not in few.stderr
        pytest.skip(f"no shares: a sender may have had nothing outstanding for {100 * max(idle):.2f} % of the time")
    count = int(Results(tmp_path / "a.h5").columns["shared_intervals"][0])
    seconds = f"{0.8 + (10 - count) * 0.2:.10g}s"
    assert f"shares rest on {count} interval" in few.stderr and f"--duration {seconds} has room for as many" in few.stderr
    qos(2, *words, "--duration", "4s", "--interval", "100ms", provider="tcp")
    many = int(Results(tmp_path / "a.h5").columns["shared_intervals"][0])
    told = qos(2, *words[:-1], "--duration", "4s", "--interval", "100ms", "--resume", provider="tcp")
    assert many < 10 or "shares rest on" not in told.stderr


def test_a_finished_file_is_resumed_and_shows_the_same(qos, tmp_path):
    words = ["--paths", "2", "--sizes", "8,4096", *SHORT]
    first = qos(2, *words)
    before = [paths_of(tmp_path / "a.h5", point) for point in (0, 1)]
    again = qos(2, *words, "--resume")
    assert again.stdout == first.stdout
    after = [paths_of(tmp_path / "a.h5", point) for point in (0, 1)]
    np.testing.assert_equal(after, before)


def may_see_packets() -> bool:
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0).close()
    except PermissionError:
        return False
    return True


@pytest.mark.parametrize("provider", ["shm", "tcp", "net"])
def test_classes_that_are_asked_for_are_granted_and_seen(qos, needs_provider, tmp_path, provider):
    needs_provider(provider)
    asked = ["best-effort", "low-latency", "bulk", "dscp10", "sl1"]
    words = [word for name in asked for word in ("--path", f"0:1,class={name}")]
    told = qos(2, *words, "--path", "1:0", *SHORT, provider=provider)
    paths = paths_of(tmp_path / "a.h5", 0)
    assert [path["class_requested"] for path in paths] == [*asked, ""]
    granted = asked[:-1] if provider != "shm" else []  # memory has no classes
    assert [path["class_granted"] for path in paths] == [*granted, *[""] * (6 - len(granted))]
    # A service level is in no packet of IP.
    seen = ["" if not may_see_packets() else name for name in granted]
    assert [path["class_verified"] for path in paths] == [*seen, *[""] * (6 - len(seen))]
    said = re.findall(r"^# path \d \(0:1\): class (\S+) (.*)$", told.stdout, re.MULTILINE)
    in_words = "granted, verified" if may_see_packets() else "granted, not verified"
    why = {name: f"{provider} does not name it in what it gives" for name in asked} | {"sl1": f"{provider} is told no service level"}
    assert said == [(name, in_words if name in granted else f"not granted: {why[name]}") for name in asked]
    assert [path["class_trouble"] for path in paths] == [*("" if name in granted else why[name] for name in asked), ""]
    if provider != "shm":
        tuned = Results(tmp_path / "a.h5").segments[0].attributes["tuned_environment"]
        assert "FI_TCP_NODELAY=1" in tuned, "Nagle's algorithm is off for bulk, too"


@pytest.mark.skipif(not shutil.which("setpriv"), reason="setpriv of util-linux is not here")
def test_who_may_not_look_at_packets_verifies_nothing(program, needs_provider, tmp_path):
    needs_provider("tcp")
    without = ["setpriv", "--bounding-set=-net_raw", "--inh-caps=-net_raw", "--no-new-privs"]
    outcome = subprocess.run(
        [MPIRUN, "2", *without, program, "qos", "--provider", "tcp", "--path", "0:1,class=bulk", *SHORT, "--poll", "yield", "-o", "a.h5"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    assert "class bulk granted, not verified" in outcome.stdout
    assert [path["class_verified"] for path in paths_of(tmp_path / "a.h5", 0)] == [""]


def test_classes_are_of_the_paths_in_their_order(qos, tmp_path):
    qos(2, "--classes", "bulk,low-latency,bulk", *SHORT)
    assert [path["class_requested"] for path in paths_of(tmp_path / "a.h5", 0)] == ["bulk", "low-latency", "bulk"]


def test_intervals_that_find_no_room_are_told(qos, tmp_path):
    told = qos(2, "--paths", "2", "--duration", "500ms", "--interval", "100ms", "--max-samples", "2")
    assert re.search(r"\d intervals not kept", told.stderr), told.stderr
    assert all(len(path["begin"]) <= 2 for path in paths_of(tmp_path / "a.h5", 0))


def test_verify_only(launch, tmp_path):
    done = launch(2, "qos", "--provider", "shm", "--poll", "yield", "--paths", "3", "--verify-only")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 point verified, every byte of every message\n"
    assert list(tmp_path.iterdir()) == []


def test_what_one_thread_drives_makes_no_node_oversubscribed(a2aperf):
    told = a2aperf("qos", "--dry-run", "--ranks", "2", "--paths", "8", "--memory-limit", "1GiB")
    assert told.returncode == 0, told.stderr
    assert "8 paths" in told.stdout


@pytest.mark.skipif(not A2A.exists(), reason="the analysis is not installed")
def test_the_analysis_reads_it(qos, tmp_path):
    qos(2, "--paths", "2", *SHORT)
    for words in (("check",), ("table",), ("explain",)):
        done = subprocess.run([A2A, *words, tmp_path / "a.h5"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_more_paths_than_the_provider_has_endpoints(launch, needs_provider, tmp_path):
    needs_provider("psm2")
    outcome = launch(2, "qos", "--provider", "psm2", *CALM, "--paths", "2", *SHORT)
    assert outcome.returncode == 3
    assert "psm2 opens 1 endpoint in a process, not 2" in outcome.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--path", "0"], "--path: '0' is not a path: it begins with its two ranks, as in 0:1,size=4096"),
        (["--path", "1:1"], "--path: the path 1:1 leads from a rank to itself"),
        (["--path", "0:1,sise=8"], "--path: 'sise=8' says nothing of a path: expected "),
        (["--path", "0:1,size=8,size=9"], "size is there twice in one path"),
        (["--path", "0:1,window=0"], "--path: window '0': expected a whole number from 1"),
        (["--path", "0:1,size=8..16*2"], "a path has one size"),
        (["--path", "0:2"], "--path 0:2 names rank 2, and there are 2 ranks: 0 to 1"),
        (["--path", "0:1", "--paths", "2"], "--paths and --path exclude each other"),
        (["--path", "0:1,start=30s"], "--path 0:1 begins after 30 s, and --duration is 30 s"),
        (["--path", "0:1,size=8", "--sizes", "16"], "--sizes: every path has one of its own"),
        (["--path", "0:1,mode=sand"], "--path 0:1: unknown mode 'sand': expected one of tagged, msg, write-imm, read, write"),
        (["--path", "0:1,mode=msg", "--mode", "msg"], "--mode: every path has one of its own"),
        (["--classes", "bulk,fast"], "--classes: unknown class 'fast': expected best-effort, low-latency"),
        (["--path", "0:1,class=dscp64"], "--path: class 'dscp64': dscp goes from 0 to 63"),
        (["--paths", "3", "--classes", "bulk"], "--classes: 1 of them, and 3 paths"),
        (["--path", "0:1", "--classes", "bulk"], "--classes are those of --paths: of a --path write class="),
        (["--path-file", "none.txt"], "--path-file: "),
        (["--paths", "0"], "--paths: "),
        (["--interval", "50ms"], "--interval: '50ms' is below 100 ms"),
        (["--interval", "31s"], "--interval 31 s is longer than --duration 30 s"),
        (["--window", "all"], "--window: a path has a number of buffers, not all"),
        (["--format", "wide"], "--format: for qos expected one of table, qos, csv, json"),
        (["--poll", "block"], "--poll: for qos expected one of auto, spin, yield"),
        (["--poll", "throttle=9"], "--poll: for qos expected one of auto, spin, yield"),
    ],
)
def test_bad_input_is_one_line_and_no_file(launch, tmp_path, words, says):
    refuses(launch(2, "qos", "--provider", "shm", *words), says, tmp_path, [])


def test_what_has_no_room_is_skipped_with_the_reason(qos, tmp_path):
    qos(2, "--path", "0:1,size=8", "--path", "0:1", "--sizes", "8,8MiB", *SHORT, "--memory-limit", "64MiB")
    results = Results(tmp_path / "a.h5")
    assert list(results.columns["state"]) == [COMPLETE, SKIPPED]
    assert "the messages and the credits of 2 paths need" in results.words("skip_reason")[1]
