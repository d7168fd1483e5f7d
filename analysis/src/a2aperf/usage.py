# SPDX-License-Identifier: BSD-3-Clause
"""What is wrong with a command line, in our words: the parser's own are its library's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from typer import _click

from a2aperf.errors import nearest

_CHOICE: Final = re.compile(r"'(?P<value>.*)' is not one of (?P<choices>'.*')")
_CHOOSE: Final = re.compile(r"Choose from: (.*)")
_QUOTED: Final = re.compile(r"'([^']*)'")
_EXTRA: Final = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)")
_NEEDS: Final = re.compile(r"Option '(.*)' requires an argument")
_TAKES_NONE: Final = re.compile(r"Option '(.*)' does not take a value")
_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'")
# By the kinds of pydantic's errors; {} is what was given.
_NOT_A_NUMBER: Final = {
    "int_parsing": "'{}' is not a whole number",
    "int_from_float": "'{}' is not a whole number",
    "float_parsing": "'{}' is not a number",
    "greater_than_equal": "{} is less than {ge:g}",
    "less_than_equal": "{} is more than {le:g}",
}


def told(error: _click.exceptions.UsageError, commands: Sequence[str], words: Sequence[str]) -> str:
    """One line: what is wrong, what would be right, and the help of the command.

    Args:
        error: What the parser raised for the words.
        commands: All there are.
        words: The command line.

    """
    path = "a2a"
    if error.ctx:
        path = error.ctx.command_path
    elif words and words[0] in commands:
        path = f"a2a {words[0]}"
    return f"{_line(_wrong(error, commands))} (see '{path} --help')"


def _wrong(error: _click.exceptions.UsageError, commands: Sequence[str]) -> str:
    if isinstance(error, _click.exceptions.NoSuchOption):
        close = list(error.possibilities or ())  # the nearest first
        meant = f": did you mean {close[0]}?" if close else ""
        return f"unknown option '{error.option_name}'{meant}"
    if isinstance(error, _click.exceptions.MissingParameter):
        found = _CHOOSE.search(_line(error.format_message()))
        expected = f": expected one of {found[1]}" if found else ""
        return f"{_name(error.param)} is missing{expected}"
    if isinstance(error, _click.exceptions.BadParameter):
        return _bad_value(error)
    said = _line(error.format_message())
    if found := _NO_COMMAND.search(said):
        return _unknown("command", found[1], commands)
    if found := _EXTRA.search(said):
        return f"unexpected argument{'s' * (' ' in found[1])}: {found[1]}"
    if found := _NEEDS.search(said):
        return f"{found[1]} needs a value"
    if found := _TAKES_NONE.search(said):
        return f"{found[1]} takes no value"
    return said


def _bad_value(error: _click.exceptions.BadParameter) -> str:
    name = _name(error.param)
    said = _line(error.message)
    if found := _CHOICE.search(said):
        choices = _QUOTED.findall(found["choices"])
        if name.startswith("-"):
            return f"{name}: {_unknown('value', found['value'], choices)}"
        return _unknown(name, found["value"], choices)
    for one in _details(error):
        if text := _NOT_A_NUMBER.get(one["type"]):
            said = text.format(one["input"], **one.get("ctx", {}))
    return f"{name}: {said}"


def _details(error: _click.exceptions.BadParameter) -> list[dict[str, Any]]:
    """What pydantic says beside its words: the kind of error and what was given."""
    errors = getattr(error.__cause__, "errors", None)
    return errors()[:1] if errors else []


def _name(param: Any) -> str:
    """Of an option its longest spelling, of an argument what the help calls it."""
    if param is None:
        return "an argument"
    options = [one for one in param.opts if one.startswith("-")]
    return max(options, key=len) if options else str(param.get_error_hint()).strip("'")


def _unknown(what: str, given: str, known: Sequence[str]) -> str:
    return f"unknown {what} '{given}': {nearest(given, known)}"


def _line(text: str) -> str:
    """However many choices it lists, and without the library's own introduction."""
    return " ".join(text.split()).replace("Value error, ", "").rstrip(".")
