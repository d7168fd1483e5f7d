# SPDX-License-Identifier: BSD-3-Clause
"""What an open loop says: latency at each rate, the rate it keeps, what the due time adds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import metrics, schema
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, us
from a2aperf.labels import count_text, list_text, number_text, size_text
from a2aperf.results import Results
from a2aperf.round_trips import histogram
from a2aperf.workloads.open_loop import rates
from a2aperf.workloads.open_loop.rates import Knee, Sweep, interval

_TENTH: Final = 0.1
"""Of what is measured, that the pacing's own error may be."""
_TWICE: Final = 2.0
_PACING: Final = {"pacing_p999": "p99.9", "pacing_p99": "p99", "pacing_p50": "the median"}


def latency(found: Results) -> list[Finding]:
    """The median and the p99 at each rate, a line for each size."""
    findings = []
    for sweep in rates.sweeps(found):
        told = []
        for _, row in sweep.rows.iterrows():
            times = [us(row[name]) for name in ("time_p50", "time_p99") if row[name] == row[name]]
            told.append(f"{rates.text(row['offered_rate'])} {', '.join(times)}")
        rest_on = histogram.words(sweep.rows)
        text = (
            f"median and p99 at each offered rate: {'; '.join(told)}{rest_on and f' ({rest_on})'}"
        )
        findings.append(Finding("latency", text, sweep.where, len(told), "points"))
    return findings


def saturation(found: Results) -> list[Finding]:
    """Up to which rate what is due is answered, by setting and size, over launches."""
    groups: dict[tuple[str, int], list[Sweep]] = {}
    for sweep in rates.sweeps(found):
        groups.setdefault((sweep.setting, sweep.size), []).append(sweep)
    return [_saturated(of) for of in groups.values()]


def _saturated(of: list[Sweep]) -> Finding:
    knees = [knee for one in of if (knee := one.knee)]
    where = (
        of[0].where
        if len(of) == 1
        else ", ".join(filter(None, [of[0].setting, size_text(of[0].size)]))
    )
    if not knees:
        most = min(float(one.rows["offered_rate"].max()) for one in of)
        if below := [rate for one in of for rate in one.lost]:
            text = (
                f"the highest rate, {rates.text(most)}, was kept, and {_spanned(below)} below it "
                "was not: where it ends is not told by these points"
            )
        else:
            text = (
                f"every rate up to {rates.text(most)} was kept: where it ends needs higher --rates"
            )
        return Finding("saturation", text, where, len(of), "launches", numbers={"kept": most})
    at = [knee.at for knee in knees]
    numbers: dict[str, float | int | str] = {"knee": float(np.median(at)), "launches": len(at)}
    text = f"{_bracket(knees)}; {rates.text(numbers['knee'])} were answered there"  # type: ignore[arg-type]
    if len(knees) < len(of):
        text += f" (in {len(knees)} of {count_text(len(of), 'launch', 'launches')})"
    if told := interval(at):
        mean, low, high = told
        numbers |= {"knee": mean, "low": low, "high": high}
        text += (
            f", in the mean of {len(at)} launches {rates.text(mean)} (95 %: {rates.text(low)} to "
            f"{rates.text(high)})"
        )
    else:
        text += f"; an interval needs 3 launches, here {_are(len(at))}"
    worst = max(_grown(one) for one in of if one.knee)
    if np.isfinite(worst):
        text += (
            f"; the median latency there is {number_text(worst, 2)} times that of the lowest rate"
        )
    return Finding("saturation", text, where, len(at), "launches", 1.0, numbers)


def _bracket(knees: list[Knee]) -> str:
    """Rates that were offered: where launches differ from the lowest to the highest."""
    kept = [knee.low for knee in knees if knee.low]
    lost = _spanned([knee.high for knee in knees])
    if not kept:
        return f"not even the lowest rate, {lost}, was kept"
    if len(kept) == len(knees) and min(kept) == max(kept):
        return f"{_spanned(kept)} were kept, {lost} were not"
    text = f"the highest rate that was kept is {_spanned(kept)}, the next one, {lost}, was not"
    if none := len(knees) - len(kept):
        text += f"; in {none} of {count_text(len(knees), 'launch', 'launches')} none was kept"
    return text


def _spanned(of: list[float]) -> str:
    least, most = min(of), max(of)
    return rates.text(least) if least == most else f"{rates.text(least)} to {rates.text(most)}"


def _are(count: int) -> str:
    return "is 1" if count == 1 else f"are {count}"


def _grown(sweep: Sweep) -> float:
    """The median at the first rate that is not kept, in those of the lowest; NaN where it isn't."""
    knee, rows = sweep.knee, sweep.rows
    if knee is None or not knee.low:
        return float("nan")
    first = rows[rows["offered_rate"] == knee.high]
    return float(first["time_p50"].iloc[0] / rows["time_p50"].iloc[0])


def omission(found: Results) -> list[Finding]:
    """What latencies would be if they counted from the moment when messages were sent."""
    findings = []
    for launch, size, rows in _of_sizes(found):
        told = [one for _, row in rows.iterrows() if (one := _of_both(found, row))]
        if not told:
            continue
        ratio, rate, sent, due, n = max(told)
        text = (
            f"at {rates.text(rate)} p99 is {us(due)} from when messages were due, and would be "
            f"{us(sent)} from when they were sent: {number_text(ratio, 2)} times as much"
        )
        if len(told) > 1:
            text += f", the most of {len(told)} points"
        numbers = {"ratio": ratio, "p99": due, "p99_from_sent": sent, "rate": rate}
        weight = ratio if ratio >= _TWICE else 0.0
        where = f"{launch}, {size_text(size)}"
        findings.append(Finding("omission", text, where, n, "round trips", weight, numbers))
    return findings


def _of_both(found: Results, row: pd.Series[Any]) -> tuple[float, float, float, float, int] | None:
    """Ratio, rate, p99 from sent and from due, n; None where not all are kept, or are too few."""
    times = round_trips(found, row)
    if (
        times is None
        or row["ticks_lost"] > 0
        or metrics.percentile_is_maximum(len(times.trip), 0.99, "rank")
    ):
        return None
    due = metrics.percentile(times.trip.astype(float), 0.99, "rank")
    sent = metrics.percentile((times.trip - times.wait).astype(float), 0.99, "rank")
    return (due / sent, float(row["offered_rate"]), sent, due, len(times.trip)) if sent else None


def pacing(found: Results) -> list[Finding]:
    """Points in which the sender's own error is not small beside what is measured."""
    findings = []
    for launch, size, rows in _of_sizes(found):
        # Of few messages there is no p99.9; no percentile is below one before it.
        own = rows["pacing_p999"].fillna(rows["pacing_p99"]).fillna(rows["pacing_p50"])
        share = (own / rows["time_p50"])[own > _TENTH * rows["time_p50"]]
        if share.empty:
            continue
        late = rows.loc[share.index]
        place = int(np.argmax(share))
        worst, error = late.iloc[place], float(own[share.index].iloc[place])
        known = [name for name in _PACING if worst[name] == worst[name]]
        which = _PACING[known[0]]
        at = list_text([rates.text(rate) for rate in sorted(late["offered_rate"])])
        text = (
            f"{which} of the pacing alone, {us(error)} at "
            f"{rates.text(worst['offered_rate'])}, is above a tenth of the median latency of "
            f"{us(worst['time_p50'])}: the client itself sent late (at {at})"
        )
        where = f"{launch}, {size_text(size)}"
        findings.append(Finding("pacing", text, where, len(rows), "points", float(share.max())))
    return findings


def _of_sizes(found: Results) -> Iterator[tuple[str, int, pd.DataFrame]]:
    """The points of each launch and size."""
    groups = found.points.groupby(["launch", "message_size"], sort=False)
    for (launch, _), rows in groups:
        yield str(launch), int(rows["message_size"].iloc[0]), rows


class RoundTrips:
    """Of all clients of a point that are kept: due (ns from the start), time, and wait of each."""

    def __init__(self, due: NDArray[Any], trip: NDArray[Any], wait: NDArray[Any]) -> None:
        there = trip != schema.NO_MOMENT
        self.due, self.trip, self.wait = due[there], trip[there], wait[there]


def round_trips(found: Results, row: pd.Series[Any]) -> RoundTrips | None:
    """None where the file has none of the point."""
    columns = found.own_columns(str(row["file"]))
    names = ("request_due", "round_trip", "request_wait")
    if not row["has_raw"] or not set(names) <= set(columns):
        return None
    file, point = str(row["file"]), int(row["point"])
    return RoundTrips(*(found.own(file, point, columns[name]) for name in names))


def sentences(results: Results) -> list[str]:
    """What was measured, one for each file."""
    found = results.measured(rates.ROLES)
    return [f"{file}: {words}." for file, words in _sentences(found)]


def _sentences(found: Results) -> Iterator[tuple[str, str]]:
    for file, rows in found.points.groupby("file", sort=False):
        sizes = size_text(rows["message_size"].min()), size_text(rows["message_size"].max())
        words = (
            f"{count_text(len(rows), 'point')} of messages at a rate, {sizes[0]} to {sizes[1]}, "
            f"{rates.text(rows['offered_rate'].min())} to {rates.text(rows['offered_rate'].max())}"
        )
        lost = int((~rates.kept(rows)).sum())
        words += f"; {lost} of them did not keep their rate" if lost else "; all kept their rate"
        words += f"; the shortest median is {us(float(rows['time_p50'].min()))} from the due time"
        if rest_on := histogram.words(rows):
            words += f"; {rest_on}"
        yield str(file), words
