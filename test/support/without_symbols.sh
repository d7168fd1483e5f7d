#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Cheaper launches: libfabric's verbs provider reads all of the kernel's symbols, twice, in each process that looks for
# a provider. It asks them about the memory of accelerators, which no test has.
set -euo pipefail
# shellcheck source=test/support/options.sh
. "${BASH_SOURCE[0]%/*}/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/support/without_symbols.sh COMMAND [ARGUMENT]…

Runs COMMAND where /proc/kallsyms is empty. Needs root; elsewhere COMMAND runs all the same, and takes longer.

  test/support/without_symbols.sh meson test -C build/release --suite mpi
USAGE
}

answer_help 1 "$@"
inside='mount --bind /dev/null /proc/kallsyms && exec "$@"'
if unshare --mount bash -c "$inside" inside true 2>/dev/null; then
    exec unshare --mount bash -c "$inside" inside "$@"
fi
exec "$@"
