# SPDX-License-Identifier: BSD-3-Clause
"""Paths that share a link: what is said of shares, starved paths and classes, and what not."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a2aperf import labels, loading, plots
from a2aperf.curves import Options
from a2aperf.explain import finders
from a2aperf.explain.finding import Finding
from a2aperf.results import Results
from conftest import DATA, Outcome
from support.edited import edited
from support.shared_link import MODIFIED, PUBLISHED, Setting, drawn, modified, write, write_text

pytestmark = pytest.mark.usefixtures("summed_once")

Run = Callable[..., Outcome]
TEXT = DATA / "qos-default.txt"
CONF = MODIFIED.partition("\n\n")[2]


def seeded(*weights: float, n: int = 30, seed: int = 1) -> tuple[tuple[int, ...], ...]:
    return drawn(weights, n, np.random.default_rng(seed))


def found(path: Path, kind: str = "") -> list[Finding]:
    said = finders.explain(loading.load([path]).complete(("qos",)), (kind,) if kind else ())
    return [one for one in said if not one.abstains]


def few(came: np.ndarray) -> Setting:
    """Large messages on paths of different classes, `came` [paths, intervals] of them."""
    of_paths = tuple(tuple(int(one) for one in mine) for mine in came)
    return Setting(tuple(i % 4 for i in range(len(came))), of_paths, 8 << 20, 0.1)


def change(path: Path, datasets: Mapping[str, Any]) -> Path:
    with edited(path) as file:
        for name, values in datasets.items():
            if isinstance(values, list) and isinstance(values[0], str):
                file[f"paths/{name}"][...] = values
            else:
                file[f"paths/{name}"][...] = np.broadcast_to(values, file[f"paths/{name}"].shape)
    return path


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Three paths, one of twice the weight, over 30 intervals, and their senders never idle."""
    path = write(tmp_path / "q.h5", [Setting((0, 0, 1), seeded(1, 1, 2))])
    return change(path, {"interval_idle": 0})


@pytest.mark.parametrize(
    ("messages", "is_told"),
    [([100] * 12, True), ([10] * 12, False), ([3000] * 7 + [0] * 5, False)],
    ids=["as-much", "less", "silent-in-the-end"],
)
def test_a_path_that_gets_what_its_window_gives(
    tmp_path: Path, messages: list[int], is_told: bool
) -> None:
    """One message of 8 B under way beside 32 of 64 KiB: no fabric keeps it from more."""
    settings = Setting((0, 1), (tuple([3200] * 12), tuple(messages)))
    path = write(tmp_path / "q.h5", [settings])
    with edited(path) as file:
        file["paths/window"][...] = [32, 1]
        file["paths/message_size"][...] = [65536, 8]
        file["paths/interval_bytes"][...] = file["paths/interval_messages"][()] * [[65536], [8]]
    (one,) = found(path, "starved")
    assert ("its part of what all may have under way" in one.text) == is_told


# What arbitration says ---------------------------------------------------------------------------


def test_default_tables_agree_with_the_published_shares(tmp_path: Path) -> None:
    said = found(write_text(tmp_path / "q.h5", TEXT.read_text()), "model")
    assert len(said) == 4
    assert all("agree, at most" in one.text for one in said)
    assert [one.weight for one in said] == [0.0] * 4


def test_modified_tables_do_not(tmp_path: Path) -> None:
    said = found(write_text(tmp_path / "q.h5", modified()), "model")
    assert len(said) == len(PUBLISHED)
    texts = {int(one.where.partition("point ")[2].partition(":")[0]): one.text for one in said}
    agrees = {point: "agree, at most" in text for point, text in texts.items()}
    assert agrees == {0: True, 1: False, 2: True, 3: False, 4: False, 5: True}
    for point in (1, 3, 4):
        assert "every lane that had a path got an equal share" in texts[point]
    assert (
        "by SL2VL and VLArb 0.500, 0.500, 0.000: do not agree: path 0 (sl0) by -0.250" in texts[3]
    )
    assert "path 2 (sl2) by +0.433" in texts[4]


def test_a_share_off_its_weight_by_more_than_its_interval(tmp_path: Path) -> None:
    conf = "qos_sl2vl 0,1\nqos_vlarb_high 0:0\nqos_vlarb_low 0:1,1:1\n"
    right = Setting((0, 0, 1), seeded(1, 1, 2), tables=conf)
    off = Setting((0, 0, 1), seeded(1, 1, 2.2, seed=2), tables=conf)
    first, second = found(write(tmp_path / "q.h5", [right, off]), "model")
    off_, agrees = sorted((first, second), key=lambda one: -one.weight)
    assert "agree, at most" in agrees.text and agrees.weight == 0
    assert "more than its interval" in off_.text and "path 2 (sl1) by +0.0" in off_.text


def test_a_label_gives_weights_where_no_table_does(shared: Path) -> None:
    assert found(shared, "model") == []
    with edited(shared) as file:
        labels = file["segments/0"]
        del labels["label_name"], labels["label_value"]
        labels["label_name"], labels["label_value"] = ["weights"], ["sl0:1,sl1:1"]
    (one,) = found(shared, "model")
    assert "by the label weights 0.250, 0.250, 0.500: agree" in one.text


def test_limits_of_paths_that_ran_alone_fill_less(tmp_path: Path) -> None:
    """A path that carries little alone leaves the rest to the others."""
    conf = "qos_sl2vl 0,1\nqos_vlarb_high 0:0\nqos_vlarb_low 0:1,1:1\n"
    slow = tuple([2_000] * 12)
    alone = Setting((1,), (slow,), tables=conf)
    fast = Setting((0,), (tuple([10_000] * 12),))
    both = Setting((0, 1), (tuple([8_000] * 12), slow))
    (one,) = found(write(tmp_path / "q.h5", [alone, fast, both]), "model")
    assert "0.800, 0.200; by SL2VL and VLArb 0.800, 0.200: agree" in one.text
    (one,) = found(write(tmp_path / "r.h5", [Setting((0, 1), both.messages, tables=conf)]), "model")
    assert "by SL2VL and VLArb 0.500, 0.500: do not agree" in one.text


def test_few_intervals_that_scatter_decide_nothing(tmp_path: Path) -> None:
    conf = "qos_sl2vl 0,1\nqos_vlarb_high 0:0\nqos_vlarb_low 0:1,1:1\n"
    rough = Setting((0, 1), ((4_000, 9_000, 8_000), (9_000, 5_000, 3_000)), tables=conf)
    steady = Setting((0, 1), ((9_000, 9_100, 9_050), (4_500, 4_480, 4_520)), tables=conf)
    other, one = found(write(tmp_path / "q.h5", [rough, steady]), "model")
    assert "by SL2VL and VLArb 0.500, 0.500: undecided, at most 0.05" in one.text
    assert one.text.endswith("apart, of 3 intervals")
    assert one.weight == 0
    assert "do not agree: path 0 (sl0) by +0.168" in other.text


def test_shares_are_as_said_only_where_their_intervals_are_near(tmp_path: Path) -> None:
    conf = "qos_sl2vl 0,1\nqos_vlarb_high 0:0\nqos_vlarb_low 0:1,1:1\n"
    came = drawn((1, 1), 12, np.random.default_rng(4), alike=0.8, noise=0.2)
    (one,) = found(write(tmp_path / "q.h5", [Setting((0, 1), came, tables=conf)]), "model")
    assert "by SL2VL and VLArb 0.500, 0.500: undecided, at most 0.0" in one.text
    assert "apart, and their intervals reach 0." in one.text
    assert one.weight == 0


def test_why_no_share_is_judged(tmp_path: Path, a2a: Run) -> None:
    """The last path began when the intervals of the other had ended."""
    path = write(tmp_path / "q.h5", [Setting((0, 1), seeded(1, 1, n=12))])
    change(path, {"connected": np.array([0, 60_000_000_000])})
    text = a2a("explain", path).out
    assert "no share is judged: there is no whole interval in which every path could send" in (
        " ".join(text.split())
    )
    (one,) = finders.explain(loading.load([path]).complete(("qos",)))
    assert one.abstains and one.n == 0


def test_no_share_is_judged_of_paths_that_got_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "q.h5", [Setting((0, 1), seeded(1, 1, n=12))])
    change(path, {"interval_bytes": 0})
    (one,) = finders.explain(loading.load([path]).complete(("qos",)), ("sharing",))
    assert one.text == "no share is judged: nothing came on any path while all could send"


# Starved, idle, equal ----------------------------------------------------------------------------


def test_a_starved_path_with_since_when(tmp_path: Path) -> None:
    mine = tuple([5000] * 4 + [0] * 8)
    path = write(tmp_path / "q.h5", [Setting((0, 1), (tuple([9000] * 12), mine))])
    (one,) = found(path, "starved")
    assert (
        "path 1 (sl1) got nothing since 4 s from the start, in the last 8 of 12 intervals"
        in one.text
    )


def test_one_that_never_got_anything(tmp_path: Path) -> None:
    path = write(tmp_path / "q.h5", [Setting((2, 2, 3), (*seeded(1, 1, n=12), ()))])
    (one,) = found(path, "starved")
    assert "path 2 (sl3) got nothing in any of 12 intervals" in one.text


def test_one_that_got_next_to_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "q.h5", [Setting((0, 1), seeded(99, 1))])
    (one,) = found(path, "starved")
    assert "path 1 (sl1) got 1.0 % of all, in 30 intervals" in one.text


def test_messages_of_no_bytes_that_came_are_not_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "q.h5", [Setting((0, 1), seeded(1, 1, n=12))])
    with edited(path) as file:
        file["paths/interval_bytes"][1] = 0
    assert found(path, "starved") == []


@pytest.mark.parametrize("weights", [(1, 1), (1, 20), (1, 1, 2), (1,) * 60])
def test_unequal_is_not_starved(tmp_path: Path, weights: tuple[int, ...]) -> None:
    levels = tuple(i % 4 for i in range(len(weights)))
    path = write(tmp_path / "q.h5", [Setting(levels, seeded(*weights, n=12))])
    assert found(path, "starved") == []


@pytest.mark.nulls
@pytest.mark.parametrize(("paths", "each", "n"), [(3, 1, 30), (8, 1, 10), (8, 2, 30)])
def test_where_few_messages_fill_an_interval_an_empty_one_is_no_silence(
    tmp_path: Path, paths: int, each: int, n: int
) -> None:
    """Equal paths: a few messages in each interval left 3 to 70 of 100 experiments 'starved'."""
    rng = np.random.default_rng(paths + each)
    settings = [few(rng.poisson(each, (paths, n))) for _ in range(100)]
    assert len({one.where for one in found(write(tmp_path / "q.h5", settings), "starved")}) <= 8


def test_of_few_messages_in_all_one_may_have_none(tmp_path: Path) -> None:
    came = np.zeros((8, 10), dtype=int)
    came[1:, ::3] = 1
    assert found(write(tmp_path / "q.h5", [few(came)]), "starved") == []


def test_of_few_messages_a_long_silence_is_told(tmp_path: Path) -> None:
    came = np.random.default_rng(5).poisson(1, (3, 40))
    came[0, 25:] = 0
    came[:, 24] = came[1:, 25:] = 1
    (one,) = found(write(tmp_path / "q.h5", [few(came)]), "starved")
    assert "path 0 (sl0) got nothing since 2.5 s from the start, in the last 15 of 40" in one.text


def test_where_nobody_got_anything_nobody_is_starved(tmp_path: Path) -> None:
    mine = tuple([7000] * 10 + [0, 0])
    assert found(write(tmp_path / "q.h5", [Setting((0, 1), (mine, mine))]), "starved") == []


def test_an_interval_that_lasted_long_is_told(shared: Path) -> None:
    """Whoever looks at the queue was stopped: no sender is to blame for what was missing then."""
    assert not found(shared, "held-up")
    with edited(shared) as file:
        length = file["paths/interval_length"]
        usual = int(length[1, 7])
        length[1, 7] = 4 * usual
        file["paths/interval_begin"][1, 8:] += 3 * usual
    (one,) = found(shared, "held-up")
    said = labels.number_text(4 * usual / 1e9, 2)
    assert one.text.startswith(f"an interval lasted {said} s, and the median one ")
    assert one.numbers["paths"] == 1


def test_an_idle_sender_ends_all_claims_on_shares(shared: Path, a2a: Run) -> None:
    assert found(shared, "sharing") and not found(shared, "idle")
    change(shared, {"interval_idle": np.array([[0], [0], [11_000_000]])})  # 1.1 % of 1 s
    (one,) = found(shared, "idle")
    assert "path 2 (sl1) had nothing outstanding for up to 1.1 % of the time" in one.text
    assert not found(shared, "sharing") and not found(shared, "equal")
    rows = json.loads(a2a("table", shared, "--json").out)["rows"]
    assert [row["share"] for row in rows] == [None] * 3
    assert all(row["gbps"] > 0 for row in rows)
    change(shared, {"interval_idle": np.array([[0], [0], [10_000_000]])})
    assert not found(shared, "idle")


def test_classes_that_made_no_difference(tmp_path: Path) -> None:
    same = write(tmp_path / "a.h5", [Setting((0, 1, 2), seeded(1, 1, 1))])
    (one,) = found(same, "equal")
    assert "paths of 3 classes (sl0, sl1, sl2) got equal shares" in one.text
    assert "of an equal one: here no class made a larger difference" in one.text
    other = write(tmp_path / "b.h5", [Setting((0, 1, 2), seeded(1, 1, 1.2))])
    one_class = write(tmp_path / "c.h5", [Setting((0, 0, 0), seeded(1, 1, 1))])
    few = write(tmp_path / "d.h5", [Setting((0, 1, 2), seeded(1, 1, 1, n=5))])
    assert [found(path, "equal") for path in (other, one_class, few)] == [[], [], []]


@pytest.mark.nulls
@pytest.mark.parametrize(("n", "noise"), [(10, 0.1), (30, 0.2)])
def test_no_difference_is_not_said_of_one_by_a_quarter(
    tmp_path: Path, n: int, noise: float
) -> None:
    """Which an interval that merely holds the equal share let pass in one of eight."""
    rng = np.random.default_rng(n)
    settings = [Setting((0, 1), drawn((1, 1.3), n, rng, noise=noise)) for _ in range(100)]
    assert len(found(write(tmp_path / "q.h5", settings), "equal")) <= 3


@pytest.mark.parametrize(
    ("granted", "verified", "said"),
    [
        ("sl1", "", "path 2 (sl1): sl1 is granted, not verified"),
        ("sl1", "sl0", "path 2 (sl1): sl1 was asked for, and sl0 seen"),
        ("sl3", "", "path 2 (sl1): sl1 was asked for, and sl3 granted"),
        ("sl1", "sl1", ""),
        ("", "", ""),
    ],
)
def test_classes_that_were_not_kept(shared: Path, granted: str, verified: str, said: str) -> None:
    change(shared, {"class_granted": ["", "", granted], "class_verified": ["", "", verified]})
    assert [one.text for one in found(shared, "honoured")] == ([said] if said else [])


def test_shares_have_intervals_from_ten_on(shared: Path, tmp_path: Path) -> None:
    (one,) = found(shared, "sharing")
    assert (
        "path 2 (sl1) 50" in one.text and "class sl0" in one.text and "not recorded" not in one.text
    )
    few = write(tmp_path / "few.h5", [Setting((0, 0, 1), seeded(1, 1, 2, n=9))])
    (one,) = found(few, "sharing")
    assert "how far shares vary is not told by 9 intervals" in one.text
    assert "had something to send is not recorded" in one.text


# Commands ----------------------------------------------------------------------------------------


def test_table_as_text_and_for_machines(shared: Path, a2a: Run) -> None:
    heading, *rows = a2a("table", shared).out.splitlines()
    assert "share %" in heading and "class %" in heading and len(rows) == 3
    told = json.loads(a2a("table", shared, "--json").out)
    (*_, last) = told["rows"]
    assert last["share_low"] < 0.5 < last["share_high"]
    assert told["columns"]["share"]["long_name"] == "share of what all paths carry"
    assert last["class_share"] == last["share"]
    assert "--columns is for all-to-alls" in a2a("table", shared, "--columns", "share").err
    everyone = a2a("table", shared, "--layout", "qos").out.splitlines()
    assert sum(line.startswith("Rx_2 received") for line in everyone) == 30


def test_the_layout_is_of_no_other_points(launch: Path, a2a: Run) -> None:
    a2a("table", launch, "--layout", "qos").refused("no path is measured")


def test_flat_rows(shared: Path, a2a: Run, tmp_path: Path) -> None:
    out = tmp_path / "paths.csv"
    assert a2a("export", shared, "--flat", "--rows", "paths", "-o", out).status == 0
    heading, *rows = out.read_text().splitlines()
    assert "expected_share" in heading and len(rows) == 3


def results(path: Path) -> Results:
    return loading.load([path])


def test_shares_are_drawn_one_upon_the_other(shared: Path) -> None:
    made = plots.made("shares", results(shared), Options())
    (chart,) = made.charts
    edges = [curve for curve in chart.curves if curve.form == "step"]
    assert [curve.name for curve in edges] == ["path 0", "path 1", "path 2"]
    assert edges[-1].y == pytest.approx(100)
    assert edges[0].y.mean() == pytest.approx(25, abs=0.5)
    assert edges[0].x.max() == 30


def test_share_against_weight(tmp_path: Path) -> None:
    path = write_text(tmp_path / "q.h5", TEXT.read_text())
    (chart,) = plots.made("weights", results(path), Options()).charts
    drawn_ = {curve.name: (curve.x, curve.y) for curve in chart.curves}
    assert sorted(drawn_) == ["sl0", "sl1"]
    assert drawn_["sl1"][0] == pytest.approx([50, 50])
    assert drawn_["sl1"][1] == pytest.approx([49.1, 50.0], abs=0.1)


def test_experiments_that_are_not_drawn_are_counted(shared: Path, tmp_path: Path) -> None:
    tabled = write_text(tmp_path / "tabled.h5", TEXT.read_text())
    both = loading.load([tabled, shared])
    assert plots.made("weights", results(tabled), Options()).left_out == ()
    without = "1 experiment of which nothing says what arbitration gives not drawn"
    assert plots.made("weights", both, Options()).left_out == (without,)
    change(shared, {"interval_idle": 500_000_000})
    idle = "1 experiment with paths that had nothing under way not drawn"
    assert idle in plots.made("shares", loading.load([tabled, shared]), Options()).left_out


def test_what_cannot_be_drawn_is_told(shared: Path, a2a: Run, tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    a2a("plot", "weights", shared, "-o", out).refused("no shares beside what arbitration says")
    change(shared, {"interval_idle": 500_000_000})
    a2a("plot", "shares", shared, "-o", out).refused(
        "1 experiment with paths that had nothing under way"
    )


def test_report_live_history_and_compare(a2a: Run, tmp_path: Path) -> None:
    files = []
    for index in range(8):
        is_a = index % 4 in (0, 3)
        mine, seconds = seeded(1, 1, 2, n=12, seed=index), 1.0 if is_a else 0.8
        path = write(tmp_path / f"{index}.h5", [Setting((0, 0, 1), mine, length=seconds)])
        with edited(path) as file:
            labels = file["segments/0"]
            del labels["label_name"], labels["label_value"]
            labels["label_name"] = ["side"]
            labels["label_value"] = ["a" if is_a else "b"]
            labels.attrs["started"] = f"2026-01-01T00:{index:02}:00"
            labels.attrs["slurm_job_id"] = "7"
        files.append(path)
    page = tmp_path / "page.html"
    assert a2a("report", *files, "-o", page).status == 0
    text = page.read_text(encoding="utf-8")
    assert "Paths that share a link" in text and "Who got how much" in text
    assert "path count" in a2a("live", files[0], "--once").out
    assert a2a("history", *files).status == 0
    outcome = a2a("compare", *files, "--by", "side")
    assert "faster: 1 of 1 cell, by 25" in outcome.out, outcome
    merged = a2a("merge", *files, "-o", tmp_path / "m.h5")
    merged.refused("one list of paths", "a file has one /paths alone", "'a2a report'")


def test_check_finds_points_that_are_not_what_their_paths_say(shared: Path, a2a: Run) -> None:
    assert a2a("check", shared).status == 0
    with edited(shared) as file:
        file["jain"][0] *= 0.99
    outcome = a2a("check", shared)
    assert outcome.status == 2 and "jain is" in outcome.out and "its paths say" in outcome.out
    with edited(shared) as file:
        file["jain"][0] /= 0.99
        file["path_count"][0] = 4
    assert "has 4 paths, and /paths has 3 of it" in a2a("check", shared).out


def test_damage_to_the_paths_is_found_and_repaired(shared: Path, a2a: Run, tmp_path: Path) -> None:
    import h5py

    with h5py.File(shared, "r+") as file:  # and not sealed again
        file["paths/interval_bytes"][0, 0] += 1
    assert a2a("check", shared).status == 2
    again = tmp_path / "again.h5"
    a2a("check", shared, "--repair", "-o", again)
    assert a2a("check", again).status in (0, 1)


def test_files_stay_apart_and_copies_are_whole(shared: Path, a2a: Run, tmp_path: Path) -> None:
    other = write(tmp_path / "other.h5", [Setting((0, 1), seeded(1, 1))])
    a2a("merge", shared, other, "-o", tmp_path / "both.h5").refused("one list of paths")
    copy = tmp_path / "public.h5"
    key = ("--key", tmp_path / "key")
    assert a2a("export", shared, "--anonymize", *key, "-o", copy).status == 0
    assert a2a("table", shared, "--csv").out.replace("q.h5", "") == (
        a2a("table", copy, "--csv").out.replace("public.h5", "")
    )
