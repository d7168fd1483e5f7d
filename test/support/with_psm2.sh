#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# libfabric's psm2 provider without an adapter: the real libpsm2 over its own shared-memory path.
set -euo pipefail
# shellcheck source=test/support/options.sh
. "${BASH_SOURCE[0]%/*}/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/support/with_psm2.sh COMMAND [ARGUMENT]…

Runs COMMAND where the psm2 provider finds an Omni-Path adapter: a device file and a folder of sysfs attributes, in
a mount namespace with a /dev and a /dev/shm of its own. What killed ranks leave in /dev/shm goes with it. This
proves the provider's code path and the program's use of it; nothing reaches an adapter.

  test/support/with_psm2.sh test/support/mpirun.sh 4 build/release/src/app/a2aperf alltoall --provider psm2

Needs root; elsewhere it says why not and exits with status 77 (skipped).
USAGE
}

answer_help 1 "$@"

if [[ -z ${A2APERF_TEST_ADAPTER-} ]]; then
    if ! reason=$(unshare -m mount -t tmpfs none /mnt 2>&1); then
        echo "skipped: no private mount namespace can be made here ($reason)"
        exit 77
    fi
    A2APERF_TEST_ADAPTER=$(mktemp -d)
    export A2APERF_TEST_ADAPTER
    trap 'rmdir "$A2APERF_TEST_ADAPTER"' EXIT
    status=0
    unshare -m "$0" "$@" || status=$?
    exit "$status"
fi

# In the namespace: all of this is gone with its last process.
top=$A2APERF_TEST_ADAPTER
mount -t tmpfs adapter "$top"
sysfs=$top/hfi1_0
mkdir -p "$sysfs/ports/1" "$top/dev/shm"
echo 16 >"$sysfs/nctxts"
echo 16 >"$sysfs/nfreectxts"
echo '5: LinkUp' >"$sysfs/ports/1/phys_state"
echo 0x1 >"$sysfs/ports/1/lid"
for node in null zero full random urandom tty; do
    touch "$top/dev/$node"
    mount --bind "/dev/$node" "$top/dev/$node"
done
ln -s /proc/self/fd "$top/dev/fd"
mkdir "$top/dev/pts"
mount --rbind /dev/pts "$top/dev/pts"
ln -s pts/ptmx "$top/dev/ptmx"
mount -t tmpfs -o size=1g shm "$top/dev/shm"
: >"$top/dev/hfi1_0"
mount --rbind "$top/dev" /dev
export HFI_SYSFS_PATH=$sysfs PSM2_DEVICES=self,shm
exec "$@"
