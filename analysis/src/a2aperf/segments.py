# SPDX-License-Identifier: BSD-3-Clause
"""One launch in a file, `/segments/<i>`: where its parts stand, to read and to write them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import h5py
import numpy as np
from numpy.typing import NDArray

from a2aperf import checksums, making, strict
from a2aperf.errors import DAMAGE, what_is_damaged
from a2aperf.schema import END_REASONS, END_STATES, SEGMENT_ATTRIBUTES, Kind, Segment

_OF_RANK: dict[str, Kind] = {
    **dict.fromkeys(("node_of_rank", "clock_domain_of_rank", "rank_order"), "int32"),
    **dict.fromkeys(("clock_offset", "clock_drift"), "float64"),
}
_OF_CLOCKS = ("clock_offset", "clock_drift")
"""Of the ranks' clocks: no figure needs them. NaN throughout: not known."""
_NAMED = {
    "environment": ("environment_name", "environment_value"),
    "labels": ("label_name", "label_value"),
    "attachments": ("attachment_name", "attachment_text"),
}
"""Texts by name: two lists each."""
_OF_VARIABLE = {"uniform": ("environment_uniform", 1), "required": ("environment_required", 0)}
"""Flags of the variables, with what stands for a variable of which none is known."""
_FACTS = ("node_facts", "rank_facts")
START = "start_counters"
"""What the start of the launch counted (`counted`, `counter_group`)."""
_OF_END = "CRC-32 of how the launch ended: end_state, end_reason, ended, message"
START_TIMES = "start_times"
"""How long it took, phase by phase (`start_times`)."""
Of = TypeVar("Of")
_LATE = ("environment_required", "planned_order", "attachment_name")
"""Copies by an older a2a lack them, and files from before `--attach` the last; blank there."""


def read(group: h5py.Group, ranks: int, points: int, unread: list[str] | None = None) -> Segment:
    """Provenance of one launch, no list of which may be longer than the file's ranks and points.

    Facts and attributes that cannot be read are blank, and named in `unread` if given.
    """

    def fact(name: str, read_it: Callable[[], Any], blank: Any) -> Any:
        try:
            return read_it()
        except DAMAGE as error:
            if unread is None:
                raise
            unread.append(f"{name} cannot be read: {what_is_damaged(error)}")
            return blank

    named = {
        name: fact(name, partial(_texts_by_name, group, *places), {})
        for name, places in _NAMED.items()
    }
    lists: dict[str, Any] = {
        name: strict.numbers(group[name], kind, ranks)
        for name, kind in _OF_RANK.items()
        if name not in _OF_CLOCKS
    }
    unknown = np.full(lists["node_of_rank"].size, np.nan)
    for name in _OF_CLOCKS:
        lists[name] = fact(name, partial(_clocks, group, name, ranks), unknown)
    flags: dict[str, Any] = {
        name: fact(place, partial(_flags, group, list(named["environment"]), place), {})
        for name, (place, _) in _OF_VARIABLE.items()
    }
    facts: dict[str, Any] = {
        name: fact(name, partial(_facts_of, group, name), {}) for name in _FACTS
    }
    nodes = strict.texts(group["nodes"])
    _require_nodes(group, lists["node_of_rank"], nodes)
    order = "planned_order"
    return Segment(
        attributes=_attributes(group, fact),
        end_state=_end_state(group),
        end_reason=_end_reason(group),
        ended=strict.one_number(group["ended"]),
        message=fact("message", lambda: strict.one_text(group["message"]), ""),
        nodes=nodes,
        environment=named["environment"],
        labels=named["labels"],
        attachments=named["attachments"],
        fi_info=fact("fi_info", lambda: strict.one_text(group["fi_info"]), ""),
        planned_order=strict.numbers(group[order], "int32", points)
        if order in group
        else np.empty(0, np.int32),
        **lists,
        **flags,
        **facts,
    )


def read_placed(
    group: h5py.Group,
    ranks: int,
    attributes: Collection[str],
    rank_facts: Collection[str],
    but: Collection[str],
) -> Segment:
    """Of a launch only these attributes, its ranks and nodes, and facts; the rest is blank.

    Facts of ranks are these, those of nodes all `but` some.
    """
    known = {
        name: _attribute(group, name) if name in group.attrs else SEGMENT_ATTRIBUTES[name]
        for name in attributes
    }
    nodes = strict.texts(group["nodes"])
    node_of_rank = strict.numbers(group["node_of_rank"], _OF_RANK["node_of_rank"], ranks)
    _require_nodes(group, node_of_rank, nodes)
    of_nodes, of_ranks = (strict.group(group[name]) for name in _FACTS)
    return Segment(
        attributes=known,
        nodes=nodes,
        node_of_rank=node_of_rank,
        node_facts={name: strict.texts(of_nodes[name]) for name in of_nodes if name not in but},
        rank_facts={name: strict.texts(of_ranks[name]) for name in rank_facts if name in of_ranks},
    )


def _require_nodes(group: h5py.Group, node_of_rank: NDArray[Any], nodes: Sequence[str]) -> None:
    if ((node_of_rank < 0) | (node_of_rank >= len(nodes))).any():
        raise ValueError(f"{group.name}/node_of_rank names a node that is not there")


def who(group: h5py.Group) -> tuple[dict[str, Any], list[str]]:
    """What tells a launch from all others, `copies.identity`: two attributes, and its nodes."""
    attributes = {
        name: _attribute(group, name) if name in group.attrs else SEGMENT_ATTRIBUTES[name]
        for name in ("time_origin", "command_line")
    }
    return attributes, strict.texts(group["nodes"])


def _texts_by_name(group: h5py.Group, names: str, values: str) -> dict[str, str]:
    if names in _LATE and names not in group:
        return {}
    return dict(zip(strict.texts(group[names]), strict.texts(group[values]), strict=True))


def _clocks(group: h5py.Group, name: str, ranks: int) -> NDArray[Any]:
    return strict.numbers(group[name], "float64", ranks)


def _flags(group: h5py.Group, variables: list[str], place: str) -> dict[str, bool]:
    if place in _LATE and place not in group:
        return {}
    values = strict.flags(group[place], strict.numbers(group[place], "int8", len(variables)))
    return dict(zip(variables, values, strict=True))


def _facts_of(group: h5py.Group, of: str) -> dict[str, list[str]]:
    return {name: strict.texts(values) for name, values in strict.group(group[of]).items()}


def _end_state(group: h5py.Group) -> str:
    state = strict.one_number(group["end_state"])
    if not 0 <= state < len(END_STATES):
        raise ValueError(f"{group.name}/end_state has a value without a meaning")
    return END_STATES[_settled(group) if END_STATES[state] == "running" else state]


def _settled(group: h5py.Group) -> int:
    """The state that the checksum of a launch's end is of, where it still says that it runs.

    It is written last: of a launch that ended it need not be on the disk, and a flipped bit takes
    it away. Of what cannot be read no state follows.
    """
    running = END_STATES.index("running")
    if checksums.OF_END not in group:
        return running
    told = strict.one_number(group[checksums.OF_END])
    others = range(running + 1, len(END_STATES)) if told != checksums.NONE else ()
    try:
        return next((one for one in others if told == checksums.of_end(group, one)), running)
    except DAMAGE:
        return running


def _end_reason(group: h5py.Group) -> str:
    """In older files that of the state; a newer program may have words of its own."""
    if "end_reason" not in group:
        of_state = ("running", "finished", "signal", "other")
        return of_state[END_STATES.index(_end_state(group))]
    reason = strict.one_number(group["end_reason"])
    told = strict.text(group["end_reason"].attrs.get("flag_meanings", "")).split()
    words = told or END_REASONS
    if not 0 <= reason < len(words):
        raise ValueError(f"{group.name}/end_reason has a value without a meaning")
    return words[reason]


def _write_end_reason(group: h5py.Group, reason: str) -> None:
    words = END_REASONS if reason in END_REASONS else (*END_REASONS, reason)
    group.create_dataset("end_reason", data=np.int8(words.index(reason)))
    making.attribute(group["end_reason"], "long_name", "why the launch ended")
    making.attribute(group["end_reason"], "flag_values", np.arange(len(words), dtype=np.int8))
    making.attribute(group["end_reason"], "flag_meanings", " ".join(words))


def _attributes(
    group: h5py.Group, fact: Callable[[str, Callable[[], Any], Any], Any]
) -> dict[str, Any]:
    found = dict(SEGMENT_ATTRIBUTES)
    for name in fact("its attributes", lambda: list(group.attrs), ()):
        value = fact(f"its attribute {name}", partial(_attribute, group, name), None)
        if value is not None:
            found[name] = value
    return found


def _attribute(group: h5py.Group, name: str) -> Any:
    value = group.attrs[name]
    if name in SEGMENT_ATTRIBUTES:
        return strict.like(name, value, SEGMENT_ATTRIBUTES[name])
    return strict.plain(name, value)


def _stored(value: Any, blank: Any) -> Any:
    """As the schema has it; what is not of the schema, as what it is."""
    if blank is None:
        wide = {int: np.int64, float: np.float64}.get(type(value))
        return wide(value) if wide else value
    return str(value) if isinstance(blank, str) else type(blank)(value)


def part(
    name: str,
    read: Callable[[h5py.Group, int], Of | None],
    launch: h5py.Group,
    ranks: int,
    unread: list[str] | None,
) -> Of | None:
    """What `read` makes of a group of a launch; None where it cannot be read and that is told."""
    try:
        return read(launch, ranks)
    except DAMAGE as error:
        if unread is None:
            raise
        unread.append(f"{name} cannot be read: {what_is_damaged(error)}")
        return None


def write(group: h5py.Group, segment: Segment) -> None:
    """The launch as `read` reads it."""
    for name, value in {**SEGMENT_ATTRIBUTES, **segment.attributes}.items():
        making.attribute(group, name, _stored(value, SEGMENT_ATTRIBUTES.get(name)))
    group.create_dataset("end_state", data=np.int8(END_STATES.index(segment.end_state)))
    _write_end_reason(group, segment.end_reason)
    group.create_dataset("ended", data=np.int64(segment.ended))
    message = segment.message.encode()[:1024]
    group.create_dataset("message", data=message, dtype=h5py.string_dtype(length=1024))
    group.create_dataset("end_checksum", data=np.int64(-1))  # `sealing` puts it in
    making.attribute(group["end_checksum"], "long_name", _OF_END)
    group.create_dataset("fi_info", data=segment.fi_info, dtype=making.TEXT)
    write_texts(group, "nodes", segment.nodes)
    for name, kind in {**_OF_RANK, "planned_order": "int32"}.items():
        group.create_dataset(name, data=getattr(segment, name).astype(kind))
    for name, (names, values) in _NAMED.items():
        texts = getattr(segment, name)
        write_texts(group, names, texts)
        write_texts(group, values, texts.values())
    for name, (place, default) in _OF_VARIABLE.items():
        flags = getattr(segment, name)
        told = [flags.get(variable, default) for variable in segment.environment]
        group.create_dataset(place, data=np.array(told, dtype=np.int8))
    for name in _FACTS:
        subgroup = group.create_group(name)
        for fact, values in getattr(segment, name).items():
            write_texts(subgroup, fact, values)


def write_texts(group: h5py.Group, name: str, values: Iterable[Any]) -> None:
    """A list of texts."""
    texts: NDArray[Any] = np.array([str(value) for value in values], dtype=object)
    group.create_dataset(name, data=texts, dtype=making.TEXT)


def strangers(group: Any) -> list[str]:
    """Its members that `read` does not read: a copy would lack them."""
    known = {
        *("end_state", "end_reason", "ended", "message", "end_checksum"),
        *("nodes", "fi_info", "planned_order"),
        *_OF_RANK,
        *_FACTS,
        START,
        START_TIMES,
        *(place for places in _NAMED.values() for place in places),
        *(place for place, _ in _OF_VARIABLE.values()),
    }
    return sorted(set(strict.group(group)) - known)


def lacking(group: h5py.Group) -> Iterator[str]:
    """What the group of a launch has not though it should."""
    return (name for name in _LATE[:2] if name not in group)
