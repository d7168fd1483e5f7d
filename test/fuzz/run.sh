#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Inputs that nobody thought of: what was found once, and then what libFuzzer makes of it.
# shellcheck disable=SC2154 # $sanitized of test/support/sanitized.sh
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for part in jobs/lib/{say,packages,build,venv}.sh test/support/{venv,sanitized}.sh; do
    # shellcheck source=/dev/null
    . "$top/$part"
done

programs=(units sizes matrix command_line config_file resume)
scripts=(import_text study_folder options results_file)
left=$top/build/fuzz
python=$top/.venv/bin/python

usage() {
    cat <<USAGE
Usage: test/fuzz/run.sh [OPTION]… [TARGET]…

Runs every file of test/fuzz/corpus/TARGET, then explores. What exploring finds is kept in build/fuzz/corpus/TARGET;
an input that breaks a property is left in build/fuzz as TARGET-crash-…, and the log beside it says which.

  of the program:  ${programs[*]}
  of a2a:          ${scripts[*]}

  --seconds N     explore for so long (default: 5; 0: not at all)
  --runs N        instead of --seconds: explore with so many inputs
  --seed N        explore from the kept files alone and in an order that N decides: the same inputs every time
  --merge         no tests: what was found and reaches more code joins test/fuzz/corpus
  --junit FILE    write what came out, a case for each target
  --no-install    never installs Debian's packages
USAGE
}

contains() { [[ " ${*:2} " == *" $1 "* ]]; }

# prepare_…: build what the targets need; a reason on stdout where that cannot be had here.
prepare_programs() {
    (ensure_packages "$may_install" fuzz) >&2 || true
    if ! has_libfuzzer; then
        echo 'no libFuzzer of clang 14 here: libclang-rt-14-dev has it'
        return
    fi
    configure_sanitized
    build_targets "$sanitized" fuzzers
}

# atheris has wheels for some versions of Python only.
prepare_scripts() {
    ensure_venv
    "$python" -c 'import atheris' 2>/dev/null ||
        "$python" -m pip install --quiet --only-binary :all: -r "$top/test/fuzz/requirements.txt" >&2 || {
        echo 'no atheris for this Python here'
        return
    }
    install_analysis
}

# Sets $command for a target.
find_command() {
    if contains "$1" "${programs[@]}"; then
        command=("$sanitized/test/fuzz/$1")
    else
        command=("$python" "$top/test/fuzz/python" "$1")
    fi
    # A run takes milliseconds; the machine may be busy.
    command+=(-timeout=600 -rss_limit_mb=3000 "-artifact_prefix=$left/$1-")
    case $1 in
    resume | results_file) command+=("-dict=$top/test/fuzz/damage.dict") ;;
    esac
}

run_target() {
    local target=$1 kept=$top/test/fuzz/corpus/$1 found=$left/corpus/$1 command=()
    find_command "$target"
    if [[ $seed ]]; then
        command+=("-seed=$seed")
        found=$TMPDIR/$1-found
    fi
    mkdir -p "$found"
    if [[ $is_merge == yes ]]; then
        "${command[@]}" -set_cover_merge=1 "$kept" "$found"
        return
    fi
    # Exploring begins with every kept file.
    if [[ $runs ]] || ((seconds)); then
        "${command[@]}" "${runs:--max_total_time=$seconds}" -print_final_stats=1 "$found" "$kept"
    else
        "${command[@]}" "$kept"/*
    fi
}

# lane PREPARE TARGET…: one after the other; a line of the JUnit file for each on stdout.
lane() {
    local prepare=$1 target log start reason what
    shift
    (($#)) || return 0
    reason=$("$prepare") || reason=failed
    for target in "$@"; do
        log=$left/$target.log
        start=$SECONDS
        if [[ $reason == failed ]]; then
            what='<failure message="could not be built"/>'
        elif [[ $reason ]]; then
            what="<skipped message=\"$reason\"/>"
        elif run_target "$target" >"$log" 2>&1 </dev/null; then
            what=''
            say "$target: $((SECONDS - start)) s$(sed -n 's/^stat::number_of_executed_units: */, inputs explored: /p' "$log")"
        else
            what='<failure message="a property is broken"/>'
            say "--- $target failed; the end of $log:"
            tail -n 30 "$log" >&2
        fi
        printf '<testcase classname="fuzz" name="%s">%s</testcase>\n' "$target" "$what"
    done
}

seconds=5 runs='' seed='' may_install=yes is_merge=no junit=/dev/null
targets=()
while (($#)); do
    case $1 in
    --seconds)
        [[ ${2-} =~ ^[0-9]{1,7}$ ]] || die -2 "--seconds needs a whole number, for example --seconds 60"
        seconds=$2
        shift
        ;;
    --runs)
        [[ ${2-} =~ ^[1-9][0-9]{0,8}$ ]] || die -2 "--runs needs a whole number above 0, for example --runs 1000"
        runs=-runs=$2
        shift
        ;;
    --seed)
        [[ ${2-} =~ ^[1-9][0-9]{0,8}$ ]] || die -2 "--seed needs a whole number above 0, for example --seed 1"
        seed=$2
        export PYTHONHASHSEED=$seed
        shift
        ;;
    --junit)
        junit=${2:?--junit needs a file}
        shift
        ;;
    --merge) is_merge=yes ;;
    --no-install) may_install=no ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        contains "$1" "${programs[@]}" "${scripts[@]}" ||
            die -2 "unknown target '$1': expected one of ${programs[*]} ${scripts[*]}"
        targets+=("$1")
        ;;
    esac
    shift
done
((${#targets[@]})) || targets=("${programs[@]}" "${scripts[@]}")

# In memory where there is such a folder: a target writes a file for every input.
memory=/dev/shm
[[ -w $memory ]] || memory=${TMPDIR:-/tmp}
TMPDIR=$(mktemp -d "$memory/a2aperf-fuzz-XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

mkdir -p "$left"
# One core for each half.
first=() second=()
for target in "${targets[@]}"; do
    if contains "$target" "${programs[@]}"; then first+=("$target"); else second+=("$target"); fi
done
lane prepare_programs "${first[@]}" >"$TMPDIR/first" &
lane prepare_scripts "${second[@]}" >"$TMPDIR/second"
wait
{
    echo '<testsuite name="fuzz">'
    cat "$TMPDIR/first" "$TMPDIR/second"
    echo '</testsuite>'
} >"$TMPDIR/junit.xml"
cat "$TMPDIR/junit.xml" >"$junit"
! grep -q '<failure' "$TMPDIR/junit.xml"
