#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test, from a fresh clone on a bare machine.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in jobs/lib/{say,packages,build,mpi}.sh test/support/venv.sh; do
    # shellcheck source=/dev/null
    . "$top/$part"
done

usage() {
    cat <<'USAGE'
Usage: test/run.sh [--no-install] [stage]…

Installs what is missing (root is asked for only then; --no-install never installs), builds, and runs every
test. A stage's log is shown when it fails; all of them stay in build/results.

  meson       unit and MPI tests of the release build
  python      the program as a user meets it: command line, files read back
  sanitizers  unit tests and a job under AddressSanitizer and UndefinedBehaviorSanitizer
  analysis    the checks of the Python package
  lint        format, clang-tidy, shellcheck, licence headers, man page

  test/run.sh                everything
  test/run.sh meson lint     two stages of it
USAGE
}

all_stages=(meson python sanitizers analysis lint)
may_install=yes
stages=()
for argument in "$@"; do
    case $argument in
    --no-install) may_install=no ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        [[ " ${all_stages[*]} " == *" $argument "* ]] || die -2 "unknown stage '$argument': there are ${all_stages[*]}"
        stages+=("$argument")
        ;;
    esac
done
((${#stages[@]})) || stages=("${all_stages[@]}")

results=$top/build/results
python=$top/.venv/bin/python
release=$top/build/release
passed=0 failed=0 skipped=0
summary=()

# check NAME COMMAND…: one check that passes or fails; its output is shown only when it fails.
check() {
    local name=$1 log=$results/${1// /-}.log start=$SECONDS
    shift
    if "$@" >"$log" 2>&1; then
        ((passed += 1))
        summary+=("$(printf '%-22s passed  %4d s' "$name" $((SECONDS - start)))")
    else
        ((failed += 1))
        summary+=("$(printf '%-22s FAILED  %4d s  %s' "$name" $((SECONDS - start)) "${log#"$top"/}")")
        say "--- $name failed; the end of its log:"
        tail -n 60 "$log" >&2
    fi
    say "${summary[-1]}"
}

# suite NAME JUNIT COMMAND…: a command that writes a JUnit file, counted case by case.
suite() {
    local name=$1 junit=$2 log=$results/${1// /-}.log start=$SECONDS status=0
    local good=0 bad=0 omitted=0
    shift 2
    rm -f "$junit"
    "$@" >"$log" 2>&1 || status=$?
    if [[ -f $junit ]]; then
        python3 "$top/test/support/tally.py" "$junit" >"$log.tally"
        read -r good bad omitted <"$log.tally"
    fi
    # A runner that fails without a failed case did not get to its end.
    ((status && !bad)) && bad=1
    if ((bad)); then
        say "--- $name failed; the end of its log:"
        tail -n 80 "$log" >&2
    fi
    [[ ! -f $log.tally ]] || tail -n +2 "$log.tally" >&2
    ((passed += good, failed += bad, skipped += omitted, 1))
    summary+=("$(printf '%-22s %d passed, %d failed, %d skipped  %4d s' "$name" "$good" "$bad" "$omitted" \
        $((SECONDS - start)))")
    say "${summary[-1]}"
}

stage_meson() {
    suite 'meson tests' "$release/meson-logs/testlog.junit.xml" \
        meson test -C "$release" --no-rebuild --print-errorlogs --timeout-multiplier 4
}

stage_python() {
    A2APERF=$(program_in "$release") suite 'python tests' "$results/python.xml" \
        "$python" -m pytest "$top/test" -q -rs --junitxml "$results/python.xml"
}

stage_sanitizers() {
    local folder=$top/build/sanitize program
    configure_build "$folder" -Doptimization=1 -Ddebug=true -Db_sanitize=address,undefined -Db_lundef=false
    build_targets "$folder"
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    suite 'sanitized units' "$folder/meson-logs/testlog.junit.xml" \
        meson test -C "$folder" --no-rebuild --print-errorlogs --suite unit --timeout-multiplier 5
    program=$(program_in "$folder")
    # MPI and libfabric keep memory to the end; leaks of ours are looked for in the unit tests.
    ASAN_OPTIONS=detect_leaks=0 check 'sanitized job' "$top/test/support/mpirun.sh" -t 300 3 "$program" alltoall \
        --provider tcp --mode tagged,write-imm --schedule shift,random --window 1,all --sizes 1,1000,60000 \
        --ops 20 --baseline mpi --force -o "$results/sanitized.h5"
}

stage_analysis() { suite 'analysis' "$top/analysis/.venv/pytest.xml" "$top/analysis/run-checks.sh"; }

stage_lint() {
    local part
    for part in $("$top/test/lint.sh" --list); do check "lint $part" "$top/test/lint.sh" "$part"; done
}

needs() { [[ " ${stages[*]} " == *" $1 "* ]]; }

ensure_packages "$may_install" build test
mkdir -p "$results"
if needs meson || needs python || needs lint; then
    configure_build "$release"
    build_targets "$release"
fi
if needs python; then ensure_venv; fi
keep_mpi_off_fabric
# The launcher refuses root unless told twice.
((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
for stage in "${stages[@]}"; do "stage_$stage"; done

printf '\n'
printf '%s\n' "${summary[@]}"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
