# SPDX-License-Identifier: BSD-3-Clause
"""What a report says before anything else: where, on which hosts, when, and with what outcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from a2aperf import labels, verdicts
from a2aperf.compare import Comparison
from a2aperf.explain.finding import Finder, Finding
from a2aperf.launch import Launch
from a2aperf.results import Results

_MOST_HOSTS = 8
_MOST_PLACES = 12
_CLUSTER_NAMES = ("cluster", "SLURM_CLUSTER_NAME")


@dataclass(frozen=True)
class MergedFinding:
    """One finding, and where else the same is so with other figures."""

    finding: Finding
    elsewhere: str


def facts(results: Results) -> list[tuple[str, str]]:
    """Cluster (where it has a name), hosts and time of the launches."""
    launches = list(results.launches.values())
    clusters = sorted({name for launch in launches if (name := _cluster(launch))})
    hosts = sorted({node for launch in launches for node in launch.nodes}, key=labels.natural)
    told = [("Cluster", labels.list_text(clusters))] if clusters else []
    count = labels.count_text(len(hosts), "host")
    named = f"{count}: {labels.list_text(hosts, _MOST_HOSTS)}" if hosts else "unknown"
    return [*told, ("Hosts", named), ("Measured", _when(launches) or "unknown")]


def _cluster(launch: Launch) -> str:
    return next((value for name in _CLUSTER_NAMES if (value := launch.setting(name))), "")


def _when(launches: Iterable[Launch]) -> str:
    days = sorted({str(launch.attributes["started"])[:10] for launch in launches} - {""})
    if not days:
        return ""
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


def verdict(
    findings: Sequence[tuple[Finder, Sequence[Finding]]],
    compared: Sequence[Comparison],
    judged: bool = True,
) -> list[str]:
    """The outcome in a few sentences: the comparisons', then what stands out, by kind.

    `judged`: there was a point at which something could have stood out.
    """
    said = []
    kinds = [
        finder
        for finder, mine in findings
        if any(not one.abstains and (one.weight or not finder.describes) for one in mine)
    ]
    said += [mine[0].text for finder, mine in findings if finder.comes_first]
    for one in compared:
        said.append(f"{one.candidate} against {one.baseline}: {'; '.join(verdicts.summary(one))}")
    titles = [finder.title for finder in kinds if not finder.comes_first]
    if titles:
        said.append(f"stands out: {'; '.join(titles)}")
    elif not kinds:
        said.append("nothing stands out" if judged else "no point here can be judged")
    return said


def once(findings: Sequence[Finding]) -> list[MergedFinding]:
    """Each finding once, the heaviest for all that say the same elsewhere with other figures.

    Two of one place are two findings: what tells them apart is in their figures.
    """
    alike: dict[tuple[str, int], list[Finding]] = {}
    for finding in findings:
        words, copy = re.sub(r"[-−]?\d[\d.,]*", "#", finding.text), 0
        while finding.where in [one.where for one in alike.get((words, copy), ())]:
            copy += 1
        alike.setdefault((words, copy), []).append(finding)
    return [
        MergedFinding(mine[0], labels.list_text([one.where for one in mine[1:]], _MOST_PLACES))
        for mine in alike.values()
    ]
