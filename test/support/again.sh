# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # $results, $summary, and what counting.sh counts
# A second look, with nothing beside it, at a few tests that have failed beside others: on a machine that is shared other
# work can be the cause. What fails twice has failed; what passes then is told apart. Needs say.sh, counting.sh, $top.

most_again=8 # of a suite: more is no accident

# remember_failed NAME JUNIT FAILURES COMMAND…: a suite for look_again, with what its command was told by its environment.
remember_failed() {
    local name=$1 junit=$2 failures=$3 command=("${@:4}")
    [[ " ${command[*]} " =~ \ (meson\ test|[^ ]*run-checks.sh|-m\ pytest)\  ]] || return 0
    ((failures <= most_again)) && [[ -f $junit ]] || return 0
    mkdir -p "$results/again"
    printf '%s\n' "$name" "$junit" >"$results/again/${name// /-}.of"
    { export -p && declare -p junit command; } >"$results/again/${name// /-}"
}

# run_failed RECORD: only those tests of a suite that failed; JUnit in its file.
run_failed() (
    set +eu
    # shellcheck source=/dev/null
    . "$1"
    if [[ " ${command[*]} " == *' meson test '* ]]; then
        local failed_ones
        mapfile -t failed_ones < <(python3 "$top/test/support/tally.py" --failed "$junit" | sed 's|.* / ||')
        command+=("${failed_ones[@]}")
    else
        export PYTEST_ADDOPTS="$PYTEST_ADDOPTS --last-failed --last-failed-no-failures none"
    fi
    rm -f "$junit"
    hearing "${command[@]}"
)

# look_again: at all that was remembered; what passes counts as passed, and is told.
look_again() {
    local record name junit log good start test before now_passed
    for record in "$results"/again/*; do
        [[ -f $record.of ]] || continue
        { read -r name && read -r junit; } <"$record.of"
        log=$results/${record##*/}-again.log start=$SECONDS good=0
        before=$(python3 "$top/test/support/tally.py" --failed "$junit")
        [[ $before ]] || continue
        run_failed "$record" >"$log" 2>&1 || true
        now_passed=''
        [[ ! -f $junit ]] || now_passed=$(python3 "$top/test/support/tally.py" --passed "$junit")
        while IFS= read -r test; do
            if grep -qxF -e "$test" <<<"$now_passed"; then
                ((good += 1))
                say "passed when it ran alone: $test"
            fi
        done <<<"$before"
        ((passed += good, failed -= good, 1))
        summary+=("$(printf '%-22s %d of %d passed alone  %4d s' "$name, again" "$good" "$(wc -l <<<"$before")" \
            $((SECONDS - start)))")
        say "${summary[-1]}"
        rm -f "$record" "$record.of"
    done
}
