# SPDX-License-Identifier: BSD-3-Clause
"""What all-to-alls say at a glance, in sentences."""

from __future__ import annotations

from typing import Any

from a2aperf import grouping, labels, scaling, schema
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import percent
from a2aperf.labels import count_text, list_text, number_text, rate_text, size_text, time_text
from a2aperf.results import Results
from a2aperf.workloads.alltoall import matrices, one_way

_MOST_SETTINGS = 4


def sentences(results: Results) -> list[str]:
    """What was measured, the best rate, the smallest time, the loss with scale."""
    points = results.points
    done = points[(points["state"] == "complete") & (points["role"] == "measure")]
    following = _follow_on(results)
    if done.empty:
        return following
    done = done.assign(setting=grouping.setting_labels(results, done))
    return [
        _what(results, done),
        *_speeds(done, one_way.are_untold(results).loc[done.index]),
        *_scale(done, done["setting"]),
        *_invalid(done),
        *following,
    ]


def _follow_on(results: Results) -> list[str]:
    """Of ops without a common start."""
    points = results.points
    done = points[(points["state"] == "complete") & (points["role"] == schema.PIPELINED)]
    if done.empty:
        return []
    done = done.assign(setting=grouping.setting_labels(results, done))
    best = done.sort_values("gbps_rank", ascending=False).iloc[0]
    return [
        f"{count_text(len(done), 'point')} of ops that follow one another, which nothing is "
        f"compared with: over all ops at best {rate_text(best['gbps_rank'])} per rank, "
        f"{size_text(best['message_size'])}{_under(best)}, n\u00a0=\u00a0{int(best['ops'])}."
    ]


def _what(results: Results, done: pd.DataFrame) -> str:
    launches = count_text(done["launch"].nunique(), "launch", "launches")
    files = count_text(done["file"].nunique(), "file")
    where = f"{labels.range_text(int(r) for r in done['ranks'])} ranks"
    nodes = done["nodes"].dropna()
    if len(nodes) == len(done):
        count = labels.range_text(int(n) for n in nodes)
        where += f" on {count} {'node' if count == '1' else 'nodes'}"
    elif len(nodes) == 0:
        where += " on an unknown number of nodes"
    sizes = sorted(done["message_size"].unique())
    span = (
        size_text(sizes[0])
        if len(sizes) == 1
        else f"{size_text(sizes[0])} to {size_text(sizes[-1])}"
    )
    many = count_text(len(sizes), "message size")
    providers = [str(p) for p in done["provider"].unique() if p]
    over = f" over {list_text(providers)}" if providers else ""
    return (
        f"{launches} in {files}: {where}{over}{_traffic(done)}, {many} ({span}), "
        f"{labels.sample_text(done['ops'], 'per point')}."
    )


def _traffic(done: pd.DataFrame) -> str:
    """Where all points have the same, and it is not uniform: no setting tells it then."""
    kinds = [*done[matrices.TRAFFIC].unique()] if matrices.TRAFFIC in done else []
    return f", traffic {kinds[0]}" if len(kinds) == 1 and kinds[0] != matrices.UNIFORM else ""


def _speeds(done: pd.DataFrame, untold: pd.Series[bool]) -> list[str]:
    """The best rate and the shortest op of those whose times tell them."""
    told = done[~untold]
    left_out = [f"{one_way.said(int(untold.sum()))}."] if untold.any() else []
    return [*_best(told), *_fastest(told), *left_out]


def _best(done: pd.DataFrame) -> list[str]:
    """Nothing where no point has a rate; one that was published alone is that of no median."""
    node = done[done["gbps_node_net"].notna()]
    rank = done[done["gbps_rank"].notna()]
    if node.empty and rank.empty:
        return []
    if node.empty:
        row = rank.sort_values("gbps_rank").iloc[-1]
        best = f"{rate_text(row['gbps_rank'])} per rank"
        return [f"Best rate: {best}, one way, {_place(row)}{_of_median(row)}."]
    row = node.sort_values("gbps_node_net").iloc[-1]
    best = f"{rate_text(row['gbps_node_net'])} per node"
    text = f"Best rate: {best}, one way, {_place(row)}{_of_median(row)}"
    if pd.notna(row["efficiency"]):
        text += f", {percent(float(row['efficiency']))} of the link"
    return [text + f"; {rate_text(row['gbps_rank'])} per rank there."]


def _of_median(row: pd.Series[Any]) -> str:
    return " (from the median op)" if pd.notna(row["time_p50"]) else ""


def _fastest(done: pd.DataFrame) -> list[str]:
    done = done[done["time_p50"].notna()]
    if done.empty:
        return []
    row = done.sort_values("time_p50").iloc[0]
    text = f"Shortest op: median {time_text(row['time_p50'])} {_place(row)}"
    if pd.notna(row["time_p50_low"]):
        low, high = (
            number_text(row["time_p50_low"] / 1000),
            number_text(row["time_p50_high"] / 1000),
        )
        text += f" (95\u00a0% interval {low} to {high})"
    return [text + "."]


def _scale(done: pd.DataFrame, settings: pd.Series[str]) -> list[str]:
    """How the rate changes with scale, setting by setting, at the largest common size.

    The rate, and its digits, are those that `explain` judges it by.
    """
    said = []
    for setting, of_setting in done.groupby(settings, sort=False):
        rate = scaling.judged_by(of_setting)
        rows = of_setting[of_setting[rate].notna()]
        first, last = rows["ranks"].min(), rows["ranks"].max()
        small, large = rows[rows["ranks"] == first], rows[rows["ranks"] == last]
        common = set(small["message_size"]) & set(large["message_size"])
        if first == last or not common:
            continue
        size = max(common)
        before, after = (float(x[x["message_size"] == size][rate].median()) for x in (small, large))
        change = 100 * (after / before - 1)
        word = "falls" if change < -2 else "rises" if change > 2 else "goes"
        by = f"{change:+.0f}\u00a0%".replace("-", "−")
        under = f", {setting}" if setting else ""
        said.append(
            f"From {first} to {last} ranks {scaling.WORDS[rate]} at {size_text(size)} {word} from "
            f"{before:.2f} to {after:.2f}\u00a0Gbit/s ({by}){under}."
        )
    rest = len(said) - _MOST_SETTINGS
    if rest > 0:
        has = "has" if rest == 1 else "have"
        more = f"{count_text(rest, 'more setting')} {has} several scales, too, not told here."
        return [*said[:_MOST_SETTINGS], more]
    return said


def _invalid(done: pd.DataFrame) -> list[str]:
    invalid = int(done["invalid"].fillna(0).sum())
    if not invalid:
        return []
    total = invalid + int(done["ops"].sum())
    share = number_text(100 * invalid / total, 2)
    late = f"{count_text(invalid, 'op')} of {total} ({share}\u00a0%)"
    return [f"{late} began late on some rank and do not count."]


def _place(row: pd.Series[Any]) -> str:
    text = f"at {size_text(row['message_size'])} with {row['ranks']} ranks"
    nodes = f" on {count_text(int(row['nodes']), 'node')}" if pd.notna(row["nodes"]) else ""
    return text + nodes + _under(row)


def _under(row: pd.Series[Any]) -> str:
    return f", {row['setting']}" if row["setting"] else ""
