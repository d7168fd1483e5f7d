# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be is found; and what `check` calls sound, every command can use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from a2aperf import schema
from conftest import Outcome
from support import (
    native_echo,
    native_streams,
    synthetic,
    synthetic_pairs,
)
from support.edited import edited
from support.synthetic import Setup

A2A = Callable[..., Outcome]
SETUP = Setup(
    nodes=2,
    ppn=2,
    sizes=(1000, 8000),
    ops=14,
    baseline=True,
    sentinel=True,
    environment={"PSM2_RCVTHREAD": "0"},
    labels={"cluster": "north"},
)
FIRST, PARTNER = 1, 2
"""Rows of a point and its baseline."""
_DAY = 86_400 * 10**9


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("sound")
    return synthetic.write_launch(folder / "x.h5", SETUP).read_bytes()


@pytest.fixture
def path(tmp_path: Path, sound: bytes) -> Path:
    path = tmp_path / "x.h5"
    path.write_bytes(sound)
    return path


def test_the_file_is_sound(a2a: A2A, path: Path) -> None:
    assert a2a("check", path).out == f"{path}: sound\n"


WRONG: list[tuple[str, Any, str]] = [
    ("window", -5, "window is -5"),
    ("message_size", -8, "message_size is -8"),
    ("nodes", 1778384896, "above ranks = 4"),
    ("ranks_per_node", np.inf, "ranks_per_node is inf"),
    ("distance", 1778384896, "distance is 1.77838e+09"),
    ("distance", -1, "distance is -1"),
    ("provider", "tcp", "provider tcp, its launch has psm2"),
    ("post", "beside", "post is 'beside'"),
    ("partner", -5, "partner -5 is not partner of it"),
    ("partner", 99, "partner 99 is not partner of it"),
    ("partner", FIRST, "is not partner of it"),
    ("partner", -1, "a ratio without a partner"),
    ("order", -7, "order is -7"),
    ("invalid", 3, "are not all attempts"),
    ("stop_rule", 0, "no rule ended it"),
    ("stop_rule", 6, "all of them are valid"),
    ("inject", 77, "inject is 77"),
    ("buffer_slots", 0, "buffer_slots is 0"),
    ("buffer_slots", 5, "above ranks = 4"),
    ("started", 5, "not within the time of its launch"),
    ("started", 2**62, "not within the time of its launch"),
    ("duration", 2**62, "not within the time of its launch"),
    ("duration", 17, "duration = 17"),
    ("late_limit", -3, "late_limit is -3"),
    ("clock_error", -2.0, "clock_error is -2"),
    ("clock_error", np.inf, "clock_error is inf"),
    ("clock_error", 90.0, "clock_error falls with time"),
    ("warmup_p50", 4.7e307, "warmup_p50 is 4.7e+307"),
    ("warmup_p50", -1.0, "warmup_p50 is -1"),
    ("ratio", 4.7e307, "ratio is 4.7e+307"),
    ("ratio", np.nan, "the medians say 1"),
    ("ratio_low", 0.5, "are no interval"),
    ("ratio_high", np.inf, "ratio_high is inf"),
    ("last_rank", 44, "last_rank is 44"),
    ("last_rank_share", 2.0, "last_rank_share is 2"),
]


@pytest.mark.parametrize(("name", "value", "words"), WRONG)
def test_a_column_that_cannot_be(a2a: A2A, path: Path, name: str, value: Any, words: str) -> None:
    with edited(path) as file:
        if value == 90.0:  # then those behind it are smaller
            file[name][...] = 80.0
        file[name][FIRST] = value
    found(a2a, path, words)


def found(a2a: A2A, path: Path, words: str) -> None:
    outcome = a2a("check", path)
    assert (outcome.status, outcome.err) == (2, "")
    assert words in outcome.out, outcome.out


@pytest.mark.parametrize("is_stream", [False, True])
def test_a_point_whose_ops_are_unknown(a2a: A2A, path: Path, is_stream: bool) -> None:
    if is_stream:
        native_streams.write(path)
    with edited(path) as file:
        file["ops"][1] = -1
    found(a2a, path, "ops is unknown, though it was measured")


def test_no_ratio_without_a_partner(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["ratio"][0] = 4.7e307  # of a sentinel
    found(a2a, path, "point 0: a ratio without a partner")


def test_an_interval_of_a_ratio_beyond_what_its_ops_say(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["ratio_low"][FIRST], file["ratio_high"][FIRST] = 0.001, 5000.0
    found(a2a, path, f"point {FIRST}: ratio_low is 0.001, ops say ")
    found(a2a, path, f"point {FIRST}: ratio_high is 5000, ops say ")


@pytest.mark.parametrize(
    ("warmup", "limit", "words"),
    [
        (250_300.0, 2503, ""),
        (250_300.0, 2400, "late_limit is 2400 ns, warmup_p50 250300 ns says 2503"),
        (20_000.0, 1000, ""),
        (20_000.0, 1400, "late_limit is 1400 ns, warmup_p50 20000 ns says 1000"),
        (np.nan, 1000, ""),
    ],
)
def test_a_warmup_follows_from_the_limit_for_late_ranks(
    a2a: A2A, path: Path, warmup: float, limit: int, words: str
) -> None:
    with edited(path) as file:
        file.attrs["origin"] = "measured"
        file["warmup_p50"][...], file["late_limit"][...] = warmup, limit
        file["duration"][...] = np.maximum(file["duration"][()], 10**6)
    if words:
        found(a2a, path, f"B): {words}")
    else:
        assert "late_limit" not in a2a("check", path).out


def test_warm_up_ops_that_take_longer_than_their_point(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["segments/0"].attrs["warmup"] = np.int32(40)
        file["warmup_p50"][FIRST] = file["duration"][FIRST] / 10
    found(a2a, path, "20 such ops take longer than the point")


def failed(file: h5py.File) -> None:
    """No op of FIRST is valid."""
    file["state"][FIRST] = schema.STATES.index("failed")
    file["invalid"][FIRST], file["ops"][FIRST] = file["attempts"][FIRST], 0
    file["raw/valid"][FIRST] = 0
    file["raw/begin"][FIRST, :, 0] = 2 * file["late_limit"][FIRST]
    file["raw/send_done"][FIRST] += 10**6
    file["raw/recv_done"][FIRST] += 10**6
    file["duration"][...] = 10**9
    for column in schema.COLUMNS:
        if column.kind == "float64" and column.result and column.name != "clock_error":
            file[column.name][FIRST] = np.nan
    file["last_rank"][FIRST] = schema.UNKNOWN
    for name in ("ratio", "ratio_low", "ratio_high"):
        file[name][PARTNER] = np.nan


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("", 0, ""),
        ("time_max", 5000.0, "time_max is 5000, and no op is valid"),
        ("gbps_node_net", 1.5, "gbps_node_net is 1.5, and no op is valid"),
        ("last_rank", 1, "last_rank is 1, and no op is valid"),
        ("raw/recv_done", -5, "an op ends before it begins"),
        ("raw/valid", 1, "1 valid ops in /raw, 0 in the summary"),
        ("counters/minor_faults", -5, "/counters/minor_faults has -5"),
    ],
)
def test_a_point_without_a_valid_op_is_looked_at(
    a2a: A2A, path: Path, name: str, value: float, words: str
) -> None:
    with edited(path) as file:
        failed(file)
        if name:
            dataset = file[name]
            dataset[(FIRST, *(0,) * (dataset.ndim - 1))] = value
    if name:
        found(a2a, path, words)
    else:
        outcome = a2a("check", path)
        assert outcome.out == f"{path}: warning: 1 point failed\n", outcome


@pytest.mark.parametrize("value", [0.5, 2.0, np.inf, np.nan])
def test_the_rate_of_a_second_look_follows_from_its_times(
    a2a: A2A, tmp_path: Path, value: float
) -> None:
    setup = Setup(nodes=3, ppn=1, sizes=(8, 60000), ops=12)
    truth = synthetic_pairs.Truth(pairs={(0, 1): 2.0})
    path = synthetic_pairs.write_pairs(tmp_path / "pairs.h5", setup, truth)
    with edited(path) as file:
        assert np.isfinite(file["pairs/isolated_gbps"][0])
    assert a2a("check", path).out == f"{path}: sound\n"
    with edited(path) as file:
        file["pairs/isolated_gbps"][0] *= value
    found(a2a, path, "/pairs: isolated_gbps is ")


_MOST = 2**63 - 1
"""An int64 has no more."""
COUNTERS: list[tuple[str, Any, str]] = [
    ("voluntary_switches", -2, "/counters/voluntary_switches has -2"),
    ("involuntary_switches", -(2**40), "/counters/involuntary_switches has"),
    ("minor_faults", -5, "/counters/minor_faults has -5"),
    ("major_faults", -5, "/counters/major_faults has -5"),
    ("user_time", 2**50, "ns of CPU in"),
    ("system_time", 2**50, "ns of CPU in"),
    ("threads", 0, "/counters/threads has 0"),
    ("thread_affinity", b"0-1;\x1b[31m", "thread_affinity has no lists of CPUs"),
    ("thread_affinity", b"0-1;0?1", "thread_affinity has no lists of CPUs"),
    ("interrupts", -2, "/counters: interrupts has -2"),
    ("softirqs_net_rx", -2, "/counters: softirqs_net_rx has -2"),
    ("wall_time", -2, "/counters/wall_time has -2"),
    ("wall_time", 2**40, "/counters/wall_time has 1099511627776"),
    ("node_idle_time", -2, "/counters: node_idle_time has -2"),
    ("node_user_time", _MOST, f"/counters: node_user_time has {_MOST}"),
    ("node_wall_time", 2**40, "/counters: node_wall_time has 1099511627776"),
    ("verification_node_wall_time", 2**40, "/counters: verification_node_wall_time has"),
    ("port", -2, "/counters: hfi1_0/1/counters/port_xmit_wait has -2"),
    ("verification_minor_faults", -2, "/counters/verification_minor_faults has -2"),
    ("verification_system_time", 2**50, "ns of CPU in"),
    ("verification_interrupts", -2, "/counters: verification_interrupts has -2"),
    ("verification_softirqs_net_tx", -2, "/counters: verification_softirqs_net_tx has -2"),
    ("verification_port", -2, "verification_hfi1_0/1/counters/port_xmit_wait has -2"),
    ("minor_faults", _MOST, f"/counters/minor_faults has {_MOST}"),
    ("threads", 2**30, "/counters/threads has 1073741824"),
    ("resident_memory", _MOST, f"/counters/resident_memory has {_MOST}"),
    ("interrupts", _MOST, f"/counters: interrupts has {_MOST}"),
    ("port", _MOST, f"/counters: hfi1_0/1/counters/port_xmit_wait has {_MOST}"),
    ("verification_interrupts", _MOST, f"/counters: verification_interrupts has {_MOST}"),
]


def test_a_thread_that_was_gone_when_it_was_looked_at(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["counters/thread_affinity"][FIRST, 0] = b"0-1;?;0"
    assert a2a("check", path).out == f"{path}: sound\n"


@pytest.mark.parametrize(("name", "value", "words"), COUNTERS)
def test_a_counter_that_cannot_be(a2a: A2A, path: Path, name: str, value: Any, words: str) -> None:
    with edited(path) as file:
        dataset = file["counters"][name]
        dataset[(FIRST, *(0,) * (dataset.ndim - 1))] = value
    found(a2a, path, words)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("user_time", "launch 0: start_counters/user_time has"),
        ("interrupts", "launch 0: start_counters: interrupts has"),
        ("softirqs_net_rx", "launch 0: start_counters: softirqs_net_rx has"),
        ("port", "launch 0: start_counters: hfi1_0/1/counters/port_xmit_wait has"),
    ],
)
@pytest.mark.parametrize("value", [-2, 2**62])
def test_a_counter_of_the_start_that_cannot_be(
    a2a: A2A, path: Path, name: str, words: str, value: int
) -> None:
    with edited(path) as file:
        dataset = file["segments/0/start_counters"][name]
        dataset[(0,) * dataset.ndim] = value
    found(a2a, path, f"{words} {value}")


SAMPLES: list[tuple[str, Any, str]] = [
    ("raw/valid", 77, "/raw/valid has values other than 0 and 1"),
    ("raw/valid", -5, "/raw/valid has values other than 0 and 1"),
    ("raw/exit", 2**60, "outside of the time of the point (/raw/exit)"),
    ("raw/exit", -(2**60), "outside of the time of the point (/raw/exit)"),
]


@pytest.mark.parametrize(("name", "value", "words"), SAMPLES)
def test_a_sample_that_cannot_be(a2a: A2A, path: Path, name: str, value: Any, words: str) -> None:
    with edited(path) as file:
        dataset = file[name]
        dataset[(FIRST, *(0,) * (dataset.ndim - 1))] = value
    found(a2a, path, words)


def test_ops_follow_one_another(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["raw/start"][FIRST, 3] = file["raw/start"][FIRST, 5] + 1
    found(a2a, path, "its ops do not follow one another (/raw/start)")


@pytest.mark.parametrize("name", ["environment_uniform", "environment_required"])
@pytest.mark.parametrize("value", [77, -5])
def test_a_flag_that_is_none(a2a: A2A, path: Path, name: str, value: int) -> None:
    with edited(path) as file:
        file["segments/0"][name][0] = value
    outcome = a2a("check", path)
    assert (outcome.status, outcome.out) == (2, "")
    assert f"damaged: /segments/0/{name} has values other than 0 and 1" in outcome.err


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("clock_offset", 0, 1e300, "launch 0: clock_offset has a value that no clock has"),
        ("ended", (), 2**62, "launch 0: it ended later than it can have"),
    ],
)
def test_a_time_of_a_launch_that_cannot_be(
    a2a: A2A, path: Path, name: str, place: Any, value: Any, words: str
) -> None:
    with edited(path) as file:
        file["segments/0"][name][place] = value
    found(a2a, path, words)


@pytest.mark.parametrize("name", ["point", "raw/attempt", "raw/rank", "counters/node"])
def test_a_scale_that_does_not_count(a2a: A2A, path: Path, name: str) -> None:
    with edited(path) as file:
        file[name][0] += 1
    found(a2a, path, f"/{name} does not count from 0: 1 at 0")


@pytest.mark.parametrize("name", ["source", "destination", "suspect"])
def test_nor_one_of_a_matrix(a2a: A2A, tmp_path: Path, name: str) -> None:
    setup = Setup(nodes=3, ppn=1, sizes=(60000,), ops=12)
    truth = synthetic_pairs.Truth(pairs={(0, 1): 2.0})
    path = synthetic_pairs.write_pairs(tmp_path / "pairs.h5", setup, truth)
    with edited(path) as file:
        file["pairs"][name][0] += 1
    found(a2a, path, f"/pairs/{name} does not count from 0: 1 at 0")


def test_a_start_counts_every_rank(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        start = file["segments/0/start_counters"]
        ranks = len(start["user_time"])
        del start["user_time"]
        start["user_time"] = [1] * (ranks - 1)
    words = f"start_counters/user_time has {ranks - 1} values, not {ranks}"
    found(a2a, path, f"launch 0: {words}")


LAUNCH: list[tuple[str, Any, str]] = [
    ("clock_offset", np.nan, "clock_offset has a value that no clock has"),
    ("clock_drift", 5.0, "clock_drift has a value that no clock has"),
    ("clock_domain_of_rank", 9, "clock_domain_of_rank names no clock"),
    ("rank_order", 3, "rank_order has not every rank once"),
    ("@rails", np.int32(-5), "rails is -5"),
    ("@rank_rails", np.int32(-5), "rank_rails is -5"),
    ("@link_rate_gbps", np.float64(np.inf), "link_rate_gbps is inf"),
    ("@asked_link_rate", np.float64(-1), "asked_link_rate is -1"),
    ("@asked_link_rate", np.float64(7), "link_rate_gbps is 100, and 7 was stated"),
    ("@clock_error_ns", np.float64(-1), "clock_error_ns is -1"),
    ("@shuffle_ranks", np.int32(7), "shuffle_ranks is 7"),
    ("@warmup", np.int32(-9), "warmup is -9"),
    ("@memory_limit", np.int64(-9), "memory_limit is -9"),
    ("@sync", "cluck", "sync is 'cluck'"),
    ("ended", 5, "it ended before it began"),
]


@pytest.mark.parametrize(("name", "value", "words"), LAUNCH)
def test_a_launch_that_cannot_be(a2a: A2A, path: Path, name: str, value: Any, words: str) -> None:
    with edited(path) as file:
        group = file["segments/0"]
        if name.startswith("@"):
            group.attrs[name[1:]] = value
        elif group[name].shape == ():
            group[name][()] = value
        else:
            group[name][0] = value
    found(a2a, path, words)


def test_ops_beside_their_point(a2a: A2A, path: Path) -> None:
    with edited(path) as file:
        file["raw/start"][FIRST] += _DAY
    found(a2a, path, "its ops are not within the time from started on (/raw/start)")


def test_a_file_from_before_its_partner_was_measured(a2a: A2A, path: Path) -> None:
    """A launch was interrupted: half of a pair is there, and no ratio."""
    with edited(path) as file:
        file["state"][PARTNER] = schema.STATES.index("pending")
        file["ratio"][FIRST] = np.nan
    outcome = a2a("check", path)
    assert (outcome.status, outcome.err) == (0, ""), outcome.out


# Sound, so usable ---------------------------------------------------------------------------------

_NUMBERS = (
    -5, -2, -1, 0, 1, 2, 3, 4, 5, 7, 100, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, -(2**63),
)  # fmt: skip
_FLOATS = (-np.inf, -1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 3.7, 4.7e307, np.inf, np.nan)
_TEXTS = (b"", b"x", b"tcp", b"tagged", b"\xff\xfe", b"\x1b[31m", b"%s{}$_", b"a" * 5000)


def changed(file: h5py.File, random: np.random.Generator) -> str:
    """One value of one dataset is another one; says which."""
    names: list[str] = []
    file.visititems(lambda name, one: names.append(name) if isinstance(one, h5py.Dataset) else None)
    dataset = file[names[random.integers(len(names))]]
    place = tuple(int(random.integers(extent)) for extent in dataset.shape) if dataset.size else ()
    if not dataset.size:
        return changed(file, random)
    kind = dataset.dtype
    if kind.kind == "f":
        value: Any = _FLOATS[random.integers(len(_FLOATS))]
    elif kind.kind == "i":
        fitting = [one for one in _NUMBERS if np.iinfo(kind).min <= one <= np.iinfo(kind).max]
        value = fitting[random.integers(len(fitting))]
    else:
        value = _TEXTS[random.integers(len(_TEXTS))]
    dataset[place] = value
    return f"{dataset.name}{list(place)} = {value!r}"


def usable(path: Path, other: Path, out: Path) -> Iterator[tuple[object, ...]]:
    yield ("table", path, "--role", "all", "--layout", "wide")
    yield ("table", path, "--csv")
    yield ("table", path, "--json")
    yield ("explain", path)
    yield ("history", path)
    yield ("live", path, "--once")
    yield ("compare", path, "--by", "engine")
    yield ("plot", "sizes", path, "-o", out / "x.svg")
    yield ("export", path, "--anonymize", "--key", out / "key", "-o", out / "p.h5", "--force")
    yield ("merge", path, other, "--mixed", "-o", out / "m.h5", "--force")


def tried(a2a: A2A, data: bytes, folder: Path, seed: int) -> int:
    """What comes of some changes; the number of those that `check` calls sound."""
    random = np.random.default_rng(seed)
    other = synthetic.write_launch(folder / "other.h5", Setup(nodes=2, sizes=(1000,), seed=99))
    path = folder / "x.h5"
    count = 0
    for _ in range(10):
        path.write_bytes(data)
        with edited(path) as file:
            what = changed(file, random)
        if a2a("check", path).status != 0:
            continue
        count += 1
        for words in usable(path, other, folder):
            outcome = a2a(*words)  # anything but an InputError goes up
            told = f"no all-to-all: |{_ASKED_TOO_MUCH.get(str(words[0]), 'no all-to-all: ')}"
            is_told = outcome.status == 2 and re.search(told, outcome.err)
            is_fine = outcome.status in _ANSWERS.get(str(words[0]), (0,))
            assert is_fine or is_told, (what, words, outcome)
    return count


_ANSWERS = {"live": (0, 1), "compare": (0, 1, 3, 4)}
"""Statuses that say how a launch ended, or what differs: no refusal is among them."""
_ASKED_TOO_MUCH = {
    "merge": "such files stay apart|and stays by itself",
    "compare": "every point has engine=",
}
"""Words by which a command refuses what nobody can ask of a sound file."""


@pytest.mark.slow
@pytest.mark.parametrize("write", [native_streams.write, native_echo.write])
def test_so_can_files_of_other_workloads(
    a2a: A2A, tmp_path: Path, write: Callable[[Path], Path]
) -> None:
    data = write(tmp_path / "own.h5").read_bytes()
    tried(a2a, data, tmp_path, 200)


def test_messages_lie_in_a_kind_of_memory_of_the_launch(a2a: A2A, tmp_path: Path) -> None:
    path = native_streams.write(tmp_path / "s.h5")
    with edited(path) as file:
        kinds = file.create_dataset("memory", (2,), h5py.string_dtype())
        kinds[:] = ["default", "huge"]
        kinds.attrs["long_name"] = "pages of the message buffers"
        kinds.dims[0].attach_scale(file["point"])
        file["segments/0"].attrs["memory"] = "default,huge"
    assert a2a("check", path).out == f"{path}: sound\n"
    with edited(path) as file:
        file["segments/0"].attrs["memory"] = "default"
    found(a2a, path, "point 1: memory huge, its launch has default")
