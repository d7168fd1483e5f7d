# SPDX-License-Identifier: BSD-3-Clause
"""What is known of the settings of a provider: one readable file each, and a site's own."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from a2aperf import grouping, notation, regular
from a2aperf.credentials import looks_like_credential
from a2aperf.errors import InputError, nearest
from a2aperf.labels import list_text, size_text
from a2aperf.screening import places

_FOLDER: Final = files("a2aperf.screening") / "catalogues"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXTS: Final = ("name", "default", "what", "since", "danger", "source")
_LISTS: Final = ("values", "allowed", "conflicts")
_SIZES: Final = ("smallest", "largest")
_KEYS: Final = (*_TEXTS, *_LISTS, *_SIZES)
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([:,](0[xX][0-9a-fA-F]+|[0-9]+))*")
"""Or a list of them, which some settings of psm2 and psm3 take."""
_LARGEST: Final = 20
"""Digits of the largest number that a variable can have, 2^64 − 1."""
_RANGE: Final = re.compile(r"([0-9]{0,20})\.\.([0-9]{0,20})")
_LIKE_RANGE: Final = re.compile(r"-?[0-9]*\.\.[\w.]*|[\w.]*\.\.-?[0-9]*")
"""Of `allowed`: whole numbers, both ends with them; an end that is not there is open."""
_SINCE: Final = re.compile(r"(after )?\S+ \d+(\.\d+)*( or earlier)?")
_SWITCHED: Final = frozenset(("0", "1", "yes", "no", "on", "off", "true", "false"))
_NEEDED: Final = ("name", "values", "default", "what", "source")
ALIKE: Final = 0.9
"""Names that are so much alike are taken for a slip."""


@dataclass(frozen=True)
class Setting:
    """A variable that takes a launch of its own to be tried.

    `values` worth trying, the most promising first; `default` in words where nobody sets it.
    `smallest` and `largest` message size in bytes at which it can matter (−1: any). `danger`: what
    may go wrong; such a setting is screened only where it is named. `allowed`: all values that
    there are, words or ranges of numbers such as `0..2` or `1..`; none: nobody has said.
    """

    name: str
    values: tuple[str, ...]
    default: str
    what: str
    source: str
    since: str = ""
    smallest: int = -1
    largest: int = -1
    conflicts: tuple[str, ...] = ()
    danger: str = ""
    allowed: tuple[str, ...] = ()

    @property
    def sizes(self) -> str:
        """At which it can matter, in words."""
        low = size_text(self.smallest) if self.smallest > 0 else ""
        high = size_text(self.largest) if self.largest > 0 else ""
        if low and high:
            return f"{low} to {high}"
        return f"from {low}" if low else f"up to {high}" if high else "any"

    @property
    def allowed_text(self) -> str:
        """All values in words, `0 to 2` or `one of 1 or more, all`; empty where nobody has said."""
        one_of = "one of " * (len(self.allowed) > 1)
        return one_of + ", ".join(map(_in_words, self.allowed))

    def require_value(self, value: str) -> None:
        """InputError where it cannot be one: not allowed, or no number where values are numbers."""
        if self.allowed:
            if not _is_one_of(value, self.allowed):
                raise InputError(f"{self.name}={value}: expected {self.allowed_text}")
            return
        if not self.values or not all(_NUMBER.fullmatch(one) for one in self.values):
            return
        takes_words = set(self.values) <= _SWITCHED
        is_number = _NUMBER.fullmatch(value) and all(
            len(one) <= _LARGEST for one in re.split("[:,]", value)
        )
        if takes_words and value.lower() in _SWITCHED:
            return
        if self._is_only_switched or not is_number:
            expected = "0 or 1" if self._is_only_switched else "a whole number from 0"
            expected += takes_words * ", or yes or no"
            raise InputError(
                f"{self.name}={value}: expected {expected}; worth trying: {list_text(self.values)}"
            )

    @property
    def _is_only_switched(self) -> bool:
        """Whether it is on or off: of libpsm2 some of these variables take other numbers, too."""
        return self.name.startswith("FI_") and {*self.values, self.default} == {"0", "1"}


def _is_one_of(value: str, allowed: Sequence[str]) -> bool:
    return any(_is_allowed(value, one) for one in allowed)


def _is_allowed(value: str, one: str) -> bool:
    """Whether a value is that word, or in that range."""
    ends = _RANGE.fullmatch(one)
    if not ends:
        return value == one
    number = _NUMBER.fullmatch(value)
    if not number or number[2] or len(value) > _LARGEST:
        return False
    base = 16 if value[:2] in ("0x", "0X") else 10
    found, low, high = int(value, base), int(ends[1] or 0), ends[2]
    return low <= found and (not high or found <= int(high))


def _in_words(one: str) -> str:
    """A value that is allowed, or a range of them."""
    ends = _RANGE.fullmatch(one)
    if not ends:
        return one
    return f"{ends[1] or 0} to {ends[2]}" if ends[2] else f"{ends[1]} or more"


def _is_range(one: str) -> bool:
    """Whether it is one, with one end at least, and the low one first."""
    ends = _RANGE.fullmatch(one)
    if not ends or not (ends[1] or ends[2]):
        return False
    return not (ends[1] and ends[2]) or int(ends[1]) <= int(ends[2])


def providers() -> list[str]:
    """Those that have a file."""
    return sorted(_shipped())


def of(provider: str, own: Sequence[Path] = ()) -> list[Setting]:
    """The settings of a provider, those of a site's own files first; each name once.

    InputError where there is no such provider, or a file has a mistake.
    """
    known = _shipped()
    if provider not in known and not own:
        raise InputError(f"no catalogue of provider '{provider}': {_nearest(provider, known)}")
    parsed = [_read(path, provider) for path in own]
    for name in [provider, *_also(provider)] if provider in known else []:
        parsed.append(_parsed(f"{name} of a2aperf", known[name]))
    found: dict[str, Setting] = {}
    origins: dict[str, tuple[_Reader, int]] = {}
    for one in parsed:
        for number, setting in enumerate(one.settings):
            found.setdefault(setting.name, setting)
            origins.setdefault(setting.name, (one.reader, number))
    settings = list(found.values())
    _require_conflicts(settings, origins)
    return settings


def _read(path: Path, provider: str) -> _File:
    """A site's own file; InputError with its line and column where it has a mistake.

    A file that names another provider than this one is refused.
    """
    try:
        text = regular.read_text(path)
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: not a catalogue: {words}") from None
    parsed = _parsed(str(path), text)
    if provider and parsed.provider not in ("", provider):
        place = parsed.reader.place(-1, "provider")
        raise InputError(f"{place}: is of provider '{parsed.provider}', not of '{provider}'")
    return parsed


def chosen(settings: Sequence[Setting], names: Iterable[str]) -> list[Setting]:
    """Those of these names, in that order; InputError names the nearest where one is not known."""
    by_name = {one.name: one for one in settings}
    found = []
    for name in dict.fromkeys(names):
        if name not in by_name:
            raise InputError(f"unknown setting '{name}': {_nearest(name, by_name)}")
        found.append(by_name[name])
    return found


def slips(compared: Sequence[str]) -> list[str]:
    """Of `NAME=VALUES` the variables that no provider's file knows, but one that is much alike.

    And those that have the name of an option of a2aperf, and values that a variable cannot have.
    """
    options = {*grouping.CHOICES, *grouping.OF_LAUNCH}
    shipped = _shipped().items() if compared else ()
    known = {one.name: one for where, text in shipped for one in _parsed(where, text).settings}
    told = []
    for name, _, values in (one.partition("=") for one in compared):
        if name in options:
            told.append(f"{name} is a variable here: --{name} would be the option of a2aperf")
        close = [] if name in known else get_close_matches(name, sorted(known), 1, ALIKE)
        told += [f"{name} is in no catalogue of settings: did you mean {one}?" for one in close]
        for value in filter(None, values.split(",") if name in known else ()):
            try:
                known[name].require_value(value)
            except InputError as error:
                told.append(str(error))
    return told


def conflict(one: Setting, other: Setting) -> bool:
    """Whether the two cannot be screened together, whichever of them says so."""
    return other.name in one.conflicts or one.name in other.conflicts


# Reading -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _File:
    provider: str
    also: list[str]
    settings: list[Setting]
    reader: _Reader
    """Knows where all of it stands."""


def _shipped() -> dict[str, str]:
    """The text of each file by the provider that it names."""
    found = {}
    for entry in _FOLDER.iterdir():
        if entry.name.endswith(".toml"):
            text = entry.read_text(encoding="utf-8")
            found[str(tomllib.loads(text)["provider"])] = text
    return found


def _also(provider: str) -> list[str]:
    return _parsed(provider, _shipped()[provider]).also


def _parsed(where: str, text: str) -> _File:
    try:
        document = notation.of_toml(text)
    except tomllib.TOMLDecodeError as error:
        matched = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
        if matched:
            raise InputError(f"{where}:{matched[2]}:{matched[3]}: {matched[1]}") from None
        line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
        what = str(error).removesuffix(" (at end of document)")
        raise InputError(f"{where}:{line}:{column}: {what}: the file ends too early") from None
    except ValueError as error:
        raise InputError(f"{where}: not a catalogue: {error}") from None
    return _Reader(where, text).file(document)


class _Reader:
    """Turns a document into settings, and says of each mistake where it stands."""

    def __init__(self, where: str, text: str) -> None:
        self.where = where
        self.text = text

    def file(self, document: dict[str, Any]) -> _File:
        """All of it."""
        self._require_known(-1, document, ("provider", "also", "setting"))
        provider, also = document.get("provider", ""), document.get("also", [])
        if not isinstance(provider, str):
            self._refuse(-1, "provider", f'expected a name such as "psm2", not {provider!r}')
        if not isinstance(also, list) or not all(isinstance(name, str) for name in also):
            self._refuse(-1, "also", f'expected names such as ["tcp"], not {also!r}')
        tables = document.get("setting", [])
        if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
            self._refuse(-1, "setting", "expected tables, each headed [[setting]]")
        if not tables and not also:
            self._refuse(-1, "", "no setting: expected one [[setting]] at least")
        settings: list[Setting] = []
        for number, table in enumerate(tables):
            one = self._setting(number, table)
            if one.name in {x.name for x in settings}:
                self._refuse(number, "name", f"{one.name} is there twice")
            settings.append(one)
        return _File(provider, also, settings, self)

    def _setting(self, number: int, table: dict[str, Any]) -> Setting:
        self._require_known(number, table, _KEYS)
        for key in _NEEDED:
            if key not in table:
                self._refuse(number, "", f"lacks '{key}'")
        for key in _TEXTS:
            if key in table and not isinstance(table[key], str):
                self._refuse(number, key, f"expected a text in quotes, not {table[key]!r}")
        for key in ("name", "default", "what", "source"):
            if not table[key].strip():
                self._refuse(number, key, "is empty")
        for key in _LISTS:
            self._require_texts(number, key, table.get(key, []))
        for key in _SIZES:
            size = table.get(key, 1)
            if isinstance(size, bool) or not isinstance(size, int) or size < 1:
                self._refuse(number, key, f"expected bytes such as 4096, not {size!r}")
        self._require_sense(number, table)
        made: dict[str, Any] = {
            key: tuple(value) if key in _LISTS else value for key, value in table.items()
        }
        return Setting(**made)

    def _require_texts(self, number: int, key: str, value: Any) -> None:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self._refuse(number, key, f'expected texts such as ["1"], not {value!r}')

    def _require_sense(self, number: int, table: dict[str, Any]) -> None:
        name, values = table["name"], table["values"]
        if not _NAME.fullmatch(name):
            self._refuse(number, "name", f"'{name}' is no name of a variable")
        if looks_like_credential(name):
            self._refuse(number, "name", f"'{name}' looks like a credential, which no file records")
        if not values:
            self._refuse(number, "values", "expected one value at least that is worth trying")
        for value in values:
            if not value or "\n" in value:
                self._refuse(number, "values", f"{value!r} is no value of a variable")
            if value == table["default"]:
                self._refuse(number, "values", f"'{value}' is the default: nothing would change")
        if len(set(values)) < len(values):
            self._refuse(number, "values", "a value is there twice")
        self._require_allowed(number, values, table.get("allowed", []))
        if table.get("smallest", 0) > table.get("largest", 1 << 62):
            self._refuse(number, "smallest", "is above 'largest'")
        if table.get("since") and not _SINCE.fullmatch(table["since"]):
            self._refuse(number, "since", "expected a library and its version, as libfabric 1.17, "
                         f"not {table['since']!r}")  # fmt: skip
        if name in table.get("conflicts", []):
            self._refuse(number, "conflicts", f"{name} cannot conflict with itself")

    def _require_allowed(self, number: int, values: list[str], allowed: list[str]) -> None:
        for one in allowed:
            if not one or "\n" in one or (_LIKE_RANGE.fullmatch(one) and not _is_range(one)):
                self._refuse(
                    number,
                    "allowed",
                    f"expected a value, or a range such as 0..2 or 1.., not {one!r}",
                )
        for value in values if allowed else ():
            if not _is_one_of(value, allowed):
                self._refuse(number, "values", f"'{value}' is not among those that are allowed")

    def _require_known(self, number: int, table: dict[str, Any], names: Sequence[str]) -> None:
        for key in table:
            if key not in names:
                self._refuse(number, key, f"unknown key '{key}': {_nearest(key, names)}", False)

    def _refuse(self, number: int, key: str, what: str, named: bool = True) -> None:
        """InputError that points at the key of a table (−1: before all tables), or at its head."""
        said = f"{key}: {what}" if key and named else what
        raise InputError(f"{self.place(number, key)}: {said}")

    def place(self, number: int, key: str) -> str:
        """`FILE:LINE:COLUMN` of a key of a table, else of its head, else of the file's begin."""
        line, column = (
            (places.of_key(self.text, number, key) if key else None)
            or (places.of_table(self.text, number) if number >= 0 else None)
            or (1, 1)
        )
        return f"{self.where}:{line}:{column}"


def _require_conflicts(
    settings: Sequence[Setting], origins: Mapping[str, tuple[_Reader, int]]
) -> None:
    """Refuse a conflict with a setting that nobody has described."""
    names = {one.name for one in settings}
    for one in settings:
        for other in one.conflicts:
            if other not in names:
                reader, number = origins[one.name]
                raise InputError(
                    f"{reader.place(number, 'conflicts')}: {one.name} conflicts with the unknown "
                    f"setting '{other}': {_nearest(other, names)}"
                )


def _nearest(name: str, names: Iterable[str]) -> str:
    return nearest(name, sorted(names), 0.5)
