# SPDX-License-Identifier: BSD-3-Clause
"""One rank of several is disturbed: the op times show it, the analysis names it, and the median stays."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import real_time
from cluster import Cluster
from measure import IS_VALIDATION, TRIES, size_for, words
from processes import PATIENCE, wait_until
from results import COMPLETE, Results

pytestmark = pytest.mark.slow

HERE = Path(__file__).resolve().parent
IN_TIME_NAMESPACES = HERE.parent / "support" / "in_time_namespaces.sh"
OP_MS = 100  # where the links decide
PAUSES = [(40, 200, 3000)]  # ms, of how many, ops: longer than what a busy machine does to a rank
if IS_VALIDATION:
    PAUSES.append((5, 1000, 12000))


@pytest.fixture(autouse=True)
def _needs_real_time():
    real_time.require()


def named(file: Path, kind: str) -> list[str]:
    """What `a2a explain` says of that kind."""
    load = pytest.importorskip("a2aperf.loading", reason="a2a is not installed: test/run.sh cluster does that").load
    from a2aperf.explain.finders import explain

    return [finding.text for finding in explain(load([file]).measured(), (kind,))]


def finish(launch: subprocess.Popen[str], folder: Path) -> Results:
    """The file of a launch that ends well."""
    _, said = launch.communicate(timeout=PATIENCE)
    assert launch.returncode == 0, said
    return only_complete(folder)


def only_complete(folder: Path) -> Results:
    results = Results(folder / "a.h5")
    assert results.states() == [COMPLETE] * len(results)
    return results


def paused(cluster: Cluster, host: str, pause_ms: int, every_ms: int) -> np.ndarray:
    """Stops the program on that host again and again until it has ended; [stops, 2] begin and end, ns since 1970."""
    assert wait_until(lambda: bool(cluster.processes(host, "a2aperf")), PATIENCE)
    (process,) = cluster.processes(host, "a2aperf")
    said = cluster.shell(f"exec {sys.executable} {HERE}/pause.py {process} {pause_ms} {every_ms}")
    return np.array([line.split() for line in said.splitlines()], dtype=np.int64).reshape(-1, 2)


def cycles(results: Results, folder: Path) -> np.ndarray:
    """Starts of the ops of the first point on rank 0, ns since 1970."""
    with h5py.File(folder / "a.h5", "r") as file:
        starts = file["raw/start"][0, : int(results.columns["attempts"][0])]
        return starts + int(file["segments/0"].attrs["time_origin"])


def test_pauses_are_in_the_op_times_and_not_in_the_median(cluster_of, program, tmp_path, told):
    """The rank of one host of three is stopped for 5 ms every second."""
    pause_ms = 5
    cluster = cluster_of(3, mbit=100)
    command = [program, "alltoall", *words(program), "--sizes", "8000", "--warmup", "10", "--ops", "6000"]
    launch = cluster.start(1, command, tmp_path)
    stops = paused(cluster, "h3", pause_ms, 1000)
    results = finish(launch, tmp_path)

    starts = cycles(results, tmp_path)
    stops = stops[(stops[:, 0] > starts[0]) & (stops[:, 1] < starts[-1])]
    # The op under way waits; or, where the rank had already agreed to the next start, the op that then starts.
    during = [int(((starts > begin) & (starts < end)).sum()) for begin, end in stops]
    first = np.searchsorted(starts, stops[:, 0]) - 1
    last = np.searchsorted(starts, stops[:, 1])
    longest = [np.diff(starts[a : b + 1]).max() / 1e6 for a, b in zip(first, last, strict=True)]
    # Of the same launch: ops of another one are as long as the machine lets them be then.
    is_met = np.zeros(len(starts), bool)
    for a, b in zip(first, last, strict=True):
        is_met[a : b + 1] = True
    quiet = results.op_times(0)[~is_met[results.samples(0)["valid"]]]
    p50s = [results.percentile(quiet, 0.5) / 1e6, float(results.columns["time_p50"][0]) / 1e6]
    told(
        known=f"no more than one op starts in {pause_ms} ms, and from one start to the next {pause_ms / 2} ms or more "
        "go by; the median stays",
        measured=f"{max(during)} at the most in {len(stops)} stops; {min(longest):.1f} ms or more, mostly "
        f"{np.median(longest):.1f}; p50 {p50s[0]:.3f} ms of the {quiet.size} ops that no stop met, {p50s[1]:.3f} ms of all",
    )
    assert len(stops) >= 3
    assert max(during) <= 1
    assert min(longest) >= pause_ms / 2
    assert 0 < quiet.size < len(starts)
    assert p50s[1] < 1.05 * p50s[0]


@pytest.mark.parametrize(("pause_ms", "every_ms", "ops"), PAUSES)
def test_the_rank_that_pauses_is_named(cluster_of, program, tmp_path, told, pause_ms, every_ms, ops):
    """The rank of one host of three is stopped for a while, again and again."""
    cluster = cluster_of(3, mbit=100)
    command = [program, "alltoall", *words(program), "--sizes", "8000", "--warmup", "10", "--ops", str(ops)]
    for launch_number in range(1, TRIES + 1):
        launch = cluster.start(1, command, tmp_path)
        stops = paused(cluster, "h3", pause_ms, every_ms)
        finish(launch, tmp_path)
        if findings := named(tmp_path / "a.h5", "behind"):
            break
    told(
        known=f"stopped for {pause_ms} ms every {every_ms} ms: rank 2 (h3) is behind the slow ops",
        measured=f"{'; '.join(findings) or 'nothing was named'} (launch {launch_number})",
    )
    assert len(stops) >= 8
    (finding,) = findings
    assert finding.startswith("rank 2 (h3)")


def test_a_clock_that_is_off(cluster_of, program, tmp_path, told):
    """The clocks of two hosts of three are off, by 5 s and by -1 s."""
    offsets = [0, 5, -1]
    cluster = cluster_of(3, mbit=100)
    size = size_for(100, 3, 1, seconds=OP_MS / 1e3)
    command = [program, "alltoall", *words(program, "clock"), "--sizes", str(size), "--ops", "15", "--warmup", "2"]

    def measured(*before: str | Path) -> Results:
        for _ in range(TRIES):
            launch = cluster.start(1, [*before, *command], tmp_path)
            _, said = launch.communicate(timeout=PATIENCE)
            if launch.returncode == 77 or "no time namespace can be made here" in said:
                pytest.skip("no time namespace can be made here")
            if "no op of any point was valid" not in said:  # each began late on a rank that waited for its core
                break
        assert launch.returncode == 0, said
        return only_complete(tmp_path)

    same, results = measured(), measured(IN_TIME_NAMESPACES, ",".join(map(str, offsets)))

    with h5py.File(tmp_path / "a.h5", "r") as file:
        segment = file["segments/0"]
        found, error = segment["clock_offset"][()], float(segment.attrs["clock_error_ns"])
        domains = list(segment["clock_domain_of_rank"][()])
    away = np.abs(found - (offsets[0] - np.array(offsets)) * 1e9).max()
    begins = results.samples(0)["begin"]
    p50s = [float(one.columns["time_p50"][0]) / 1e6 for one in (same, results)]
    told(
        known="both offsets, within the error bound that the file gives; the same op times",
        measured=f"{away / 1e3:.1f} µs off at the most, bound {error / 1e3:.1f} µs; p50 {p50s[0]:.1f} ms with one "
        f"clock, {p50s[1]:.1f} ms with three",
    )
    assert len(set(domains)) == 3
    assert away <= error < 1e9
    assert np.abs(begins).max() < 1e9, "an offset got into the moments"
    assert 0.9 * OP_MS <= min(p50s) and max(p50s) <= 1.5 * OP_MS, "the links decide"


def test_a_rank_that_starts_late(cluster_of, program, tmp_path, told):
    """The rank of one host of two is often stopped when an op is to start: the other's link, a slow one, ends it."""
    cluster = cluster_of(2, mbit=100)
    cluster.limit("h1", "receive", 25)
    size = size_for(25, 2, 1, seconds=OP_MS / 1e3)
    command = [program, "alltoall", *words(program, "clock"), "--sizes", str(size), "--ops", "30", "--warmup", "2"]
    launch = cluster.start(1, command, tmp_path)
    paused(cluster, "h2", 80, 160)
    results = finish(launch, tmp_path)
    samples, limit = results.samples(0), int(results.columns["late_limit"][0])
    is_late = samples["begin"] > limit
    findings = named(tmp_path / "a.h5", "samples")
    said = [text for text in findings if "began late" in text]
    told(
        known="ops that rank 1 (h2) began late are left out, and it is named",
        measured="; ".join(said) or "nothing was named",
    )
    assert (samples["valid"] == ~is_late.any(axis=1)).all(), "an op is valid if and only if no rank was late"
    assert is_late[:, 1].sum() >= 3
    assert is_late[:, 1].sum() > is_late[:, 0].sum()
    (finding,) = said
    assert "rank 1 (h2)" in finding


def test_a_hog_beside_one_rank(cluster_of, program, tmp_path, told):
    """Something takes the core of one rank of two, for 3 ms of every 10 ms."""
    cluster = cluster_of(2)
    command = [program, "alltoall", *words(program, poll="spin"), "--sizes", "4000000", "--ops", "1500"]
    with real_time.a_core_for_each() as first:  # what takes a core is then the hog alone

        def measured() -> Results:
            return finish(cluster.start(1, [*first, *command], tmp_path), tmp_path)

        clean = measured()
        for launch_number in range(1, TRIES + 1):
            # It is there before the ranks: these leave nothing else a turn once they run.
            with subprocess.Popen(
                [sys.executable, HERE / "hog.py", str(real_time.cores()[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as hog:
                assert hog.stdout and hog.stdout.readline() == "ready\n"
                results = measured()
                hog.communicate(timeout=PATIENCE)
            with h5py.File(tmp_path / "a.h5", "r") as file:
                switches = [int(count) for count in file["counters/involuntary_switches"][0]]
            if switches[1] > 2 * switches[0]:
                break
    p50s, means = ([float(one.columns[f"time_{x}"][0]) / 1e3 for one in (clean, results)] for x in ("p50", "mean"))
    findings = [text for text in named(tmp_path / "a.h5", "descheduled") if "preempted" in text]
    told(
        known="rank 1 (h2) is preempted and named; few ops see it, so the mean grows and the median stays",
        measured=f"{'; '.join(findings) or 'nothing was named'}; rank 0: {switches[0]}; p50 {p50s[0]:.0f} µs without, "
        f"{p50s[1]:.0f} µs with; mean {means[0]:.0f} and {means[1]:.0f} µs (launch {launch_number})",
    )
    # Once in every 10 ms of the ops, or half as often where it came late itself.
    assert switches[1] >= means[1] * len(clean.samples(0)["begin"]) / 1e4 / 2
    assert switches[1] > 2 * switches[0]
    assert all("(rank 1, h2" in finding for finding in findings)
    assert findings or switches[1] < 0.05 * 1500, "few ops in a period are below what is worth a word"
    assert results.columns["time_max"][0] > 2e6
    assert p50s[1] < 2 * p50s[0] + 1e3
