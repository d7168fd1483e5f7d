# SPDX-License-Identifier: BSD-3-Clause

import os

from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class A2aperf(MesonPackage):
    """All-to-all bandwidth between MPI ranks on raw libfabric endpoints: every
    sample of every rank in one HDF5 file, job scripts for Slurm, and a Python
    command that judges the files (installed with pip from the same sources)."""

    homepage = "file://" + os.path.realpath(os.path.join(os.path.dirname(__file__), *[".."] * 6))
    # The recipe lies in the sources and builds the clone's last commit.
    git = homepage

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("tests", default=False, description="Build the unit and MPI tests")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@0.62:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi@3.1:")
    depends_on("libfabric@1.11:")
    depends_on("hdf5@1.10.7:+hl~mpi")
    depends_on("hwloc@2:")
    depends_on("zlib-api")
    depends_on("fmt@8:")
    depends_on("cli11@2.1:")
    depends_on("doctest", type="build", when="+tests")

    # C++20 with std::format's kin and concepts.
    conflicts("%gcc@:10")
    conflicts("%clang@:13")

    def meson_args(self):
        return ["-Dtests=" + ("enabled" if self.spec.satisfies("+tests") else "disabled")]

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("A2APERF_JOBS", self.prefix.share.a2aperf.jobs)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        a2aperf = Executable(self.prefix.bin.a2aperf)
        a2aperf("alltoall", "--dry-run", "--ranks", "320", "--ranks-per-node", "4")
