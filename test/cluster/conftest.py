# SPDX-License-Identifier: BSD-3-Clause
"""Clusters for tests; a test is skipped, with the reason, where none can be made."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from cluster import Cluster, NoCluster


@pytest.fixture
def told(record_property: Callable[[str, object], None], request: pytest.FixtureRequest) -> Callable[..., None]:
    """What docs/validation.md says of a test: told(known="…", measured="…"), further facts under their names."""

    def tell(**facts: object) -> None:
        for name, value in facts.items():
            record_property(name, value)

    tell(case=(request.function.__doc__ or request.node.name).split("\n")[0])
    return tell


@pytest.fixture
def cluster_of() -> Iterator[Callable[..., Cluster]]:
    """Makes a cluster that ends with the test: cluster_of(4, mbit=100)."""
    with ExitStack() as stack:

        def make(hosts: int, mbit: float | None = None, core_mbit: float | None = None, rails: int = 1) -> Cluster:
            if os.geteuid() != 0:
                pytest.skip("network namespaces need root")
            if missing := [name for name in ("ip", "tc", "nsenter", "unshare", "mpirun") if not shutil.which(name)]:
                pytest.skip(f"no {', '.join(missing)} here")
            try:
                return stack.enter_context(Cluster(hosts, mbit, core_mbit, rails))
            except NoCluster as why:
                pytest.skip(str(why))

        yield make
