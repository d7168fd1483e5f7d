# SPDX-License-Identifier: BSD-3-Clause
"""How the package's modules hang together: no rings, nothing imported late without need."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import a2aperf
from a2aperf import plots, schema
from a2aperf.explain import finders

ROOT = Path(a2aperf.__file__).parent
MODULES = {
    ".".join(("a2aperf", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in sorted(ROOT.rglob("*.py"))
}
HEAVY = ("matplotlib", "plotly", "scipy.cluster", "scipy.stats", "typer", "xarray")
"""Take a while to load; not every question needs them."""
MOST_LINES = 400


def imported(tree: ast.AST) -> set[str]:
    """What is imported anywhere in it, `a.b` for `from a import b` where that may be a module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in (*MODULES, *HEAVY) else node.module for name in names}
    return found


def text_of(module: str) -> str:
    return MODULES[module].read_text(encoding="utf-8")


@cache
def tree_of(module: str) -> ast.Module:
    return ast.parse(text_of(module))


def at_once(module: str) -> set[str]:
    """What an import of the module imports by itself."""
    body = [part for part in tree_of(module).body if not is_function_or_class(part)]
    plain = [part for part in body if "TYPE_CHECKING" not in ast.unparse(part).partition("\n")[0]]
    return imported(ast.Module(plain, []))


def is_function_or_class(part: ast.AST) -> bool:
    return isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


@cache
def heavy(module: str) -> set[str]:
    """Libraries of HEAVY that come with the module."""
    seen, left = set(), {module}
    while left:
        name = left.pop()
        seen.add(name)
        if name in MODULES:
            left |= at_once(name) - seen
    return {
        library for library in HEAVY if any(f"{one}.".startswith(f"{library}.") for one in seen)
    }


def late(module: str) -> Iterator[str]:
    """Modules of the package that are imported inside a function."""
    for part in ast.walk(tree_of(module)):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imported(part) & set(MODULES)


def test_no_ring() -> None:
    """Not even by imports inside functions or for types only: CycleError names the ring."""
    graph = {name: imported(tree_of(name)) & set(MODULES) - {name, "a2aperf"} for name in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) > 100


def test_what_is_imported_late_brings_a_library_that_takes_a_while() -> None:
    """An import inside a function hides what a module rests on; only time excuses it."""
    seen = [(module, name) for module in MODULES for name in late(module)]
    assert seen
    assert [(m, name) for m, name in seen if not heavy(name) - heavy(m)] == []


def judges(module: str) -> bool:
    """Whether it says of results what is slow, different or no chance."""
    own = ("explain.", "changepoints", "compare", "decision", "equivalence", "history", "maxt")
    return module.startswith(tuple(f"a2aperf.{name}" for name in (*own, "workloads.pairs.weak")))


def test_figures_show_and_never_judge() -> None:
    """What a judge has found is handed to them: they know its types, not its functions."""
    makers = [name for name in MODULES if "from a2aperf.chart import Axis" in text_of(name)]
    assert {"a2aperf.trends", "a2aperf.raw_plots", "a2aperf.contrasts"} < set(makers)
    for maker in makers:
        assert "scipy.stats" not in at_once(maker), maker
        for part in ast.walk(tree_of(maker)):
            if isinstance(part, ast.ImportFrom) and part.module:
                taken = [alias.name for alias in part.names]
                asked = [name for name in taken if judges(f"{part.module}.{name}")]
                assert all(name[0].isupper() for name in asked), (maker, asked)


def test_the_report_knows_no_kind_of_figure_or_finding() -> None:
    strings = {
        part.value
        for part in ast.walk(tree_of("a2aperf.report"))
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    kinds = {*plots.KINDS, *(finder.kind for finder in finders.FINDERS)}
    assert strings & kinds - set(schema.COLUMN) == set()


@pytest.mark.parametrize("module", MODULES)
def test_a_file_can_be_read_at_once(module: str) -> None:
    assert len(text_of(module).splitlines()) < MOST_LINES


def test_commands_load_pandas_only_for_a_table() -> None:
    """It takes as long as all else, longer still where Python's modules lie on a network."""
    program = (
        "import sys; from importlib import import_module; from a2aperf.cli import COMMANDS\n"
        "for row in COMMANDS: import_module(f'a2aperf.commands.{row.module or row.name}')\n"
        "print('pandas' in sys.modules, 'numpy' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout == "False True\n"
