# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame checks: an all-to-all on N nodes through the site's scheduler, and the main job of a2aperf on one node.

    reframe -c packaging/reframe/a2aperf_check.py -n AllToAllNodes -S nodes=20 -S provider=psm2 -S least=0.8 -r
    reframe -c packaging/reframe/a2aperf_check.py -n AllToAllHere -S ranks=8 -r --performance-report

AllToAllNodes starts the program by the launcher of the site's configuration. Its reference is a share of the link's rate
(`efficiency`), so it holds for every system of a kind: `least` is what the best message size must reach. AllToAllHere
runs jobs/local.sh of this clone (build it first: jobs/local.sh). Other references belong to a system: `-S` or a
configuration of the site sets them; without any, figures are recorded and nothing is judged.
"""

import csv
import math
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_after, run_before, sanity_function, variable

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
BUILT = os.path.join(TOP, "build", "release", "src", "app", "a2aperf")
TABLE = "alltoall.csv"


class Table(rfm.RunOnlyRegressionTest):
    """A run that prints a table of points as CSV: every byte is verified before a point is timed."""

    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    tags = {"network", "performance"}
    sourcesdir = None
    time_limit = "10m"

    provider = variable(str, value="auto")
    sizes = variable(str, value="")
    judged = variable(typ.List[int], value=[1000, 15000, 60000])
    keep_files = [TABLE, "alltoall.h5"]

    def words(self):
        """Options of a2aperf alltoall."""
        sizes = ["--sizes", self.sizes] if self.sizes else []
        return ["--provider", self.provider, "--format", "csv", "-o", "alltoall.h5", *sizes]

    @run_before("performance")
    def name_figures(self):
        """Time and rate of each size that is judged and measured."""
        measured = {int(row["message_size"]) for row in sn.evaluate(self.rows())}
        for size in [size for size in self.judged if size in measured]:
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
        return sn.all([
            sn.assert_gt(sn.len(self.rows()), 0),
            sn.all(sn.map(lambda row: sn.assert_eq(row["state"], "complete"), self.rows())),
            self.can_be_judged(),
        ])

    @sn.deferrable
    def can_be_judged(self):
        """Whether all figures that have a reference are known: ReFrame passes over one that is not."""
        return True

    @sn.deferrable
    def median_us(self, size):
        """Median op time."""
        return float(self.row(size)["time_p50"]) / 1e3

    @sn.deferrable
    def gbps_rank(self, size):
        """What each rank sends, one way."""
        return float(self.row(size)["gbps_rank"])


@rfm.simple_test
class AllToAllNodes(Table):
    """`ppn` ranks on each of `nodes` nodes, by the scheduler and the launcher of the site."""

    descr = "all-to-all bandwidth of N nodes as a share of the link's rate"

    nodes = variable(int, value=2)
    ppn = variable(int, value=1)
    program = variable(str, value=BUILT if os.path.exists(BUILT) else "a2aperf")
    options = variable(typ.List[str], value=[])
    link_gbps = variable(float, value=0.0)  # of a node, where the file does not know it
    least = variable(float, value=0.0)  # share of the link that the best size must reach; 0: nothing is judged

    @run_after("init")
    def say_how_many(self):
        """A job of N nodes, and what is judged."""
        self.num_tasks = self.nodes * self.ppn
        self.num_tasks_per_node = self.ppn
        if self.least > 0:
            self.reference = {"*": {"efficiency": (self.least, 0.0, None, "1")}}

    @run_after("setup")
    def say_how(self):
        """The command, from the variables."""
        self.executable = self.program
        self.executable_opts = ["alltoall", *self.words(), *self.options, ">", TABLE]

    @sn.deferrable
    def can_be_judged(self):
        """A share of a rate that nobody knows is none."""
        is_known = self.least == 0 or bool(self.shares())
        return sn.assert_true(is_known, msg="the link's rate is not known: -S link_gbps=… gives it")

    @run_before("performance")
    def name_efficiency(self):
        """What is judged, of the best message size, where it is known."""
        shares = self.shares()
        if shares:
            self.perf_variables["efficiency"] = sn.make_performance_function(sn.defer(max(shares)), "1")

    def shares(self):
        """Of the link's rate, those that are known."""
        shares = [self.share(row) for row in sn.evaluate(self.rows())]
        return [share for share in shares if not math.isnan(share)]

    def share(self, row):
        """One point's; NaN where it is not known."""
        if self.link_gbps > 0:
            return float(row["gbps_node_net"] or "nan") / self.link_gbps
        return float(row["efficiency"] or "nan")


@rfm.simple_test
class AllToAllHere(Table):
    """4 ranks on one node, the 24 message sizes, every byte verified."""

    descr = "all-to-all bandwidth over raw libfabric endpoints"
    local = True  # jobs/local.sh launches its ranks itself

    ranks = variable(int, value=4)
    executable = os.path.join(TOP, "jobs", "local.sh")

    @run_after("setup")
    def say_how(self):
        """The command, from the variables."""
        self.env_vars["RANKS"] = str(self.ranks)
        self.executable_opts = ["--no-install", *self.words(), ">", TABLE]
