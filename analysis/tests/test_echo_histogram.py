# SPDX-License-Identifier: BSD-3-Clause
"""Round trips that are not kept one by one are in a histogram, and percentiles are from it."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

from a2aperf import loading, metrics
from a2aperf.curves import Options
from a2aperf.metrics import Rule
from a2aperf.round_trips import histogram
from a2aperf.round_trips.histogram import Histogram
from a2aperf.workloads.echo import tails
from conftest import Outcome
from support import native_echo
from support.edited import edited

Run = Callable[..., Outcome]
SAID = "percentiles of 2 points are from a histogram of 0.1 % of 3600 round trips"
_LONGEST = np.iinfo(np.int64).max


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return native_echo.write_counted(tmp_path / "e.h5")


def _older(path: Path) -> Path:
    """Another launch, of a program that had no histogram."""
    native_echo.write(path)
    with edited(path) as file:
        file["segments/0"].attrs["command_line"] = "a2aperf echo --provider other"
    return path


def _times(name: str, n: int) -> NDArray[np.int64]:
    draw = np.random.default_rng(5)
    drawn = {
        "uniform": draw.uniform(0, 1e6, n),
        "exponential": 5e3 + draw.exponential(2e4, n),
        "heavy": 3e3 * draw.pareto(0.7, n),
        "logarithmic": 10 ** draw.uniform(0, 17, n),
        "equal": np.full(n, 12345.0),
    }
    return drawn[name].astype(np.int64)


RULES: Final[tuple[Rule, ...]] = ("rank", "index")


@pytest.mark.parametrize("name", ["uniform", "exponential", "heavy", "logarithmic", "equal"])
def test_a_percentile_is_within_a_thousandth_of_that_of_the_times(name: str) -> None:
    times = _times(name, 20_000)
    found = Histogram(*np.unique(histogram.begins_of(times), return_counts=True))
    for q in (0.5, 0.9, 0.99, 0.999):
        for rule in RULES:
            exact = metrics.percentile(times, q, rule)
            assert found.percentile(q, rule) == pytest.approx(exact, rel=1e-3)
    assert found.total == times.size
    assert np.isnan(found.percentile(0.99999, "rank"))


def test_buckets_are_those_of_the_rule() -> None:
    near = {abs((1 << power) + off) for power in range(63) for off in (-2, -1, 0, 1)}
    times = np.array(sorted({*near, 0, 2047, 2048, 2049, 12345, _LONGEST - 1, _LONGEST}))
    begins = [native_echo.bucket_of(int(time)) for time in times]
    assert list(histogram.begins_of(times)) == begins
    assert (histogram.widths(times) <= np.maximum(times / 1024, 1)).all()
    assert list(histogram.begins_of(np.array(begins))) == begins


@pytest.mark.parametrize("kept", [native_echo.KEPT, native_echo.TRIPS])
def test_sound(a2a: Run, tmp_path: Path, kept: int) -> None:
    path = native_echo.write_counted(tmp_path / "e.h5", kept)
    assert a2a("check", path).out == f"{path}: sound\n"


def _one_more(file: h5py.File) -> None:
    file["raw/bucket_trips"][0, 3, 0] += 1


def _moved(file: h5py.File) -> None:
    file["raw/bucket_trips"][0, 3, 0] -= 1
    file["raw/bucket_trips"][0, 4, 0] += 1


def _swapped(file: h5py.File) -> None:
    file["raw/bucket_begin"][0, 3:5, 0] = file["raw/bucket_begin"][0, 3:5, 0][::-1]


def _beside(file: h5py.File) -> None:
    file["raw/bucket_begin"][0, 3, 0] += 1


def _first(file: h5py.File) -> None:
    file["raw/bucket_begin"][0, 0, 0] = 4


def _gap(file: h5py.File) -> None:
    for name in ("bucket_begin", "bucket_trips"):
        file[f"raw/{name}"][0, 3, 0] = np.iinfo(np.int64).min


def _sample(file: h5py.File) -> None:
    file["raw/round_trip"][0, 7, 0] = 99_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_one_more, "has 1201 round trips, and there were 1200"),
        (_moved, "has fewer in a bucket than round trips are kept that belong there"),
        (_swapped, "has buckets out of order, or without a round trip"),
        (_beside, "has a bucket that begins where none does"),
        (_first, "has not the shortest round trip in its first bucket"),
        (_gap, "has counts without a bucket, or gaps"),
        (_sample, "has fewer in a bucket than round trips are kept that belong there"),
    ],
)
def test_what_contradicts_the_histogram(
    a2a: Run, tmp_path: Path, change: Callable[[h5py.File], None], said: str
) -> None:
    path = native_echo.write_counted(tmp_path / "e.h5", native_echo.TRIPS)
    with edited(path) as file:
        change(file)
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert f"point 0 (4 ranks, 100 B): the histogram of rank 0 {said}" in outcome.out


def test_a_count_in_another_bucket_changes_percentiles(a2a: Run, path: Path) -> None:
    with edited(path) as file:
        trips = file["raw/bucket_trips"]
        trips[0, 150:290, 0] -= 1
        trips[0, 1, 0] += 140
    assert "time_p50 is " in a2a("check", path).out


def test_table_explain_and_report_say_what_percentiles_are_from(
    a2a: Run, path: Path, tmp_path: Path
) -> None:
    outcome = a2a("table", path)
    assert outcome.err == f"a2a: {SAID}\n"
    assert " 1800 " in outcome.out
    assert SAID in " ".join(a2a("explain", path).out.split())
    a2a("report", path, "-o", tmp_path / "r.html")
    assert SAID in " ".join((tmp_path / "r.html").read_text(encoding="utf-8").split())


def test_nothing_is_said_where_all_are_kept(a2a: Run, tmp_path: Path) -> None:
    kept = native_echo.write_counted(tmp_path / "k.h5", native_echo.TRIPS)
    older = native_echo.write(tmp_path / "o.h5")
    for path in (kept, older):
        assert a2a("table", path).err == ""
    rows = [loading.load([path]).points for path in (kept, older)]
    for name in ("ops", "time_p50", "time_p999", "time_p50_low", "autocorrelation"):
        np.testing.assert_array_equal(rows[0][name], rows[1][name])


def test_a_comparison_says_it(a2a: Run, path: Path, tmp_path: Path) -> None:
    other = _older(tmp_path / "o.h5")
    assert SAID in " ".join(a2a("compare", path, "--against", other).out.split())


def test_tails_have_the_further_nines_of_the_histogram(
    a2a: Run, path: Path, tmp_path: Path
) -> None:
    assert a2a("plot", "tails", path, "-o", tmp_path / "tails.svg").status == 0
    found = loading.load([path])
    drawn = tails.figure(found, Options())
    assert SAID in drawn.notes
    row = found.points.iloc[0]
    further = histogram.further(found, row, {"time_p9999": 0.9999, "q": 0.995})
    assert np.isnan(further["time_p9999"])  # of 1800 it would be the longest
    times = native_echo._trips(0)
    exact = np.sort(times[times > 0])[int(np.ceil(0.995 * 1800)) - 1]
    assert further["q"] == pytest.approx(exact, rel=1e-3)


def test_it_stays_in_copies(a2a: Run, path: Path, tmp_path: Path) -> None:
    other = _older(tmp_path / "o.h5")
    for words in (
        ("merge", path, other, "-o", tmp_path / "c.h5"),
        ("export", path, "--anonymize", "-o", tmp_path / "x.h5"),
        ("check", path, "--repair", "-o", tmp_path / "m.h5"),
    ):
        outcome = a2a(*words)
        assert outcome.status == 0, outcome.err
        copy = Path(words[-1])
        assert a2a("check", copy).out == f"{copy}: sound\n"
        with h5py.File(path) as file, h5py.File(copy) as again:
            for name in ("bucket_begin", "bucket_trips"):
                rows = file["buckets"][0]
                there = again[f"raw/{name}"][:2, :rows]
                np.testing.assert_array_equal(there, file[f"raw/{name}"][:])
                assert again[f"raw/{name}"].attrs["count"] == "buckets"
