# SPDX-License-Identifier: BSD-3-Clause
"""--resume with other options than the file's: for each the outcome that the table of docs/file-format.md promises."""

import re
import shutil
import subprocess
from pathlib import Path

import checksums
import h5py
import pytest
from processes import PATIENCE
from workload_names import WORKLOADS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COMMON = {"--provider": "shm", "--sizes": "8,16", "--ops": "4", "--warmup": "1", "--sync": "barrier", "--poll": "yield"}
BASES = {
    "alltoall": COMMON | {"--no-sentinel": None},
    "precise": COMMON | {"--no-sentinel": None, "--precision": "50%", "--min-ops": "6", "--max-ops": "12"},
    "pairs": COMMON,
    "stream": {name: COMMON[name] for name in ("--provider", "--sizes", "--poll")} | {"--pairs": "0:1", "--messages": "50"},
    "echo": {name: COMMON[name] for name in ("--provider", "--sizes", "--poll", "--ops")} | {"--pairs": "0:1"},
    "open-loop": {name: COMMON[name] for name in ("--provider", "--sizes", "--poll")} | {"--pairs": "0:1", "--messages": "20"},
    "qos": {name: COMMON[name] for name in ("--provider", "--sizes", "--poll")} | {"--paths": "2", "--duration": "200ms", "--interval": "100ms"},
    "interference": {name: COMMON[name] for name in ("--provider", "--sizes", "--poll")} | {"--victims": "0:1", "--levels": "100", "--phase": "200ms", "--alternations": "1"},
}
BASES["precise"].pop("--ops")
BASES["streaming"] = BASES["interference"] | {"--victim-kind": "stream"}
BASES["dealt"] = BASES["alltoall"] | {"--endpoints": "1,2"}
BASES["drawn"] = BASES["alltoall"] | {"--traffic": "zipf=1.2"}
BASES["relayed"] = BASES["open-loop"] | {"--relays": "1"}
BASES["looped"] = BASES["stream"] | {"--pairs": "loopback"}
# Of the base, what it is instead (None: a flag; ...: left out), and what the line must say besides the option.
OTHERS = {
    "--sizes": ("alltoall", {"--sizes": "8,32"}, "16 in the file and 32 in this launch"),
    "--message-size": ("alltoall", {"--sizes": ..., "--message-size": "4:8"}, "message_size 8 in the file and 4"),
    "--mode": ("alltoall", {"--mode": "msg"}, "'tagged' in the file and 'msg' in this launch"),
    "--schedule": ("alltoall", {"--schedule": "shift,naive"}, "'naive' in this launch only"),
    "--window": ("alltoall", {"--window": "1"}, "0 in the file and 1"),
    "--post": ("alltoall", {"--post": "inside"}, "'before' in the file and 'inside'"),
    "--traffic": ("alltoall", {"--traffic": "incast"}, "traffic 'uniform' in the file and 'incast'"),
    "--redraw": ("drawn", {"--redraw": "op"}, "traffic 'zipf=1.2' in the file and 'zipf=1.2/op'"),
    "--chunk": ("alltoall", {"--chunk": "4"}, "chunk 0 in the file and 4"),
    "--endpoints": ("alltoall", {"--endpoints": "2"}, "endpoints 1 in the file and 2"),
    "--queues": ("dealt", {"--queues": "one"}, "queues 'each' in the file and 'one'"),
    "--baseline": ("alltoall", {"--baseline": "mpi"}, "'baseline' in this launch only"),
    "--no-sentinel": ("alltoall", {"--no-sentinel": ...}, "'sentinel' in this launch only"),
    "--steps": ("pairs", {"--steps": "1"}, "in the file only"),
    "--provider": ("alltoall", {"--provider": "tcp"}, "'shm' in the file and 'tcp"),
    "--ops": ("alltoall", {"--ops": "5"}, "it was measured with --ops 4 and this launch has --ops 5"),
    "--precision": ("precise", {"--precision": "40%"}, "with --precision 0.5 and this launch has --precision 0.4"),
    "--min-ops": ("precise", {"--min-ops": "7"}, "with --min-ops 6 and this launch has --min-ops 7"),
    "--max-ops": ("precise", {"--max-ops": "11"}, "with --max-ops 12 and this launch has --max-ops 11"),
    "--time-budget": ("alltoall", {"--time-budget": "9s"}, "resumed with --time-budget 9 s; the launch before had no --time-budget"),
    "--warmup": ("alltoall", {"--warmup": "2"}, "with --warmup 1 and this launch has --warmup 2"),
    "--memory": ("alltoall", {}, "with --memory huge and this launch has --memory default"),
    "--order": ("alltoall", {"--order": "shuffled"}, "with --order declared and this launch has --order shuffled"),
    "--seed": ("alltoall", {"--seed": "2"}, "with --seed 1 and this launch has --seed 2"),
    "--shuffle-ranks": ("alltoall", {"--shuffle-ranks": None}, "with no --shuffle-ranks and this launch has --shuffle"),
    "--poll": ("alltoall", {"--poll": "throttle=8"}, "with --poll yield and this launch has --poll throttle=8"),
    "--sync": ("alltoall", {"--sync": "clock"}, "by --sync barrier and this launch's by --sync clock"),
    "--complete-at": ("alltoall", {"--complete-at": "sender"}, "complete at the receiver and this launch's at the sender"),
    "--percentile": ("alltoall", {"--percentile": "index"}, "the rule 'rank' and this launch's 'index'"),
    "--trace": ("alltoall", {"--trace": None}, "does not keep when each message arrived"),
    "--require": ("alltoall", {"--require": "PSM2_RCVTHREAD=0"}, "PSM2_RCVTHREAD was not set and is '0'"),
    "--nic": ("alltoall", {}, "resumed with --nic shm; the launch before had --nic other"),
    "--link-rate": ("alltoall", {"--link-rate": "200Mbit/s"}, "resumed with --link-rate 0.2 Gbit/s; the launch before had no --link-rate"),
    "--memory-limit": ("alltoall", {"--memory-limit": "8MiB"}, "resumed with --memory-limit 8 MiB; the launch before had"),
    "--label": ("alltoall", {"--label": "a=1"}, "resumed with other labels (--label): 'a=1' instead of none"),
    "--attach": ("alltoall", {"--attach": "facts.txt"}, ""),
    "--node-facts": ("alltoall", {"--node-facts": "facts.txt"}, ""),
    "--pairs": ("stream", {"--pairs": "1:0"}, "'0:1' in the file and '1:0'"),
    "--duplex": ("stream", {"--duplex": None}, "'one way' in the file and 'both ways'"),
    "--free-delay": ("stream", {"--free-delay": "1ms"}, "free_delay 0 in the file and 1000000"),
    "--inject": ("stream", {"--inject": "off"}, "'auto' in the file and 'off'"),
    "--completion": ("stream", {"--completion": "delivery"}, "'default' in the file and 'delivery'"),
    "--cq-mod": ("stream", {"--cq-mod": "4"}, "cq_mod 1 in the file and 4"),
    "--threads": ("looped", {"--threads": "each"}, "threads 'one' in the file and 'each'"),
    "--duration": ("stream", {"--messages": ..., "--duration": "20ms"}, "asked_duration -1 in the file and 20000000"),
    "--messages": ("stream", {"--messages": "51"}, "asked_messages 50 in the file and 51"),
    "--request": ("echo", {"--request": "31"}, "request_size 30 in the file and 31"),
    "--clients": ("echo", {"--pairs": ..., "--clients": "2", "--servers": "1"}, "'0:1' in the file and 'clients 2 servers 1'"),
    "--servers": ("echo", {"--pairs": ..., "--clients": "1", "--servers": "2"}, "'0:1' in the file and 'clients 1 servers 2'"),
    "--outstanding": ("echo", {"--outstanding": "2"}, "outstanding 1 in the file and 2"),
    "--rates": ("open-loop", {"--rates": "20k"}, "rate 10000 in the file and 20000"),
    "--arrivals": ("open-loop", {"--arrivals": "poisson"}, "'even' in the file and 'poisson'"),
    "--relays": ("open-loop", {"--relays": "1"}, "relays 0 in the file and 1"),
    "--relay-time": ("relayed", {"--relay-time": "1ms"}, "asked_relay_time 0 in the file and 1000000"),
    "--path": ("qos", {"--paths": ..., "--path": "1:0"}, "path_list '0:1 size=8 window=32 mode=tagged; 0:1"),
    "--path-file": ("qos", {"--paths": ..., "--path-file": "paths.txt"}, "path_list '0:1 size=8 window=32 mode=tagged; 0:1"),
    "--paths": ("qos", {"--paths": "1"}, "path_list '0:1 size=8 window=32 mode=tagged; 0:1"),
    "--classes": ("qos", {"--classes": "bulk,bulk"}, "and '0:1 class=bulk size=8"),
    "--interval": ("qos", {"--interval": "200ms"}, "interval 100000000 in the file and 200000000"),
    "--victims": ("interference", {"--victims": "0:2"}, "'0:1' in the file and '0:2'"),
    "--victim-kind": ("interference", {"--victim-kind": "stream"}, "'echo' in the file and 'stream'"),
    "--victim-window": ("streaming", {"--victim-window": "2"}, "victim_window 8 in the file and 2"),
    "--load-class": ("interference", {"--load-class": "bulk"}, "'' in the file and 'bulk'"),
    "--placement": ("interference", {"--victims": ..., "--placement": "same"}, "'listed' in the file and 'same'"),
    "--load": ("interference", {"--load": "incast"}, "'all-to-all' in the file and 'incast'"),
    "--levels": ("interference", {"--levels": "50"}, "load_level 100 in the file and 50"),
    "--load-size": ("interference", {"--load-size": "8"}, "load_size 65536 in the file and 8"),
    "--load-window": ("interference", {"--load-window": "2"}, "load_window 8 in the file and 2"),
    "--gap": ("interference", {"--gap": "1ms"}, "request_gap 500000 in the file and 1000000"),
    "--phase": ("interference", {"--phase": "30ms"}, "phase_length 200000000 in the file and 30000000"),
    "--alternations": ("interference", {"--alternations": "2"}, "alternations 1 in the file and 2"),
    "--from": ("stream", {"--from": "shm"}, "with no --from and this launch has --from shm"),
    "--to": ("stream", {}, "with --to 'other 1' and this launch has no --to"),
    "--max-samples": ("stream", {"--max-samples": "7"}, ""),
    "--suspects": ("pairs", {"--suspects": "1"}, ""),
    "--timeout": ("alltoall", {"--timeout": "50s"}, ""),
    "--format": ("alltoall", {"--format": "csv"}, ""),
    "--quiet": ("alltoall", {"--quiet": None}, ""),
    "--output": ("alltoall", {"--output": "b.h5"}, ""),
    "--verify-only": ("alltoall", {"--verify-only": None}, "writes no file"),
    "--dry-run": ("alltoall", {"--dry-run": None}, ""),
    "--ranks": ("alltoall", {"--dry-run": None, "--ranks": "5"}, ""),
    "--ranks-per-node": ("alltoall", {"--dry-run": None, "--ranks": "4", "--ranks-per-node": "2"}, ""),
}  # fmt: skip
PLANTED = {"--memory": ("memory", "huge"), "--nic": ("domain", "other"), "--to": ("asked_to", "other 1")}  # what this machine may not have
NO_TABLE = {"--resume", "--force", "--config", "--help", "--help-all", "--list", "--version"}


def table() -> dict[str, str]:
    text = (ROOT / "docs" / "file-format.md").read_text()
    part = text.split("### Resuming with other options")[1].split("\n### ")[0]
    rows = re.findall(r"^\| (`--[^|]*) \| (\w+) \|", part, re.MULTILINE)
    return {option: outcome for cell, outcome in rows for option in re.findall(r"`(--[\w-]+)`", cell)}


OUTCOMES = table()


def words_of(base: str, more: dict[str, str | None]) -> list[str]:
    words = [base if base in WORKLOADS else {"looped": "stream", "relayed": "open-loop", "streaming": "interference"}.get(base, "alltoall")]
    for option, value in (BASES[base] | {"--output": "a.h5"} | more).items():
        if value is not ...:
            words += [option] if value is None else [option, value]
    return words


def ranks_of(base: str) -> int:
    return 4 if base in ("interference", "streaming") else 3


@pytest.fixture(scope="module")
def measured(program, tmp_path_factory) -> dict[str, Path]:
    """A finished file of each base."""
    folder = tmp_path_factory.mktemp("bases")
    mpirun = ROOT / "test" / "support" / "mpirun.sh"
    for base in BASES:
        command = [mpirun, "-t", str(PATIENCE), str(ranks_of(base)), program, *words_of(base, {"--output": f"{base}.h5"})]
        for _ in range(3):  # a victim that starves through a phase has no figure in it
            done = subprocess.run([*command, "--force"], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            if done.returncode == 0:
                break
        assert done.returncode == 0, done.stderr
    return {base: folder / f"{base}.h5" for base in BASES}


def test_the_table_has_every_option():
    options = set(re.findall(r'\.name = "([\w-]+)",\n', (ROOT / "src/config/option_table.cpp").read_text()))
    streams = {"pairs", "duplex", "free-delay", "inject", "completion", "cq-mod", "duration", "messages", "max-samples", "from", "to", "threads"}
    own = {"pairs.cpp": {"steps", "suspects"}, "stream_options.cpp": streams, "echo.cpp": {"request"}, "round_trip_options.hpp": {"outstanding"}}
    own["alltoall_options.cpp"] = {"traffic", "redraw", "chunk", "endpoints", "queues"}
    own["round_trip_options.hpp"] |= {"clients", "servers"}
    own["open_loop.cpp"] = {"rates", "arrivals", "relays", "relay-time"}
    own["qos_options.cpp"] = {"path", "path-file", "paths", "classes", "interval"}
    own["interference_options.cpp"] = {"victims", "victim-kind", "victim-window", "placement", "load", "load-class", "levels", "load-size", "load-window", "gap", "phase", "alternations"}
    for file, names in own.items():
        options |= set(re.findall(r'\.name = "([\w-]+)",\n', (ROOT / f"src/app/{file}").read_text())) & names
    assert {f"--{option}" for option in options} - NO_TABLE == set(OTHERS) == set(OUTCOMES)


def test_a_resume_with_other_threads_of_endpoints(launch, measured, needs_provider, tmp_path):
    """Of `--threads` the table has that of a stream."""
    needs_provider("shm")
    shutil.copy(measured["dealt"], tmp_path / "a.h5")
    outcome = launch(3, *words_of("dealt", {"--threads": "each", "--resume": None}))
    assert outcome.returncode == 2 and "threads 'one' in the file and 'each'" in outcome.stderr, outcome.stderr
    assert (tmp_path / "a.h5").read_bytes() == measured["dealt"].read_bytes()


@pytest.mark.parametrize("option", OTHERS)
def test_a_resume_with_another_value(launch, measured, needs_provider, monkeypatch, tmp_path, option):
    needs_provider("shm")
    base, more, says = OTHERS[option]
    file = tmp_path / "a.h5"
    shutil.copy(measured[base], file)
    (tmp_path / "facts.txt").write_text("cable=A 1\n")
    (tmp_path / "paths.txt").write_text("1:0\n")
    if option in PLANTED:
        with h5py.File(file, "r+", libver="earliest") as opened:
            name, value = PLANTED[option]
            opened["segments/0"].attrs[name] = value
            opened["digest"][()] = checksums.digest(opened)
    if option == "--require":
        monkeypatch.setenv("PSM2_RCVTHREAD", "0")
    before = file.read_bytes()
    outcome = launch(ranks_of(base), *words_of(base, more), "--resume")
    lines = outcome.stderr.splitlines()
    if OUTCOMES[option] == "refused":
        (line,) = [line for line in lines if line.startswith("a2aperf: ")]
        named = "--sizes" if option == "--message-size" else "PSM2_RCVTHREAD" if option == "--require" else option
        assert outcome.returncode == 2 and named in line and says in line, outcome.stderr
        assert file.read_bytes() == before
        return
    assert outcome.returncode == 0, outcome.stderr
    told = [line for line in lines if "resumed with" in line]
    assert (len(told) == 1 and says in told[0]) if OUTCOMES[option] == "told" else told == [], outcome.stderr
    if option in ("--dry-run", "--ranks", "--ranks-per-node", "--output"):
        assert file.read_bytes() == before
        return
    checksums.require_right(file)
    with h5py.File(file) as opened:
        assert len(opened["segments"]) == 2
        first, again = opened["segments/0"], opened["segments/1"]
        if option == "--label":
            assert (list(first["label_name"]), list(again["label_value"])) == ([], [b"1"])
        if option == "--memory-limit":
            assert again.attrs["memory_limit"] == 8 << 20 != first.attrs["memory_limit"]
        if option == "--nic":
            assert (first.attrs["domain"], again.attrs["domain"]) == ("other", "shm")
        if option == "--attach":
            assert list(again["attachment_name"]) == [b"facts.txt"]
        if option == "--node-facts":
            assert list(again["node_facts/site_cable"]) == [b"A 1"]
            assert "site_cable" not in first["node_facts"]
