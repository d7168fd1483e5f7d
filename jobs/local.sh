#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The main job on this machine, from a fresh clone to a table, a results file and a report.
# shellcheck disable=SC2154 # what the files of jobs/lib set: $launch, $venv_log
set -euo pipefail
top=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in say packages build mpi venv commands; do
    # shellcheck source=/dev/null
    . "$top/jobs/lib/$part.sh"
done

usage() {
    cat <<'USAGE'
Usage: [RANKS=4] jobs/local.sh [--no-install] [option of a2aperf alltoall]…

Installs what is missing (root is asked for only then; --no-install never asks), builds a release in
build/release, puts a2a into build/a2a, and runs the main job on this machine: 4 ranks, the best provider,
the 24 message sizes of the 2019 table, 100 ops each. Prints the line that launches it, the table, and the
paths of the results file and of the report on it. Afterwards '. build/env.sh' makes a2aperf and a2a
commands of a shell.

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

# output_in FILE: what a --config file says of the output; that there is none, or no such file, the program tells.
output_in() {
    local quoted="\"([^\"]*)\"|'([^']*)'|([^#[:space:]]+)"
    sed -n -E "s/^[[:space:]]*output[[:space:]]*=[[:space:]]*($quoted).*/\2\3\4/p" -- "$1" 2>/dev/null || true
}
# measures_nothing FILE: whether a --config file says verify-only.
measures_nothing() {
    local on="(true|yes|on|1)"
    on="=[[:space:]]*($on|\"$on\"|'$on')"
    grep -q -E "^[[:space:]]*verify-only[[:space:]]*($on)?[[:space:]]*(#.*)?\$" -- "$1" 2>/dev/null
}
# state_of FILE: another after every launch that wrote it; empty where there is none.
state_of() { stat -c '%i %s %y' -- "$1" 2>/dev/null || true; }

# The results file: what -o names, or output in a --config file, else the program's own choice of a name, made here so
# that the report finds it.
file=
config=
is_measured=yes
for ((i = 0; i < ${#arguments[@]}; ++i)); do
    case ${arguments[i]} in
    --config) config=${arguments[i + 1]-} ;;
    --config=*) config=${arguments[i]#*=} ;;
    -o | --output) file=${arguments[i + 1]-} ;;
    -o?*) file=${arguments[i]#-o} ;;
    --output=*) file=${arguments[i]#*=} ;;
    --verify-only) is_measured=no ;; # and takes no -o
    esac
done
[[ $file || ! $config ]] || file=$(output_in "$config")
[[ ! $config ]] || ! measures_nothing "$config" || is_measured=no
if [[ ! $file && $is_measured == yes ]]; then
    file=a2aperf-$(date -u +%Y%m%dT%H%M%SZ).h5
    arguments+=(-o "$file")
fi

# Measuring needs no analysis: where it cannot be had the report is left out, and its place says why.
purposes=(build)
[[ $may_install == no ]] || purposes+=(analysis)
ensure_packages "$may_install" "${purposes[@]}"
configure_build "$top/build/release"
build_targets "$top/build/release" src/app/a2aperf
no_report=
make_analysis ||
    no_report="no report: a2a could not be installed ($(why_no_venv)); the whole log is $venv_log"
offer_commands

keep_mpi_off_fabric
launch_words "$ranks" "$top/build/bin/a2aperf" alltoall "${arguments[@]}"
say "$(launch_line)"
before=$(state_of "$file")
"${launch[@]}"

# --list, --dry-run and the like write none: what is there is of an earlier launch.
[[ $(state_of "$file") != "$before" ]] || exit 0
say "a2aperf and a2a as commands of this shell: $(as_words . "$top/build/env.sh")"
[[ ! $no_report ]] || {
    say "$no_report"
    exit 0
}
page=${file%.h5}.html
"$top/build/bin/a2a" report "$file" -o "$page" || die "no report: a2a failed; the measurement is in $file"
say "$page"
