#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One rank on a host name of its own, so that a launch on this machine spans hosts.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: test/support/as_hosts.sh RANKS_PER_HOST [--device NAME] COMMAND [ARGUMENT]…

To be started by mpirun: puts this rank on host h0, h1, … by its number, in UTS, IPC and mount namespaces of its own.
With --device NAME its /sys/class/infiniband shows that device, which nobody can use. Exits with 77 where namespaces
are not allowed. MPI must not use shared memory then: OMPI_MCA_btl=self,tcp.
USAGE
}

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
esac
per_host=$1
shift
device=
if [[ ${1-} == --device ]]; then
    device=$2
    shift 2
fi
unshare --uts --ipc --mount true 2>/dev/null || exit 77
export A2APERF_TEST_HOST=h$((${OMPI_COMM_WORLD_RANK-${PMI_RANK:?is not set: launch with mpirun}} / per_host)) A2APERF_TEST_DEVICE=$device
# shellcheck disable=SC2016
exec unshare --uts --ipc --mount bash -c '
    hostname "$A2APERF_TEST_HOST"
    if [[ -n $A2APERF_TEST_DEVICE ]]; then
        # Of sysfs only the class folder is covered; the interfaces stay as they are.
        mount -t tmpfs tmpfs /mnt
        mkdir -p "/mnt/infiniband/$A2APERF_TEST_DEVICE"
        ln -s /sys/devices/virtual/net /mnt/net
        mount --bind /mnt /sys/class
    fi
    unset A2APERF_TEST_HOST A2APERF_TEST_DEVICE
    exec "$@"' - "$@"
