#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One rank on a host of its own that has one of the two adapters.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: test/vm/as_host.sh RANKS_PER_HOST COMMAND [ARGUMENT]…

To be started by mpirun in the guest, after two_adapters.sh: ranks 0 to RANKS_PER_HOST-1 are on host h0, which has
the adapter rxe0; the rest are on h1 with rxe1. Host names and adapters are hidden by UTS, IPC and mount namespaces.
MPI must not use shared memory between the hosts: OMPI_MCA_btl=self,tcp.
USAGE
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
    usage
    exit 0
fi
host=$((OMPI_COMM_WORLD_RANK / $1 > 0))
shift
# shellcheck disable=SC2016 # the inner shell expands
exec unshare --uts --ipc --mount bash -euc '
    hostname "h$1"
    hidden=rxe$((1 - $1))
    uverbs=$(basename "$(readlink -f "/sys/class/infiniband/$hidden"/device/infiniband_verbs/uverbs* 2>/dev/null ||
        grep -lx "$hidden" /sys/class/infiniband_verbs/*/ibdev | xargs dirname)")
    for class in infiniband infiniband_verbs; do
        mount -t tmpfs class /mnt
        for device in /sys/class/$class/*; do
            case ${device##*/} in
            "$hidden" | "$uverbs") ;;
            *) ln -s "$(readlink -f "$device")" "/mnt/${device##*/}" ;;
            esac
        done
        mount --move /mnt "/sys/class/$class"
    done
    mount --bind /dev/null "/dev/infiniband/$uverbs"
    shift
    exec "$@"' as_host.sh "$host" "$@"
