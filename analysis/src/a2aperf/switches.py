# SPDX-License-Identifier: BSD-3-Clause
"""Which leaf switch each node hangs on, by Slurm's `scontrol show topology` or topology.conf."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from a2aperf import regular
from a2aperf.errors import InputError

_SWITCH = re.compile(r"^\s*SwitchName=(\S+)\s+(.*)$", re.MULTILINE | re.IGNORECASE)
_FIELD = re.compile(r"(\w+)=(\S+)")
_RANGE = re.compile(r"^(.*?)\[([^\]]*)\](.*)$")
_NUMBER = re.compile("[0-9]{1,9}")
_MOST = 100_000  # names in one list: more is no cluster but a slip


def parse(text: str) -> dict[str, str]:
    """Leaf switch of each node; empty where the text speaks of no switches."""
    found: dict[str, str] = {}
    joined = re.sub(r"\\\n", " ", re.sub(r"#.*", "", text))
    for name, rest in _SWITCH.findall(joined):
        fields = {key.lower(): value for key, value in _FIELD.findall(rest)}
        if "switches" in fields or fields.get("level", "0") != "0" or "nodes" not in fields:
            continue
        for node in hosts(fields["nodes"]):
            found.setdefault(node, name)
    return found


def hosts(names: str) -> list[str]:
    """The names of Slurm's host list: `n[01-03,07],gpu1` is n01 n02 n03 n07 gpu1."""
    found: list[str] = []
    for part in re.split(r",(?![^\[]*\])", names):
        for name in _expanded(part):
            found.append(name)
            if len(found) > _MOST:
                raise InputError(f"host list '{names[:60]}…' has more than {_MOST} names")
    return found


def _expanded(name: str) -> Iterator[str]:
    bracket = _RANGE.match(name)
    if not bracket:
        yield from [name] if name else []
        return
    before, ranges, after = bracket.groups()
    for one in ranges.split(","):
        first, _, last = one.partition("-")
        if not (_NUMBER.fullmatch(first) and _NUMBER.fullmatch(last or first)):
            raise InputError(f"'{one}' in the host list '{name}' is neither a number nor a range")
        for number in range(int(first), int(last or first) + 1):
            for rest in _expanded(after) if after else [""]:
                yield f"{before}{number:0{len(first)}}{rest}"


def read(path: Path) -> dict[str, str]:
    """The same from a file; InputError where it cannot be read or names no leaf switch."""
    try:
        found = parse(regular.read_text(path, errors="replace"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not found:
        raise InputError(
            f"{path}: no line 'SwitchName=… Nodes=…' in it, as 'scontrol show topology' prints them"
        )
    return found


def attached(attachments: Mapping[str, str]) -> dict[str, str]:
    """The same from whatever text a launch carries that has switches in it; empty without."""
    for text in attachments.values():
        try:
            found = parse(text)
        except InputError:
            continue
        if found:
            return found
    return {}


def of_nodes(nodes: list[str], switch_of: Mapping[str, str]) -> list[str]:
    """Switch of each node, "" where it is not known; domains of host names do not matter."""
    short = {name.partition(".")[0]: switch for name, switch in switch_of.items()}
    return [switch_of.get(node) or short.get(node.partition(".")[0], "") for node in nodes]
