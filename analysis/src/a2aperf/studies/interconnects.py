# SPDX-License-Identifier: BSD-3-Clause
"""Which interconnects are to stand side by side: as the user names them, or what a node offers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies import slurm

_SPELLED: Final = re.compile(r"([A-Za-z0-9_;-]+)(?:@([A-Za-z0-9_.:-]+))?(?:=([A-Za-z0-9-]+))?")
_EXPECTED: Final = "expected PROVIDER[@INTERFACE][=LABEL], such as tcp@eth0=1GigE"
_LOOPBACK: Final = "lo"
_OF_ONE_NODE: Final = "shm"


@dataclass(frozen=True)
class Interconnect:
    """A provider over an interface (empty: the one that a2aperf takes), and what it is called."""

    label: str
    provider: str
    interface: str = ""

    @property
    def options(self) -> list[str]:
        """For a2aperf."""
        nic = [f"--nic={self.interface}"] if self.interface else []
        return [f"--provider={self.provider}", *nic]

    @property
    def spelled(self) -> str:
        """As it can be asked for."""
        at = f"@{self.interface}" if self.interface else ""
        return f"{self.provider}{at}={self.label}"


def named(text: str) -> list[Interconnect]:
    """Those of `tcp@eth0=1GigE,shm`; InputError where it is no such list."""
    found = []
    for word in text.split(","):
        matched = _SPELLED.fullmatch(word.strip())
        if not matched:
            raise InputError(f"--across {text}: '{word}': {_EXPECTED}")
        found.append((matched[1], matched[2] or "", matched[3] or ""))
    return _labelled(found, f"--across {text}")


def here(program: Path, is_one_node: bool) -> list[Interconnect]:
    """What `a2aperf providers` finds on this node: of each provider one interface."""
    made = slurm.run([str(program), "providers"])
    if made.returncode:
        raise InputError(f"{program} providers: {slurm.last_line(made)}")
    return _labelled(offered(made.stdout, is_one_node), "a2aperf providers")


def offered(text: str, is_one_node: bool) -> list[tuple[str, str, str]]:
    """Provider, interface and no label, of the table that `a2aperf providers` prints.

    The loopback interface only where a provider has no other; shared memory on one node only.
    """
    places: dict[str, list[str]] = {}
    columns: list[str] = []
    for line in text.splitlines():
        cells = re.split(r" {2,}", line.strip())
        if cells[0] == "provider":
            columns = cells
        elif not line.strip():
            if places:
                break
        elif columns and len(cells) == len(columns):
            row = dict(zip(columns, cells, strict=True))
            if "RDM" in row["endpoints"].split():
                nic = "" if row["NIC"] == "-" else row["domain"]
                places.setdefault(row["provider"], []).append(nic)
    if not is_one_node:
        places.pop(_OF_ONE_NODE, None)
    best = {name: next((x for x in nics if x != _LOOPBACK), nics[0]) for name, nics in
            places.items()}  # fmt: skip
    return [(name, nic, "") for name, nic in best.items()]


def _labelled(found: Sequence[tuple[str, str, str]], where: str) -> list[Interconnect]:
    """Who has no label is called by the provider, and by the interface where that is not enough."""
    count = Counter(provider for provider, _, label in found if not label)
    made = []
    for provider, interface, label in found:
        name = label
        if not name:
            words = [provider, interface] if count[provider] > 1 and interface else [provider]
            name = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(words)).strip("-")
        made.append(Interconnect(name, provider, interface))
    if len(made) < 2:
        raise InputError(f"{where}: {len(made)} interconnect; side by side stand two or more")
    for what, values in (
        ("label", [one.label for one in made]),
        ("interconnect", [f"{one.provider}@{one.interface}" for one in made]),
    ):
        twice = [value for value, times in Counter(values).items() if times > 1]
        if twice:
            raise InputError(f"{where}: the {what} '{twice[0].rstrip('@')}' is there twice")
    return made
