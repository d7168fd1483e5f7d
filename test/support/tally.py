# SPDX-License-Identifier: BSD-3-Clause
"""Counts the test cases of JUnit files: `tally.py FILE…` prints `passed failed skipped`, then who failed or
was skipped and why, one to a line; `tally.py --failed|--passed FILE…` names only those, one to a line."""

import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

WIDTH = 400
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What a test's output may have, as colours, and no XML may."""


def ended_by_meson(junit: Path) -> dict[str, str]:
    """Tests that Meson has ended, with its word for it: its JUnit file shows a timeout as a case without a failure."""
    log = junit.with_name("testlog.json")
    if not log.exists():
        return {}
    results = (json.loads(line) for line in log.read_text("utf-8", errors="replace").splitlines())
    return {one["name"]: one["result"] for one in results if one["result"] in ("TIMEOUT", "INTERRUPT")}


def cases(paths: list[str]) -> Iterator[tuple[str, str, str]]:
    """Outcome, name and reason of every case."""
    for path in paths:
        text = Path(path).read_text("utf-8", errors="replace")
        ended = ended_by_meson(Path(path))
        for case in ElementTree.fromstring(NOT_XML.sub("", text)).iter("testcase"):
            name = " ".join(filter(None, (case.get("classname"), case.get("name"))))
            skip = case.find("skipped")
            wrong = next((found for kind in ("failure", "error") if (found := case.find(kind)) is not None), None)
            if wrong is not None:
                yield "failed", name, " ".join((wrong.get("message") or "").split())[:WIDTH]
            elif case.get("name") in ended:
                yield "failed", name, ended[case.get("name")]
            elif skip is not None:
                yield "skipped", name, skip.get("message") or ""
            else:
                yield "passed", name, ""


def main(words: list[str]) -> None:
    if words[0] in ("--failed", "--passed"):
        for outcome, name, _ in cases(words[1:]):
            if outcome == words[0][2:]:
                print(name)
        return
    found = list(cases(words))
    print(*(sum(outcome == which for outcome, *_ in found) for which in ("passed", "failed", "skipped")))
    for outcome, name, reason in found:
        if outcome != "passed":
            print(f"{outcome}: {name}" + (f" ({reason})" if reason else ""))


main(sys.argv[1:])
