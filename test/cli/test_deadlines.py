# SPDX-License-Identifier: BSD-3-Clause
"""Tests decide by events: on a busy machine nothing is wrong because it was late."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# An elapsed time held against something; and deadlines that a machine with other things to do may miss.
HASTY = re.compile(
    r"\b(monotonic|perf_counter|time)\(\) - \w+ *[<>]"
    r"|\b(timeout|patience|PATIENCE|SECONDS)\w* ?= ?(?!0\b)[12]?\d{1,2}(\.\d+)?\b"
    r"|\.(wait|communicate)\([12]?\d{1,2}\)"
    r"|\bwait_until\(.*, [12]?\d{1,2}\)($|, f?\")"
    r"|\bseconds: (int|float) = [12]?\d{1,2}\b"
)
# In C++: how long a rank or thread is waited for that may come late; kSoon and the like name what never comes.
HASTY_CPP = re.compile(r"\b(kTimeout|kUsual|g_job->set_timeout)\b\D*(?<!\d)([12]?\d{1,2}|\d{1,3}('\d{3}){1,2}|[12]?\d{1,2}('\d{3}){3})\b(?!')")


def hasty(text: str) -> list[str]:
    return [line for line in text.splitlines() if HASTY.search(line)]


@pytest.mark.parametrize(
    ("line", "is_hasty"),
    [
        ("assert time.monotonic() - stopped < 2 + 15", True),
        ("launch.communicate(timeout=20)", True),
        ("launcher.wait(10)", True),
        ("PATIENCE = 5  # s", True),
        ("wait_until(lambda: file.exists(), 60)", True),
        ('assert wait_until(lambda: file.exists(), 60), "no file"', True),
        ("assert wait_until(lambda: not running_in(folder, 0), PATIENCE)", False),
        ("def launch(seconds: float = 120)", True),
        ("launch.communicate(timeout=900)", False),
        ("deadline = time.monotonic() + seconds", False),
        ("assert writer.wait(SECONDS) == 0", False),
        ("SECONDS=0  # the shell's, which counts from here", False),
    ],
)
def test_what_is_hasty(line, is_hasty):
    assert bool(hasty(line)) == is_hasty


@pytest.mark.parametrize(
    ("line", "is_hasty"),
    [
        ("constexpr Nanoseconds kTimeout = 3'000'000'000;", True),
        ("g_job->set_timeout(20'000'000'000);", True),
        ("const Deadline kUsual(Polling::yield, 500'000'000);", True),
        ("constexpr Nanoseconds kTimeout = 600'000'000'000;", False),
        ("const Deadline kSoon(Polling::yield, 50'000'000);", False),
        ("Deadline deadline(Polling::yield, kTimeout);", False),
    ],
)
def test_what_is_hasty_in_the_programs_tests(line, is_hasty):
    assert bool(HASTY_CPP.search(line)) == is_hasty


def test_no_test_of_the_program_is_hasty():
    texts = {str(file): file.read_text() for file in sorted((ROOT / "test").rglob("*.cpp"))}
    waiting = {file: text for file, text in texts.items() if re.search(r"\bDeadline\b|\bset_timeout\b", text)}
    assert len(waiting) > 8
    found = {file: lines for file, text in waiting.items() if (lines := [x for x in text.splitlines() if HASTY_CPP.search(x)])}
    assert found == {}


def test_no_test_is_hasty():
    sources = [file for folder in ("test", "analysis/tests") for file in sorted((ROOT / folder).rglob("*.py"))]
    assert len(sources) > 80
    found = {str(file): lines for file in sources if file.name != Path(__file__).name if (lines := hasty(file.read_text()))}
    assert found == {}
