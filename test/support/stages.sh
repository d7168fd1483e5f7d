# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # $results, and what counting.sh counts
# Stages of test/run.sh, some beside others. Needs say.sh, counting.sh, $top and the folder $results.

declare -A stage_of=() # by the process that runs it
declare -A summary_of=() omissions_of=() # by the stage, a line each

# tell_counts FILE: what was counted so far, for gather_counts.
tell_counts() {
    {
        printf 'counts %d %d %d\n' "$passed" "$failed" "$skipped"
        ((!${#summary[@]})) || printf 'summary %s\n' "${summary[@]}"
        ((!${#omissions[@]})) || printf 'omission %s\n' "${omissions[@]}"
    } >"$1"
}

# gather_counts STAGE FILE: adds what its process told; the words stay with the stage.
gather_counts() {
    local stage=$1 word rest good bad omitted
    while read -r word rest; do
        case $word in
        counts)
            read -r good bad omitted <<<"$rest"
            ((passed += good, failed += bad, skipped += omitted, 1))
            ((good + bad + omitted)) || lament "$stage" 'nothing was looked at'
            ;;
        summary) summary_of[$stage]+=$rest$'\n' ;;
        omission) omissions_of[$stage]+=$rest$'\n' ;;
        esac
    done <"$2"
}

# lament STAGE WHY: a stage that is not known to be right counts as one that is wrong.
lament() {
    local line
    line=$(printf '%-22s FAILED: %s' "$1" "$2")
    ((failed += 1))
    summary_of[$1]+=$line$'\n'
    say "$line"
}

# begin_stage STAGE: calls stage_STAGE in a process beside this one; nobody is there to answer it.
begin_stage() {
    local stage=$1
    rm -f "$results/$stage.counts"
    (
        passed=0 failed=0 skipped=0 summary=() omissions=()
        # shellcheck disable=SC2064 # now
        trap "tell_counts '$results/$stage.counts'" EXIT
        "stage_$stage"
    ) </dev/null &
    stage_of[$!]=$stage
}

# find_ended: until one of those that were begun has ended; sets $process. `wait -n` forgets one that ends while another
# is seen to, and a shell that asks `jobs` in a process substitution gets stuck once the numbers of processes have gone
# round.
find_ended() {
    while :; do
        for process in "${!stage_of[@]}"; do
            kill -0 "$process" 2>/dev/null || return 0
        done
        sleep 0.1
    done
}

# await_stage: until one of those that were begun has ended; sets $ended to it.
await_stage() {
    local process status=0
    find_ended
    wait "$process" || status=$?
    ended=${stage_of[$process]}
    unset "stage_of[$process]"
    if [[ -f $results/$ended.said ]]; then
        cat "$results/$ended.said" >&2
        rm -f "$results/$ended.said"
    fi
    if [[ -f $results/$ended.counts ]]; then
        gather_counts "$ended" "$results/$ended.counts"
        rm -f "$results/$ended.counts"
    fi
    ((!status)) || lament "$ended" "it did not get to its end (status $status)"
}

run_alone() {
    local ended
    begin_stage "$1"
    await_stage
}

# run_beside LATE STAGES…: lists of stages, each one after the other, beside each other; those of LATE are taken by
# whichever is through first. A list that has nobody beside it goes on by itself. What a stage says is shown when it has
# ended.
run_beside() {
    local ended begun lane stages
    local -A lane_of=() left_in=([late]=$1)
    for stages in "${@:2}"; do
        [[ -z $stages ]] || left_in[${#left_in[@]}]=$stages
    done
    if ((${#left_in[@]} < 3)); then
        for ended in ${left_in[late]} ${left_in[1]-}; do run_alone "$ended"; done
        return
    fi
    for ((lane = 1; lane < ${#left_in[@]}; lane++)); do begin_next "$lane"; done
    while ((${#stage_of[@]})); do
        await_stage
        begin_next "${lane_of[$ended]}"
    done
}

# begin_next LANE: takes the first stage that is left in it, or of the late ones.
begin_next() {
    local from=$1 left
    read -ra left <<<"${left_in[$from]}"
    if ((!${#left[@]})); then
        from=late
        read -ra left <<<"${left_in[late]}"
    fi
    ((${#left[@]})) || return 0
    begun=${left[0]}
    left_in[$from]=${left[*]:1}
    lane_of[$begun]=$1
    say "$begun begins"
    begin_stage "$begun" >"$results/$begun.said" 2>&1
}

# end_stages: none of their processes is left on return, also of those that a launcher made a group of.
end_stages() {
    ((${#stage_of[@]})) || return 0
    trap '' INT TERM HUP
    say 'ending what still runs'
    python3 "$top/test/support/ending.py" "${!stage_of[@]}"
    stage_of=()
}

# end_stages_at_signals: from now on, and when the script ends early.
end_stages_at_signals() {
    trap 'end_stages; exit 130' INT
    trap 'end_stages; exit 143' TERM
    trap 'end_stages; exit 129' HUP
    trap end_stages EXIT
}
