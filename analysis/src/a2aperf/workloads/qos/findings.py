# SPDX-License-Identifier: BSD-3-Clause
"""What stands out where paths share a link: who starves, whose share is off, which class failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from a2aperf import laws
from a2aperf import shares as link
from a2aperf.explain.finding import Finding, Number, listed, percent
from a2aperf.labels import count_text, number_text, rate_text
from a2aperf.results import Results
from a2aperf.workloads.qos import expected, experiments
from a2aperf.workloads.qos.expected import AGREES, Expected
from a2aperf.workloads.qos.experiments import IDLE, Experiment

_STARVED = 0.02
"""Share of all that is carried below which a path is starved, where paths are few."""
_OF_EQUAL = 0.1
"""Of an equal share, where they are many."""
_OF_ITS_WINDOW = 0.9
"""Of the part that a path's window has of what all may have under way, that it got at least."""
_ERROR = 0.025
"""That chance makes equal paths of an experiment look starved: by little in all, by a silence."""
_LONGER = 2
"""Times the longest earlier silence, that one at the end must be longer than."""
_ALIKE = 1 / 8
"""Of an equal share: within it all shares must surely be, where no class made a difference."""


def sharing(found: Results) -> list[Finding]:
    """Per experiment what each path and class got, with Jain's index and the sum."""
    findings = []
    for one in experiments.of(found):
        part = one.shared
        if part is None or not one.has_shares:
            findings += _unshared(one)
            continue
        known = np.flatnonzero(part.known)
        told = [f"{one.name(int(path))} {_share_text(one, [int(path)])}" for path in known]
        classes = _classes(one)
        if 1 < len(classes) < len(one.rows):
            told += [
                f"class {name or 'none'} {_share_text(one, of)}" for name, of in classes.items()
            ]
        index, rate = float(one.row["jain"]), float(one.row["gbps"])
        text = (
            f"{listed(told, 8)} of {rate_text(rate)}; Jain's index {index:.3f} "
            f"(1: equal, {1 / len(known):.2f}: one has all)"
        )
        text += _against_alone(one)
        if part.count < link.LEAST:
            text += f"; how far shares vary is not told by {_intervals(part.count)}"
        if np.isnan(part.idle[known]).any():
            text += "; whether the senders always had something to send is not recorded"
        numbers: dict[str, Number] = {"gbps": rate, "jain": index}
        numbers |= {f"share_{path}": one.shares[int(path)].value for path in known}
        if not np.isnan(one.alone).all():
            numbers["of_one_alone"] = rate * 1e9 / 8 / float(np.nanmax(one.alone))
        findings.append(Finding("sharing", text, one.where, part.count, "intervals", 0.0, numbers))
    return findings


def _against_alone(one: Experiment) -> str:
    """What all carry beside the fastest of those that were there by themselves, too."""
    if np.isnan(one.alone).all():
        return ""
    path = int(np.nanargmax(one.alone))
    most = float(one.alone[path]) * 8e-9
    times = number_text(float(one.row["gbps"]) / most, 3)
    return f"; together {times} times what {one.name(path)} carries alone ({rate_text(most)})"


def _unshared(one: Experiment) -> list[Finding]:
    """Why no share is judged; an idle sender is told by itself, and a path alone shares nothing."""
    part = one.shared
    if len(one.rows) < 2 or one.idle:
        return []
    if part is None:
        why = "there is no whole interval in which every path could send"
    elif part.bytes.sum() > 0:
        why = (
            f"that it could send is known of only {int(part.known.sum())} of {len(one.rows)} paths"
        )
    else:
        why = "nothing came on any path while all could send"
    count = 0 if part is None else part.count
    text = f"no share is judged: {why}"
    return [Finding("sharing", text, one.where, count, "intervals", abstains=True)]


def _classes(one: Experiment) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for path, name in enumerate(one.classes):
        found.setdefault(name, []).append(path)
    return found


def _share_text(one: Experiment, some: list[int]) -> str:
    mine = one.share(some)
    if np.isnan(mine.low):
        return f"{100 * mine.value:.1f} %"
    return f"{100 * mine.value:.1f} % ({100 * mine.low:.1f} to {100 * mine.high:.1f})"


def _intervals(count: int) -> str:
    return count_text(count, "interval")


def starved(found: Results) -> list[Finding]:
    """Paths that got next to nothing while others were served, with since when."""
    findings = []
    for one in experiments.of(found):
        part = one.shared
        if part is None or int(part.known.sum()) < 2 or part.bytes.sum() <= 0:
            continue
        limit = min(_STARVED, _OF_EQUAL / float(part.known.sum()))
        whole = part.bytes.sum(axis=0)
        for path in np.flatnonzero(part.known):
            mine = part.bytes[path]
            if not mine.any() and part.messages[path].any():
                continue  # its messages have no bytes, and came
            silent = _silent_since(mine, whole)
            if silent and not _is_silence(part, int(path), silent):
                silent = None
            is_least = mine.sum() < limit * whole.sum() and _is_less(part, int(path))
            if is_least or silent:
                findings.append(_starved(one, int(path), silent))
    return findings


def _silent_since(mine: np.ndarray, whole: np.ndarray) -> int | None:
    """The first of the intervals at the end, two or more, in which others got something alone."""
    last = np.flatnonzero(mine > 0)
    first = int(last[-1]) + 1 if last.size else 0
    is_silent = len(mine) - first >= min(2, len(mine)) and bool((whole[first:] > 0).all())
    return first if is_silent else None


def _is_silence(part: link.Shared, path: int, first: int) -> bool:
    """Whether chance does not leave the intervals from `first` on empty.

    Where a few messages fill an interval some are empty at any time. That all k messages come
    before has a chance of (first / n)^k, more where they come in bursts; that of z empty ones of n
    so many are at the end, in whatever order, C(n - g, z - g) / C(n, z): the smaller counts. Empty
    ones may stand together: so there must be more of them than there were in a row before.
    """
    empty, last = part.bytes[path] == 0, part.count - first
    edges = np.flatnonzero(np.diff(np.concatenate([[False], empty[:first], [False]])))
    longest = int((edges[1::2] - edges[::2]).max(initial=0))
    came = part.messages[path][:first]
    bursts = max(1.0, float(came.var(ddof=1) / came.mean())) if first > 1 else 1.0
    at = np.arange(last)
    in_any_order = float(np.prod((empty.sum() - at) / (part.count - at)))
    all_before = float((first / part.count) ** (came.sum() / bursts))
    chance = min(in_any_order, all_before)
    return last > _LONGER * longest and chance * part.known.sum() <= _ERROR


def _is_less(part: link.Shared, path: int) -> bool:
    """Whether chance does not leave a path of equal ones so few of all messages."""
    paths, messages = int(part.known.sum()), part.messages.sum(axis=1)
    few = laws.binomial_cdf(int(messages[path]), int(messages.sum()), 1 / paths)
    return float(few) * paths <= _ERROR


def _starved(one: Experiment, path: int, silent: int | None) -> Finding:
    part = one.shared
    assert part is not None
    mine, whole = part.bytes[path], part.bytes.sum(axis=0)
    share = float(mine.sum() / whole.sum())
    if silent == 0:
        text = (
            f"{one.name(path)} got nothing in any of {_intervals(part.count)} "
            f"({part.seconds:.4g} s), since all could send; "
        )
    elif silent is not None:
        since = float(part.begin[silent]) / 1e9
        text = (
            f"{one.name(path)} got nothing since {since:.4g} s from the start, in the last "
            f"{part.count - silent} of {_intervals(part.count)}; "
        )
    else:
        text = f"{one.name(path)} got {percent(share)} of all, in {_intervals(part.count)}; "
    if silent is None and _is_its_window(one, path, share):
        text += "no less than its part of what all may have under way (window × message); "
    text += f"together the paths carried {rate_text(float(whole.sum()) * 8e-9 / part.seconds)}"
    idle = float(part.idle[path])
    if idle > IDLE:
        text += f"; its sender had nothing outstanding for {percent(idle)} of the time"
    numbers: dict[str, Number] = {"path": path, "share": share}
    return Finding("starved", text, one.where, part.count, "intervals", 1 - share, numbers)


def _is_its_window(one: Experiment, path: int, share: float) -> bool:
    """Whether it got what its window alone gives it where all messages take as long.

    Of paths with the same it is nothing to be told.
    """
    window, size = (getattr(one.paths, name)[one.rows] for name in ("window", "message_size"))
    under_way = np.where((window > 0) & (size > 0), window * size, 0).astype(float)
    if not under_way.all() or np.ptp(under_way) == 0:
        return False  # of notes nobody says it
    return bool(share >= _OF_ITS_WINDOW * under_way[path] / under_way.sum())


def idle(found: Results) -> list[Finding]:
    """Experiments in which a sender had nothing outstanding for more than 1 % of the time."""
    findings = []
    for one in experiments.of(found):
        part = one.shared
        if part is None or len(one.rows) < 2 or not one.idle:
            continue
        worst = max(float(part.idle[path]) for path in one.idle)
        names = listed([one.name(path) for path in one.idle])
        text = (
            f"no shares: {names} had nothing outstanding for up to {percent(worst)} of the time "
            f"(more than {percent(IDLE)}), so what each got is not the fabric's alone"
        )
        numbers: dict[str, Number] = {"idle": worst}
        findings.append(Finding("idle", text, one.where, part.count, "intervals", worst, numbers))
    return findings


def model(found: Results) -> list[Finding]:
    """Where measured shares are what arbitration says, and where not."""
    return [finding for one in experiments.of(found) for finding in model_of(one)]


def model_of(one: Experiment) -> list[Finding]:
    """The same of one experiment."""
    part, said = one.shared, one.expected
    findings = []
    if said is None and (why := expected.trouble(one.launch, one.classes)):
        count = 0 if part is None else part.count
        findings.append(Finding("model", why, one.where, count, "intervals", 0.0, abstains=True))
    if part is None or said is None or not one.has_shares or not part.known.all():
        return findings
    off = expected.off(part.bytes, said.shares)
    shares = [mine.value for mine in one.shares]
    apart = float(np.max(np.abs(np.subtract(shares, said.shares))))
    text = (
        f"shares {_list(shares)}; by {said.source} {_list(said.shares)}: "
        f"{_verdict(one, off, said, apart)}"
    )
    numbers: dict[str, Number] = {"largest_difference": apart}
    weight = apart if off else 0.0
    findings.append(Finding("model", text, one.where, part.count, "intervals", weight, numbers))
    return findings


def _list(shares: object) -> str:
    return ", ".join(f"{share:.3f}" for share in shares)  # type: ignore[attr-defined]


def _verdict(one: Experiment, off: list[int], said: Expected, apart: float) -> str:
    part = one.shared
    assert part is not None
    has_intervals = part.count >= link.LEAST
    text = f"at most {apart:.3f} apart" + (
        "" if has_intervals else f", of {_intervals(part.count)}"
    )
    if not off:
        far = _farthest(one, said.shares)
        if far <= AGREES and not _may_be_equal(one, said):
            return f"agree, {text}"
        if far <= AGREES:
            text += ", and equal shares would fit as well"
        elif has_intervals:
            text += f", and their intervals reach {far:.3f} from it"
        return f"undecided, {text}"
    names = listed([f"{one.name(path)} by {_apart(one, path, said):+.3f}" for path in off])
    rests = "more than its interval" if has_intervals else f"of {_intervals(part.count)}"
    text = f"do not agree: {names} ({rests})"
    return text + (
        "; every lane that had a path got an equal share" if _lanes_are_equal(one, said) else ""
    )


def _farthest(one: Experiment, said: Sequence[float]) -> float:
    """How far shares may be from these: by their intervals, where they have some."""
    ends = [(mine.value, mine.low, mine.high) for mine in one.shares]
    apart = np.abs(np.subtract(ends, np.array(said)[:, None]))
    return float(np.nanmax(apart))


def _may_be_equal(one: Experiment, said: Expected) -> bool:
    """Whether paths that should get different shares may all have got the same.

    By their intervals; without one a share may be as far from it as from what was said.
    """
    part, paths = one.shared, len(one.rows)
    assert part is not None
    each = [1 / paths] * paths
    if float(np.max(np.abs(np.subtract(said.shares, each)))) < expected.least_apart(paths):
        return False
    if part.count >= link.LEAST:
        return not expected.off(part.bytes, each)
    return _farthest(one, each) <= AGREES


def _apart(one: Experiment, path: int, said: Expected) -> float:
    return one.shares[path].value - said.shares[path]


def _lanes_are_equal(one: Experiment, said: Expected) -> bool:
    """Within what shares without interval have to agree by."""
    lanes = sorted(set(said.lanes))
    if len(lanes) < 2:
        return False
    of = [
        sum(mine.value for mine, lane in zip(one.shares, said.lanes, strict=True) if lane == x)
        for x in lanes
    ]
    return max(abs(one_ - 1 / len(lanes)) for one_ in of) <= AGREES


def honoured(found: Results) -> list[Finding]:
    """Classes that were asked for and not granted, not seen, or seen as another one."""
    findings = []
    for one in experiments.of(found):
        told: dict[tuple[str, float], list[str]] = {}
        for path in range(len(one.rows)):
            if said := _kept(one, path):
                told.setdefault(said, []).append(one.name(path))
        for (text, weight), names in told.items():
            findings.append(
                Finding(
                    "honoured",
                    f"{listed(names)}: {text}",
                    one.where,
                    len(names),
                    "paths",
                    weight,
                )
            )
    return findings


def _kept(one: Experiment, path: int) -> tuple[str, float] | None:
    """What became of a class, and how much that matters; None where nothing is to be said."""
    row = one.rows[path]
    asked, granted, seen = (
        str(getattr(one.paths, f"class_{which}")[row])
        for which in ("requested", "granted", "verified")
    )
    if not asked:
        return None
    if seen and seen != asked:
        return f"{asked} was asked for, and {seen} seen", 1.0
    if granted and granted != asked:
        return f"{asked} was asked for, and {granted} granted", 0.9
    if not granted and not seen and one.row["has_raw"]:  # the program says what it knows
        why = str(one.paths.class_trouble[row])
        return f"{asked} was asked for, and not granted" + (f": {why}" if why else ""), 0.9
    if granted and not seen:
        return f"{asked} is granted, not verified", 0.0
    return None


def equal(found: Results) -> list[Finding]:
    """Paths of several classes, alike in all else, that got the same."""
    findings = []
    for one in experiments.of(found):
        part = one.shared
        if part is None or not one.has_shares or part.count < link.LEAST:
            continue
        kinds = {experiments.alike(one.paths, int(row)) for row in one.rows}
        if len(_classes(one)) < 2 or len(kinds) > 1 or not part.known.all():
            continue
        each = 1 / len(one.rows)
        mine = [one.share([path], len(one.rows)) for path in range(len(one.rows))]
        off = max(abs(end - each) for x in mine for end in (x.low, x.high))
        if off > _ALIKE * each or not all(x.low <= each <= x.high for x in mine):
            continue
        text = (
            f"paths of {count_text(len(_classes(one)), 'class', 'classes')} "
            f"({listed(_classes(one))}) got equal shares ({_list([x.value for x in mine])}), "
            f"each within {percent(off / each)} of an equal one: here no class made a larger "
            "difference"
        )
        findings.append(Finding("equal", text, one.where, part.count, "intervals", 0.5))
    return findings
