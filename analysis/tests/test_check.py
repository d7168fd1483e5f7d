# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from a2aperf import opened_once, reading, schema
from conftest import Outcome
from support import synthetic
from support.edited import edited

Run = Callable[..., Outcome]
Edit = Callable[[h5py.File], None]


@pytest.mark.parametrize("sync", ["clock", "barrier"])
@pytest.mark.parametrize("late_share", [0.0, 0.3])
def test_sound_files(a2a: Run, tmp_path: Path, sync: str, late_share: float) -> None:
    setup = synthetic.Setup(
        sync=sync,
        modes=("tagged", "read"),
        baseline=True,
        sentinel=True,
        effects=synthetic.Effects(late_share=late_share, timer=(0.1, 3e6), straggler=(2, 0.5)),
    )
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    outcome = a2a("check", path)
    assert (outcome.status, outcome.out) == (0, f"{path}: sound\n")


@pytest.fixture
def traced(tmp_path: Path) -> Path:
    setup = synthetic.Setup(
        nodes=4,
        ppn=1,
        sizes=(1000,),
        ops=100,
        baseline=True,
        trace=True,
        effects=synthetic.Effects(late_share=0.3),
    )
    return synthetic.write_launch(tmp_path / "traced.h5", setup)


def test_a_sound_trace(a2a: Run, traced: Path) -> None:
    assert a2a("check", traced).out == f"{traced}: sound\n"


def never(arrival: h5py.Dataset) -> None:
    arrival[0, 70, 2, 1] = -1


def from_itself(arrival: h5py.Dataset) -> None:
    arrival[0, 99, 1, 1] = 5


def too_early(arrival: h5py.Dataset) -> None:
    arrival[0, 0, 2, 1] = -7


def too_late(arrival: h5py.Dataset) -> None:
    arrival[0, 64, 2, 1] = arrival[0, 64, 2].max() + 1


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (never, "a message is missing in /raw/arrival"),
        (from_itself, "a message is missing in /raw/arrival, or one too many"),
        (too_early, "came before its receiver began"),
        (too_late, "or after the last one"),
    ],
)
def test_what_is_wrong_in_a_trace(
    a2a: Run, traced: Path, edit: Callable[[h5py.Dataset], None], words: str
) -> None:
    with edited(traced) as file:
        edit(file["raw/arrival"])
    outcome = a2a("check", traced)
    assert outcome.status == 2
    assert words in outcome.out


def test_the_imported_table_is_sound(a2a: Run, table_2019: Path) -> None:
    assert a2a("check", table_2019).out == f"{table_2019}: sound\n"


def times(file: h5py.File) -> None:
    file["time_p90"][1] += 500


def swapped(file: h5py.File) -> None:
    file["time_p90"][1], file["time_p99"][1] = file["time_p99"][1], file["time_p90"][1]


def rate(file: h5py.File) -> None:
    file["gbps_bisection"][0] *= 1.001


def sample(file: h5py.File) -> None:
    file["raw/recv_done"][3, 17, :] *= 40


def backwards(file: h5py.File) -> None:
    file["raw/send_done"][0, 5, 1] = -1


def half_told(file: h5py.File) -> None:
    file["raw/send_done"][0, 5, 1] = schema.NO_MOMENT


def nobody_told(file: h5py.File) -> None:
    file["raw/send_done"][0] = schema.NO_MOMENT
    file.attrs["complete_at"] = "sender"


def validity(file: h5py.File) -> None:
    file["raw/valid"][0, 5] = 0


def lateness(file: h5py.File) -> None:
    file["raw/begin"][0, 5, 1] = 2000


def start(file: h5py.File) -> None:
    file["raw/start"][0, 5] = file["raw/start"][0, 4]


def interval(file: h5py.File) -> None:
    file["time_p50_low"][0] = file["time_p50"][0] + 1


def placement(file: h5py.File) -> None:
    file["nodes"][0] = 5


def partner(file: h5py.File) -> None:
    file["partner"][0] = 1


def time_order(file: h5py.File) -> None:
    file["order"][:2] = [1, 0]


def doubled_order(file: h5py.File) -> None:
    file["order"][1] = 0


def fact(file: h5py.File) -> None:
    del file["segments/0/node_facts/kernel"]
    file["segments/0/node_facts/kernel"] = ["6.1"]


def secret(file: h5py.File) -> None:
    group = file["segments/0"]
    for name, values in (("environment_name", ["SLURM_JWT"]), ("environment_value", ["x"])):
        del group[name]
        group[name] = values
    for name in ("environment_uniform", "environment_required"):
        del group[name]
        group[name] = np.ones(1, np.int8)


def units(file: h5py.File) -> None:
    file["time_p50"].attrs["units"] = "s"


def kind(file: h5py.File) -> None:
    del file["window"]
    file["window"] = np.zeros(4)


def silent_skip(file: h5py.File) -> None:
    file["state"][0] = 2
    for name in ("ops", "attempts"):
        file[name][0] = -1


def nothing_tried(file: h5py.File) -> None:
    file["attempts"][0] = 0


def raw_shape(file: h5py.File) -> None:
    del file["raw/valid"]
    file["raw/valid"] = np.ones((4, 50), np.int8)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (times, "time_p90 is"),
        (swapped, "do not ascend"),
        (rate, "gbps_bisection is"),
        (sample, "time_max is"),
        (backwards, "ends before it begins"),
        (half_told, "send_done is there for some ranks and ops only"),
        (nobody_told, "no sender tells when it was done"),
        (validity, "99 valid ops in /raw, 100 in the summary"),
        (lateness, "valid is not what late_limit says"),
        (start, "do not follow each other"),
        (interval, "interval of p50 does not hold it"),
        (placement, "5 nodes of 2 ranks are not 8"),
        (partner, "partner 1 is not partner of it"),
        (time_order, "not that of their starts"),
        (doubled_order, "the same place in time"),
        (fact, "fact kernel has 1 values, not 4"),
        (secret, "SLURM_JWT looks like a credential"),
        (units, "column time_p50 has not the units 'ns'"),
        (kind, "column window is float64, not int32"),
        (silent_skip, "skipped without a reason"),
        (nothing_tried, "point 0 (8 ranks, 1000 B): it is complete, and has no samples"),
        (raw_shape, "/raw/valid has shape (4, 50), too small"),
    ],
)
def test_what_is_wrong_is_found(a2a: Run, launch: Path, edit: Edit, words: str) -> None:
    with edited(launch) as file:
        edit(file)
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert any("error: " in line and words in line for line in outcome.out.splitlines()), outcome


def test_a_damaged_chunk_is_found(a2a: Run, launch: Path) -> None:
    """Compressed samples overwritten on disk: the file opens, its samples do not."""
    with h5py.File(launch) as file:
        chunk = file["raw/recv_done"].id.get_chunk_info(2)
    with launch.open("r+b") as stream:
        stream.seek(chunk.byte_offset)
        stream.write(b"\xff" * 200)
    a2a("table", launch).refused("not every byte is as it was written", "a2a check --repair")
    outcome = a2a("check", launch)
    assert outcome.status == 2
    assert "error: not every byte is as it was written" in outcome.out
    assert "error: point 2: cannot be read" in outcome.out
    assert "point 1" not in outcome.out


def test_warnings_leave_the_status(a2a: Run, tmp_path: Path) -> None:
    setup = synthetic.Setup(link_rate_gbps=20.0)
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    with edited(path) as file:
        for name, value in (("end_state", 0), ("end_reason", 0), ("ended", -1)):
            file["segments/0"][name][()] = value
        file.attrs["layout"] = "preallocated"
        file["state"][1] = 0
    outcome = a2a("check", path)
    assert outcome.status == 0
    assert "warning: launch 0: still running, or killed" in outcome.out
    assert "warning: 1 point pending" in outcome.out
    assert "of the link rate: more than the link can carry" in outcome.out


def test_a_link_rate_that_was_stated_is_told_as_such(a2a: Run, tmp_path: Path) -> None:
    setup = synthetic.Setup(link_rate_gbps=20.0, attributes={"asked_link_rate": 20.0})
    outcome = a2a("check", synthetic.write_launch(tmp_path / "x.h5", setup))
    assert outcome.status == 0
    assert "of the link rate that was stated: more than the link can carry" in outcome.out


def test_a_file_is_opened_once(a2a: Run, launch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    class File(opened_once.OpenedOnce):
        def __init__(self, name: object, *arguments: object, **options: object) -> None:
            opened.append(name)
            super().__init__(name, *arguments, **options)

    monkeypatch.setattr(reading, "OpenedOnce", File)
    assert a2a("check", launch).status == 0
    assert opened == [launch]


def test_every_file_is_checked(a2a: Run, launch: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.h5").write_text("no")
    outcome = a2a("check", tmp_path / "bad.h5", launch)
    assert outcome.status == 2
    assert "bad.h5: not an HDF5 file" in outcome.err
    assert outcome.out == f"{launch}: sound\n"


def bare(item: h5py.Dataset) -> None:
    """Without its dimension scales."""
    for dimension in item.dims:
        for scale in list(dimension.values()):
            dimension.detach_scale(scale)


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (lambda f: f["order"].attrs.__delitem__("_FillValue"), "order has no _FillValue"),
        (lambda f: f["segments/0"].__delitem__("planned_order"), "planned_order missing"),
        (lambda f: f["segments/0"].__delitem__("environment_required"), "environment_required"),
        (lambda f: bare(f["counters/user_time"]), "user_time has no dimension scale point, rank"),
        (lambda f: bare(f["raw/start"]), "/raw/start has no dimension scale"),
        (lambda f: bare(f["ops"]), "column ops has no dimension scale"),
        (lambda f: f["raw/begin"].attrs.__setitem__("units", "s"), "has not the units 'ns'"),
    ],
)
def test_parts_that_a_copy_may_lose(a2a: Run, launch: Path, edit: Edit, word: str) -> None:
    with edited(launch) as file:
        edit(file)
    outcome = a2a("check", launch)
    assert outcome.status == 2, outcome.out
    assert word in outcome.out


def test_an_interval_of_dependent_ops_is_computed_again(a2a: Run, tmp_path: Path) -> None:
    setup = synthetic.Setup(ops=400, effects=synthetic.Effects(autocorrelation=0.5))
    path = synthetic.write_launch(tmp_path / "x.h5", setup)
    with edited(path) as file:
        assert file["interval_kind"][0] == 2  # by blocks of ops
    assert a2a("check", path).status == 0
    with edited(path) as file:
        file["time_p50_high"][0] *= 1.001
    outcome = a2a("check", path)
    assert outcome.status == 2
    assert "time_p50_high is" in outcome.out
    with edited(path) as file:
        file["time_p50_high"][0] /= 1.001
        file["interval_kind"][0] = 1
    assert "interval_kind is order-statistics, its samples say block" in a2a("check", path).out
