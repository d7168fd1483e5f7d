# SPDX-License-Identifier: BSD-3-Clause
"""Stable pseudonyms for hosts, users, paths and addresses, so that a file can be given away.

A pseudonym is a keyed hash: the same name gets the same pseudonym in every file exported with the
same key, and without the key nobody can try names until one fits.
"""

import hashlib
import hmac
import os
import re
import secrets
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from a2aperf import (
    arbitration,
    asking,
    looks,
    member_attributes,
    own_names,
    regular,
    results,
    schema,
    shaper,
    stored_texts,
    workloads,
    writer,
)
from a2aperf.asking import ask
from a2aperf.counter_ranges import CPU_LISTS
from a2aperf.credentials import looks_like_credential
from a2aperf.errors import InputError
from a2aperf.launch import ARBITRATION
from a2aperf.sample_columns import SampleColumn

KEY_BYTES = 32
# Fabric and MPI settings are what the file is for; only the names in them are replaced. The values
# of every other variable go wholly, unless they are numbers or plain switches.
_KEPT_FAMILIES = ("PSM2_", "PSM3_", "HFI_", "FI_", "UCX_", "OMPI_MCA_", "PMIX_MCA_")
_USER_VARIABLES = re.compile(r"(^|_)(USER|LOGNAME|USERNAME|ACCOUNT)(_|$)")
_HOST_VARIABLES = re.compile(r"(HOST|HOSTNAME|NODELIST|NODENAME|CLUSTER_NAME)$")
_BITS = re.compile(r"0x[0-9a-f]{1,16}")
_NO_NAMES = (
    r"(?<![\w-])--?[A-Za-z][\w-]*"  # options
    r"|(?<!\w)\d+(?:\.\d+)?[A-Za-z]{1,4}(?!\w)"  # numbers with a unit
    r"|(?<![^\W_])(?:0x[0-9a-fA-F]+|(?=[a-f]*\d)[0-9a-f]{7,40})(?![^\W_])"  # commits
)
"""Where a name may stand in a longer word by chance, and the whole stays."""
_WHOLE, _ANYWHERE = ("whole",), ("whole", "part")
"""Where names are looked for: as words of their own, or as parts of words as well."""
_WHOLE_FACTS = {"boot_id": "boot_id"}
_LID_FACTS = ("nic_lid", "nic_subnet_manager")
_BIT_FACTS = ("nic_max_mr_size", "nic_page_size_cap")
"""Limits of an adapter with as many digits as a GUID."""
_OF_THE_SITE = "site_"
"""What a site says of its nodes, such as the serial numbers of cables."""
_WHOLE_ATTRIBUTES = {"slurm_job_id": "job"}
_GROUPS = {f"/{name}" for name in ("raw", "counters", "segments", *workloads.GROUPS)}
"""Paths of a results file, which texts of its columns name."""
_PSEUDONYM = re.compile(
    r"(?:host|user|interface|path|address|command|value|job|boot_id)-[0-9a-f]{8}"
)


def read_key(path: Path) -> bytes:
    """Key of the pseudonyms; made on first use, readable by its owner only."""
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            # never what somebody else has put there meanwhile, nor where a link leads
            made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(made, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(KEY_BYTES) + "\n")
        key = bytes.fromhex(regular.read_text(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be used as key: {error.strerror}") from None
    except ValueError:
        key = b""
    if len(key) < KEY_BYTES:
        raise InputError(f"{path}: not a key (64 hexadecimal digits); remove it to get a new one")
    return key


class Pseudonyms:
    """Replaces names in strings; remembers what it must never let through."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._names: dict[str, str] = {}
        self._given: set[str] = set()
        self._pattern: re.Pattern[str] | None = None

    def of(self, kind: str, name: str) -> str:
        """Pseudonym of one name; empty stays empty."""
        if not name:
            return name
        digest = hmac.new(self._key, f"{kind}\0{name}".encode(), hashlib.sha256)
        pseudonym = f"{kind}-{digest.hexdigest()[:8]}"
        self._given.add(pseudonym)
        return pseudonym

    def learn(self, kind: str, names: Iterable[str]) -> None:
        """Names to replace wherever they occur as words, or as parts of words (`dora_run`)."""
        for name in names:
            if len(name) > 1 and not name.isdigit() and name != "localhost":
                self._names.setdefault(name, self.of(kind, name))
        names = sorted(self._names, key=len, reverse=True)
        whole, parts = "|".join(map(re.escape, names)), "|".join(map(_as_part, names))
        pattern = rf"(?P<whole>(?<![\w-])(?:{whole})(?![\w-]))|{_NO_NAMES}|(?P<part>{parts})"
        self._pattern = re.compile(pattern) if names else None

    def scrub(self, text: str, where: Sequence[str] = _ANYWHERE) -> str:
        """The text with learnt names, paths and addresses replaced."""
        if self._pattern:
            text = self._pattern.sub(
                lambda found: (
                    self._names[found.group()] if found.lastgroup in where else found.group()
                ),
                text,
            )
        text = looks.PATH.sub(self._path, text)
        text = looks.ADDRESS.sub(self._address, text)
        text = looks.GUID.sub(lambda found: self.of("address", found.group().strip()), text)
        return looks.INTERFACE.sub(lambda found: self.of("interface", found.group()), text)

    def scrub_name(self, name: str) -> str:
        """The name of a column, an attribute or a fact.

        One of small letters and digits may be the program's, which has no host's digits in its own.
        """
        if not stored_texts.LETTERS.fullmatch(name):
            return self.scrub(name)
        for host, pseudonym in self._names.items():
            if any(map(str.isdigit, host)):
                name = re.sub(_as_part(host), pseudonym, name)
        return name

    def _path(self, found: re.Match[str]) -> str:
        text = found.group()
        return text if text.rstrip(",.") in _GROUPS else self.of("path", text)

    def _address(self, found: re.Match[str]) -> str:
        text = found.group()
        return self.of("address", text) if looks.is_address(text) else text

    def command(self, line: str) -> str:
        """A command line: options and their values stay, file names and names go."""
        try:
            words = shlex.split(line)
        except ValueError:
            return self.of("command", line)
        return shlex.join(self._word(word) for word in words)

    def _word(self, word: str) -> str:
        option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
        if "/" in value or re.search(r"\.(h5|hdf5|toml|conf|cfg|txt|sh)$", value):
            value = self.of("path", value)
        return option + equals + self.scrub(value)

    def leaks(self, text: str, where: Sequence[str] = _ANYWHERE) -> str | None:
        """A learnt name that the text still has, as a whole word or as a part of one."""
        if self._pattern is None:
            return None
        text = _PSEUDONYM.sub(lambda one: " " if one.group() in self._given else one.group(), text)
        return next(
            (one.group() for one in self._pattern.finditer(text) if one.lastgroup in where), None
        )


def _as_part(name: str) -> str:
    """A pattern for a name between anything but letters, nor between digits where it has some."""
    before = r"(?<![^\W_])" if name[0].isdigit() else r"(?<![^\W\d_])"
    after = r"(?![^\W_])" if name[-1].isdigit() else r"(?![^\W\d_])"
    return before + re.escape(name) + after


def anonymize(found: results.Results, key: bytes) -> writer.Document:
    """One loaded file without the names of hosts, users, paths and addresses; samples unchanged.

    Labels are the user's own words: only names in them are replaced. Attachments are left out:
    nothing is known of what they say.
    """
    ((name, path),) = found.files.items()
    content = ask(path, asking.content, path, [*found.columns.values()], workloads.GROUPS)
    columns, segments = content.columns, content.segments
    pseudonyms = Pseudonyms(key)
    words = [str(x) for one in columns.values() if one.dtype == object for x in set(one)]
    words += [str(x) for x in found.attributes[name].values()]
    words += [text for segment in segments for text in segment.attachments.values()]
    words += [text for _, text in member_attributes.texts(content.of_members)]
    words += [text for _, text in stored_texts.of_groups(content.groups)]
    words += [one.units for one in content.own_columns.values()]
    words += own_names.texts(content, found.described, found.attributes[name])
    _learn(pseudonyms, segments, words)
    for segment in segments:
        _replace(pseudonyms, segment)
    for column in found.columns.values():
        if column.kind == "string":
            _map(partial(_word_of_column, pseudonyms, column.name), columns[column.name])
    described = tuple(
        own_names.column(one, pseudonyms.scrub, pseudonyms.scrub_name) for one in found.described
    )
    own_columns = _scrub_own(pseudonyms, content)
    has_raw = found.points["has_raw"].to_numpy()

    def raw(point: int) -> schema.Raw | None:
        if not has_raw[point]:
            return None
        ops = found.raw(name, point)
        return ops.samples

    def counters(point: int) -> schema.Counters | None:
        counted = found.counters(name, point)
        if counted is None:
            return None
        lists = [one if CPU_LISTS.fullmatch(one) else "" for one in counted.thread_affinity]
        return replace(_ports(pseudonyms, counted), thread_affinity=lists)

    def arrival(point: int) -> NDArray[np.int64] | None:
        return found.arrival(name, point) if has_raw[point] else None

    def own_samples(point: int, column: SampleColumn) -> NDArray[Any] | None:
        return found.own(name, point, column) if has_raw[point] else None

    document = writer.Document(
        {
            own_names.name(key, pseudonyms.scrub_name): (
                pseudonyms.scrub(value) if isinstance(value, str) else value
            )
            for key, value in found.attributes[name].items()
        },
        own_names.renamed(columns, pseudonyms.scrub_name),
        segments,
        raw=raw if has_raw.any() else None,
        counters=counters if has_raw.any() else None,
        arrival=arrival if content.is_traced else None,
        own_columns=own_columns,
        own_samples=own_samples,
        own={one: (workloads.GROUPS[one], arrays) for one, arrays in content.groups.items()},
        described=described,
        kept=own_names.of_members(content.of_members, pseudonyms.scrub, pseudonyms.scrub_name),
    )
    document.attributes["layout"] = "compact"
    _require_clean(pseudonyms, document)
    return document


def _scrub_own(pseudonyms: Pseudonyms, content: asking.Content) -> dict[str, SampleColumn]:
    """What the workload says beside the points: groups in place; columns of samples anew."""
    for arrays in content.groups.values():
        for name, values in arrays.items():
            if values.dtype == object:
                _map(partial(_word_of_column, pseudonyms, name), values)
    return {
        name: replace(
            one, long_name=pseudonyms.scrub(one.long_name), units=pseudonyms.scrub(one.units)
        )
        for name, one in content.own_columns.items()
    }


def _word_of_column(pseudonyms: Pseudonyms, column: str, text: str) -> str:
    """A word that the program or libfabric chose stays, were a host called the same."""
    return (
        text
        if column in stored_texts.FIXED_WORDS and stored_texts.WORD.fullmatch(text)
        else pseudonyms.scrub(text)
    )


def _map(function: Callable[[str], str], values: Any) -> Any:
    values[:] = [function(str(value)) for value in values]
    return values


def _learn(pseudonyms: Pseudonyms, segments: Sequence[schema.Segment], others: list[str]) -> None:
    """Names of hosts and users, by what says so and by how they look; `others` are more texts."""
    hosts: set[str] = set()
    users: set[str] = set()
    interfaces: set[str] = set()
    texts = list(others)
    for segment in segments:
        hosts |= {*segment.nodes, *(node.partition(".")[0] for node in segment.nodes)}
        for name, value in segment.environment.items():
            if _USER_VARIABLES.search(name) and not stored_texts.PLAIN.match(value):
                users.add(value)
            elif _HOST_VARIABLES.search(name) and re.fullmatch(r"[\w.-]+", value):
                hosts.add(value)
        texts += [text for _, text in stored_texts.of_segment(segment)]
    kin = looks.kin(hosts)
    for text in texts:
        hosts.update(kin.findall(text) if kin else ())
        users.update(looks.HOME.findall(text), looks.users(text))
        for user, host in looks.AT.findall(text):
            users.add(user)
            hosts.add(host)
        for host in looks.DOTTED.findall(text):
            if not looks.FILE.search(host):
                hosts |= {host, host.partition(".")[0]}
        hosts.update(looks.NUMBERED.findall(text))
        interfaces.update(looks.INTERFACE.findall(text))
    pseudonyms.learn("host", sorted(hosts))
    pseudonyms.learn("user", sorted(users - {"root"}))
    pseudonyms.learn("interface", sorted(interfaces))


def _ports(pseudonyms: Pseudonyms, counted: schema.Counters) -> schema.Counters:
    """With other names of ports."""
    ports = {pseudonyms.scrub(port): values for port, values in counted.ports.items()}
    phases = {
        name: _ports(pseudonyms, phase) if phase else None
        for name, phase in counted.phases().items()
    }
    return replace(counted, ports=ports).beside(phases)


def _replace(pseudonyms: Pseudonyms, segment: schema.Segment) -> None:
    if segment.start:
        segment.start = _ports(pseudonyms, segment.start)
    if segment.start_times:
        for texts in (segment.start_times.phases, segment.start_times.meanings):
            _map(pseudonyms.scrub, texts)
    segment.nodes = [pseudonyms.of("host", node) for node in segment.nodes]
    for name, value in segment.attributes.items():
        if name in _WHOLE_ATTRIBUTES:
            segment.attributes[name] = pseudonyms.of(_WHOLE_ATTRIBUTES[name], str(value))
        elif name == "command_line":
            segment.attributes[name] = pseudonyms.command(str(value))
        elif isinstance(value, str):
            segment.attributes[name] = pseudonyms.scrub(value)
    segment.attributes = own_names.renamed(segment.attributes, pseudonyms.scrub_name)
    segment.environment = {
        _name_of_variable(pseudonyms, name): _variable(pseudonyms, name, value)
        for name, value in segment.environment.items()
        if not looks_like_credential(name)
    }
    segment.attachments = {}
    segment.labels = {
        pseudonyms.scrub(name): pseudonyms.scrub(value) for name, value in segment.labels.items()
    }
    for flags in (segment.uniform, segment.required):
        for name in list(flags):
            flags[_name_of_variable(pseudonyms, name)] = flags.pop(name)
    segment.message = pseudonyms.scrub(segment.message)
    segment.fi_info = pseudonyms.scrub(segment.fi_info)
    for facts in (segment.node_facts, segment.rank_facts):
        for name, values in facts.items():
            facts[name] = [_fact(pseudonyms, name, value) for value in values]
    segment.node_facts = own_names.renamed(segment.node_facts, pseudonyms.scrub_name)
    segment.rank_facts = own_names.renamed(segment.rank_facts, pseudonyms.scrub_name)


def _fact(pseudonyms: Pseudonyms, name: str, value: str) -> str:
    if name == ARBITRATION:
        return "\n".join(shaper.without_names(value) + arbitration.without_names(value))
    kind = _WHOLE_FACTS.get(name, "value" if name.startswith(_OF_THE_SITE) else "")
    if kind:
        return pseudonyms.of(kind, value)
    if name in _BIT_FACTS and _BITS.fullmatch(value):
        return value
    text = pseudonyms.scrub(value)
    if name in _LID_FACTS:
        text = looks.LID.sub(lambda found: pseudonyms.of("address", found.group()), text)
    return text


def _name_of_variable(pseudonyms: Pseudonyms, name: str) -> str:
    """MPI or a fabric chose the words of some: no host is meant that is called like a part."""
    return pseudonyms.scrub(name, _WHOLE if name.startswith(_KEPT_FAMILIES) else _ANYWHERE)


def _variable(pseudonyms: Pseudonyms, name: str, value: str) -> str:
    if stored_texts.PLAIN.match(value) and "JOB_ID" not in name and "JOBID" not in name:
        return pseudonyms.scrub(value)  # an address looks like a number, too
    if name.startswith(_KEPT_FAMILIES):
        return pseudonyms.scrub(value)
    return pseudonyms.of("value", value)


def _require_clean(pseudonyms: Pseudonyms, document: writer.Document) -> None:
    """No learnt name may be left where names are replaced."""
    for what, text in stored_texts.left(document):
        is_chosen = what in stored_texts.OF_PROGRAMS or text.startswith(_KEPT_FAMILIES)
        leak = pseudonyms.leaks(text, _WHOLE if is_chosen else _ANYWHERE)
        if leak:
            raise InputError(f"'{leak}' would still be in '{text}'; nothing was written")
