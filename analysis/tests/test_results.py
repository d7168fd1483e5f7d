# SPDX-License-Identifier: BSD-3-Clause
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray

from a2aperf import baselines, filters, loading, metrics, sides
from a2aperf.errors import InputError
from a2aperf.results import Results
from conftest import Outcome
from support import synthetic

A2A = Callable[..., Outcome]

SETUP = synthetic.Setup(environment={"PSM2_RCVTHREAD": "0"}, labels={"who": "me"})


def test_what_was_written_is_read_back(launch: Path) -> None:
    found = loading.load([launch])
    assert list(found.points["message_size"]) == [1000, 8000, 16000, 60000]
    assert set(found.points["state"]) == {"complete"}
    assert list(found.launches) == ["launch.h5#0"]
    assert found.launches["launch.h5#0"].nodes == [f"node00{i}" for i in (1, 2, 3, 4)]
    row = found.points.iloc[1]
    times = found.op_times("launch.h5", 1)
    assert times.size == 100
    assert row["time_p50"] == metrics.percentile(times, 0.5)
    assert row["gbps_rank"] == pytest.approx(7 * 8000 * 8 / row["time_p50"])
    assert row["ppn"] == 2
    counters = found.counters("launch.h5", 1)
    assert counters is not None
    assert counters.per_rank["threads"].tolist() == [2] * 8
    assert counters.thread_affinity[1] == "1;0-15"


def test_invalid_attempts_are_left_out(tmp_path: Path) -> None:
    setup = synthetic.Setup(effects=synthetic.Effects(late_share=0.2))
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)])
    row = found.points.iloc[0]
    raw = found.raw("a.h5", 0)
    assert (row["attempts"], row["ops"], row["invalid"]) == (125, 100, 25)
    assert raw.valid.sum() == 100
    assert (raw.begin[~raw.valid].max(axis=1) > row["late_limit"]).all()
    assert (raw.begin[raw.valid].max(axis=1) <= row["late_limit"]).all()


def test_unknown_integers_are_missing_values(launch: Path) -> None:
    assert loading.load([launch]).points["partner"].isna().all()


def test_values_finds_columns_labels_variables_and_attributes(tmp_path: Path) -> None:
    one = synthetic.write_launch(tmp_path / "one.h5", SETUP)
    two = synthetic.write_launch(tmp_path / "two.h5", synthetic.Setup(seed=2))
    found = loading.load([one, two])
    assert found.values("ppn").unique().tolist() == [2.0]
    assert found.values("PSM2_RCVTHREAD").tolist()[:1] == ["0"]
    assert found.values("PSM2_RCVTHREAD").isna().tolist() == [False] * 4 + [True] * 4
    assert found.values("who").tolist()[0] == "me"
    assert set(found.values("kernel")) == {"6.1.0"}
    assert set(found.values("version")) == {"1.0.0"}
    with pytest.raises(InputError, match=r"PSM2_RCVTHRED.*did you mean PSM2_RCVTHREAD"):
        found.values("PSM2_RCVTHRED")
    with pytest.raises(InputError, match=r"'sizes'; did you mean message_size\?$"):
        found.values("sizes")


def test_names_are_the_paths_where_file_names_collide(tmp_path: Path) -> None:
    paths = []
    for seed, folder in enumerate(("a", "b")):
        (tmp_path / folder).mkdir()
        setup = replace(SETUP, seed=seed)
        paths.append(synthetic.write_launch(tmp_path / folder / "x.h5", setup))
    assert set(loading.load(paths).files) == {str(path) for path in paths}


def test_the_same_launch_is_not_counted_twice(launch: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="given twice"):
        loading.load([launch, launch])
    copy = shutil.copy(launch, tmp_path / "copy.h5")
    with pytest.raises(InputError, match="same launch"):
        loading.load([launch, copy])


def test_xarray_shows_the_points_with_units(launch: Path) -> None:
    with xarray.open_dataset(launch) as dataset:
        assert dict(dataset.sizes) == {"point": 4}
        assert dataset["time_p50"].attrs["units"] == "ns"
        assert dataset["gbps_rank"].dims == ("point",)
        assert dataset["mode"].values.tolist() == ["tagged"] * 4


@pytest.mark.parametrize("sync", ["clock", "barrier"])
def test_effects_are_in_the_samples(tmp_path: Path, sync: str) -> None:
    effects = synthetic.Effects(
        slowdown=2.0, autocorrelation=0.6, straggler=(3, 0.7), bimodal=(0.3, 4.0)
    )
    plain = synthetic.Setup(ops=2000, sync=sync)
    quiet = loading.load([synthetic.write_launch(tmp_path / "q.h5", plain)])
    slow = replace(plain, effects=replace(effects, autocorrelation=0, bimodal=None))
    loud = loading.load([synthetic.write_launch(tmp_path / "l.h5", slow)])
    assert loud.points["time_p50"][0] / quiet.points["time_p50"][0] == pytest.approx(2, rel=0.02)
    assert loud.points["last_rank"][0] == 3
    assert loud.points["last_rank_share"][0] == pytest.approx(0.7 + 0.3 / 8, abs=0.04)
    correlated = replace(plain, effects=synthetic.Effects(autocorrelation=0.6))
    again = loading.load([synthetic.write_launch(tmp_path / "c.h5", correlated)])
    assert again.points["autocorrelation"][0] == pytest.approx(0.6, abs=0.08)
    modes = replace(plain, effects=replace(effects, slowdown=1, autocorrelation=0))
    times = loading.load([synthetic.write_launch(tmp_path / "m.h5", modes)]).op_times("m.h5", 0)
    assert np.mean(times > 2 * np.min(times)) == pytest.approx(0.3, abs=0.05)


def _with_each(folder: Path, name: str, values: Sequence[str]) -> Results:
    """A launch for each value of a variable."""
    return loading.load(
        [
            synthetic.write_launch(
                folder / f"{seed}.h5", replace(SETUP, seed=seed, environment={name: value})
            )
            for seed, value in enumerate(values)
        ]
    )


def test_a_value_with_commas_can_be_asked_for(tmp_path: Path) -> None:
    found = _with_each(tmp_path, "UCX_TLS", ("rc,sm,self", "rc", "tcp,self"))

    def left(expression: str) -> set[str]:
        return set(filters.where(found, [expression]).values("UCX_TLS"))

    assert left("UCX_TLS=rc,sm,self") == {"rc,sm,self"}
    assert left("UCX_TLS!=rc,sm,self") == {"rc", "tcp,self"}
    assert left('UCX_TLS="rc,sm,self",rc') == {"rc,sm,self", "rc"}
    assert left("UCX_TLS=rc,sm") == {"rc"}  # a list, as no launch has it so
    assert filters.where(found, ["message_size=1000,8000"]).points["message_size"].nunique() == 2
    with pytest.raises(InputError, match=r'no point: UCX_TLS is rc, "rc,sm,self" and "tcp,self"$'):
        filters.where(found, ["UCX_TLS=sm,self"])


def test_a_comma_within_parentheses_separates_no_values(tmp_path: Path) -> None:
    values = ("moe(experts=16,top=2)", "near(a(b,c),d)", "uniform")
    found = _with_each(tmp_path, "TRAFFIC", values)

    def left(expression: str) -> set[str]:
        return set(filters.where(found, [expression]).values("TRAFFIC"))

    assert left("TRAFFIC=moe(experts=16,top=2),uniform") == {values[0], values[2]}
    assert left("TRAFFIC!=uniform,moe(experts=16,top=2)") == {values[1]}
    assert left('TRAFFIC="uniform", near(a(b,c),d)') == {values[1], values[2]}


@pytest.mark.parametrize(
    ("size", "size_in_bytes"),
    [
        ("8000", 8000),
        ("8000B", 8000),
        ("8kB", 8000),
        ("8KB", 8000),
        ("8 kB", 8000),
        ("8KiB", 8192),
        ("8kib", 8192),
        ("8k", 8192),
        ("8K", 8192),
        ("1M", 1 << 20),
        ("1mb", 10**6),
        ("0.001MB", 1000),
    ],
)
def test_sizes_are_read_as_on_the_program_s_command_line(
    tmp_path: Path, size: str, size_in_bytes: int
) -> None:
    sizes = (1000, 8000, 8192, 10**6, 1 << 20)
    setup = replace(SETUP, sizes=sizes)
    found = loading.load([synthetic.write_launch(tmp_path / "a.h5", setup)])
    left = filters.where(found, [f"message_size={size}"])
    assert set(left.points["message_size"]) == {size_in_bytes}
    for wrong in ("8kbit", "8i", "8kk", "k"):
        with pytest.raises(InputError, match="is not a number"):
            filters.where(found, [f"message_size={wrong}"])


def test_the_window_is_written_and_chosen_as_on_the_program_s_command_line(
    tmp_path: Path, a2a: A2A
) -> None:
    files = [
        synthetic.write_launch(
            tmp_path / f"{window}.h5", replace(SETUP, window=window, seed=window)
        )
        for window in (0, 1)
    ]
    found = loading.load(files)
    assert set(sides.levels(found, ["window"])) == {"window=all", "window=1"}
    assert set(filters.where(found, ["window=all"]).points["window"]) == {0}
    assert set(filters.where(found, ["window=1,all"]).points["window"]) == {0, 1}
    assert set(filters.where(found, ["window!=all"]).points["window"]) == {1}
    heading, first, *_ = a2a("table", *files).out.splitlines()
    assert dict(zip(heading.split(), first.split(), strict=False))["window"] == "all"


def test_files_of_a_python_environment_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    mine = synthetic.write_launch(tmp_path / "clone" / "run.h5", SETUP)
    venv = tmp_path / "clone" / "build" / "a2a"
    others = venv / "lib" / "h5py" / "tests"
    others.mkdir(parents=True)
    (others / "other.h5").write_bytes(b"none of ours")
    (venv / "pyvenv.cfg").touch()
    assert baselines.files_of([tmp_path / "clone"]) == [mine]
