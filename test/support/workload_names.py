# SPDX-License-Identifier: BSD-3-Clause
"""The program's workloads, by the golden text of its help, which test/golden compares with the program."""

import re
from pathlib import Path

HELP = (Path(__file__).parents[1] / "golden" / "help.txt").read_text(encoding="utf-8")
WORKLOADS = re.findall(r"RANKS a2aperf (\S+) ", HELP.split("\nUsage:", 1)[1].split("\n\n", 1)[0])
assert WORKLOADS[:2] == ["alltoall", "pairs"]
