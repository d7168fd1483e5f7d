# SPDX-License-Identifier: BSD-3-Clause
"""The figures of all-to-alls by name, one row of `KINDS` each."""

from __future__ import annotations

from a2aperf import compare as comparing
from a2aperf import contrasts, grouping, raw_plots, trends
from a2aperf.chart import Figure
from a2aperf.curves import Kind, Options
from a2aperf.errors import InputError
from a2aperf.results import Results
from a2aperf.workloads.alltoall import sweeps


def compare(results: Results, options: Options) -> Figure:
    """A setting's values held against each other: relative speed and rates."""
    names = list(options.by)
    if not names:
        points = results.points
        found = grouping.setting_names(results, points[points["role"] == "measure"], ())
        names = [name for name in found if name not in ("ppn",)] or found
    if len(names) != 1:
        what = f"what differs here: {', '.join(names)}" if names else "nothing differs here"
        raise InputError(f"a comparison needs --by NAME; {what}")
    measured = results.measured(comparing.roles(names))
    return contrasts.figure(comparing.by_setting(measured, names), options.most)


KINDS: dict[str, Kind] = {
    "scaling": Kind(
        sweeps.scaling,
        "Gbit/s per node and per rank against nodes, a line per message size",
        "Per node, a line that stays flat scales. Per rank it falls even on a perfect network, as "
        "less of the traffic stays inside a node: hold it against its dotted ideal, if there is "
        "one.",
        takes_what=True,
    ),
    "sizes": Kind(
        sweeps.sizes,
        "Gbit/s against message size, a line per node count",
        "Small messages are message-rate-bound, large ones bandwidth-bound; "
        "a dip is a protocol switch.",
        takes_what=True,
    ),
    "latency": Kind(
        sweeps.latency,
        "op time against message size: median, with bars up to p90 and p99",
        "The line is the median op; the bar above it is what the slowest tenth takes, the tail.",
    ),
    "compare": Kind(
        compare,
        "a setting's values against each other: ratio with interval, and rates",
        "Above 1 the candidate is faster; a bar that leaves the grey band is more than the margin.",
    ),
    "history": Kind(
        trends.figure,
        "Gbit/s of every launch over the months, with change points",
        "Each mark is a launch; a dashed line is a change and names what else changed there.",
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
        raw_plots.ranks,
        "who is last, or takes longest: heat map of op and rank",
        "An op lasts until its last rank. A bright column is a rank that is slow again and again.",
        needs_raw=True,
        one_launch=True,
    ),
}
