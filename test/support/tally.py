# SPDX-License-Identifier: BSD-3-Clause
"""Counts the test cases of JUnit files: `tally.py FILE…` prints `passed failed skipped`, then who failed or
was skipped and why, one to a line."""

import sys
import xml.etree.ElementTree as ElementTree


WIDTH = 400


def main(paths: list[str]) -> None:
    passed = failed = skipped = 0
    lines = []
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            name = " ".join(filter(None, (case.get("classname"), case.get("name"))))
            skip = case.find("skipped")
            wrong = next((found for kind in ("failure", "error") if (found := case.find(kind)) is not None), None)
            if wrong is not None:
                failed += 1
                said = " ".join((wrong.get("message") or "").split())[:WIDTH]
                lines.append(f"failed: {name}" + (f" ({said})" if said else ""))
            elif skip is not None:
                skipped += 1
                reason = skip.get("message")
                lines.append(f"skipped: {name}" + (f" ({reason})" if reason else ""))
            else:
                passed += 1
    print(passed, failed, skipped)
    for line in lines:
        print(line)


main(sys.argv[1:])
