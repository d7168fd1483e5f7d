#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Ranks on one machine whose CLOCK_MONOTONIC really differ.
set -euo pipefail
# shellcheck source=test/support/options.sh
. "${BASH_SOURCE[0]%/*}/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/support/in_time_namespaces.sh OFFSET,OFFSET,… COMMAND [ARGUMENT]…

Runs COMMAND once, as the rank of an MPI launch that this process is. The rank's CLOCK_MONOTONIC is OFFSET whole
seconds ahead of the machine's, in a time namespace of its own; an offset of 0 leaves the rank where it is. COMMAND
finds the offset in A2APERF_TEST_CLOCK_OFFSET.

  test/support/mpirun.sh 3 test/support/in_time_namespaces.sh 0,1000,-1 build/test/mpi/mpi-clock

Needs root and Linux 5.6; elsewhere it says why not and exits with status 77 (skipped) on every rank.
USAGE
}

answer_help 2 "$@"

# Time namespaces are entered by children only, hence --fork.
ahead() { exec unshare --time --monotonic "$1" --fork --kill-child -- "${@:2}"; }

if ! reason=$( (ahead 1 true) 2>&1); then
    echo "skipped: no time namespace can be made here ($reason)"
    exit 77
fi
IFS=, read -ra offsets <<<"$1"
shift
rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK:?is not set: launch with mpirun}}
export A2APERF_TEST_CLOCK_OFFSET=${offsets[rank]:?has no offset for rank $rank}
if ((A2APERF_TEST_CLOCK_OFFSET == 0)); then exec "$@"; fi
ahead "$A2APERF_TEST_CLOCK_OFFSET" "$@"
