#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The first process of an emulated cluster: a real Slurm, one slurmd per node, as long as its standard input is open.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: unshare --pid --net --mount --uts --ipc --fork --kill-child --mount-proc test/slurm/start.sh FOLDER NODE…

Starts munge, slurmctld and a slurmd for each NODE inside the namespaces that it was started in, with FOLDER/slurm.conf
(which cluster.py writes). A node is a UTS, IPC and mount namespace with its own host name and /dev/shm; one whose
name begins with "opa" has an Omni-Path adapter to psm2's eye (test/support/with_psm2.sh). When standard input ends so
does this process, and with it, as the namespace's first, every other in it.
USAGE
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
    usage
    exit 0
fi
(($$ == 1)) || {
    usage >&2
    exit 2
}
folder=$1
shift
support=$(cd "$(dirname "${BASH_SOURCE[0]}")/../support" && pwd)
export SLURM_CONF=$folder/slurm.conf

hostname login
# The resolver and Open MPI ask for interfaces that are not lo. Providers take fabric0; MPI takes one of several, by
# the node: when all of 320 ranks connect to all, one address has too few ports. What is sent stays in this namespace.
readonly kServices=8
ip link set lo up
ip link add fabric0 type veth peer name fabric1
ip addr add 10.77.0.1/16 dev fabric0
ip link set fabric1 up
ip link set fabric0 up
for ((service = 0; service < kServices; service += 2)); do
    ip link add "service$service" type veth peer name "service$((service + 1))"
done
for ((service = 0; service < kServices; ++service)); do
    ip addr add "10.78.$service.1/16" dev "service$service"
    ip link set "service$service" up
    # A launch's folder is named after its host and process, which another cluster beside this one has as well.
    printf 'btl_tcp_if_include = service%d\noob_tcp_if_include = service0\norte_tmpdir_base = %s\n' \
        "$service" "$folder/mpi" >"$folder/mpi$service.conf"
done
mkdir "$folder/mpi"
# Ports of slurmd are nobody else's.
echo '6817,16999-17999' >/proc/sys/net/ipv4/ip_local_reserved_ports
printf '%s\n' '127.0.0.1 localhost' "10.78.0.1 login $*" >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
mount -t tmpfs -o size=64m tmpfs /dev/shm
# Ranks in their hundreds share few cores: a coarse timer, inherited by all, lets the launch daemons run among sleepers.
echo 10000000 >/proc/self/timerslack_ns

munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --log-file="$folder/munged.log" --seed-file="$folder/munged.seed"
slurmctld -c

start_node() {
    local enter=(slurmd -N "$1")
    # The guard of with_psm2.sh against a second namespace: the node is one already.
    [[ $1 != opa* ]] || enter=(env "A2APERF_TEST_ADAPTER=$folder/$1.adapter" "$support/with_psm2.sh" "${enter[@]}")
    local number=${1//[!0-9]/}
    local mpi=$folder/mpi$((10#$number % kServices)).conf
    # Each node has a folder that is read-only and one that is full.
    # shellcheck disable=SC2016 # expands in the node
    unshare -u -i -m bash -c 'hostname "$1" && mount -t tmpfs -o size=256m tmpfs /dev/shm && cd "$0" &&
        mount -t tmpfs -o ro tmpfs readonly && mount -t tmpfs -o size=4k tmpfs full && echo >full/file &&
        cd / && mount --bind "$2" /etc/openmpi/openmpi-mca-params.conf && exec "${@:3}"' \
        "$folder" "$1" "$mpi" "${enter[@]}"
}
mkdir "$folder/readonly" "$folder/full"
# As test/support/without_symbols.sh does, which says why; this /proc is a new one.
mount --bind /dev/null /proc/kallsyms
for node in "$@"; do
    mkdir -p "$folder/$node" "$folder/$node.adapter"
    start_node "$node"
done

# Nodes that the tests kill are started again from here, where their parent is. What ends is reaped by this shell.
while read -r node; do start_node "$node" || echo "could not start $node" >&2; done
