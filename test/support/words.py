#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One word for one thing: docs/words.md says which, and this finds what it bans.

Looked at are the strings of the program and of the analysis, the job scripts, templates, catalogues, the manual page and
the documentation with its notebook. Identifiers, comments and docstrings are not, as no user reads them: but for those of
commands, which are their help, and of the interface for notebooks.
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = "docs/words.md"

Text = tuple[int, str]  # the line at which it begins, and what is read there


@dataclass(frozen=True)
class Rule:
    """What to say, and a text that is not to be said for it; … stands for anything within a sentence."""

    say: str
    banned: str

    def pattern(self) -> re.Pattern[str]:
        """Lower case means any case: of a unit's name the case counts."""
        words = r"\s+".join(map(re.escape, self.banned.split()))
        words = words.replace(r"\s+…\s+", r"\b[^.\n]{0,80}?\b").replace("…", r"[^.\n]{0,80}?")
        return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE if self.banned.islower() else 0)


@dataclass(frozen=True)
class Words:
    """The whole list."""

    rules: tuple[Rule, ...]
    exceptions: tuple[str, ...]


def read_list(page: str) -> Words:
    """The tables of the page: three columns are rules, two are exceptions; banned texts are in backquotes."""
    rules: list[Rule] = []
    exceptions: list[str] = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or set(cells[0]) <= {"-"}:
            continue
        if len(cells) == 3:
            rules += [Rule(cells[0], banned) for banned in re.findall(r"`([^`]+)`", cells[2])]
        elif len(cells) == 2:
            exceptions += re.findall(r"`([^`]+)`", cells[0])
    return Words(tuple(rules), tuple(exceptions))


_CPP = re.compile(r"""//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])'|R"\((?P<raw>.*?)\)"|"(?P<plain>(?:\\.|[^"\\\n])*)\"""", re.DOTALL)


def of_cpp(source: str) -> Iterator[Text]:
    """String literals; adjacent ones are one."""
    begin, end, joined = 0, -1, ""
    for token in _CPP.finditer(source):
        part = token["plain"] if token["plain"] is not None else token["raw"]
        if part is None:
            continue
        if end < 0 or source[end : token.start()].strip():
            if joined:
                yield begin, joined
            begin, joined = source.count("\n", 0, token.start()) + 1, ""
        joined += part.replace("\\n", "\n").replace('\\"', '"')
        end = token.end()
    if joined:
        yield begin, joined


def of_python(source: str) -> Iterator[Text]:
    """String constants, of formatted ones what stands between the values; of docstrings those that are help."""
    tree = ast.parse(source)
    commands = {id(node.body[0]) for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_command(node)}
    unsaid = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and id(node) not in commands
    }
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values]
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | unsaid:
            yield node.lineno, node.value


def _is_command(function: ast.FunctionDef) -> bool:
    """Of a command's module, or made one by a decorator."""
    decorators = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return function.name == "run" or any(getattr(one, "attr", "") in ("callback", "command") for one in decorators)


def of_interface(source: str) -> Iterator[Text]:
    """The docstrings that help() shows, beside what of_python finds."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, documented) and not getattr(node, "name", "").startswith("_") and (text := ast.get_docstring(node)):
            yield getattr(node, "lineno", 1), text


def of_notebook(source: str) -> Iterator[Text]:
    """What stands in its cells, and what they have printed; a line is that of the cell."""
    for number, cell in enumerate(json.loads(source)["cells"], 1):
        yield number, "".join(cell["source"])
        for output in cell.get("outputs", []):
            yield number, "".join(output.get("text", output.get("data", {}).get("text/plain", [])))


def of_toml(source: str) -> Iterator[Text]:
    """All but lines of comment."""
    yield 1, re.sub(r"(?m)^\s*#.*$", "", source)


def of_shell(source: str) -> Iterator[Text]:
    """All but lines of comment and the command unset."""
    kept = [re.sub(r"^\s*(#.*|unset\s.*)$", "", line) for line in source.split("\n")]
    yield 1, "\n".join(kept)


def of_page(source: str) -> Iterator[Text]:
    """All of it."""
    yield 1, source


SCOPE: dict[str, Callable[[str], Iterator[Text]]] = {
    "src/**/*.cpp": of_cpp,
    "src/**/*.hpp": of_cpp,
    "include/**/*.hpp": of_cpp,
    "analysis/src/**/*.py": of_python,
    "analysis/src/a2aperf/__init__.py": of_interface,
    "analysis/src/a2aperf/figures.py": of_interface,
    "analysis/src/a2aperf/runs.py": of_interface,
    "analysis/src/**/*.toml": of_toml,
    "src/**/*.toml": of_toml,
    "analysis/src/**/*.html": of_page,
    "analysis/src/**/*.js": of_page,
    "jobs/**/*.sh": of_shell,
    "jobs/*.sbatch": of_shell,
    "jobs/**/*.md": of_page,
    "packaging/**/*.sh": of_shell,
    "packaging/**/*.md": of_page,
    "packaging/completion/*": of_shell,
    "packaging/modulefiles/*": of_shell,
    "packaging/**/*.py": of_python,
    "test/run.sh": of_shell,
    "docs/*.md": of_page,
    "docs/*.ipynb": of_notebook,
    "docs/man/*.1": of_page,
    "analysis/*.md": of_page,
    "*.md": of_page,
}


def texts(root: Path) -> Iterator[tuple[str, int, str]]:
    """File, line and text of everything that a user may read."""
    for glob, extract in SCOPE.items():
        for path in sorted(root.glob(glob)):
            name = path.relative_to(root).as_posix()
            if name != LIST and path.is_file():
                for line, text in extract(path.read_text(encoding="utf-8")):
                    yield name, line, text


def offences(root: Path, words: Words) -> list[str]:
    """`file:line: 'Gbps': say 'Gbit/s'`, one for every place."""
    patterns = [(rule, rule.pattern()) for rule in words.rules]
    found = []
    for name, first, text in texts(root):
        for allowed in words.exceptions:
            text = text.replace(allowed, re.sub(r"\S", " ", allowed))
        for rule, pattern in patterns:
            for hit in pattern.finditer(text):
                line = first + text.count("\n", 0, hit.start())
                found.append(f"{name}:{line}: '{' '.join(hit[0].split())}': say '{rule.say}' ({LIST})")
    return found


def main() -> int:
    """Print what is found; 1 if anything is."""
    words = read_list((ROOT / LIST).read_text(encoding="utf-8"))
    wrong = offences(ROOT, words)
    print("\n".join(wrong) if wrong else f"{len(words.rules)} texts that are not to be said: none is")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
