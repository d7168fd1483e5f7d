# SPDX-License-Identifier: BSD-3-Clause
"""Words with a grammar of their own: `submit -N LIST`, `--where EXPRESSION`, `--columns`."""

import tempfile
from functools import cache
from pathlib import Path

from a2aperf import filters, layouts, loading, results
from a2aperf.commands import submit
from a2aperf.errors import InputError
from property import require
from support import synthetic


@cache
def _results() -> results.Results:
    setup = synthetic.Setup(nodes=2, ppn=2, sizes=(1000, 60000), ops=8, baseline=True, labels={"cable": "green"})
    path = Path(tempfile.mkdtemp(prefix="a2a-fuzz-")) / "results.h5"
    return loading.load([synthetic.write_launch(path, setup)])


def _counts(text: str) -> None:
    counts = submit._counts(text)
    require(counts == sorted(set(counts)) and counts[0] > 0, f"node counts ascend: {counts}")
    require(submit._counts(",".join(map(str, counts))) == counts, "counts written out are the same")


def _where(text: str) -> None:
    found = filters.where(_results(), [text])
    require(0 < len(found.points) <= len(_results().points), "some of the points")


def _columns(text: str) -> None:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names:
        lines = layouts.text(_results(), names)
        require(len(lines) == 1 + len(_results().points), "a line for every point")


def target(data: bytes) -> None:
    """An input is the word that stands behind the option."""
    text = data.decode(errors="surrogateescape")
    for parse in (_counts, _where, _columns):
        try:
            parse(text)
        except InputError as refusal:
            require("\n" not in str(refusal), f"more than a line: {refusal}")
