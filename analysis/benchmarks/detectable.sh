#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# What this machine lets a comparison find: real launches in alternation, once with equal sides (A/A)
# and once with a cost injected (libfabric's shm provider without cross-memory attach).
#
#   analysis/benchmarks/detectable.sh [LAUNCHES [OPTION of a2aperf alltoall]…]
#
# LAUNCHES a side (default 8, a multiple of 2). PROGRAM and A2A name the two programs if they are not
# build/release/src/app/a2aperf and a2a. The files stay in the folder that is printed.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=/dev/null
for part in say mpi; do . "$top/jobs/lib/$part.sh"; done

launches=${1:-8}
shift $(($# > 0))
[[ $launches =~ ^[1-9][0-9]*$ && $((launches % 2)) -eq 0 ]] || die -2 "'$launches' is not an even number of launches"
program=${PROGRAM:-$top/build/release/src/app/a2aperf}
[[ -x $program ]] || die -2 "$program is not there: jobs/local.sh builds it, PROGRAM names another"
a2a=${A2A:-a2a}
folder=$(mktemp -d)
keep_mpi_off_fabric

read -r load _ </proc/loadavg
printf '%s cores, nice level %s, load average %s before the first launch\n' "$(nproc)" "$(nice)" "$load"
number=0
launch() { # SIDE [NAME=VALUE]
    number=$((number + 1))
    local file
    file=$folder/$(printf '%03d' "$number")-$1.h5
    [[ ! -t 2 ]] || printf '\rlaunch %d of %d ' "$number" "$((launches * 3))" >&2
    (
        [[ -z ${2:-} ]] || export "${2?}"
        launch_here 2 "$program" alltoall --provider shm --sizes 1000,8192,60000 --ops 300 \
            --sync barrier --label "side=$1" -o "$file" "${options[@]}"
    ) >"$folder/log" 2>&1 || die -1 "launch $number failed: $(tail -n 1 "$folder/log")"
}

options=("$@")
for ((block = 0; block < launches / 2; ++block)); do
    for side in a same cost cost same a; do
        case $side in
        cost) launch cost FI_SHM_DISABLE_CMA=1 ;;
        *) launch "$side" ;;
        esac
    done
done
[[ ! -t 2 ]] || printf '\n' >&2
for side in same cost; do
    # 3: slower, 4: undecided; both are results here.
    "$a2a" compare "$folder"/*-"$side".h5 --against "$folder"/*-a.h5 || (($? > 2)) || exit
    printf '\n'
done
printf '%s\n' "$folder"
