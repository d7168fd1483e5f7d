# SPDX-License-Identifier: BSD-3-Clause
"""--search finds what is faster, keeps all that it measured, and leaves a file for --config; bad input is refused
before anything is written."""

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from processes import PATIENCE
from results import Results

A2A = os.environ.get("A2A", Path(__file__).parents[2] / ".venv/bin/a2a")
OF_TWO = ("--mode", "tagged,write-imm", "--chunk", "whole", "--poll", "yield", "--warmup", "3")


def test_what_is_twice_as_fast_is_found_and_can_be_used(launch, needs_provider, tmp_path):
    needs_provider("tcp")
    words = ["--provider", "tcp;ofi_rxm", "--sizes", "64KiB", *OF_TWO, "--force", "-o", "a.h5"]
    for seconds in (8, 16, 32, 64):  # where other work takes the cores nothing is decided
        outcome = launch(2, "alltoall", *words, "--search", f"{seconds}s")
        assert outcome.returncode == 0, outcome.stderr
        if outcome.stdout.splitlines()[1].endswith("faster"):
            break
    assert "write-imm shift window all" in outcome.stdout
    assert outcome.stdout.splitlines()[1].endswith("faster")
    results = Results(tmp_path / "a.h5")
    assert results.words("role") == ["search"] * 2 + ["measure"] * 2
    assert results.words("mode")[2:] == ["write-imm", "tagged"]
    assert list(results.columns["partner"]) == [-1, -1, 3, 2]
    assert results.columns["ratio_low"][2] > 1
    assert (results.columns["ops"] >= 10).all()
    for words in (["check"], ["table"], ["table", "--role", "search"], ["explain"]):
        said = subprocess.run([A2A, *words, tmp_path / "a.h5"], capture_output=True, text=True, timeout=PATIENCE)
        assert said.returncode == 0, said.stdout + said.stderr
    shown = subprocess.run([A2A, "table", "--csv", tmp_path / "a.h5"], capture_output=True, text=True, timeout=PATIENCE)
    assert len(shown.stdout.splitlines()) == 3, "only what was measured to compare"
    again = launch(2, "alltoall", "--config", "a.search.toml", "--ops", "3", "--no-sentinel", "-o", "b.h5")
    assert again.returncode == 0, again.stderr
    assert Results(tmp_path / "b.h5").words("mode") == ["write-imm"]


def test_chunks_and_endpoints_that_are_given_are_tried_but_none_twice(launch, tmp_path):
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "500,3000", "--mode", "tagged", "--schedule", "shift", "--window", "all",
        "--chunk", "1000,whole", "--endpoints", "1,2", "--search", "8s", "--ops", "120", "--warmup", "2", "--poll", "yield",
        "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    columns = results.columns
    for size, tried in ((500, 2), (3000, 4)):  # no chunk of 1000 B cuts a message of 500 B
        first = [
            (int(columns["chunks"][i]), int(columns["endpoints"][i]))
            for i in range(len(results))
            if results.words("role")[i] == "search" and columns["message_size"][i] == size
        ][:tried]
        assert sorted(first) == [(1, 1), (1, 2), (3, 1), (3, 2)][:tried]
    again = launch(3, "alltoall", "--config", "a.search.toml", "--ops", "2", "--no-sentinel", "-o", "b.h5")
    assert again.returncode == 0, again.stderr


def test_chunks_that_are_not_given_are_tried_where_they_cut_a_message_into_a_few(launch, tmp_path):
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "4KiB,8KiB,64KiB", "--mode", "tagged,write-imm", "--window", "all,1",
        "--search", "15s", "--ops", "120", "--warmup", "2", "--poll", "yield", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    columns = results.columns
    tried = {
        (int(columns["message_size"][i]), results.words("mode")[i], int(columns["chunk"][i]), int(columns["window"][i]))
        for i in range(len(results))
        if columns["chunks"][i] > 1
    }
    wanted = [(8192, 4096), (65536, 4096), (65536, 16384)]
    assert {(size, mode, chunk, 0) for size, chunk in wanted for mode in ("tagged", "write-imm")} == tried
    assert "note: ranks yielded their core or were preempted during ops" in outcome.stderr  # three on two cores
    again = launch(3, "alltoall", "--config", "a.search.toml", "--ops", "2", "--no-sentinel", "-o", "b.h5")
    assert again.returncode == 0, again.stderr


def test_ways_to_poll_that_are_given_are_tried_and_the_first_is_the_default_setting_s(launch, tmp_path):
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "500", "--mode", "tagged", "--schedule", "shift", "--window", "all",
        "--poll", "throttle=8,yield", "--search", "4s", "--ops", "120", "--warmup", "2", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.words("polling")[:2] == ["throttle=8", "yield"]
    assert set(results.words("polling")) == {"throttle=8", "yield"}
    found = re.search(r'^poll = "(.+)"$', (tmp_path / "a.search.toml").read_text(), re.MULTILINE)
    assert found and found[1] in ("throttle=8", "yield")
    assert "stands for" not in outcome.stderr
    again = launch(3, "alltoall", "--config", "a.search.toml", "--ops", "2", "--no-sentinel", "-o", "b.h5")
    assert again.returncode == 0, again.stderr
    assert Results(tmp_path / "b.h5").segments[0].attributes["poll"] == found[1]


@pytest.mark.parametrize(("provider", "ranks"), [("shm", 2), ("shm", 3), ("tcp", 3)])
def test_endpoints_and_ways_to_poll_that_are_not_given_are_tried_where_they_tell_something(
    launch, needs_provider, tmp_path, provider, ranks
):
    needs_provider(provider)
    outcome = launch(
        ranks, "alltoall", "--provider", provider, "--sizes", "500", "--mode", "tagged,msg", "--schedule", "shift", "--window",
        "all", "--search", "4s", "--ops", "120", "--warmup", "2", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    shares_cores = results.segments[0].attributes["poll"] == "yield"
    ways, endpoints = results.words("polling"), results.columns["endpoints"]
    assert (ways[0], endpoints[0]) == ("", 1), "the default setting polls as all of the launch does"
    assert set(ways) == ({""} if shares_cores else {"", "yield", "throttle=16"})
    assert (f"another --poll (oversubscribed: {ranks} ranks on " in outcome.stderr) == shares_cores
    assert set(endpoints) == ({1} if ranks == 2 else {1, 2})
    assert ("not tried: --endpoints 2, --threads each (a rank has one peer" in outcome.stderr) == (ranks == 2)
    assert all(ways[i] == "" for i in np.flatnonzero(endpoints == 2)), "one option at a time"
    found = dict(re.findall(r'^(endpoints|poll) = "(.+)"$', (tmp_path / "a.search.toml").read_text(), re.MULTILINE))
    again = launch(ranks, "alltoall", "--config", "a.search.toml", "--ops", "2", "--no-sentinel", "-o", "b.h5")
    assert again.returncode == 0, again.stderr
    used = Results(tmp_path / "b.h5")
    assert used.segments[0].attributes["poll"] == found.get("poll", results.segments[0].attributes["poll"])
    assert list(used.columns["endpoints"]) == [int(found.get("endpoints", 1))]


def test_a_thread_for_each_of_the_endpoints_that_it_tries_by_itself(a2aperf):
    of_four = ("alltoall", "--search", "--dry-run", "--ranks", "4", "--sizes", "1000")
    usual, asked, of_one = a2aperf(*of_four), a2aperf(*of_four, "--threads", "one,each"), a2aperf(*of_four, "--threads", "one")
    assert usual.returncode == asked.returncode == of_one.returncode == 0, usual.stderr + asked.stderr + of_one.stderr
    assert "endpoints 2 1000 B" in of_one.stdout and "threads each" not in of_one.stdout
    for outcome in (usual, asked):
        assert "endpoints 2 threads each" in outcome.stdout and "endpoints 2 1000 B" in outcome.stdout


@pytest.mark.parametrize(("cores", "words"), [(6, ()), (5, ()), (5, ("--threads", "one,each"))], ids=["enough", "too few", "asked for"])
def test_threads_are_tried_by_itself_where_each_has_a_core(launch, tmp_path, monkeypatch, cores, words):
    monkeypatch.setenv("HWLOC_SYNTHETIC", f"node:1 core:{cores} pu:1")  # a machine that is made up, where all may run everywhere
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "500", "--mode", "tagged", "--schedule", "shift", "--window", "all",
        "--chunk", "whole", "--poll", "yield", "--search", "4s", "--ops", "120", "--warmup", "2", *words, "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    tried = set(zip(results.columns["endpoints"], results.words("threads"), strict=True))
    has_cores = cores >= 3 * 2
    assert tried == {(1, "one"), (2, "one")} | ({(2, "each")} if has_cores or words else set())
    why = "not tried: --threads each of 2 endpoints (oversubscribed: 2 threads each of 3 ranks on 5 cores)"
    assert (why in outcome.stderr) == (not has_cores and not words)
    assert ("oversubscribed: 2 threads" in outcome.stdout + outcome.stderr) == (not has_cores), "said of what is there, or of what is left out"


def test_where_the_threads_of_one_setting_are_more_than_cores_all_yield_and_the_file_for_config_says_so(launch, tmp_path, monkeypatch):
    """The default setting has a thread each of three ranks, for which there are cores: it yields for another one's."""
    monkeypatch.setenv("HWLOC_SYNTHETIC", "node:1 core:3 pu:1")  # a machine that is made up, where all may run everywhere
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "500", "--mode", "tagged", "--chunk", "whole", "--endpoints", "1,2",
        "--threads", "one,each", "--search", "4s", "--ops", "120", "--warmup", "2", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    results = Results(tmp_path / "a.h5")
    assert results.segments[0].attributes["poll"] == "yield"
    assert set(results.words("polling")) == {""}, "yield is the default setting's way here"
    assert "another --poll (oversubscribed: 2 threads each of 3 ranks on 3 cores)" in outcome.stderr
    assert re.findall(r'^poll = "(.+)"$', (tmp_path / "a.search.toml").read_text(), re.MULTILINE) == ["yield"]


def test_a_second_endpoint_is_left_out_where_its_buffers_have_no_room(a2aperf):
    of_four = ("alltoall", "--search", "--dry-run", "--ranks", "4", "--sizes", "1MiB", "--memory-limit")
    refused = "endpoints 2 1048576 B, skipped: the buffers of 2 endpoints have no room in 40 MiB a node"
    tight, ample = a2aperf(*of_four, "40MiB"), a2aperf(*of_four, "80MiB")
    assert tight.returncode == ample.returncode == 0, tight.stderr + ample.stderr
    assert tight.stdout.count(refused) == tight.stdout.count("endpoints 2 1048576 B") > 0
    assert tight.stdout.count("skipped") == tight.stdout.count(refused), "all else is tried"
    assert "not tried: --endpoints 2, --threads each (the buffers of 2 endpoints have no room" in tight.stdout
    assert "endpoints 2 1048576 B" in ample.stdout
    assert "skipped" not in ample.stdout
    assert "not tried" not in ample.stdout


def test_every_round_has_the_faster_half_of_the_last_one(launch, tmp_path):
    outcome = launch(
        3, "alltoall", "--provider", "shm", "--sizes", "100,3000", "--mode", "tagged,msg", "--window", "all,1", "--schedule",
        "shift,random", "--endpoints", "1", "--search", "20s", "--ops", "120", "--warmup", "2", "--poll", "yield", "-o", "a.h5",
    )  # fmt: skip
    assert outcome.returncode == 0, outcome.stderr
    columns = Results(tmp_path / "a.h5").columns
    roles = np.array(Results(tmp_path / "a.h5").words("role"))
    for size in (100, 3000):
        times = columns["time_p50"][(columns["message_size"] == size) & (roles == "search")]
        assert len(times) == 8 + 4 + 2
        first, second, last = times[:8], times[8:12], times[12:]
        names = [
            tuple(columns[name][i] for name in ("mode", "schedule", "window"))
            for i in np.flatnonzero((columns["message_size"] == size) & (roles == "search"))
        ]
        assert set(names[8:12]) == {names[i] for i in np.argsort(first, kind="stable")[:4]}
        assert set(names[12:]) == {names[8 + i] for i in np.argsort(second, kind="stable")[:2]}
        assert len(last) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--mode", "tagged", "--window", "all", "--schedule", "shift", "--chunk", "whole", "--poll", "yield"),
            "the default setting alone to choose from: give --mode, --schedule, --window, --chunk, --endpoints, --threads or --poll more than",
        ),
        (("--search", "100ms"), "or fewer --sizes, --mode, --schedule, --window, --chunk, --endpoints, --threads or --poll"),
        (("--search", "100ms"), "not even one size fits"),
        (("--search", "5s", "--sizes", "64KiB", "--chunk", "1"), "not even one size fits"),  # 65536 messages an op
        (("--baseline", "mpi"), "--search and --baseline exclude each other"),
        (("--traffic", "incast"), "--search and --traffic exclude each other"),
        (("--redraw", "op"), "--search and --redraw exclude each other"),
        (("--format", "csv"), "a table of its own"),
        (("--ops", "30"), "fewer than 120 ops of either side decide nothing"),
    ],
)
def test_what_cannot_be_searched_is_refused(launch, tmp_path, words, says):
    search = () if "--search" in words else ("--search",)
    outcome = launch(2, "alltoall", *search, *words, "-o", "a.h5")
    assert outcome.returncode == 2, outcome.stderr
    assert says in outcome.stderr
    assert not list(tmp_path.glob("a.*"))


@pytest.mark.parametrize("words", [(), ("--force",)])
def test_a_file_for_config_is_written_through_no_link(launch, tmp_path, words):
    """One that leads nowhere would make a file wherever it leads."""
    (tmp_path / "a.search.toml").symlink_to(tmp_path / "other.toml")
    outcome = launch(2, "alltoall", "--provider", "shm", "--search", "2s", "--sizes", "1000", *OF_TWO, *words, "-o", "a.h5")
    assert outcome.returncode == (0 if words else 2), outcome.stderr
    assert not (tmp_path / "other.toml").exists()
    assert (tmp_path / "a.search.toml").is_symlink() == (not words)


def test_a_file_for_config_that_is_there_is_kept(launch, tmp_path):
    (tmp_path / "a.search.toml").write_text("mine")
    outcome = launch(2, "alltoall", "--search", "1min", "--sizes", "1000", "-o", "a.h5")
    assert outcome.returncode == 2, outcome.stderr
    assert "a.search.toml exists already" in outcome.stderr
    assert (tmp_path / "a.search.toml").read_text() == "mine"
    assert not (tmp_path / "a.h5").exists()
