# SPDX-License-Identifier: BSD-3-Clause
"""What a results file holds: its columns, attributes and parts (see docs/file-format.md)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

SCHEMA = "a2aperf"
VERSION = 2
"""That is written."""
READABLE = (1, 2)
"""Versions that are read."""
SUMS = ("checksum", "digest")
"""Root datasets that say of the others whether they are as they were written; of no point's."""
UNKNOWN = -1  # in integer columns; floats use NaN, strings are empty

STATES = ("pending", "complete", "skipped", "failed")
PENDING: Final = STATES.index("pending")
# fmt: off
STOP_RULES = (
    "none", "ops", "precision", "max-ops", "time-budget", "interrupted", "attempts", "duration",
    "messages",
)
# fmt: on
INTERVAL_KINDS = ("none", "order-statistics", "block-bootstrap")
END_STATES = ("running", "finished", "interrupted", "failed")
# fmt: off
END_REASONS = (
    "running", "finished", "signal", "peer-lost", "fabric-deadline", "disk-deadline", "bad-data",
    "out-of-memory", "disk-full", "other",
)
# fmt: on

Kind = Literal["string", "int8", "int32", "int64", "float64"]


ALL_TO_ALL = "alltoall"
"""The workload of files that name none, but for those of points with a role of another one."""
PIPELINED = "pipelined"
"""Role of points whose ops follow one another without a common start (`--sync none`)."""
OF_ALL_TO_ALLS = ("measure", "baseline", "sentinel", "search", PIPELINED)
"""Roles of the points of all-to-alls."""


def is_counted(role: object) -> bool:
    """Whether "24 points" means one of this role.

    A sentinel is one of them once more, a baseline belongs to one. A workload's own roles may have
    a word in front (`stream-baseline`).
    """
    return not str(role).endswith(("baseline", "sentinel"))


# fmt: off
NEEDED_BY_ALL = (
    "role", "engine", "message_size", "ranks", "state", "segment", "attempts", "ops",
)
"""Without these a file holds no results. Of another column, what asks for it misses it."""
# fmt: on
NEEDED = (*NEEDED_BY_ALL, "time_p50", "gbps_rank")
"""The same of files of all-to-alls."""
_KNOWN_IF_MEASURED = ("window", "attempts", "ops", "invalid", "buffer_slots")


@dataclass(frozen=True)
class Column:
    """One column of the points, shape [P].

    `flags` names the values of an enumeration; `unknown` says whether −1 may stand for "unknown";
    `result` columns come out of the measurement, the others were asked for; a `late` column came
    after the first files of this version: where it is missing it is blank throughout. `better`
    is "higher", "lower" or nothing that is said. `length` are the bytes of a text that is put in
    place as it is measured (0: it may have any length).
    """

    name: str
    kind: Kind
    long_name: str
    units: str = ""
    flags: tuple[str, ...] = ()
    unknown: bool = True
    result: bool = True
    late: bool = False
    better: str = ""
    length: int = 0

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
    _asked("window", "int32", "outstanding sends or reads per rank, 0 = all"),
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
RATES = WHOLE | {"last_rank", "last_rank_share", "ratio", "ratio_low", "ratio_high"}
"""Of a point: figures of ops in which all ranks send."""
TIMES = frozenset(
    {*(time.name for time in _times()), "autocorrelation", "interval_kind", "span_p50"}
    | {"rank_time_p50"}
)
"""What a point made of ops has of their times, and one that runs for a duration has not."""
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
    **dict.fromkeys(("shuffle_ranks", "warmup", "rails", "rank_rails"), np.int32(UNKNOWN)),
    **dict.fromkeys(("clock_error_ns", "link_rate_gbps", "asked_link_rate"), np.float64(np.nan)),
}

NO_EXIT = np.iinfo(np.int64).min
"""In `/raw/exit` of a merged file: the point is of a file that had none."""
NO_MOMENT = np.iinfo(np.int64).min
"""`send_done` where the receivers fetch the messages (mode read): nothing tells their sources.

Below every moment, so that the later of `send_done` and `recv_done` is `recv_done`.
"""
IMPOSSIBLE_NS = 1
"""What older programs stored where a message was there before its receiver left the barrier."""
RAW_MOMENTS = ("begin", "send_done", "recv_done")


@dataclass
class StartTimes:
    """For how long each rank was in each phase of its start."""

    phases: list[str]
    meanings: list[str]
    waits: NDArray[np.bool_]
    """Of each phase, whether it contains waiting for other ranks."""
    time: NDArray[np.int64]
    """[phases, R] ns."""

    @property
    def whole(self) -> int:
        """How long the rank was on its way that took longest, ns."""
        return int(self.time.sum(axis=0).max(initial=0))

    @property
    def took(self) -> NDArray[np.int64]:
        """What each phase cost the launch, ns.

        Where ranks wait for one another the last to come waits least; elsewhere the slowest
        decides.
        """
        if not self.time.size:
            return np.zeros(len(self.phases), np.int64)
        least, most = self.time.min(axis=1), self.time.max(axis=1)
        took: NDArray[np.int64] = np.where(self.waits, least, most)
        return took


@dataclass
class Segment:
    """One launch: `/segments/<i>`. Lists are per node [N], per rank [R], or per name."""

    attributes: dict[str, Any] = field(default_factory=dict)
    end_state: str = "finished"
    end_reason: str = "finished"
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
    start: "Counters | None" = None
    """What its start counted, before the first point; None where that is not there."""
    start_times: StartTimes | None = None
    """How long its start took, phase by phase; None where that is not there."""


@dataclass(frozen=True)
class Raw:
    """Every attempt of one point: int64 [attempts, R] ns, `start` [attempts], `valid` [attempts].

    Offsets from the op's scheduled start (clock) or from the rank's barrier exit (barrier).
    `send_done` is NO_MOMENT throughout where the receivers fetch the messages.
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
class Counters:
    """Change over one phase: per rank [R], per node [N], ports [N] by name.

    Of the timed ops of a point there are threads and their affinity, too, what the verification
    before them counted, and the values themselves as they were read before and after the ops (no
    change); None where that is not there.
    """

    per_rank: dict[str, NDArray[np.int64]]
    thread_affinity: list[str]
    per_node: dict[str, NDArray[np.int64]]
    ports: dict[str, NDArray[np.int64]]
    verification: "Counters | None" = None
    before: "Counters | None" = None
    after: "Counters | None" = None

    def phases(self) -> dict[str, "Counters | None"]:
        """What there is beside the timed ops, by the name of its field."""
        return {
            "verification": self.verification,
            "before": self.before,
            "after": self.after,
        }

    def beside(self, phases: "Mapping[str, Counters | None]") -> "Counters":
        """These of the timed ops, and so many phases beside them."""
        return replace(
            self,
            verification=phases.get("verification"),
            before=phases.get("before"),
            after=phases.get("after"),
        )

    def have_any(self) -> bool:
        """Whether any rank or node has any of them."""
        counts = (*self.per_rank.values(), *self.per_node.values(), *self.ports.values())
        return any((values != UNKNOWN).any() for values in counts)
