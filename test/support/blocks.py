# SPDX-License-Identifier: BSD-3-Clause
"""The fenced blocks of the documents, each with the remark above it.

A remark is an HTML comment on the line before the fence. The tests know:

    <!-- not run by the test: REASON -->    the block is skipped, with the reason
    <!-- exit status N: WHY -->             of the block, where it is not 0
    <!-- run under Slurm -->                it is run on the emulated nodes of test/slurm
    <!-- given: FILE… -->                   results that the text takes for granted; the test measures them
    <!-- printed by COMMAND -->             a sample: its headings are the program's
    <!-- a diagram: its calls are the code's -->   each name is in the code, and is used by the one above it
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md")),
             ROOT / "packaging" / "README.md", ROOT / "jobs" / "sites" / "README.md"]  # fmt: skip


@dataclass(frozen=True)
class Block:
    document: Path
    line: int
    language: str
    text: str
    remark: str

    @property
    def name(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"

    @property
    def commands(self) -> str:
        """What a reader would type: all of a block for a shell, or what stands behind the prompts of a transcript."""
        if self.language == "sh":
            return self.text
        return "".join(f"{line[2:]}\n" for line in self.text.splitlines() if line.startswith("$ "))

    def remarked(self, pattern: str) -> str | None:
        found = re.fullmatch(pattern, self.remark)
        return found[1] if found else None


def blocks(document: Path) -> list[Block]:
    # Those of a list are indented.
    lines = [line.strip() if "```" in line or "<!--" in line else line
             for line in document.read_text(encoding="utf-8").splitlines()]  # fmt: skip
    found, begin = [], None
    for i, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if begin is None:
            begin = i
            continue
        above = re.fullmatch(r"<!-- (.*) -->", lines[begin - 1])
        text = "".join(f"{inside}\n" for inside in lines[begin + 1 : i])
        found.append(Block(document, begin + 1, lines[begin][3:], text, above[1] if above else ""))
        begin = None
    assert begin is None, f"{document}: the fence of line {(begin or 0) + 1} is not closed"
    return found


def with_commands(under_slurm: bool) -> list[Block]:
    found = [block for document in DOCUMENTS for block in blocks(document) if block.commands]
    return [block for block in found if (block.remark == "run under Slurm") == under_slurm]
