# SPDX-License-Identifier: BSD-3-Clause
"""The figures of all-to-alls by name, one row of `KINDS` each."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from a2aperf import compare as comparing
from a2aperf import contrasts, grouping, raw_plots, trends
from a2aperf import history as judging
from a2aperf.chart import Figure
from a2aperf.curves import WHAT, Kind, Option, Options
from a2aperf.errors import InputError
from a2aperf.explain import equal, oversubscribed
from a2aperf.labels import count_text
from a2aperf.oversubscription import in_launches
from a2aperf.percent import share
from a2aperf.results import Results
from a2aperf.workloads.alltoall import drawn, matrices, sweeps

_DAYS_NS = 3 * 86_400 * 10**9
"""Launches spread over more than these are a history."""
_ERROR = Option("error", "that of all cells together and of each interval (5%).", metavar="SHARE")


def compare(results: Results, options: Options) -> Figure:
    """A setting's values compared with each other: relative speed and rates."""
    names = list(options.by)
    if not names:
        judged = results.to_judge()
        found = grouping.setting_names(judged, judged.points, ())
        names = [name for name in found if name not in ("ppn",)] or found
    if len(names) != 1:
        what = f"what differs here: {', '.join(names)}" if names else "nothing differs here"
        raise InputError(f"a comparison needs --by NAME; {what}")
    measured = results.to_judge(comparing.roles(names))
    error = share("--error", str(options.own.get(_ERROR.name, "5%")), "5%")
    made = comparing.by_setting(measured, names, error=error)
    figure = contrasts.figure(made, options.most)
    return replace(figure, left_out=(*measured.unjudged, *figure.left_out))


def history(results: Results, options: Options) -> Figure:
    """The launches over the months, with what is judged to be a change."""
    return trends.figure(results, options, judging.history(results.to_judge()))


def ranks(results: Results, options: Options) -> Figure:
    """Who is last in one launch, with the share that equal ranks stay below.

    Of ranks that share cores the kernel decides that, and nobody is shown.
    """
    alone = oversubscribed.without(results)
    if alone.points.empty and not results.points.empty:
        words = "; ".join(in_launches(results.launches))
        raise InputError(f"{words}: the kernel decides which rank is last, and none is shown")
    figure = raw_plots.ranks(alone, options, equal.limit_of_share)
    left = results.points["launch"].nunique() - alone.points["launch"].nunique()
    if not left:
        return figure
    said = f"{count_text(left, 'oversubscribed launch', 'oversubscribed launches')} not looked at"
    return replace(figure, left_out=(*figure.left_out, said))


def _any_alone(results: Results) -> bool:
    alone = oversubscribed.without(results)
    return bool(alone.points["has_raw"].any())


def _over_days(results: Results) -> bool:
    begun = results.points.loc[results.points["started"] > 0, "started"]
    return len(begun) > 0 and bool(begun.max() - begun.min() > _DAYS_NS)


def _told(kind: Kind) -> Kind:
    """The same, which says what it leaves out because no figure holds it against others."""

    def make(results: Results, options: Options) -> Figure:
        figure = kind.make(results, options)
        left_out = dict.fromkeys((*results.pipelined_left_out(), *figure.left_out))
        return replace(figure, left_out=tuple(left_out))

    return replace(kind, make=make)


_KINDS: Final[dict[str, Kind]] = {
    "scaling": Kind(
        sweeps.scaling,
        "Gbit/s per node and per rank against nodes, a line per message size",
        "Per node, a line that stays flat scales. Per rank it falls even on a perfect network, as "
        "less of the traffic stays inside a node: compare it with its dotted ideal, if there is "
        "one.",
        options=(WHAT,),
        in_report=lambda results: results.points["ranks"].nunique() > 1,
    ),
    "sizes": Kind(
        sweeps.sizes,
        "Gbit/s against message size, a line per node count",
        "Small messages are message-rate-bound, large ones bandwidth-bound; "
        "a dip may be a protocol switch.",
        options=(WHAT,),
    ),
    "latency": Kind(
        sweeps.latency,
        "op time against message size: median, with bars up to p90 and p99",
        "The line is the median op; the bar above it is what the slowest tenth takes, the tail.",
    ),
    "compare": Kind(
        compare,
        "a setting's values against each other: ratio with interval, and rates",
        contrasts.READS,
        options=(_ERROR,),
        in_report=lambda results: False,  # which has comparisons of its own
    ),
    "history": Kind(
        history,
        "Gbit/s of every launch over the months, with change points",
        "Each mark is a launch; a dashed line is a change and names what else changed there.",
        in_report=_over_days,
    ),
    "traffic": Kind(
        drawn.figure,
        "who sends how much to whom, and imbalance against what was reached",
        "Of uneven traffic its own share of the time is no loss: what is missing to 100 % is.",
        in_report=lambda results: bool(
            matrices.TRAFFIC in results.points
            and (results.points[matrices.TRAFFIC] != matrices.UNIFORM).any()
        ),
    ),
    "cdf": Kind(
        raw_plots.cdf,
        "distribution of op times, a line per launch",
        "A steep line is a steady op; a step half way up is a second mode, a flat end a tail.",
        needs_raw=True,
    ),
    "ops": Kind(
        raw_plots.ops,
        "every op over time: drift, interference, invalid ops",
        "Each dot is one op. A slope is drift, a second level another mode, a rhythm interference.",
        needs_raw=True,
        one_launch=True,
    ),
    "ranks": Kind(
        ranks,
        "who is last, or takes longest: heat map of op and rank",
        "An op lasts until its last rank. A bright column is a rank that is slow again and again.",
        needs_raw=True,
        one_launch=True,
        in_report=_any_alone,
    ),
}
KINDS: Final = {name: _told(kind) for name, kind in _KINDS.items()}
