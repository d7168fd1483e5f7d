#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What mpirun takes for ssh: reaches a host of the cluster that cluster.py made.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: test/cluster/agent.sh [ssh's options] HOST COMMAND…

Runs COMMAND, a line for a shell, on HOST: in its network namespace and under its name.
USAGE
}

while [[ ${1-} == -* ]]; do
    if [[ $1 == -h || $1 == --help ]]; then
        usage
        exit 0
    fi
    shift
done
host=$1
shift
# shellcheck disable=SC2016 # the inner shell expands
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$1"; shift; eval "$*"' agent.sh "$host" "$@"
