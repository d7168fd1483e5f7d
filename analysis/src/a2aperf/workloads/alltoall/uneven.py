# SPDX-License-Identifier: BSD-3-Clause
"""What of an op's time its traffic alone asks for: an imbalance is not a loss of the network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.explain import series
from a2aperf.explain.finding import Finding, Number, percent, spanned, us
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices, one_way

CELL = ("launch", "mode", "schedule", "window", "message_size", "ranks", "engine", "post")
"""What the uniform point beside another one has in common with it."""
_NEWER = (
    grouping.WINDOW_BYTES, grouping.CHUNK, grouping.ENDPOINTS, grouping.QUEUES, grouping.THREADS,
    grouping.POLLING,
)  # fmt: skip
"""The same, which older files lack."""
_EQUAL: Final = 0.005
"""More than the mean by less than this is told as the mean."""
_ALIKE: Final = 0.05
"""Times that differ by no more are alike: medians of few ops hardly tell less apart."""


Find = Callable[[Results], list[Finding]]


def _of_some(find: Find, chosen: Callable[[pd.DataFrame], pd.Series[bool]]) -> Find:
    def of_some(found: Results) -> list[Finding]:
        rows = chosen(found.points)
        if rows.all():
            return find(found)
        some = found.select(rows)
        return [] if some.points.empty else find(some)

    return of_some


def of_equal_ranks(find: Find) -> Find:
    """The same where all ranks have as much to do: one that has more is rightly later."""
    return _of_some(find, matrices.have_equal_ranks)


def of_alike_ops(find: Find) -> Find:
    """The same of ops that ask the same: of others some rightly take longer."""
    return _of_some(find, lambda points: ~_are_redrawn(points))


def beside_uniform(points: pd.DataFrame) -> pd.Series[float]:
    """What the busiest rank moved in a second, over what each moved in the uniform traffic.

    In that of the same launch and cell; NaN where it was not measured.
    """
    return points["imbalance"].astype(float) * _times_as_fast(points)


def _of_uniform(points: pd.DataFrame, column: str) -> pd.Series[float]:
    """For each point the column of the uniform traffic beside it; NaN where there is none."""
    cell = [*CELL, *(name for name in _NEWER if name in points)]
    uniform = points[points[matrices.TRAFFIC] == matrices.UNIFORM]
    values = uniform.groupby(cell, dropna=False)[column].median()
    cells = pd.MultiIndex.from_frame(points[cell])
    return pd.Series(values.reindex(cells).to_numpy(float), index=points.index)


def _times_as_fast(points: pd.DataFrame) -> pd.Series[float]:
    """By medians; by means where ops differ in what they ask, which is told as a mean, too."""
    faster = _of_uniform(points, "time_p50") / points["time_p50"].astype(float)
    if not (redrawn := _are_redrawn(points)).any():
        return faster
    by_mean = _of_uniform(points, "time_mean") / points["time_mean"].astype(float)
    return faster.where(~redrawn, by_mean)


def _are_redrawn(points: pd.DataFrame) -> pd.Series[bool]:
    if matrices.DRAWS not in points:  # older files
        return pd.Series(False, index=points.index)
    return points[matrices.DRAWS].astype(float).gt(1)


def _time(row: pd.Series) -> float:
    """What stands beside the bound: that of ops that differ is a mean."""
    return float(row["time_mean" if matrices.draws(row) > 1 else "time_p50"])


def _of_messages(found: Results, points: pd.DataFrame) -> pd.Series[float]:
    """As `beside_uniform`, by the number of messages; NaN where the matrix is not in the file."""
    most = [
        np.nan if (ops := matrices.in_turn(found, row)) is None else _most_messages(ops)
        for _, row in points.iterrows()
    ]
    times = pd.Series(most, index=points.index, dtype=float) / (points["ranks"].astype(float) - 1)
    return times * points["as_fast"]


def _most_messages(ops: NDArray[np.int64]) -> float:
    """Of a rank, sent or received; the mean of the ops."""
    sent = ops > 0
    return float(np.maximum(sent.sum(axis=1).max(axis=1), sent.sum(axis=2).max(axis=1)).mean())


def with_uniform(points: pd.DataFrame) -> pd.DataFrame:
    """Beside each point what the uniform traffic of its cell says; NaN where there is none."""
    return points.assign(
        beside=beside_uniform(points),
        as_fast=_times_as_fast(points),
        uniform_bound=_of_uniform(points, "bound"),
    )


def find(found: Results) -> list[Finding]:
    """For each traffic of a launch what it asks, and what of that was reached."""
    points = found.points
    if not {matrices.TRAFFIC, "imbalance", "bound_share"} <= set(points):
        return []
    points = with_uniform(points.assign(series=series.named(found)))
    uneven = points[(points[matrices.TRAFFIC] != matrices.UNIFORM) & points["imbalance"].notna()]
    findings = []
    for (_, name), rows in uneven.groupby(["launch", "series"], dropna=False):
        if one_way.at_a_barrier(found, rows.iloc[0]) and one_way.goes(found, rows.iloc[0]):
            findings.append(_of_no_time(str(name), rows))
            continue
        bounded = rows[rows["bound_share"].notna()]
        beside = rows[rows["beside"].notna()]
        if len(bounded):
            findings.append(of_bound(str(name), bounded))
        elif len(beside):
            findings.append(
                of_messages(str(name), beside.assign(messages=_of_messages(found, beside)))
            )
    return findings


def _of_no_time(name: str, rows: pd.DataFrame) -> Finding:
    """What such an op takes depends on who left the barrier first: nothing follows from it."""
    first = rows.iloc[0]
    text = (
        f"{first[matrices.TRAFFIC]}: {_asks(first)}; some messages go to ranks from which nothing "
        "comes back, and ops start at a barrier: one that leaves it after its message came takes "
        "no time for it, so nothing is said of what was reached (with --sync clock it is)"
    )
    numbers: dict[str, Number] = {"series": name, "imbalance": float(first["imbalance"])}
    return Finding(
        "traffic", text, _where(rows), int(rows["ops"].sum()), numbers=numbers, abstains=True
    )


def _asks(row: pd.Series) -> str:
    """Who has most to move and how much more than the mean, as long as anybody has more."""
    if matrices.draws(row) > 1:
        mean = float(row["imbalance"])
        if mean < 1 + _EQUAL:
            return "all ranks have the same to move in each op"
        return f"the busiest rank of an op has {mean:.3g} times the mean to move"
    busiest = matrices.Busiest(str(row["busiest"]), int(row["busiest_index"]))
    is_node = busiest.kind.startswith("node")
    times = float(row["node_imbalance" if is_node else "imbalance"])
    if times < 1 + _EQUAL:
        return f"all {'nodes' if is_node else 'ranks'} have the same to move"
    return f"{busiest.words} most, {times:.3g} times the mean"


def _reached(row: pd.Series) -> str:
    share = percent(float(row["bound_share"]))
    if matrices.draws(row) > 1:
        return f"the median op reached {share} of its own"
    return f"{share} of it was reached"


def of_bound(name: str, rows: pd.DataFrame) -> Finding:
    """What the links alone take for a traffic, and what of that was reached; `with_uniform`."""
    worst = series.most(rows, -rows["bound_share"].astype(float))
    best = series.most(rows, rows["bound_share"].astype(float))
    bound, took = float(best["bound"]), _time(best)
    is_beaten = bound > took * (1 + _ALIKE)
    text = f"{best[matrices.TRAFFIC]}: {_asks(best)}; " + (
        f"at the rate that the links are said to have that alone takes {us(bound)} at "
        f"{best['message_size']} B, and the op took {us(took)}: they carry more than that"
        if is_beaten
        else f"that alone takes {us(bound)} at {best['message_size']} B on these links, and "
        f"{_reached(best)}"
    )
    if len(rows) > 1 and not is_beaten:
        text += _least(worst)
    numbers: dict[str, Number] = {
        "series": name,
        "largest_share": float(best["bound_share"]),
        "least_share": float(worst["bound_share"]),
        "bound": float(best["bound"]),
    }
    if np.isfinite(float(best["uniform_bound"])):
        text += "; " + _against_uniform(best)
        numbers |= {
            "times_bound": float(best["bound"] / best["uniform_bound"]),
            "times_time": float(1 / best["as_fast"]),
        }
    return Finding(
        "traffic",
        text,
        series.place(best),
        int(rows["ops"].sum()),
        weight=1 - float(best["bound_share"]),
        numbers=numbers,
    )


def _least(row: pd.Series) -> str:
    """Where the smallest share was reached, and what of the time is then the network's."""
    text = f"; least at {row['message_size']} B, {percent(float(row['bound_share']))}"
    took = _time(row)
    lost = took - float(row["bound"])
    return text + (f", where {us(lost)} of {us(took)} are not the traffic's" if lost > 0 else "")


def _against_uniform(row: pd.Series) -> str:
    """Whether what it takes longer than the uniform traffic is its own.

    Whatever the rate of the links is, and known to be: it is the same for both.
    """
    asked, took = float(row["bound"] / row["uniform_bound"]), float(1 / row["as_fast"])
    beside = f"beside the uniform traffic it asks {asked:.3g} times as much of them and took "
    if abs(took / asked - 1) <= _ALIKE:
        if abs(asked - 1) <= _ALIKE:
            return "the uniform traffic beside it asks about as much of them and took as long"
        return (
            beside + f"{took:.3g} times as long: the difference is the traffic's, not the network's"
        )
    missing = _time(row) * (1 - asked / took)
    if missing < 0:
        return beside + (
            f"only {took:.3g} times as long: what it asks of links that are alike does not explain "
            "the uniform traffic's time"
        )
    return beside + f"{took:.3g} times as long: {us(missing)} more than that alone explains"


def of_messages(name: str, rows: pd.DataFrame) -> Finding:
    """Where no bound is known: what its busiest rank moved; `beside`, and `messages` by number."""
    first = rows.iloc[0]
    by_bytes = [float(share) for share in rows["beside"]]
    text = (
        f"{first[matrices.TRAFFIC]}: {_asks(first)}; of what each rank moves in a second in the "
        f"uniform traffic beside it the busiest moved {_spanned(by_bytes)} by bytes"
    )
    # Small messages cost by their number, large ones by their bytes: what misses both is lost.
    reached = rows["beside"].to_numpy(float)
    if rows["messages"].notna().all():
        text += f", {_spanned([float(share) for share in rows['messages']])} by messages"
        reached = np.maximum(reached, rows["messages"].to_numpy(float))
    return Finding(
        "traffic",
        text,
        _where(rows),
        int(rows["ops"].sum()),
        weight=1 - float(reached.min()),
        numbers={"series": name, "imbalance": float(first["imbalance"]), "least": min(by_bytes)},
    )


def _where(rows: pd.DataFrame) -> str:
    first = rows.iloc[0]
    return ", ".join(filter(None, [f"{first['ranks']} ranks", _sizes(rows), str(first["series"])]))


def _sizes(rows: pd.DataFrame) -> str:
    least, most = (int(rows["message_size"].agg(of)) for of in ("min", "max"))
    return f"{least} B" if least == most else f"{least} B to {most} B"


def _spanned(shares: list[float]) -> str:
    return f"{spanned([100 * share for share in shares])} %"
