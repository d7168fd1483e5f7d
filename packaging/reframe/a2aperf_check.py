# SPDX-License-Identifier: BSD-3-Clause
"""A ReFrame check: the main job of a2aperf on one node, its figures as performance variables.

    reframe -c packaging/reframe/a2aperf_check.py -r
    reframe -c packaging/reframe/a2aperf_check.py -S ranks=8 -S provider=tcp -r --performance-report

It runs jobs/local.sh of this clone (build it first: jobs/local.sh). References belong to a system: `-S` or a
configuration of the site sets them; without any, figures are recorded and nothing is judged.
"""

import csv
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_after, run_before, sanity_function, variable

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
TABLE = "alltoall.csv"


@rfm.simple_test
class AllToAllHere(rfm.RunOnlyRegressionTest):
    """4 ranks on one node, the 24 message sizes, every byte verified."""

    descr = "all-to-all bandwidth over raw libfabric endpoints"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"network", "performance"}
    sourcesdir = None
    local = True  # jobs/local.sh launches its ranks itself
    time_limit = "10m"

    ranks = variable(int, value=4)
    provider = variable(str, value="auto")
    sizes = variable(str, value="")
    judged = variable(typ.List[int], value=[1000, 15000, 60000])

    executable = os.path.join(TOP, "jobs", "local.sh")
    keep_files = [TABLE, "alltoall.h5"]

    @run_after("setup")
    def say_how(self):
        """The command, from the variables."""
        self.env_vars["RANKS"] = str(self.ranks)
        self.executable_opts = ["--no-install", "--provider", self.provider, "--format", "csv", "-o", "alltoall.h5"]
        if self.sizes:
            self.executable_opts += ["--sizes", self.sizes]
        self.executable_opts += [">", TABLE]

    @run_before("performance")
    def name_figures(self):
        """Time and rate of each size that is judged and measured."""
        for size in self.judged:
            p50, rate = self.median_us(size), self.gbps_rank(size)
            self.perf_variables[f"p50_{size}"] = sn.make_performance_function(p50, "us")
            self.perf_variables[f"gbps_rank_{size}"] = sn.make_performance_function(rate, "Gbit/s")

    @sn.deferrable
    def rows(self):
        """The table, a dict per point that was measured for its own sake."""
        with open(os.path.join(self.stagedir, TABLE), newline="") as file:
            return [row for row in csv.DictReader(file) if row["role"] == "measure"]

    def row(self, size):
        """The point of a message size; a size that was not measured is an error of the check."""
        return next(x for x in sn.evaluate(self.rows()) if int(x["message_size"]) == size)

    @sanity_function
    def every_point_is_complete(self):
        """A point is verified before it is timed; what could not be is not complete."""
        return sn.and_(
            sn.assert_gt(sn.len(self.rows()), 0),
            sn.all(sn.map(lambda row: sn.assert_eq(row["state"], "complete"), self.rows())),
        )

    @sn.deferrable
    def median_us(self, size):
        """Median op time."""
        return float(self.row(size)["time_p50"]) / 1e3

    @sn.deferrable
    def gbps_rank(self, size):
        """What each rank sends, one way."""
        return float(self.row(size)["gbps_rank"])
