# SPDX-License-Identifier: BSD-3-Clause
"""Made-up texts of the loopback and the clusterperf layout, and the figures that are in them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

HEADINGS = (
    "Test duration (secs)",
    "Data length (bytes)",
    "Total messages received",
    "Total data bytes received",
    "Messages per sec",
    "Data bytes per sec",
    "Rx thread free delay (us)",
    "Tx thread max get send buffer (us)",
)
MODES = {
    "write": "Testing using sender using RDMA write and the receiver passive",
    "write-imm": "Testing using sender using RDMA write with immediate and the receiver polling",
    "msg": "Testing using sender using send and the receiver using recv",
    "read": "Testing using receiver using RDMA read and the sender passive",
}


@dataclass
class Table:
    """One table as it is printed, and what a reader should know of it."""

    section: int
    heading: str
    mode: str
    buffers: int
    device: str
    rows: list[tuple[int, ...]]
    """Time in µs, then the values as printed; 8 or 6 of them."""
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)


def _row(rng: random.Random, size: int, is_delayed: bool) -> tuple[int, ...]:
    time, messages = rng.randrange(500_000, 30_000_000), rng.randrange(1, 10**8)
    amount = size * messages
    rates = round(messages * 10**6 / time), round(amount * 10**6 / time)
    row = (time, size, messages, amount, *rates)
    return (*row, rng.choice((10, 100, 10_000)), rng.randrange(20_000)) if is_delayed else row


def tables(rng: random.Random, sections: int = 3) -> list[Table]:
    """Sections with equal and other headings, in each some modes in any order."""
    made = []
    for section in range(1, sections + 1):
        heading = rng.choice(("Results as they came", "Results with 512 buffers"))
        device = rng.choice(("mlx4_0", "mlx5_3", "hfi1_0"))
        for mode in rng.sample(list(MODES), rng.randint(1, len(MODES))):
            rows = [
                _row(rng, rng.choice((0, 1 << rng.randrange(30), rng.randrange(10**6))), kind)
                for kind in rng.choices((True, False), k=rng.randint(1, 60))
            ]
            buffers = 512 if "512" in heading else rng.choice((16, 32, 64))
            made.append(Table(section, heading, mode, buffers, device, rows))
    return made


def _columns(row: tuple[int, ...], widths: bool) -> str:
    told = [f"{row[0] / 1e6:.6f}", *map(str, row[1:])]
    if not widths:
        return "\t".join(told)
    return "".join(text.rjust(len(name) + 2) for text, name in zip(told, HEADINGS, strict=False))


def _before(rng: random.Random, table: Table) -> list[str]:
    """What stands between `Testing …` and the table, in any order."""
    parts = [
        [f"receiver_qp capabilities: max_send_wr=95 max_recv_wr={table.buffers} max_recv_sge=1"],
        ["Current CPU frequencies (MHz) :  3197136  3075246"],
        [f"a remark on {table.mode} in section {table.section}"],
    ]
    for phase in ("initialisation", "single thread message transfers"):
        before, after = rng.randrange(100), rng.randrange(100, 10**6)
        table.counters[phase.replace(" ", "_")] = (before, after)
        parts.append(
            [
                f"Changes to statistics for {phase}:",
                f"  Num page reclaims = {after - before} ({before} -> {after})",
                "",
            ]
        )
    rng.shuffle(parts)
    return [line for part in parts for line in part]


def loopback(rng: random.Random, made: list[Table]) -> str:
    """The text of these tables."""
    lines = ["Words above all sections", "$ sudo kill -STOP opensm", ""]
    section = 0
    for table in made:
        if table.section != section:
            section = table.section
            lines += ["", table.heading, "=" * len(table.heading), f"prose of section {section}"]
            lines += [f"Attributes of device {table.device}:", f" fw_ver=2.{section} max_qp=7"]
            lines += ["Attributes of source port 1:", " lid=1 state=UP", ""]
        lines += [MODES[table.mode], *_before(rng, table), ""]
        lines += ["  ".join(HEADINGS) + "  "]
        lines += [_columns(row, rng.random() < 0.8) + rng.choice(("", "  ")) for row in table.rows]
        lines += [""] * rng.randint(0, 2)
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Figure:
    """One figure: in which run of which section, of which point, and as it is printed."""

    section: int
    run: int
    operation: str
    size: str
    statistic: str
    value: str
    unit: str

    @property
    def text(self) -> str:
        """`name value unit description`."""
        is_rate = self.statistic == "Bw"
        suffix = "" if is_rate else self.statistic
        name = f"{self.operation}{'Bw' if is_rate else ''}{self.size}{suffix}"
        size = f"{self.size}B"
        verb = self.operation.removeprefix("basic.")
        stat = {"": "median", ".min": "minimum"}.get(self.statistic)
        nines = self.statistic.removeprefix(".")
        stat = stat or (f"{nines[:2]}.{nines[2:]}%" if nines[2:] else f"{nines.ljust(2, '0')}%")
        if verb == "echo":
            about = f"send 30B message, receive {size} message {stat}"
            rate = f"bandwidth receiving {size} messages"
        else:
            about = f"{verb} random {size} object (30B key) {stat}"
            rate = f"bandwidth {verb.removesuffix('e')}ing {size} objects (30B key)"
        return f"{name} {self.value} {self.unit} {rate if is_rate else about}"


STATISTICS = ("", ".min", ".9", ".99", ".999", ".9999", "Bw")


def figures(rng: random.Random, sections: int = 3) -> list[Figure]:
    """Sections of repeated runs; each run has all its points but not each percentile."""
    made = []
    for section in range(1, sections + 1):
        points = [
            (operation, size)
            for operation in ("echo", "basic.read", "basic.write")
            for size in rng.sample(("1", "100", "1K", "10K", "100K", "1M", "16M"), 3)
        ]
        for run in range(1, rng.randint(2, 4)):
            for operation, size in points:
                kept = rng.sample(STATISTICS, rng.randint(2, len(STATISTICS)))
                unit_of_times, digits = rng.choice(("us", "ms", "s", "ns")), rng.randint(1, 6)
                times = sorted(rng.uniform(0.01, 1000) for _ in STATISTICS)
                times[:2] = times[1::-1]  # the median is printed before the minimum
                for statistic in (one for one in STATISTICS if one in kept):
                    is_rate = statistic == "Bw"
                    unit = rng.choice(("MB/s", "GB/s", "KB/s")) if is_rate else unit_of_times
                    value = f"{times[STATISTICS.index(statistic)]:.{digits}f}"
                    made.append(Figure(section, run, operation, size, statistic, value, unit))
    return made


def clusterperf(rng: random.Random, made: list[Figure]) -> str:
    """The text of these figures, with words between them and lines that break anywhere."""
    parts = []
    last = (0, 0, "")
    for figure in made:
        if figure.section != last[0]:
            parts += [f"\n\nclusterperf November {figure.section}, 2018\n"]
        elif (figure.section, figure.run) != last[:2]:
            parts.append(rng.choice(("\n", "\n$ clusterperf.py -v\n", "\n• once more\n", "\n•\n")))
        elif figure.operation != last[2]:
            parts.append(rng.choice(("\n", "\nand other operations\n", " ")))
        elif rng.random() < 0.2:
            parts.append(rng.choice(("\n• ", "\n  * ", "\r\n", "   \n- ", "\n2. ")))
        last = (figure.section, figure.run, figure.operation)
        text = figure.text
        if rng.random() < 0.3:
            words = text.split(" ")
            at = rng.randrange(1, len(words))
            text = " ".join(words[:at]) + rng.choice(("\n", "  \n   ")) + " ".join(words[at:])
        parts.append(text + " ")
    return "".join(parts)
