#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: test/cluster/ahead.sh COMMAND…

Runs COMMAND, and what it starts, ahead of whatever else this machine does, but for a hundredth of its cores' time.
With a real-time priority (chrt) ranks that never sleep, as they do while MPI starts, would keep both cores of a small machine
from its kernel's own threads and from the launcher's, which then get 50 ms at a time.
USAGE
}

if (($# == 0)) || [[ $1 == -h || $1 == --help ]]; then
    usage
    exit $(($# == 0 ? 2 : 0))
fi
# Where sessions share a core by turns, priorities count within one only.
# shellcheck disable=SC2016 # the inner shell expands
exec setsid --wait bash -c 'echo -20 2>/dev/null >/proc/self/autogroup || true; exec nice -n -20 "$@"' ahead.sh "$@"
