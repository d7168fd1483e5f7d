# SPDX-License-Identifier: BSD-3-Clause
"""Tables that differ in nothing that was chosen, or in their number of buffers alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.results import Results
from a2aperf.workloads.stream import pause, tables
from a2aperf.workloads.stream.tables import Table

_TELL_BUFFERS = ("heading", "buffers")
"""Labels of imported tables in which the number of buffers may stand."""

Alike = dict[int, list[Table]]
"""Tables of one setting, by their number of buffers."""


def by_buffers(found: Results) -> tuple[list[Alike], list[int | None]]:
    """Tables whose mode and buffers are known, of each setting; and the buffers of all tables."""
    known = [(table, pause.buffers(table)) for table in tables.of(found)]
    settings: dict[Hashable, Alike] = {}
    names = _names(found)
    for table, count in known:
        if table.mode and count is not None:
            of = settings.setdefault(_setting(found, table, *names), {})
            of.setdefault(count, []).append(table)
    return list(settings.values()), [count for _, count in known]


def settings(found: Results) -> list[list[Table]]:
    """All tables, those that differ in nothing that was chosen together."""
    together: dict[Hashable, list[Table]] = {}
    names = _names(found)
    for table in tables.of(found):
        key = (table.mode, table.window, table.heading, _setting(found, table, *names))
        together.setdefault(key, []).append(table)
    return list(together.values())


def rates(of: Sequence[Table]) -> pd.Series[float]:
    """Messages/s at each size: the median of the tables."""
    rows = pd.concat([table.free for table in of])
    rows = rows[rows["msg_rate"].notna()]
    return rows.groupby("message_size")["msg_rate"].median().astype(float)


def launches(of: Iterable[Table]) -> int:
    """How many launches the tables are of."""
    return len({table.launch for table in of})


def _names(found: Results) -> tuple[list[str], list[str]]:
    """Of all that was chosen but the number of buffers: columns, and settings of launches."""
    columns = [*grouping.CHOICES, *found.choices, "ranks", "nodes"]
    of_launch = [
        *grouping.differing_starts(found, found.points),
        *grouping.differing_names(found.launches),
    ]
    return (
        [name for name in columns if name not in ("window", "section", "free_delay")],
        [name for name in of_launch if name not in _TELL_BUFFERS],
    )


def _setting(
    found: Results, table: Table, columns: Sequence[str], of_launch: Sequence[str]
) -> Hashable:
    """What was chosen for a table."""
    first, launch = table.rows.iloc[0], found.launches[table.launch]
    return (
        *(str(first[name]) for name in columns if name in table.rows),
        *(launch.setting(name) for name in of_launch),
    )
