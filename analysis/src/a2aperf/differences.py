# SPDX-License-Identifier: BSD-3-Clause
"""What else differs between the sides of a comparison: everything that was recorded about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2aperf import grouping
from a2aperf.launch import Launch
from a2aperf.results import Results

# These tell one launch from another by nature; that they differ says nothing.
_IDENTITY: Final = {"started", "time_origin", "clock_error_ns"}
# So do variables by which a launcher tells its steps and processes apart.
_STEP: Final = (
    "SLURM_STEP", "SLURM_SRUN_COMM_", "SLURM_LAUNCH_", "SLURM_TASK_PID", "OMPI_ARGV",
    "OMPI_FILE_LOCATION", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_jobfam_session_dir",
    "OMPI_MCA_orte_precondition_transports",
)  # fmt: skip
# Share of different values from which a fact is taken to change with every launch.
_CHANGING: Final = 0.8


@dataclass(frozen=True)
class Difference:
    """One recorded fact that the sides do not share; values are sorted, empty = not recorded."""

    name: str
    baseline: tuple[str, ...]
    candidate: tuple[str, ...]


@dataclass(frozen=True)
class Differences:
    """Facts that differ between the sides, and names of those that change with every launch."""

    between: list[Difference]
    every_launch: list[str]


def between(
    found: Results, baseline: Iterable[str], candidate: Iterable[str], asked: Sequence[str]
) -> Differences:
    """Compares everything recorded about two sets of launches (ids), except the settings asked for.

    A fact that is another one in nearly every launch of sides with several launches (a seed, a job
    number) is listed by name only.
    """
    sides = [
        [_facts(found, found.launches[launch]) for launch in dict.fromkeys(side)]
        for side in (baseline, candidate)
    ]
    names = sorted({name for side in sides for facts in side for name in facts} - _IDENTITY)
    listed: list[Difference] = []
    changing: list[str] = []
    for name in names:
        if name in asked or name.split(" ", 1)[-1] in asked:
            continue
        values = [[facts.get(name, "") for facts in side] for side in sides]
        if set(values[0]) == set(values[1]):
            continue
        together = values[0] + values[1]
        if min(map(len, values)) > 1 and len(set(together)) > _CHANGING * len(together):
            changing.append(name)
            continue
        listed.append(Difference(name, *(tuple(sorted(set(side))) for side in values)))
    return Differences(listed, changing)


def _facts(found: Results, launch: Launch) -> dict[str, str]:
    """Everything recorded about a launch as text, by a name that says where it comes from."""
    file = launch.id.rpartition("#")[0]
    root = found.attributes.get(file, {})
    facts = {name: _text(value) for name, value in launch.attributes.items()}
    facts |= {
        name: _text(root[name])
        for name in ("complete_at", "percentile_rule", "origin")
        if name in root
    }
    facts |= {
        f"variable {name}": value
        for name, value in launch.environment.items()
        if not name.startswith(_STEP)
    }
    facts |= {f"label {name}": value for name, value in launch.labels.items()}
    facts |= {f"node {name}": _joined(values) for name, values in launch.shown_facts.items()}
    facts |= {f"rank {name}": _joined(values) for name, values in launch.rank_facts.items()}
    facts["node set"] = " ".join(sorted(launch.nodes))
    facts["node of rank"] = " ".join(str(node) for node in launch.node_of_rank)
    facts["fi_info"] = launch.fi_info
    points = found.points[found.points["launch"] == launch.id]
    for column in ("post", "stop_rule", "ops"):
        facts[f"point {column}"] = _joined(str(value) for value in points[column])
    if grouping.PINNED_THREADS in points:
        pinned = points[grouping.PINNED_THREADS].dropna()
        facts[f"point {grouping.PINNED_THREADS}"] = _joined(map(str, pinned))
    for column in found.lengths:
        said = found.columns.get(column)
        known = points[column].dropna()
        facts[f"point {column}"] = _joined(grouping.column_text(said, value) for value in known)
    return facts


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({value for value in values if value}))


def _text(value: Any) -> str:
    if value != value or value in ("", -1):  # NaN, or unknown
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


_WIDTH: Final = 60
_BEFORE: Final = 8
"""Characters that are shown before the first that differs."""


def shortened(values: Sequence[str], width: int = _WIDTH) -> str:
    """Values of one side on one line: `a | b | … (5 values)`."""
    texts = [" ".join(value.split()) or "not recorded" for value in values]
    line = " | ".join(texts)
    if len(line) <= width:
        return line
    more = f" … ({len(texts)} values)" if len(texts) > 1 else " …"
    return line[: width - len(more)] + more


def apart(found: Difference) -> tuple[str, str]:
    """Both sides, shortened so that what differs is seen: baseline, candidate."""
    sides = found.baseline, found.candidate
    cut = [shortened(side) for side in sides]
    texts = [" ".join(" ".join(side).split()) for side in sides]
    same = next(
        (place for place, (one, other) in enumerate(zip(*texts, strict=False)) if one != other),
        min(map(len, texts)),
    )
    if any(len(side) != 1 for side in sides) or same < _WIDTH - _BEFORE:
        return cut[0], cut[1]
    # From the word that differs: what comes before it is the same.
    begin = max(texts[0].rfind(" ", 0, same) + 1, same - _BEFORE)
    one, other = (shortened([text[begin:]], _WIDTH - 2) for text in texts)
    return f"… {one}", f"… {other}"
