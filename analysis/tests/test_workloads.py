# SPDX-License-Identifier: BSD-3-Clause
"""A workload is one package and one row: nothing else asks for one by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from a2aperf import workloads
from a2aperf.workloads.workload import Workload

PACKAGE = Path(workloads.__file__).parent.parent


def modules_outside(key: str) -> list[Path]:
    own = Path(workloads.__file__).parent
    found = [path for path in PACKAGE.rglob("*.py") if own / key not in path.parents]
    assert len(found) > 50
    return [path for path in found if path != own / "__init__.py"]


@pytest.mark.parametrize("workload", workloads.ALL, ids=lambda one: one.key)
def test_no_other_module_imports_a_workload(workload: Workload) -> None:
    key = workload.key
    imported = re.compile(rf"a2aperf\.workloads\.{key}\b|workloads import .*\b{key}\b")
    named = [path for path in modules_outside(workload.key) if imported.search(path.read_text())]
    assert named == []


def test_no_other_module_asks_for_the_role_of_pairs() -> None:
    asks = re.compile(r"""["']pairs["']|role.*["']pair["']""")
    assert [path for path in modules_outside("pairs") if asks.search(path.read_text())] == []


def test_every_role_is_that_of_one_workload() -> None:
    roles = [role for workload in workloads.ALL for role in workload.roles]
    assert len(set(roles)) == len(roles)
    for workload in workloads.ALL:
        assert all(workloads.of_role(role) is workload for role in workload.roles)
        looked_at = {role for finder in workload.finders for role in finder.roles}
        assert looked_at <= set(workload.roles)
