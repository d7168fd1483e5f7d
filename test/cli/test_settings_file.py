# SPDX-License-Identifier: BSD-3-Clause
"""src/app/settings.toml: what the build makes of it, and what it says of a mistake in it."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "src/app"
OPTION = """\
[[option]]
name = "window"
values = ["1", "8"]
default = "all"
what = "How many."
source = "this test"
"""


def made(file: Path, rows: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(FOLDER / "settings.py"), str(file), str(rows)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_every_text_of_it_that_the_program_needs_is_in_what_is_compiled(tmp_path):
    """Read by another reader of TOML."""
    outcome = made(FOLDER / "settings.toml", tmp_path / "rows")
    assert outcome.returncode == 0, outcome.stderr
    rows = (tmp_path / "rows").read_text()
    tables = tomllib.loads((FOLDER / "settings.toml").read_text())
    assert set(tables) == {"option", "faster"}
    for one in tables["option"]:
        for word in (one["name"], one["default"], *one["values"]):
            assert f'"{word}"' in rows
    for one in tables["faster"]:
        assert all(f'"{one[key]}"' in rows for key in ("provider", "mode", "limit", "what", "figure"))
        assert all(f'"{mode}"' in rows for mode in one["than"])
        assert str(one["above"]) in rows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OPTION.replace("[[option]]", "[[optoin]]"), ":1: expected [[option]] or [[faster]], not [[optoin]]"),
        ('name = "window"\n' + OPTION, ":1: expected KEY = VALUE below the head of a table"),
        (OPTION + "name\n", ":7: expected KEY = VALUE below the head of a table, not name"),
        (OPTION + 'name = "window"\n', ":7: name: expected once each of name, default, values, what, source"),
        (OPTION + 'limit = "X"\n', ":7: limit: expected once each of name, default, values, what, source"),
        (OPTION.replace('"all"', "all"), ":4: default: expected a text in quotes, not all"),
        (OPTION.replace('["1", "8"]', "[1, 8]"), ':3: values: expected texts such as ["1", "8"], not [1, 8]'),
        (OPTION.replace('["1", "8"]', "[]"), ":3: values: expected texts"),
        (OPTION.replace('what = "How many."\n', ""), ":1: lacks what"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_nothing_is_made(text, said, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text(text)
    outcome = made(file, tmp_path / "rows")
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(f"{file}{said}")
    assert outcome.stderr.count("\n") == 1
    assert not (tmp_path / "rows").exists()
