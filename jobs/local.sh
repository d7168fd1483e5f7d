#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on this machine, from a fresh clone to a table and a results file.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in say packages build mpi; do
    # shellcheck source=/dev/null
    . "$top/jobs/lib/$part.sh"
done

usage() {
    cat <<'USAGE'
Usage: [RANKS=4] jobs/local.sh [--no-install] [option of a2aperf alltoall]…

Installs what is missing (root is asked for only then; --no-install never installs), builds a release in
build/release and runs the main job on this machine: 4 ranks, the best provider, the 24 message sizes of the
2019 table, 100 ops each. Prints the table and the path of the results file.

  jobs/local.sh
  RANKS=8 jobs/local.sh --provider tcp --sizes 1KiB..1MiB*2
  jobs/local.sh --no-install -o first.h5
  jobs/local.sh --help-all                all options of the program
USAGE
}

may_install=yes
arguments=()
for argument in "$@"; do
    case $argument in
    --no-install) may_install=no ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) arguments+=("$argument") ;;
    esac
done
ranks=${RANKS:-4}
[[ $ranks =~ ^[1-9][0-9]{0,5}$ ]] || die -2 "RANKS=$ranks is not a number of ranks, e.g. RANKS=4"

ensure_packages "$may_install" build
configure_build "$top/build/release"
build_targets "$top/build/release" src/app/a2aperf

keep_mpi_off_fabric
launch_here "$ranks" "$(program_in "$top/build/release")" alltoall "${arguments[@]}"
