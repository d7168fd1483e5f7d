#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A rank whose process id and exit status a test can see.
set -uo pipefail
# shellcheck source=test/support/options.sh
. "${BASH_SOURCE[0]%/*}/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/support/as_rank.sh FOLDER COMMAND [ARGUMENT]…

Runs COMMAND as the rank of an MPI launch that this process is. Its process id is in FOLDER/pid.RANK as long as it
runs, its exit status in FOLDER/status.RANK from its end on: a launcher does not tell them apart.

  test/support/mpirun.sh 3 test/support/as_rank.sh /tmp/ranks build/release/src/app/a2aperf alltoall
USAGE
}

answer_help 2 "$@"
folder=$1
shift
rank=${OMPI_COMM_WORLD_RANK-${PMI_RANK:?is not set: launch with mpirun}}
# The launcher's signals reach both of us: COMMAND decides.
trap : TERM INT
# shellcheck disable=SC2016 # expands in the process that becomes COMMAND
bash -c 'echo $$ >"$0" && exec "$@"' "$folder/pid.$rank" "$@"
status=$?
echo "$status" >"$folder/status.$rank"
exit "$status"
