# SPDX-License-Identifier: BSD-3-Clause
"""Looks at a file that may be damaged in a process of its own: HDF5 itself can crash on it."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from a2aperf.errors import InputError

_TASKS = {"check": "check", "repair": "repair"}
"""Modules with a function `isolated(*arguments, progress)`, whose result JSON can carry."""

_PIPE = 1
"""To who asked; nothing else is written there."""

Progress = Callable[[int, int], None]


def call(task: str, path: Path, *others: str, progress: Progress) -> Any:
    """What the task returns there; InputError where it raised one, or the process died."""
    command = [sys.executable, "-P", "-m", "a2aperf.isolated", task, str(path), *others]
    result: dict[str, Any] = {}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace"
    ) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        for line in child.stdout:
            said = json.loads(line)
            if "done" in said:
                progress(said["done"], said["of"])
            else:
                result = said
        last = (child.stderr.read().strip().splitlines() or [""])[-1]
    if "refused" in result:
        raise InputError(result["refused"])
    if child.returncode or "result" not in result:
        raise InputError(f"{path}: damaged: whoever reads it {_died(child.returncode, last)}")
    return result["result"]


def _died(status: int, last: str) -> str:
    if status < 0:
        return f"dies of {signal.Signals(-status).name}"
    return f"ends with '{last}'"


def main(arguments: list[str]) -> None:
    """The other side: one JSON object a line."""
    task, *rest = arguments

    def tell(**said: Any) -> None:
        os.write(_PIPE, f"{json.dumps(said)}\n".encode())

    module = importlib.import_module(f"a2aperf.{_TASKS[task]}")
    try:
        result = module.isolated(*rest, progress=lambda done, of: tell(done=done, of=of))
    except InputError as error:
        tell(refused=str(error))
    else:
        tell(result=result)


if __name__ == "__main__":
    main(sys.argv[1:])
