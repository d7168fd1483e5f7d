# SPDX-License-Identifier: BSD-3-Clause
"""What a shape can reach at most: the factors of the ceiling, each with its source.

Every factor bounds the payload that leaves a node, one way (`gbps_node_net`), from above; on one
node, where nothing leaves, memory bounds what a rank sends. What is not known is NaN, and then the
ceiling is known from above only.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from a2aperf import switches
from a2aperf.gating.given import Given
from a2aperf.labels import count_text
from a2aperf.launch import Launch

FILE: Final = "the file"
TOLD: Final = "as given"
STATED: Final = "as stated with --link-rate"
_NO_RATE: Final = "no rate of every link is recorded: rate=… gives it"
_NO_RAILS: Final = "how many adapters a node uses is not recorded: rails=… gives it"
_ETHERNET: Final = 14 + 4 + 8 + 12
"""B beside each packet: header, checksum, preamble, the gap (IEEE 802.3)."""
_IPV4: Final = 20
_TCP: Final = 20 + 12
"""Header and time stamps, as Linux has them (RFC 9293, RFC 7323)."""
_PSM2: Final = 56 + 4
"""Header of a packet of libpsm2 (HFI_MESSAGE_HDR_SIZE), and the ICRC that the adapter adds."""
_PSM2_MTU: Final = (256, 512, 1024, 2048, 4096, 8192, 10240)
"""What PSM2_MTU may be, or 1 to 7 for them; libpsm2 takes 8192 for anything else."""
_COPY: Final = 2  # bytes that memory moves for each that is copied: read once, written once


@dataclass(frozen=True)
class Factor:
    """One bound: `gbps` is NaN where it is not known, and `source` then says why."""

    name: str
    gbps: float
    source: str


@dataclass(frozen=True)
class Shape:
    """Where a point was measured: `rails` and `rate` (Gbit/s) as in its row, NaN unknown."""

    provider: str
    ranks: int
    nodes: int
    ppn: int
    rails: float
    rate: float
    launches: Sequence[Launch]


def factors(shape: Shape, given: Given) -> list[Factor]:
    """All that bound such a shape, and that somebody named."""
    if shape.nodes == 1:
        return [_memory(shape, given)]
    link = _link(shape, given)
    framed = _framing(shape, given, link.gbps)
    found = [link, framed, _pcie(shape, given)]
    if not math.isnan(given.taper):
        found.append(_taper(shape, given, framed.gbps))
    if not math.isnan(given.memory) and shape.ppn > 1:
        found.append(_memory(shape, given))
    return found


def _link(shape: Shape, given: Given) -> Factor:
    rate, source = _rate(shape, given)
    rails, many = _rails(shape, given)
    lacks = [_NO_RATE] * math.isnan(rate) + [_NO_RAILS] * math.isnan(rails)
    if lacks:
        return Factor("link", math.nan, "; ".join(lacks))
    return Factor("link", rate * rails, f"{many}{rate:.6g} Gbit/s, {source}")


def _rate(shape: Shape, given: Given) -> tuple[float, str]:
    """Of one link, and who says so; NaN unknown."""
    return (given.rate, TOLD) if given.rate > 0 else (shape.rate, _who_said(shape))


def _rails(shape: Shape, given: Given) -> tuple[float, str]:
    """How many adapters a node uses, and what goes before the rate of one; NaN unknown."""
    if given.rails >= 1:
        count = count_text(int(given.rails), "rail")
        return given.rails, f"{count} ({TOLD}) of "
    rails = shape.rails if shape.rails >= 1 else math.nan
    return rails, "" if rails == 1 else f"{rails:g} rails of "


def _who_said(shape: Shape) -> str:
    """Where the rate of the links in the files is from."""
    stated = [launch.has_stated_link for launch in shape.launches]
    if not any(stated):
        return FILE
    return STATED if all(stated) else f"{FILE}, in some launches {STATED}"


def _framing(shape: Shape, given: Given, link: float) -> Factor:
    mtu, source = (given.mtu, TOLD) if given.mtu > 0 else _least(shape, "nic_mtu", _number)
    if math.isnan(mtu):
        return Factor("framing", math.nan, f"the MTU is not known ({source}): mtu=… gives it")
    of_mtu = f"MTU {mtu:g} B, {source}"
    if given.headers >= 0:
        payload, frame = mtu, mtu + given.headers
        words = f"{given.headers:g} B of headers, {TOLD}"
    elif shape.provider.split(";")[0] in ("tcp", "net", "sockets"):
        payload, frame = mtu - _IPV4 - _TCP, mtu + _ETHERNET
        words = f"Ethernet {_ETHERNET} B, IPv4 {_IPV4} B, TCP with time stamps {_TCP} B"
    elif shape.provider == "psm2":
        payload = min([mtu, *filter(None, map(_psm2_mtu, shape.launches))])
        frame = payload + _PSM2
        lowered = f"PSM2_MTU makes {payload:g} B of it; " if payload < mtu else ""
        words = f"{lowered}headers of psm2 {_PSM2} B"
    else:
        why = f"the headers of {shape.provider} are not known: headers=… gives them"
        return Factor("framing", math.nan, why)
    if payload <= 0:
        return Factor("framing", math.nan, f"{of_mtu}: there is no room for the headers")
    share = payload / frame
    what = "the link's rate" if math.isnan(_rate(shape, given)[0]) else "the number of links"
    lacking = f"{what} is not known; " * math.isnan(link)
    words = f"{lacking}{100 * share:.2f} % is payload: {of_mtu}; {words}"
    return Factor("framing", link * share, words)


def _psm2_mtu(launch: Launch) -> int | None:
    """What a launch's PSM2_MTU asks for; None where it asks for nothing that is a number."""
    try:
        asked = int(launch.environment.get("PSM2_MTU", ""), 0)
    except ValueError:
        return None
    if asked in _PSM2_MTU:
        return asked
    return _PSM2_MTU[asked - 1] if 1 <= asked <= len(_PSM2_MTU) else 8192


def _pcie(shape: Shape, given: Given) -> Factor:
    if math.isinf(given.pcie):
        return Factor("pcie", math.inf, f"none, {TOLD}")
    rails, many = _rails(shape, given)
    if math.isnan(rails):
        return Factor("pcie", math.nan, _NO_RAILS)
    if given.pcie > 0:
        return Factor("pcie", given.pcie * rails, f"{many}{given.pcie:g} Gbit/s, {TOLD}")
    lanes, _ = _least(shape, "nic_pcie_width", _number)
    speed, source = _least(shape, "nic_pcie_speed", _number)
    if not lanes > 0 or not speed > 0:
        return Factor("pcie", math.nan, "lanes and speed are not recorded: pcie=… gives Gbit/s")
    gbps = lanes * speed * _coding(speed) * rails
    words = f"x{lanes:g} at {speed:g} GT/s, {source}; packets of PCIe are not counted"
    return Factor("pcie", gbps, words)


def _coding(speed: float) -> float:
    """Share of the bits that are data: 8b/10b, 128b/130b from 8 GT/s, flits from 64 GT/s."""
    if speed < 8:
        return 0.8
    return 128 / 130 if speed < 64 else 242 / 256


def _taper(shape: Shape, given: Given, link: float) -> Factor:
    """All leaf switches have as many times less upwards than downwards; the worst of them counts.

    Of a leaf of L nodes, n are used: they send (N − n)/(N − 1) of what leaves them through it.
    """
    leaves, source = _leaves(shape, given)
    if not leaves:
        why = "nobody says which nodes share a switch: leaf=… gives nodes of each"
        return Factor("taper", math.nan, why)
    bounds = [math.inf]
    for used, size in leaves:
        beyond = (shape.nodes - used) / (shape.nodes - 1)
        if beyond > 0:
            bounds.append(link * max(size / used, 1) / (given.taper * beyond))
    most = float(np.min(bounds))  # not known where the link's rate is not
    words = f"{given.taper:g} to 1, {TOLD}; {count_text(len(leaves), 'leaf', 'leaves')}, {source}"
    if math.isnan(most):
        words = f"what a link carries of payload is not known; {words}"
    return Factor("taper", most, words)


def _leaves(shape: Shape, given: Given) -> tuple[list[tuple[int, int]], str]:
    """Of each leaf that is used: nodes that are used, and nodes that hang on it."""
    if given.leaf >= 1:
        size = int(given.leaf)
        whole, rest = divmod(shape.nodes, size)
        return [(size, size)] * whole + ([(rest, size)] if rest else []), TOLD
    launch = shape.launches[0]
    known = switches.attached(launch.attachments)
    used = Counter(known.get(node, "") for node in launch.nodes)
    if not known or "" in used:
        return [], ""
    sizes = Counter(known.values())
    return [(count, sizes[name]) for name, count in used.items()], FILE


def _memory(shape: Shape, given: Given) -> Factor:
    """Ranks of a node copy what they send each other, at least once."""
    if math.isnan(given.memory):
        why = (
            "nothing leaves the node, and the rate of its memory is not known: memory=… gives GB/s"
        )
        return Factor("memory", math.nan, why)
    copies, source = _copies(shape, given)
    words = f"{given.memory:g} GB/s, {TOLD}; {count_text(copies, 'copy', 'copies')}, {source}"
    moved = 8 * given.memory / (_COPY * copies)
    if shape.nodes == 1:
        return Factor("memory", moved / shape.ranks, words)
    return Factor("memory", moved * (shape.ranks - shape.ppn) / (shape.ppn - 1), words)


def _copies(shape: Shape, given: Given) -> tuple[int, str]:
    if given.copies >= 1:
        return int(given.copies), TOLD
    off = {one.environment.get("FI_SHM_DISABLE_CMA") for one in shape.launches}
    if shape.provider.startswith("shm") and off == {"1"}:
        return 2, f"FI_SHM_DISABLE_CMA=1 in {FILE}"
    return 1, "the least there can be"


def _least(shape: Shape, fact: str, read: Callable[[str], float]) -> tuple[float, str]:
    """The least of all nodes, for the slowest ends an all-to-all; NaN where one is unknown."""
    values = [
        read(one.node_facts.get(fact, [])[at])
        if at < len(one.node_facts.get(fact, []))
        else math.nan
        for one in shape.launches
        for at in range(len(one.nodes))
    ]
    if not values or any(math.isnan(value) for value in values):
        return math.nan, "not recorded of every node"
    return min(values), FILE if min(values) == max(values) else f"the least in {FILE}"


def _number(text: str) -> float:
    found = re.match(r"\d{1,9}(\.\d{1,6})?", text)
    return float(found[0]) if found else math.nan
