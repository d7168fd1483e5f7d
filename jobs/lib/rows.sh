# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The launches of a screening, of its confirmation, or of interconnects side by side: 'a2a screen' or 'a2a suite' has planned
# them, and a file has a row for each, in their order: a label, what is set (NAME=VALUE of variables with ; between them, and \; for
# one within a value, or -; of a suite also options of a2aperf), the block; of a suite also the workload with its options, of a screening the pair, or the
# further value (value-N), with which a launch goes (- where there is none). Needs say.sh, options.sh, plan.sh, launches.sh.

readonly kEndSeconds=180 # before the end of its time a job is told to end: --signal
readonly kHopeless=4     # launches that fail twice, and none is good
twice=0

row_label=() row_settings=() row_block=() row_workload=() row_pair=()
# The launch for which a pair or a value is left out; launches that are not tried any more in this run.
declare -A dropped=() given_up=()
there_is=()

# split_settings TEXT: the settings of a row into $split.
split_settings() {
    local rest=$1 word one='^((\\.|[^\;])*)(;|$)'
    split=()
    while [[ $rest && $rest =~ $one ]]; do
        word=${BASH_REMATCH[1]//\\;/;}
        split+=("${word//\\\\/\\}")
        rest=${rest:${#BASH_REMATCH[0]}}
    done
    [[ ! $rest ]] || split+=("$rest")
}

# read_rows: sets the arrays above, and $combinations, of which each row is one.
read_rows() {
    local label settings block more word split file=${asked[rows]} name='[A-Za-z_][A-Za-z0-9_]*'
    row_label=() row_settings=() row_block=() row_workload=() row_pair=()
    [[ $kind != suite ]] || name+='|--[a-z][a-z-]*'
    [[ -f $file && -r $file ]] || die -2 "--rows $file: no such file that can be read"
    while IFS=$'\t' read -r label settings block more; do
        [[ $label =~ ^[A-Za-z0-9-]+$ && $block =~ ^[0-9]{1,4}$ ]] ||
            die -2 "--rows $file, line $((${#row_label[@]} + 1)): expected a label, settings and a block, as 'a2a run' writes them"
        [[ $settings != - ]] || settings=''
        split_settings "$settings"
        for word in "${split[@]}"; do
            [[ $word =~ ^($name)= ]] || die -2 "--rows $file, line $((${#row_label[@]} + 1)): '$word' is no variable"
        done
        row_label+=("$label") row_settings+=("$settings") row_block+=("$block")
        if [[ $kind == suite ]]; then row_workload+=("${more:-alltoall}"); else row_pair+=("${more:--}"); fi
    done <"$file"
    combinations=${#row_label[@]}
    ((combinations > 1)) || die -2 "--rows $file: there are no launches in it"
}

# settings_of_row N: sets $chosen.
settings_of_row() {
    local split
    split_settings "${row_settings[$1]}"
    chosen=("${split[@]}")
}

# clear_screened: what a row does not set is set by nobody.
clear_screened() {
    local settings word split
    for settings in "${row_settings[@]}"; do
        split_settings "$settings"
        for word in "${split[@]}"; do
            [[ $word != --* ]] || continue
            unset "${word%%=*}"
        done
    done
}

# plan_screen: as the rows are; those of a block have the order of ranks in common.
plan_screen() {
    local i count=${asked[nodes]:-${#nodes[@]}}
    [[ $count != *,* ]] || die -2 "--nodes $count: expected one node count"
    ((count <= ${#nodes[@]})) || may_lack_nodes || die -2 "--nodes $count: there are ${#nodes[@]} to measure on"
    [[ ${asked[subsets]} != per-switch ]] || die -2 "--subsets per-switch: planned launches are made on the same nodes"
    counts=("$count")
    for ((i = 0; i < combinations; ++i)); do add_launch "$count" "$i" - "${row_block[i]}" "${row_workload[i]-}"; done
}

plan_suite() { plan_screen; }

# is_dropped I: logs a launch of a screening that is not made, since the other one of its pair failed twice.
is_dropped() {
    local other=${dropped[${row_pair[$1]}]-}
    [[ $other ]] || return 1
    given_up[$1]=yes
    log_launch "$1" - - "not begun: launch $other failed twice, and its $(what_goes_with "$1") is left out"
}

# what_goes_with I: prints what of the plan a launch stands and falls with.
what_goes_with() { [[ ${row_pair[$1]} == value-* ]] && echo value || echo pair; }

# is_over I: it is good, or was not begun, or no launch is begun any more.
is_over() { [[ ${good[$1]} == 0 || ${good[$1]} == - || $stopping ]]; }

# try_again I: a launch of a screening that failed is made once more, in its block; what fails twice costs its pair, and the
# design stands without the two, or the further value that it tries. Where nothing but failures comes, nothing more is tried.
try_again() {
    local i=$1 pair=${row_pair[$1]}
    is_over "$i" && return
    ((tries > 1)) || take_turn "$i"
    is_over "$i" && return
    given_up[$i]=yes
    [[ " ${good[*]} " == *' 0 '* ]] || (((twice += 1) < kHopeless)) || stopping="the first $kHopeless launches failed twice each"
    [[ $pair != - ]] || return 0
    dropped[$pair]=$((i + 1))
    say "launch $((i + 1)) failed twice: its $(what_goes_with "$i") is left out"
}

# judge_suite FILE…: what a2a suite says, in the job's output and in a file, and its picture. Sets $verdict.
judge_suite() {
    local text=$results/suite-$job_id.txt picture=$results/suite-$job_id.svg
    verdict=1
    [[ $a2a ]] && (($#)) || return 0
    verdict=0
    "$a2a" suite "$@" --plot "$picture" >"$text" || verdict=1
    show "$text"
    ((verdict)) || say "picture: $picture"
}

# go_on_screening: where a setting dominates it is fixed, and the rest screened again; then further values are tried, one at a time;
# then what is left is launched anew, beside launches with none of it. 'a2a screen' plans these launches, once, and adds a row for each to the file.
go_on_screening() {
    local i before files
    [[ ${asked[no-confirm]} == no && $a2a ]] || return 0
    while [[ ! $stopping ]]; do
        before=$combinations files=()
        for i in "${!plan_nodes[@]}"; do
            [[ ${good[$i]-} != 0 ]] || files+=("$results/$(file_of "$i")")
        done
        ((${#files[@]})) || return 0
        time_there_is
        # Where they tell nothing, what is said at the end has the reason.
        "$a2a" screen "${files[@]}" --plan "${asked[rows]%.tsv}.json" --confirm "${there_is[@]}" \
            >"$scratch/confirm" 2>&1 || return 0
        read_rows
        ((combinations > before)) || return 0
        say "$(cat "$scratch/confirm")"
        make_plan
        write_plan
        make_launches
    done
}

# time_there_is: sets $there_is to the options that say how long the job may still take, and what a launch takes, where both
# are known.
time_there_is() {
    local seconds size left='' seconds_to_end
    size_of 0
    seconds=${took[$size]-}
    there_is=()
    seconds_left 0
    [[ ! $limited_by ]] || left=$launch_limit
    if [[ ${SLURM_JOB_END_TIME-} ]]; then
        ((seconds_to_end = SLURM_JOB_END_TIME - $(date +%s) - kEndSeconds, 1))
        [[ $left ]] && ((left < seconds_to_end)) || left=$seconds_to_end
    fi
    [[ ! $left || ! $seconds ]] || there_is=(--budget "$((left > 1 ? left : 1))s" --seconds "$((seconds > 0 ? seconds : 1))")
}

# judge_screening FILE…: what a2a screen says, in the job's output and in a file, and its picture. Sets $verdict.
judge_screening() {
    local text=$results/screen-$job_id.txt picture=$results/screen-$job_id.svg
    verdict=1
    [[ $a2a ]] && (($#)) || return 0
    verdict=0
    "$a2a" screen "$@" --plan "${asked[rows]%.tsv}.json" --plot "$picture" >"$text" || verdict=1
    show "$text"
    ((verdict)) || say "picture: $picture"
}
