# SPDX-License-Identifier: BSD-3-Clause
"""docs/words.md is kept: every text that it bans is found in every kind of file, and in the tree there is none."""

import shutil
from pathlib import Path

import pytest
import words

ROOT = Path(__file__).resolve().parents[2]
LIST = words.read_list((ROOT / words.LIST).read_text(encoding="utf-8"))

# A file of every kind of text, with a place for a sentence that a user would read.
SAID = {
    "src/x/said.cpp": '// a comment\nauto text = fmt::format("it is "\n    "{} here", 1);\n',
    "analysis/src/a2aperf/commands/said.py": 'def run():\n    """It is\n    {} here."""\n',
    "analysis/src/a2aperf/called.py": '@app.callback(epilog="")\ndef _group():\n    """It is {} here."""\n',
    "analysis/src/a2aperf/runs.py": 'class Runs:\n    def table(self):\n        """It is {}\n\n        here."""\n',
    "analysis/src/a2aperf/catalogues/said.toml": '# a comment\n[[setting]]\nwhat = "it is {} here"\n',
    "src/app/said.toml": 'source = "it is {} here"\n',
    "docs/said.ipynb": '{"cells": [{"source": ["It is\\n", "{} here"]}]}',
    "docs/printed.ipynb": '{"cells": [{"source": ["x"], "outputs": [{"text": ["it is {} here"]}]}]}',
    "packaging/modulefiles/said": 'module-whatis "it is {} here"\n',
    "analysis/src/a2aperf/said.py": 'text = f"{1} it is "\\\n    f"{} here"\n',
    "jobs/lib/said.sh": 'say "it is {} here"\n',
    "docs/said.md": "It is\n{} here.\n",
    "docs/man/said.1": ".Nm\nit is {} here\n",
    "analysis/src/a2aperf/templates/said.html": "<p>it is {} here</p>\n",
}
# The same where no user reads it.
UNSAID = {
    "src/x/unsaid.cpp": "// it is {} here\nint x = 1'000; // \"{}\"\n",
    "analysis/src/a2aperf/figures.py": 'def _f():\n    """It is {} here."""\n',
    "src/app/unsaid.toml": '# it is {} here\n',
    "analysis/src/a2aperf/unsaid.py": 'def f():\n    """It is {} here."""\n',
    "jobs/lib/unsaid.sh": "# it is {} here\n",
}


def test_nothing_in_the_tree_is_said_otherwise() -> None:
    assert words.offences(ROOT, LIST) == []


@pytest.mark.parametrize("rule", LIST.rules, ids=lambda rule: rule.banned)
def test_what_is_banned_is_found_wherever_it_is_read(rule, tmp_path) -> None:
    sentence = rule.banned.replace("…", "'x':")
    for name, text in {**SAID, **UNSAID}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{}", sentence), encoding="utf-8")
    found = {line.split(":")[0] for line in words.offences(tmp_path, words.Words((rule,), ()))}
    assert found == set(SAID)


def test_a_text_is_found_across_lines_and_whatever_its_case(tmp_path) -> None:
    (tmp_path / "a.md").write_text("Fine.\n\nNot\nStated here.\n", encoding="utf-8")
    assert words.offences(tmp_path, LIST) == [f"a.md:3: 'Not Stated': say 'not set' ({words.LIST})"]


@pytest.mark.parametrize("text", ["gbps_rank and gbps_node_net", "reset", "unsettled", "20 Gbit/s", "the text is not"])
def test_names_and_parts_of_words_are_let_be(text, tmp_path) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert words.offences(tmp_path, LIST) == []


def test_every_exception_is_needed(tmp_path) -> None:
    for place in ("src", "include", "analysis", "jobs", "docs", "packaging"):
        shutil.copytree(ROOT / place, tmp_path / place, ignore=shutil.ignore_patterns(".venv", "build", "*.svg", "*.png"))
    for allowed in LIST.exceptions:
        others = tuple(one for one in LIST.exceptions if one != allowed)
        assert words.offences(tmp_path, words.Words(LIST.rules, others)), f"{allowed} stands nowhere"


def test_what_is_said_for_a_banned_text_is_not_banned_itself(tmp_path) -> None:
    (tmp_path / "a.md").write_text("\n".join(rule.say for rule in LIST.rules), encoding="utf-8")
    assert words.offences(tmp_path, LIST) == []
