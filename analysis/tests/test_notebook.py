# SPDX-License-Identifier: BSD-3-Clause
"""The example notebook, cell by cell, and what it shows: on made-up launches and on measured ones.

A cell is run and its last expression shown as a notebook would: by the same kinds of output as the
page in docs/ has.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support import synthetic
from support.synthetic import Setup
from test_measured import LAUNCHER, PROGRAM, SECONDS, TOP

NOTEBOOK = TOP / "docs/notebook.ipynb"
SIZES = (1000, 8000, 60000)


def cells(kind: str) -> list[dict[str, Any]]:
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return [cell for cell in document["cells"] if cell["cell_type"] == kind]


def text(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def shown(source: str, names: dict[str, Any]) -> object:
    """Run a cell; the value of its last expression, None where it has none."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # type: ignore[attr-defined]


def kinds(value: object) -> Iterator[str]:
    if hasattr(value, "_repr_png_"):
        assert value._repr_png_().startswith(b"\x89PNG\r\n")
        yield "image/png"
    elif value is not None:
        assert repr(value)
        yield "text/plain"


def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    for cell in cells("code"):
        made = list(kinds(shown(text(cell), names)))
        kept = [kind for output in cell["outputs"] for kind in output.get("data", {})]
        assert made == kept, text(cell)
    return names


def test_every_cell_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    for i in range(8):
        provider = ("shm", "tcp;ofi_rxm", "tcp;ofi_rxm", "shm")[i % 4]
        setup = Setup(nodes=1, ppn=2, sizes=SIZES, ops=40, seed=i, provider=provider)
        synthetic.write_launch(tmp_path / f"runs/{i}-{provider[:3]}.h5", setup)
    names = run(tmp_path, monkeypatch)
    assert len(names["runs"]) == 8 * len(SIZES)
    assert names["ops"].shape == (4 * 40, 2)


def test_the_page_is_small_and_says_no_place() -> None:
    page = NOTEBOOK.read_text(encoding="utf-8")
    assert len(page) < 300_000
    for word in ("/root", "/tmp/", "/work", "/home"):
        assert word not in page
    assert all(cell["execution_count"] for cell in cells("code"))
    outputs = [output for cell in cells("code") for output in cell["outputs"]]
    assert not [output for output in outputs if output["output_type"] in ("error", "stream")]


@pytest.mark.slow
@pytest.mark.skipif(
    not (PROGRAM.exists() and LAUNCHER.exists()),
    reason=f"no a2aperf at {PROGRAM}: build it, or name it in $A2APERF",
)
def test_it_runs_on_what_it_tells_to_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```sh\n(.*?)```", "".join(map(text, cells("markdown"))), re.DOTALL)
    assert block.count("mpirun -n 2 a2aperf ") == 1
    launcher = f"{LAUNCHER} -t {SECONDS} 2 {PROGRAM} "
    subprocess.run(
        ["bash", "-ec", block.replace("mpirun -n 2 a2aperf ", launcher)],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=SECONDS * 8,
    )
    names = run(tmp_path, monkeypatch)
    assert len(names["runs"].launches) == 8
    assert set(names["frame"]["message_size"]) == set(SIZES)
    assert names["ops"].shape == (4 * 40, 2)
