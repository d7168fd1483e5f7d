# SPDX-License-Identifier: BSD-3-Clause
"""A launch: who measured, where, with what."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from a2aperf import schema
from a2aperf.labels import count_text

ARBITRATION: Final = "nic_arbitration"
"""A fact of nodes of many lines: what tc or smpquery told the launch of the adapter."""


@dataclass(frozen=True)
class Launch:
    """One segment of one file: who measured, where, with what."""

    id: str
    path: Path
    segment: int
    attributes: dict[str, Any]
    environment: dict[str, str]
    labels: dict[str, str]
    attachments: dict[str, str]
    nodes: list[str]
    node_of_rank: NDArray[np.int32]
    node_facts: dict[str, list[str]]
    rank_facts: dict[str, list[str]]
    end_state: str = "finished"
    message: str = ""
    fi_info: str = ""
    start: schema.Counters | None = None
    """What its start counted."""
    start_times: schema.StartTimes | None = None
    threads: int = 1
    """With which a rank drives its endpoints, at the most in any of its points."""

    def setting(self, name: str) -> str | None:
        """Value of a label, variable, attribute or node fact; None where it is not recorded.

        Node facts that differ between nodes are joined: `a, b`.
        """
        for source in (self.labels, self.environment):
            if name in source:
                return source[name]
        if name in self.attributes:
            value = self.attributes[name]
            unknown = value in ("", schema.UNKNOWN) or value != value  # NaN
            return None if unknown else str(value)
        if name in self.node_facts:
            return ", ".join(sorted({fact for fact in self.shown_facts[name] if fact})) or None
        return None

    @property
    def has_stated_link(self) -> bool:
        """Whether somebody stated the rate of its links, and not the system."""
        return float(self.attributes["asked_link_rate"]) > 0

    @property
    def shown_facts(self) -> dict[str, list[str]]:
        """Facts of nodes, each in one line: of a longer text what tells it from others."""
        return {
            name: [_in_one_line(text) for text in texts] if name == ARBITRATION else texts
            for name, texts in self.node_facts.items()
        }

    def host_of(self, rank: int) -> str:
        """Name of the node that a rank was on; `?` where that is not recorded."""
        known = rank < len(self.node_of_rank)
        return self.nodes[int(self.node_of_rank[rank])] if known else "?"

    @property
    def unfinished(self) -> str:
        """Why it did not finish, as far as that is known; empty of one that did."""
        if self.end_state == "finished":
            return ""
        state = "killed, or still running" if self.end_state == "running" else self.end_state
        return ": ".join(part for part in (state, self.message) if part)

    @property
    def tuned(self) -> set[str]:
        """Variables that a2aperf set by itself for the provider and the number of ranks."""
        words = str(self.attributes.get("tuned_environment", "")).split()
        return {word.partition("=")[0] for word in words}

    @property
    def ignored(self) -> set[str]:
        """Variables that the user set and the launch's libfabric did not know."""
        return set(str(self.attributes.get("ignored_environment", "")).split())

    @property
    def setting_names(self) -> set[str]:
        """Every name that `setting` answers to."""
        return {*self.labels, *self.environment, *self.attributes, *self.node_facts}


def ignored_words(launches: Iterable[Launch], names: Iterable[str]) -> list[str]:
    """Of which of these variables launches say that their libfabric did not know them."""
    every = list(launches)
    told = []
    for name in names:
        if count := sum(name in one.ignored for one in every):
            where = count_text(count, "launch that sets it", "launches that set it")
            told.append(f"{name}: the libfabric of {where} does not know it: it changed nothing")
    return told


def _in_one_line(text: str) -> str:
    lines = len(text.splitlines())
    return f"{lines} lines, CRC-32 {zlib.crc32(text.encode()):08x}" if lines > 1 else text
