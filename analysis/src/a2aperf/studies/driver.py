# SPDX-License-Identifier: BSD-3-Clause
"""The script that measures without Slurm, and the signals meant for it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Final

from a2aperf.errors import InputError
from a2aperf.studies.scripts import Scripts

_FORWARDED: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run(scripts: Scripts, words: Sequence[str], program: Path | None = None) -> int:
    """`jobs/run.sh` with these words; its exit status.

    Signals are for the script alone, which ends the launch in good order: a terminal would send its
    ^C to the ranks as well. It lies in a session of its own, therefore.
    """
    for name in ("bash", "mpirun", "flock"):
        if shutil.which(os.environ.get("MPIRUN", name) if name == "mpirun" else name) is None:
            raise InputError(f"{name} is not found: it is needed to launch a2aperf")
    command = ["bash", str(scripts.folder / "run.sh"), *words]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, env=_environment(program), start_new_session=True
    ) as script:

        def forward(number: int, _frame: FrameType | None) -> None:
            script.send_signal(number)

        before = {number: signal.signal(number, forward) for number in _FORWARDED}
        try:
            status = script.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    return status if status >= 0 else 128 - status


def _environment(program: Path | None) -> dict[str, str]:
    own = {"A2APERF_SPEAKER": "a2a"}
    a2a = Path(sys.executable).with_name("a2a")
    if a2a.is_file():  # the one that asks, and not another that is installed
        own["A2A"] = str(a2a)
    if program is not None:
        own["A2APERF"] = str(program)
    return {**os.environ, **own}
