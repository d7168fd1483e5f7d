#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI, or MPICH where MPIRUN names its launcher, as the launcher of tests.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for part in say mpi; do
    # shellcheck source=/dev/null
    . "$top/jobs/lib/$part.sh"
done
# shellcheck source=test/support/options.sh
. "$top/test/support/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/support/mpirun.sh [-x] [-t SECONDS] RANKS COMMAND [ARGUMENT]…

Launches RANKS processes of COMMAND on this machine, as any user and also with more ranks than cores. MPI's own
messages take shared memory and the loopback interface; no other interface is opened. Exits with the status of
the first rank that failed, 0 when none did.

  -x          the machine is ours alone, as benchmarks want it: ranks are bound to cores, and MPI spins where it
              waits. Without it they leave the cores to others, which takes half the CPU beside other tests
  -t SECONDS  end everything after that long (default 800): SIGTERM, then SIGKILL 5 s later; status 124 or 137

  test/support/mpirun.sh 4 build/test/mpi/mpi-job
  test/support/mpirun.sh -t 120 2 build/src/app/a2aperf alltoall --provider tcp

OMPI_MCA_* variables and LAUNCH_BINDING that are set already stay as they are; -x alone unsets LAUNCH_BINDING and
OMPI_MCA_mpi_yield_when_idle.
USAGE
}

if [[ ${1-} == -x ]]; then
    shift
    # test/run.sh exports both, for tests that run beside others.
    unset LAUNCH_BINDING OMPI_MCA_mpi_yield_when_idle
else
    export LAUNCH_BINDING=${LAUNCH_BINDING:-none} OMPI_MCA_mpi_yield_when_idle=${OMPI_MCA_mpi_yield_when_idle:-1}
fi
take_deadline 800 "$@"
shift $((OPTIND - 1))
[[ ${1-} =~ ^[1-9][0-9]*$ && $# -ge 2 ]] || die -2 "a number of ranks and a command are needed: mpirun.sh 4 COMMAND"

keep_mpi_off_fabric
export OMPI_MCA_btl_tcp_if_include=${OMPI_MCA_btl_tcp_if_include:-lo}
export OMPI_MCA_oob_tcp_if_include=${OMPI_MCA_oob_tcp_if_include:-lo}
export MPIRUN
export -f launch_here launch_words cores_here open_mpi_major
# mpirun may ignore SIGTERM, hence -k.
exec timeout -k 5 "$seconds" bash -c 'launch_here "$@"' launch_here "$@"
