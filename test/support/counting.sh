# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # $results
# Checks and suites of test/run.sh, run and counted. Needs say.sh, again.sh, $top and the folder $results.

passed=0 failed=0 skipped=0
summary=()
omissions=()

# What a shell starts beside itself ignores ^C. Tests that hear it tidy up.
hearing() { env --default-signal=INT "$@"; }

# count_cpu [BEFORE]: sets $cpu to the seconds of CPU that the children took for which this shell has waited, without
# daemons of theirs. (A command substitution would have children of its own.)
count_cpu() {
    local stat
    read -r stat </proc/$BASHPID/stat
    read -ra stat <<<"${stat##*) }"
    cpu=$(((stat[13] + stat[14]) / $(getconf CLK_TCK) - ${1-0}))
}

# check NAME COMMAND…: one check that passes or fails; its output is shown only when it fails.
check() {
    local name=$1 log=$results/${1// /-}.log start=$SECONDS cpu
    shift
    count_cpu
    if hearing "$@" >"$log" 2>&1; then
        count_cpu "$cpu"
        ((passed += 1))
        summary+=("$(printf '%-22s passed  %4d s, CPU %d s' "$name" $((SECONDS - start)) "$cpu")")
    else
        ((failed += 1))
        summary+=("$(printf '%-22s FAILED  %4d s  %s' "$name" $((SECONDS - start)) "${log#"$top"/}")")
        say "--- $name failed; the end of its log:"
        tail -n 60 "$log" >&2
    fi
    say "${summary[-1]}"
}

# fails_by_cases STATUS FAILED COMMAND…: whether that is how its runner tells of so many failed cases. pytest says 1 of any
# number, and Meson their number, also of those that timed out, of which its JUnit file has none.
fails_by_cases() {
    local status=$1 bad=$2 command=" ${*:3} "
    if [[ $command == *' meson test '* ]]; then
        ((status == bad))
    elif [[ $command =~ \ (-m\ pytest|[^\ ]*run-checks.sh)\  ]]; then
        ((status == 1))
    fi
}

# all_lack TALLY: whether each test was skipped for a reason that the stage named beforehand, in $may_lack (an extended
# regular expression of how the reason begins).
all_lack() { [[ ${may_lack-} ]] && ! tail -n +2 "$1" | grep -qvE "^skipped: .* \\(($may_lack)"; }

# suite NAME JUNIT COMMAND…: a command that writes a JUnit file, counted case by case. One that runs no test fails, also
# where all were skipped, but for all_lack.
suite() {
    local name=$1 junit=$2 log=$results/${1// /-}.log start=$SECONDS status=0
    local good=0 bad=0 omitted=0 aborted=no cpu
    shift 2
    count_cpu
    rm -f "$junit" "$log.tally"
    local -x PYTEST_ADDOPTS="${PYTEST_ADDOPTS-} -o cache_dir=$results/cache/${name// /-}" # for again.sh
    hearing "$@" >"$log" 2>&1 || status=$?
    count_cpu "$cpu"
    if [[ -f $junit ]]; then
        python3 "$top/test/support/tally.py" "$junit" >"$log.tally"
        read -r good bad omitted <"$log.tally"
    fi
    # A runner that fails without a failed case, or otherwise than by failed cases, did not get to its end.
    if ((status)) && { ((!bad)) || ! fails_by_cases "$status" "$bad" "$@"; }; then
        aborted=yes
        ((bad += 1))
        say "--- $name did not get to its end (status $status)"
    fi
    # Nothing was looked at, so nothing is known to be right.
    if ((!good && !bad && !omitted)); then
        bad=1
        say "--- $name: no test ran"
    elif ((!good && !bad)) && ! all_lack "$log.tally"; then
        bad=1 aborted=yes
        say "--- $name: no test ran, all were skipped"
    fi
    if ((bad)); then
        say "--- $name failed; the end of its log:"
        tail -n 80 "$log" >&2
        [[ $aborted == yes ]] || remember_failed "$name" "$junit" "$bad" "$@"
    fi
    if [[ -f $log.tally ]]; then
        tail -n +2 "$log.tally" >&2
        mapfile -t -O "${#omissions[@]}" omissions < <(grep '^skipped: ' "$log.tally")
    fi
    # pytest tells how many it did not choose.
    if [[ $(tail -n 1 "$log") =~ ([1-9][0-9]*)\ deselected ]]; then
        omissions+=("left out: ${BASH_REMATCH[1]} tests of $name")
    fi
    ((passed += good, failed += bad, skipped += omitted, 1))
    summary+=("$(printf '%-22s %d passed, %d failed, %d skipped  %4d s, CPU %d s' "$name" "$good" "$bad" "$omitted" \
        $((SECONDS - start)) "$cpu")")
    say "${summary[-1]}"
}

# omit NAME REASON: a stage that cannot be had here.
omit() {
    ((skipped += 1))
    omissions+=("skipped: $1 ($2)")
    summary+=("$(printf '%-22s skipped: %s' "$1" "$2")")
    say "${summary[-1]}"
}
