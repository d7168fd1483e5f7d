# SPDX-License-Identifier: BSD-3-Clause
"""A command whose reader has gone, as in `a2a … | head`."""

from __future__ import annotations

import os
import subprocess
import sys


def a2a(*words: object) -> subprocess.CompletedProcess[str]:
    """What became of it; stderr is kept."""
    reader, stdout = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "a2aperf", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        return subprocess.run(
            command,
            stdout=stdout,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=600,
            env=environment,
            check=False,
        )
    finally:
        os.close(stdout)
