# SPDX-License-Identifier: BSD-3-Clause
"""What this machine offers, told by the program itself."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def offered(program: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Full names of the providers that are here, and the reasons for those that are not."""
    outcome = subprocess.run([program, "providers"], capture_output=True, text=True, timeout=60, check=True)
    there, _, missing = outcome.stdout.partition("\nnot here:\n")
    rows = [line.split() for line in there.split("\n\n")[1].splitlines()[1:]]
    reasons = [line.split(maxsplit=1) for line in missing.splitlines()]
    return {row[0]: row[1] for row in rows}, {row[0]: row[1] for row in reasons}


@pytest.fixture
def needs_provider(offered) -> Callable[[str], str]:
    """The provider's full name; the test is skipped, with the reason, where it is missing."""
    there, missing = offered

    def look(name: str) -> str:
        if name not in there:
            pytest.skip(f"{name} is not here: {missing.get(name, 'unknown to the program')}")
        return there[name]

    return look
