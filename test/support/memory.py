# SPDX-License-Identifier: BSD-3-Clause
"""What a launch takes of this machine's memory, kernel sockets and shared pages included, each once; and which pages
there are."""

from __future__ import annotations

import threading
from pathlib import Path


HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def gives_huge_pages() -> bool:
    """Whether this machine's kernel gives any to whom asks for them."""
    return HUGE_PAGES.exists() and "[never]" not in HUGE_PAGES.read_text()


def available_bytes() -> int:
    (line,) = [line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable:")]
    return int(line.split()[1]) * 1024


class LowWater(threading.Thread):
    """Watches the available memory until taken() tells by how much it fell, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.before = self.lowest = available_bytes()
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.2):
            self.lowest = min(self.lowest, available_bytes())

    def taken(self) -> int:
        self._ended.set()
        self.join()
        return self.before - self.lowest
