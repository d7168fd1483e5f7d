# SPDX-License-Identifier: BSD-3-Clause
"""What a command line that cannot be read is told, whoever has read it."""

from collections.abc import Callable

import pytest

from a2aperf import cli
from conftest import Outcome

A2A = Callable[..., Outcome]

COMMANDS = ", ".join(row.name for row in cli.COMMANDS)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("zzz", f"unknown command 'zzz': expected one of {COMMANDS} (see 'a2a --help')"),
        ("tabel x.h5", "unknown command 'tabel': did you mean table? (see 'a2a --help')"),
        ("--zzz", "unknown option '--zzz' (see 'a2a --help')"),
        ("table x.h5 -q", "unknown option '-q' (see 'a2a table --help')"),
        ("report --titel x.h5", "unknown option '--titel': did you mean --title?"),
        (
            "plot sizes x.h5 -o x.png --width huge",
            "--width: unknown value 'huge': expected one of ",
        ),
        ("plot sizes x.h5 -o x.png --x lin", "--x: unknown value 'lin': did you mean linear?"),
        ("plot zzz x.h5 -o x.png", "unknown kind 'zzz': expected one of scaling, sizes, latency, "),
        ("plot tailz x.h5 -o x.png", "unknown kind 'tailz': did you mean tails?"),
        ("plot", "kind is missing: expected one of scaling, sizes, "),
        ("table", "FILE is missing (see 'a2a table --help')"),
        ("merge x.h5", "--output is missing (see 'a2a merge --help')"),
        ("table x.h5 --layout", "--layout needs a value (see 'a2a table --help')"),
        ("table x.h5 --json=3", "--json takes no value (see 'a2a table --help')"),
        ("doctor here", "unexpected argument: here (see 'a2a doctor --help')"),
        ("doctor here there", "unexpected arguments: here there (see 'a2a doctor --help')"),
        ("doctor -N some", "--nodes: 'some' is not a whole number (see 'a2a doctor --help')"),
        ("doctor -N 1.5", "--nodes: '1.5' is not a whole number"),
        ("doctor -N 0", "--nodes: 0 is less than 1"),
        ("import x.txt --rails 4000", "--rails: 4000 is more than 1024"),
        ("live x.h5 --interval soon", "--interval: 'soon' is not a number"),
    ],
)
def test_a_command_line_that_cannot_be_read(a2a: A2A, line: str, said: str) -> None:
    outcome = a2a(*line.split())
    outcome.refused()
    assert outcome.err.startswith(f"a2a: {said}")
    assert said.endswith(")") <= outcome.err.endswith(f"{said}\n")


@pytest.mark.parametrize(
    "words", [("doctor", "-N", "1\n2\033[2J"), ("table", "--a\nb\033[2J"), ("a\nb\033[2J",)]
)
def test_what_was_typed_stays_on_one_line(a2a: A2A, words: tuple[str, ...]) -> None:
    a2a(*words).refused()


@pytest.mark.parametrize("row", cli.COMMANDS, ids=lambda row: row.name)
def test_every_command_names_its_options_that_are_unknown(a2a: A2A, row: cli.CommandRow) -> None:
    outcome = a2a(row.name, "--zzzzzz")
    assert outcome.status == row.bad_input
    assert outcome.err == f"a2a: unknown option '--zzzzzz' (see 'a2a {row.name} --help')\n"
