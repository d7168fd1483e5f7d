# SPDX-License-Identifier: BSD-3-Clause
"""What a load does to others: impacts that are there, phases without any, load that lingers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from a2aperf import grouping
from a2aperf.deferred import pandas as pd
from a2aperf.explain.finding import Finding, percent, us
from a2aperf.labels import count_text, number_text, ratio_texts, size_text
from a2aperf.results import Results
from a2aperf.workloads.interference import impact, samples

_ALPHA: Final = 0.05
_CLAIMED: Final = ("p50", "p99")
_SHORT: Final = 0.9
"""Of its level, below which a load is told to have missed it."""


def launches(found: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    """The points of each launch and setting, with its words."""
    axes = ("load_level", "message_size")
    points = found.points.assign(setting=grouping.setting_labels(found, found.points, axes=axes))
    for (launch, setting), rows in points.groupby(["launch", "setting"], sort=False):
        yield ", ".join(filter(None, (str(launch), str(setting)))), rows


def impacts(found: Results) -> list[Finding]:
    """Where the ratio is not 1: of all levels, sizes and figures of a setting together (Holm).

    And where it is not 1 by what alternations that are like one another leave open, each by itself.
    """
    findings = []
    for where, every in launches(found):
        rows = every[impact.has_load(every)]  # of the others `levels` tells
        chances = {
            (int(row["point"]), name): impact.chance(*_ratio(row, name), int(row["alternations"]))
            for _, row in rows.iterrows()
            for name in _CLAIMED
        }
        claimed = _holm(chances)
        for _, row in rows.iterrows():
            names = [name for name in _CLAIMED if (int(row["point"]), name) in claimed]
            of = samples.alternations(found, row) if names else None
            unsure = [name for name in names if of is not None and not impact.lasts(name, of)]
            names = [name for name in names if name not in unsure]
            findings.append(impact_of(row, names, where, unsure))
    return findings


def impact_of(
    row: pd.Series[Any], names: list[str], where: str, unsure: Sequence[str] = ()
) -> Finding:
    """`names` of the figures whose impact holds together with all others of the launch.

    `unsure` of those that do only if alternations are independent.
    """
    level = int(row["load_level"])
    numbers: dict[str, float | int | str] = {"level": level}
    for name in _CLAIMED:
        if row[f"impact_{name}"] == row[f"impact_{name}"]:
            numbers[name] = float(row[f"impact_{name}"])
    place = f"{where}, {of_size(row)}"
    told = "; ".join(_told(row, name) for name in names)
    if level == 0:
        text = f"with nothing sent {told}: so far the measurement itself is off" if names else ""
    else:
        text = f"{_load(row)} {told}" if names else ""
    if not text:
        text = f"{_load(row)} no impact on the median can be told{_why_none(row, unsure)}"
    weight = max((float(numbers[name]) for name in names), default=0.0)
    return Finding("impact", text, place, int(row["alternations"]), "alternations", weight, numbers)


def _why_none(row: pd.Series[Any], unsure: Sequence[str]) -> str:
    ratio, low, high = _ratio(row, "p50")
    if ratio != ratio:
        return ""
    if low != low:
        return f": an interval needs {impact.LEAST} alternations"
    if "p50" in unsure:
        n = count_text(int(row["alternations"]), "alternation")
        why = f" of {n}, which may be like one another: if they are not, it"
    else:
        why = ": it" if low <= 1 <= high else " beside so many others: by itself it"
    return f"{why} is between {' and '.join(ratio_texts(low, high))} times (95 %)"


def of_size(row: pd.Series[Any]) -> str:
    """`answers of 1 KiB`."""
    what = {"stream": "messages of a stream", "all-to-all": "messages of an all-to-all"}
    of_kind = what.get(str(row.get("victim_kind", impact.ECHO)), "answers")
    return f"{of_kind} of {size_text(int(row['message_size']))}"


def _load(row: pd.Series[Any]) -> str:
    level = int(row["load_level"])
    rate = f", {number_text(float(row['load_gbps']), 3)} Gbit/s" if row["load_gbps"] > 0 else ""
    return f"at {level} % of the load's full rate{rate}:"


def _thing(row: pd.Series[Any]) -> str:
    return impact.THINGS.get(str(row.get("victim_kind", impact.ECHO)), "time")


def _told(row: pd.Series[Any], name: str) -> str:
    ratio, low, high = ratio_texts(*_ratio(row, name))
    words = impact.STATISTICS[name]
    return (
        f"the {words} {_thing(row)} takes {ratio} times as long (95 %: {low} to {high}), "
        f"{us(float(row[f'loaded_{name}']))} and alone {us(float(row[f'alone_{name}']))}"
    )


def _ratio(row: pd.Series[Any], name: str) -> tuple[float, float, float]:
    ratio, low, high = (float(row[f"impact_{name}{end}"]) for end in ("", "_low", "_high"))
    return ratio, low, high


def _holm(chances: dict[tuple[int, str], float]) -> set[tuple[int, str]]:
    """Those that hold together."""
    claimed = set()
    for place, (key, p) in enumerate(sorted(chances.items(), key=lambda one: one[1])):
        if p * (len(chances) - place) > _ALPHA:
            break
        claimed.add(key)
    return claimed


def silent(found: Results) -> list[Finding]:
    """Phases in which no time counts."""
    findings = []
    for where, row in _points(found):
        count, phases = int(row["silent_phases"]), 2 * int(row["alternations"])
        if count > 0:
            text = (
                f"{_load(row)} in {count_text(count, 'phase')} of {phases} there was no "
                f"{_thing(row)} that counts: nothing is said of the impact"
            )
            findings.append(Finding("silent", text, where, count, "phases", float(count)))
    return findings


def lingering(found: Results) -> list[Finding]:
    """Load that still came where there should have been none."""
    findings = []
    for where, row in _points(found):
        load, rest = float(row["load_gbps"]), float(row["load_rest_gbps"])
        if load > 0 and rest > impact.REST * load:
            text = (
                f"{_load(row)} in phases that should have none {percent(rest / load)} of it still "
                "came: what is called alone is not, and impacts are larger than told; a longer "
                "--phase helps"
            )
            n = int(row["alternations"])
            findings.append(Finding("lingering", text, where, n, "phases", rest / load))
        elif load == 0 and rest > 0:  # of the first phase, in which it shows its full rate
            text = (
                f"{_load(row)} {number_text(rest, 3)} Gbit/s still came in phases that should have "
                "none: what is called alone is not; a longer --phase helps"
            )
            n = int(row["alternations"])
            findings.append(Finding("lingering", text, where, n, "phases", impact.REST))
    return findings


def levels(found: Results) -> list[Finding]:
    """Load that did not reach its level beside victims."""
    findings = []
    for where, row in _points(found):
        due, load = float(row["load_full_gbps"] * row["load_level"] / 100), float(row["load_gbps"])
        if not impact.has_load(pd.DataFrame([row])).all():
            text = f"{_load(row)} no message of it came: of an impact nothing can be said"
            findings.append(Finding("level", text, where, int(row["alternations"]), "phases"))
        elif due > 0 and load < _SHORT * due:
            text = (
                f"{_load(row)} it sent {percent(load / due)} of what that is, "
                f"{number_text(due, 3)} Gbit/s by its first phase, without victims"
            )
            findings.append(Finding("level", text, where, int(row["alternations"]), "phases"))
    return findings


def granted(found: Results) -> list[Finding]:
    """A class of the load that not every rank of it was granted, once for all points alike."""
    if "load_class_granted" not in found.points:
        return []  # of a program that had none
    findings = []
    for where, rows in launches(found):
        lacking = rows[rows["load_class_granted"] == 0]
        reasons = lacking.get("load_class_trouble", pd.Series("", lacking.index))
        for (name, why), alike in lacking.groupby([lacking["load_class"], reasons], sort=False):
            text = f"{name} was asked for the load, and not granted to every rank of it"
            text += f": {why}" if why else ""
            findings.append(Finding("granted", text, where, len(alike), "points", 0.9))
    return findings


def _with_interval(row: pd.Series[Any]) -> str:
    ratio, low, high = _ratio(row, "p50")
    if low != low:
        return f"{number_text(ratio, 3)}, without an interval"
    told = ratio_texts(ratio, low, high)
    return f"{told[0]} (95 % by itself: {told[1]} to {told[2]})"


def _points(found: Results) -> Iterator[tuple[str, pd.Series[Any]]]:
    for where, rows in launches(found):
        for _, row in rows.iterrows():
            yield f"{where}, {of_size(row)}", row


def sentences(results: Results) -> list[str]:
    """One for each file."""
    said = []
    for file, rows in results.measured(impact.ROLES).points.groupby("file", sort=False):
        shown = sorted({int(level) for level in rows["load_level"]})
        words = (
            f"{file}: {count_text(len(rows), 'point')} of victims beside a load, at "
            f"{', '.join(map(str, shown))} % of its full rate"
        )
        of_loads = rows[impact.has_load(rows) & (rows["load_level"] > 0)]
        if of_loads["impact_p50"].notna().any():
            worst = of_loads.iloc[int(np.nanargmax(of_loads["impact_p50"]))]
            words += f"; the largest impact on a median is {_with_interval(worst)}"
        said.append(words + ".")
    return said
