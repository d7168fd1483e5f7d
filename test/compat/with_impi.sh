#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A newer libfabric, with the psm3 provider, in the place of the one that the program was built with.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=test/support/options.sh
. "$top/test/support/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/compat/with_impi.sh COMMAND [ARGUMENT]…

Runs COMMAND with libfabric 1.21 and its providers psm3, tcp and shm, taken from the Python package of Intel's MPI
runtime (pinned; 80 MB, kept in build/impi). On one host psm3 takes its shared-memory path: PSM3_DEVICES is self,shm
unless it is set.

  test/compat/with_impi.sh test/support/mpirun.sh 4 build/release/src/app/a2aperf alltoall --provider psm3

Where the package cannot be had it says why and exits with status 77 (skipped).
USAGE
}

skip() {
    echo "skipped: $1"
    exit 77
}

# A stamp tells a whole folder, of this package, from a torn or an older one.
fetch() {
    local folder=$1 wanted=$2 reason
    if cmp -s "$wanted" "$folder/complete"; then return; fi
    rm -rf "$folder"
    reason=$("$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
        --only-binary :all: --dest "$folder" -r "$wanted" 2>&1) ||
        skip "Intel's MPI runtime cannot be had: ${reason##*$'\n'}"
    "$python" -m zipfile -e "$folder"/*.whl "$folder"
    rm "$folder"/*.whl
    mv "$folder"/*.data/data/lib/libfabric "$folder/libfabric"
    rm -r "$folder"/*.data
    cp "$wanted" "$folder/complete"
}

answer_help 1 "$@"
[[ $(uname -m) == x86_64 ]] || skip "Intel's MPI runtime is for x86_64"
folder=$top/build/impi
python=$top/.venv/bin/python
[[ -x $python ]] || python=python3
fetch "$folder" "$top/test/compat/impi.txt"
libraries=$folder/libfabric
export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} FI_PROVIDER_PATH=$libraries/prov
export PSM3_DEVICES=${PSM3_DEVICES-self,shm}
exec "$@"
