# SPDX-License-Identifier: BSD-3-Clause
"""The results file: the only module that knows its paths (see docs/file-format.md)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import h5py
import numpy as np
from numpy.typing import NDArray

from a2a.errors import InputError

SCHEMA = "a2aperf"
VERSION = 1
UNKNOWN = -1  # in integer columns; floats use NaN, strings are empty

STATES = ("pending", "complete", "skipped", "failed")
STOP_RULES = ("none", "ops", "precision", "max-ops", "time-budget", "interrupted", "attempts")
INTERVAL_KINDS = ("none", "order-statistics", "block-bootstrap")
END_STATES = ("running", "finished", "interrupted", "failed")

Kind = Literal["string", "int8", "int32", "int64", "float64"]


_KNOWN_IF_MEASURED = ("window", "attempts", "ops", "invalid", "buffer_slots")


@dataclass(frozen=True)
class Column:
    """One column of the points, shape [P].

    `flags` names the values of an enumeration; `unknown` says whether −1 may stand for "unknown";
    `result` columns come out of the measurement, the others were asked for; a `late` column came
    after the first files of this version: where it is missing it is blank throughout.
    """

    name: str
    kind: Kind
    long_name: str
    units: str = ""
    flags: tuple[str, ...] = ()
    unknown: bool = True
    result: bool = True
    late: bool = False

    @property
    def blank(self) -> Any:
        """The value that stands for "not known"."""
        if self.kind == "string":
            return ""
        if self.kind == "float64":
            return np.nan
        return UNKNOWN if self.unknown else 0

    def needs_fill_value(self, values: NDArray[Any]) -> bool:
        """Whether the attribute `_FillValue` has to tell readers what −1 means.

        Some columns are always known where a2aperf measured, but not where a text was imported.
        """
        may_lack = self.unknown and self.kind in ("int32", "int64")
        return may_lack and (self.name not in _KNOWN_IF_MEASURED or bool((values == UNKNOWN).any()))


def _asked(name: str, kind: Kind, text: str, units: str = "", unknown: bool = True) -> Column:
    return Column(name, kind, text, units, unknown=unknown, result=False)


def _rates() -> Iterator[Column]:
    for name, text in (
        ("gbps_rank", "payload each rank sends, self excluded"),
        ("gbps_compat", "throughput as in the 2019 table, message to self counted"),
        ("gbps_node_net_min", "leaves a node through its ports, minimum over nodes"),
        ("gbps_node_net", "leaves a node through its ports, mean over nodes"),
        ("gbps_node_net_max", "leaves a node through its ports, maximum over nodes"),
        ("gbps_node_total", "ranks per node times gbps_rank"),
        ("gbps_node_compat", "ranks per node times gbps_compat"),
        ("gbps_duplex", "both directions of a node's ports"),
        ("gbps_aggregate", "all ranks together"),
        ("gbps_bisection", "across a balanced cut, per direction"),
        ("gbps_sustained", "payload over the sum of all op times, slow ones included"),
        ("gbps_sustained_compat", "the same, message to self counted"),
    ):
        yield Column(name, "float64", text, "Gbit/s")


def _times() -> Iterator[Column]:
    for name, text in (
        ("warmup_p50", "median op time of the warm-up"),
        ("time_min", "shortest op time"),
        ("time_mean", "mean op time"),
        ("time_p50", "median op time"),
        ("time_p90", "90th percentile of the op time"),
        ("time_p99", "99th percentile of the op time"),
        ("time_max", "longest op time"),
        ("time_stddev", "sample standard deviation of the op time"),
        ("time_p50_low", "lower end of the median's 95 % interval"),
        ("time_p50_high", "upper end of the median's 95 % interval"),
        ("time_p99_low", "lower end of the 99th percentile's 95 % interval"),
        ("time_p99_high", "upper end of the 99th percentile's 95 % interval"),
    ):
        yield Column(name, "float64", text, "ns")


COLUMNS: tuple[Column, ...] = (
    _asked("role", "string", "what the row is for: measure, baseline, sentinel or pair"),
    _asked("engine", "string", "program that moved the messages"),
    _asked("mode", "string", "transfer mode"),
    _asked("schedule", "string", "order in which a rank visits its peers"),
    _asked("window", "int32", "outstanding sends per rank, 0 = all"),
    _asked("message_size", "int64", "bytes per pair of ranks", "B", unknown=False),
    _asked("ranks", "int32", "number of ranks", unknown=False),
    _asked("nodes", "int32", "number of nodes"),
    _asked("ranks_per_node", "float64", "mean number of ranks per node"),
    _asked("provider", "string", "libfabric provider"),
    _asked("post", "string", "receives posted before the start or inside the op"),
    _asked("partner", "int32", "row measured in alternation with this one"),
    Column(
        "distance",
        "int32",
        "only the step in which rank r sends to (r + distance) mod R, 0 = all peers",
        unknown=False,
        result=False,
        late=True,
    ),
    _asked("skip_reason", "string", "why the point is not measured"),
    Column("state", "int8", "state of the point; written last", flags=STATES, unknown=False),
    Column("segment", "int32", "launch that measured the point"),
    Column("order", "int32", "position in time within its segment"),
    Column("attempts", "int32", "timed ops, valid or not"),
    Column("ops", "int32", "valid ops, the n of every statistic"),
    Column("invalid", "int32", "attempts that were not valid"),
    Column("stop_rule", "int8", "rule that ended the point", flags=STOP_RULES, unknown=False),
    Column("inject", "int8", "1 when the provider's inject path was used"),
    Column("buffer_slots", "int32", "distinct message buffers per direction and rank"),
    Column("started", "int64", "start of the point", "nanoseconds since 1970-01-01"),
    Column(
        "duration", "int64", "wall time spent on the point, verification and warm-up included", "ns"
    ),
    Column("late_limit", "int64", "latest begin of a rank in a valid op", "ns"),
    Column(
        "clock_error",
        "float64",
        "largest error bound of the clocks until the point ended",
        "ns",
        late=True,
    ),
    *_times(),
    Column("autocorrelation", "float64", "lag-1 autocorrelation of the op time"),
    Column(
        "interval_kind",
        "int8",
        "how the median's interval was made",
        flags=INTERVAL_KINDS,
        unknown=False,
    ),
    Column("span_p50", "float64", "median op span, last end minus first begin", "ns"),
    Column("rank_time_p50", "float64", "median time of one rank", "ns"),
    *_rates(),
    Column("msg_rate", "float64", "messages per second, all ranks", "1/s"),
    Column("efficiency", "float64", "gbps_node_net over rails times link rate"),
    Column("last_rank", "int32", "rank that finished last most often"),
    Column("last_rank_share", "float64", "share of the valid ops in which it finished last"),
    Column("ratio", "float64", "median of the partner over median of this row"),
    Column("ratio_low", "float64", "lower end of the ratio's 95 % interval"),
    Column("ratio_high", "float64", "upper end of the ratio's 95 % interval"),
)
WHOLE = frozenset({*(rate.name for rate in _rates()), "msg_rate", "efficiency"})
"""Figures that only a whole all-to-all has, not a step of it."""
COLUMN: dict[str, Column] = {column.name: column for column in COLUMNS}

# fmt: off
_TEXT_ATTRIBUTES = (
    "program_version", "commit", "command_line", "started", "provider", "provider_version",
    "libfabric_version", "mpi_version", "hdf5_version", "domain", "sync", "sync_reason", "poll",
    "poll_reason", "memory", "order", "slurm_job_id", "baseline_transport",
)
# fmt: on
SEGMENT_ATTRIBUTES: dict[str, Any] = {  # name: value that stands for "not known"
    **dict.fromkeys(_TEXT_ATTRIBUTES, ""),
    **dict.fromkeys(("time_origin", "memory_limit", "seed"), np.int64(UNKNOWN)),
    **dict.fromkeys(("shuffle_ranks", "warmup", "rails"), np.int32(UNKNOWN)),
    **dict.fromkeys(("clock_error_ns", "link_rate_gbps"), np.float64(np.nan)),
}
# fmt: off
NODE_FACTS = (
    "kernel", "cpu_model", "governor", "cores_usable", "memory_total", "boot_id", "nic",
    "nic_driver", "nic_firmware", "nic_numa_node", "nic_pcie_width", "nic_pcie_speed",
    "nic_max_read_request", "nic_mtu", "nic_link_rate",
)
# fmt: on
RANK_FACTS = ("binding", "nic", "nic_distance")

NO_EXIT = np.iinfo(np.int64).min
"""In `/raw/exit` of a merged file: the point is of a file that had none."""
IMPOSSIBLE_NS = 1
"""What older programs stored where a message was there before its receiver left the barrier."""
RAW_MOMENTS = ("begin", "send_done", "recv_done")
# fmt: off
COUNTERS_PER_RANK = (
    "voluntary_switches", "involuntary_switches", "minor_faults", "major_faults", "user_time",
    "system_time", "threads",
)
# fmt: on


@dataclass
class Segment:
    """One launch: `/segments/<i>`. Lists are per node [N], per rank [R], or per name."""

    attributes: dict[str, Any] = field(default_factory=dict)
    end_state: str = "finished"
    ended: int = UNKNOWN
    message: str = ""
    nodes: list[str] = field(default_factory=list)
    node_of_rank: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    clock_domain_of_rank: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    clock_offset: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    clock_drift: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    environment: dict[str, str] = field(default_factory=dict)
    uniform: dict[str, bool] = field(default_factory=dict)
    required: dict[str, bool] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    attachments: dict[str, str] = field(default_factory=dict)  # file name: its text
    fi_info: str = ""
    node_facts: dict[str, list[str]] = field(default_factory=dict)
    rank_facts: dict[str, list[str]] = field(default_factory=dict)
    rank_order: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    planned_order: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))


@dataclass(frozen=True)
class Raw:
    """Every attempt of one point: int64 [attempts, R] ns, `start` [attempts], `valid` [attempts].

    Offsets from the op's scheduled start (clock) or from the rank's barrier exit (barrier).
    """

    begin: NDArray[np.int64]
    send_done: NDArray[np.int64]
    recv_done: NDArray[np.int64]
    start: NDArray[np.int64]
    valid: NDArray[np.bool_]
    exit: NDArray[np.int64] | None = None
    """When each rank left the barrier [attempts, R], on the common clock from `start`.

    0 with a clock start. None where it was not kept: with a barrier start two ranks' moments then
    don't compare.
    """


@dataclass(frozen=True)
class Pairs:
    """What each rank sends to each other: `/pairs`, only in the files of `a2aperf pairs`.

    Matrices are [M, R, R]: size, source, destination; NaN (ops: 0) where nothing was measured.
    The second look: K pairs measured while all others were silent, `isolated_time` [K, A2] ns.
    """

    message_size: NDArray[np.int64]
    time_p50: NDArray[np.float64]
    time_min: NDArray[np.float64]
    gbps: NDArray[np.float64]
    ops: NDArray[np.int32]
    suspect_source: NDArray[np.int32]
    suspect_destination: NDArray[np.int32]
    suspect_size: NDArray[np.int32]
    isolated_time: NDArray[np.int64]
    isolated_gbps: NDArray[np.float64]


@dataclass(frozen=True)
class Counters:
    """Change over the timed ops of one point: per rank [R], interrupts [N], ports [N] by name."""

    per_rank: dict[str, NDArray[np.int64]]
    thread_affinity: list[str]
    interrupts: NDArray[np.int64]
    ports: dict[str, NDArray[np.int64]]


# What h5py and numpy raise where a dataset is missing, unreadable, or of another type or shape.
_DAMAGE = (OSError, RuntimeError, KeyError, ValueError, IndexError, TypeError)


@contextmanager
def open_results(path: Path) -> Iterator[h5py.File]:
    """Open a results file for reading, whether or not a run still writes it.

    Raises InputError when it is missing, not HDF5, truncated, or of another schema or version.
    """
    if not path.is_file():
        what = "is a folder, not a results file" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}")
    try:
        file = h5py.File(path, "r", locking=False)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{path}: {_unreadable(path, str(error))}") from None
    with file:
        try:
            _require_schema(path, file)
            yield file
        except _DAMAGE as error:
            raise InputError(f"{path}: damaged: {str(error).strip(chr(34))}") from error
        except MemoryError as error:
            raise InputError(f"{path}: damaged, or too large for the memory: {error}") from error


def _unreadable(path: Path, reason: str) -> str:
    try:
        if path.stat().st_size == 0:
            return "empty file, not the HDF5 file of a2aperf"
        with path.open("rb") as stream:
            signed = stream.read(8) == b"\x89HDF\r\n\x1a\n"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not signed:
        return "not an HDF5 file; text of other programs is read by 'a2a import'"
    if "truncated" in reason:
        return "truncated: the file is shorter than its own header says"
    return f"damaged HDF5 file ({reason})"


def _require_schema(path: Path, file: h5py.File) -> None:
    schema = text(file.attrs.get("schema", ""))
    reads = f"this a2a reads schema '{SCHEMA}' version {VERSION}"
    if schema != SCHEMA:
        found = f"has schema '{schema}'" if schema else "has no schema attribute"
        raise InputError(f"{path}: HDF5, but it {found}; {reads}")
    version = file.attrs.get("schema_version")
    if version is None or int(version) != VERSION:
        raise InputError(f"{path}: schema version {version}; {reads}")
    missing = [column.name for column in COLUMNS if column.name not in file and not column.late]
    if missing:
        raise InputError(f"{path}: damaged: {_some(missing)} missing")
    if "segments" not in file:
        raise InputError(f"{path}: damaged: group /segments missing")
    if raw_samples(file) and "raw" not in file:
        raise InputError(f"{path}: damaged: raw_samples is 1 but group /raw is missing")


def _some(names: Sequence[str]) -> str:
    listed = ", ".join(names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"column{'s' if len(names) > 1 else ''} {listed}{more}"


def text(value: Any) -> str:
    """Text of a string attribute or element, whichever way HDF5 stored it."""
    if isinstance(value, bytes):
        return value.rstrip(b"\0").decode("utf-8", "replace")
    return str(value)


def texts(dataset: h5py.Dataset) -> list[str]:
    """All strings of a dataset, flattened."""
    return [text(value) for value in dataset[()].ravel()]


def raw_samples(file: h5py.File) -> bool:
    """Whether the file holds every sample, not only summaries."""
    return bool(file.attrs.get("raw_samples", 0))


def read_attributes(file: h5py.File) -> dict[str, Any]:
    """Root attributes; strings as str, integers as int."""
    return {name: _plain(value) for name, value in file.attrs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | str):
        return text(value)
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    return value


def read_columns(file: h5py.File) -> dict[str, NDArray[Any]]:
    """All columns, shape [P] each; strings as objects of str, enumerations as numbers."""
    columns: dict[str, NDArray[Any]] = {}
    # The state first: of a file that is being written, whatever it calls complete is then whole.
    for column in sorted(COLUMNS, key=lambda column: column.name != "state"):
        if column.name not in file:  # a late one
            columns[column.name] = np.full(len(file["state"]), column.blank, column.kind)
            continue
        dataset = file[column.name]
        if column.kind == "string":
            columns[column.name] = np.array(texts(dataset), dtype=object)
        else:
            columns[column.name] = dataset[()].astype(column.kind)
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise KeyError(f"columns have different lengths {sorted(lengths)}")
    return columns


def segment_count(file: h5py.File) -> int:
    """Number of launches in the file."""
    return len(file["segments"])


def _attachments(group: h5py.Group) -> dict[str, str]:
    if "attachment_name" not in group:  # older than --attach
        return {}
    names = texts(group["attachment_name"])
    return dict(zip(names, texts(group["attachment_text"]), strict=True))


def _flags(group: h5py.Group, names: Sequence[str], flag: str) -> dict[str, bool]:
    return dict(zip(names, group[flag][()].astype(bool), strict=True))


def _of_points(file: h5py.File, numbers: h5py.Dataset) -> NDArray[np.int32]:
    """One for each point; a damaged file may say that there are more than memory holds."""
    if numbers.ndim != 1 or len(numbers) > len(file["state"]):
        raise ValueError(f"{numbers.name} is longer than there are points")
    found: NDArray[np.int32] = numbers[()]
    return found


def read_segment(file: h5py.File, index: int) -> Segment:
    """Provenance of one launch."""
    group = file["segments"][str(index)]
    names = texts(group["environment_name"])
    # Copies by an older a2a lack two parts; `check` says so.
    planned = np.empty(0, np.int32)
    if "planned_order" in group:
        planned = _of_points(file, group["planned_order"])
    return Segment(
        attributes={
            **SEGMENT_ATTRIBUTES,
            **{name: _plain(value) for name, value in group.attrs.items()},
        },
        end_state=END_STATES[int(group["end_state"][()])],
        ended=int(group["ended"][()]),
        message=text(group["message"][()]),
        nodes=texts(group["nodes"]),
        node_of_rank=group["node_of_rank"][()],
        clock_domain_of_rank=group["clock_domain_of_rank"][()],
        clock_offset=group["clock_offset"][()],
        clock_drift=group["clock_drift"][()],
        environment=dict(zip(names, texts(group["environment_value"]), strict=True)),
        uniform=_flags(group, names, "environment_uniform"),
        required=_flags(group, names, "environment_required")
        if "environment_required" in group
        else {},
        labels=dict(zip(texts(group["label_name"]), texts(group["label_value"]), strict=True)),
        attachments=_attachments(group),
        fi_info=text(group["fi_info"][()]),
        node_facts={name: texts(values) for name, values in group["node_facts"].items()},
        rank_facts={name: texts(values) for name, values in group["rank_facts"].items()},
        rank_order=group["rank_order"][()],
        planned_order=planned,
    )


def read_raw(file: h5py.File, point: int, attempts: int, ranks: int) -> Raw:
    """Every attempt of one point; reads nothing else."""
    group = file["raw"]
    moments = {name: group[name][point, :attempts, :ranks] for name in RAW_MOMENTS}
    return Raw(
        **moments,
        start=group["start"][point, :attempts],
        valid=group["valid"][point, :attempts].astype(bool),
        exit=_read_exit(group, point, attempts, ranks),
    )


def _read_exit(
    group: h5py.Group, point: int, attempts: int, ranks: int
) -> NDArray[np.int64] | None:
    if "exit" not in group:
        return None
    found: NDArray[np.int64] = group["exit"][point, :attempts, :ranks]
    return None if (found == NO_EXIT).all() else found


@dataclass(frozen=True)
class Ends:
    """The moments that end an op: int64 [attempts, R], ns; `valid` [attempts]."""

    send_done: NDArray[np.int64]
    recv_done: NDArray[np.int64]
    valid: NDArray[np.bool_]


def read_ends(file: h5py.File, point: int, attempts: int, ranks: int) -> Ends:
    """The ends of every attempt of one point: two thirds of `read_raw`, for op times."""
    group = file["raw"]
    return Ends(
        group["send_done"][point, :attempts, :ranks],
        group["recv_done"][point, :attempts, :ranks],
        group["valid"][point, :attempts].astype(bool),
    )


def has_arrival(file: h5py.File) -> bool:
    """Whether the launch was traced."""
    return "raw" in file and "arrival" in file["raw"]


def read_arrival(
    file: h5py.File, point: int, attempts: slice | NDArray[np.int64], ranks: int
) -> NDArray[np.int64] | None:
    """When each message came, [attempts, destination, source], ns; None where nobody traced.

    `attempts` are those that are wanted, in ascending order: all of a point may be gigabytes.
    """
    if not has_arrival(file):
        return None
    found: NDArray[np.int64] = file["raw"]["arrival"][point, attempts, :ranks, :ranks]
    return found


def has_pairs(file: h5py.File) -> bool:
    """Whether the file is of `a2aperf pairs`."""
    return "pairs" in file


def read_pairs(file: h5py.File) -> Pairs:
    """The matrices of all pairs and the second look at some of them."""
    group = file["pairs"]
    pairs = Pairs(**{one.name: group[one.name][()] for one in fields(Pairs)})
    shape = (pairs.message_size.size, *pairs.gbps.shape[-1:] * 2)
    if not all(m.shape == shape for m in (pairs.time_p50, pairs.time_min, pairs.gbps, pairs.ops)):
        raise ValueError(f"/pairs: matrices are not all {shape}")
    if 0 in shape:
        raise ValueError("/pairs: the matrices are empty")
    looked = pairs.suspect_source, pairs.suspect_destination, pairs.suspect_size
    within = zip(looked, (shape[1], shape[1], shape[0]), strict=True)
    if any((one >= limit).any() for one, limit in within):
        raise ValueError("/pairs: a second look is at a pair that is not there")
    counts = {len(one) for one in (*looked, pairs.isolated_time, pairs.isolated_gbps)}
    if len(counts) > 1 or pairs.isolated_time.ndim != 2:
        raise ValueError("/pairs: second looks have different lengths")
    for matrix in (pairs.time_p50, pairs.time_min, pairs.gbps):
        # Of a file that is being written, too: where no op is counted there may be anything.
        matrix[(pairs.ops <= 0) | ~np.isfinite(matrix)] = np.nan
    # No message takes no time: nothing is derived from it (`check` refuses the file).
    pairs.gbps[pairs.time_p50 <= IMPOSSIBLE_NS] = np.nan
    for matrix in (pairs.time_p50, pairs.time_min):
        matrix[matrix <= IMPOSSIBLE_NS] = np.nan
    return pairs


def read_counters(file: h5py.File, point: int, ranks: int, nodes: int) -> Counters | None:
    """What the operating system and the ports counted during one point; None if not recorded."""
    if "counters" not in file:
        return None
    group = file["counters"]
    names = texts(group["port_names"])
    port = group["port"][point, :nodes]
    return Counters(
        per_rank={name: group[name][point, :ranks].astype(np.int64) for name in COUNTERS_PER_RANK},
        thread_affinity=[text(value) for value in group["thread_affinity"][point, :ranks]],
        interrupts=group["interrupts"][point, :nodes],
        ports={name: port[:, index] for index, name in enumerate(names)},
    )
