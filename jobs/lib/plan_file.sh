# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The plan as a file, and what an earlier run of the same job left of it; docs/study.md describes both. Needs say.sh,
# options.sh, nodes.sh, plan.sh.

# By launch, from before a requeue: 0 when it is good, and the nodes that it was made on.
declare -A good=() made_on=()
is_open='' # whether the results folder is this run's, and takes what is written

file_of() {
    local setting=base
    case $kind in
    alltoall) ;;
    check) [[ ${plan_workload[$1]} == alltoall ]] || setting=${plan_workload[$1]} ;;
    suite) setting=${plan_workload[$1]%% *}-${row_label[$1]} ;;
    *) setting=s$((plan_combination[$1] + 1)) ;;
    esac
    printf '%s-%s-n%d-%s-%03d.h5' "$kind" "$job_id" "${plan_nodes[$1]}" "$setting" $(($1 + 1))
}

# plan_text: on standard output.
plan_text() {
    local i list node_list subset
    local -A known=()
    printf '# %s\t%s\n' kind "$kind" job "$job_id" seed "${asked[seed]}" subsets "${asked[subsets]}" \
        counts "$(IFS=, && echo "${counts[*]}")" command "$command_line" planned "$(now)" allocation "${#nodes[@]}"
    [[ ! ${error-} ]] || printf '# error\t%s\n' "$error"
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' launch nodes ppn subset settings file
    for i in "${!plan_nodes[@]}"; do
        list=${made_on[$i]-}
        if [[ ! $list ]]; then
            subset_of "$i"
            node_list=${subset[*]}
            # Asking Slurm takes a moment, and most launches have the nodes of another.
            [[ ${known[=$node_list]-} || ! $node_list ]] || known[=$node_list]=$(host_list "${subset[@]}")
            list=${known[=$node_list]:--}
        fi
        combination "${plan_combination[i]}"
        printf '%03d\t%d\t%d\t%s\t%s\t%s\n' $((i + 1)) "${plan_nodes[i]}" "${asked[ppn]}" "$list" \
            "$(spelled_settings)" "$(file_of "$i")"
    done
}

write_plan() {
    if ! { plan_text >"$plan_file.partial" && mv "$plan_file.partial" "$plan_file"; }; then
        rm -f "$plan_file.partial"
        die "the plan could not be written to $plan_file"
    fi
}

# The plan for an allocation that is not there: its nodes are called n1, n2, …; and the words that an all-to-all gets of the
# job beside the user's, for an estimate of its time.
print_plan() {
    local n words=() chosen=()
    nodes=()
    for ((n = 1; n <= asked[plan]; ++n)); do nodes+=("n$n"); done
    job_id=0
    keep_spares
    make_plan
    host_list() { range_of "$@"; }
    add_measured
    ((${#words[@]} == 0)) || printf '# added\t%s\n' "$(printf ' %q' "${words[@]}")"
    plan_text
}

# range_of n1 n2 n3: n[1-3]; a list with commas where numbers are missing.
range_of() {
    local first=${1#n} last=${*: -1}
    if ((${last#n} - first + 1 == $#)); then
        printf 'n[%d-%d]\n' "$first" "${last#n}"
    else
        local IFS=,
        printf '%s\n' "$*"
    fi
}

make_plan() {
    plan_nodes=() plan_combination=() plan_place=() plan_draw=() plan_workload=()
    seed_random "${asked[seed]}"
    "plan_$kind"
    local count
    for count in "${plan_nodes[@]}"; do
        ((count * asked[ppn] > 1)) ||
            die -2 "one rank on one node has no peer: take 2 nodes or more, or --ppn 2 or more"
    done
}

# recall: what this job planned and made before it was requeued, or this run before it was stopped. Node counts stay
# those of the first time.
recall() {
    local launch started ended status list file i seconds used
    [[ -f $plan_file ]] || return 0
    may_go_on
    # A disk that was full, or a node that died, may have cut the last line short.
    [[ ! -s $log_file || ! $(tail -c 1 "$log_file") ]] || sed -i '$d' "$log_file" ||
        die "the last line of $log_file is cut short, and it could not be taken out"
    asked[nodes]=$(sed -n $'s/^# counts\t//p' "$plan_file")
    while IFS=$'\t' read -r launch started ended status _; do
        [[ $launch != launch ]] || continue
        i=$((10#$launch - 1))
        good[$i]=$status
        [[ $started != - ]] || continue
        seconds=$(($(date -d "$ended" +%s) - $(date -d "$started" +%s)))
        # A clock that was set back gives no node-hours back.
        ((node_seconds += allocated * (seconds > 0 ? seconds : 0), 1))
    done <"$log_file"
    while IFS=$'\t' read -r launch _ _ list _ file; do
        [[ $launch =~ ^[0-9]+$ ]] || continue
        i=$((10#$launch - 1))
        [[ -e $results/$file ]] || good[$i]=- # it is gone
        [[ ${good[$i]-} != 0 ]] || made_on[$i]=$list
        planned_files+=("$file")
    done <"$plan_file"
    # A run that was killed has only its launches in the log.
    used=$(cat "$results/used-$job_id.txt" 2>/dev/null) || true
    [[ ! $used =~ ^[1-9][0-9]{0,14}$ ]] || ((used <= node_seconds)) || node_seconds=$used
}

# note_use: what the job has used of its node-hour limit, for a run that goes on with it.
note_use() {
    [[ ${asked[budget]-} && $is_open && -d $results ]] || return 0
    local file=$results/used-$job_id.txt
    # Words, not results: where they find no room nothing ends.
    { echo "$((node_seconds + allocated * SECONDS))" >"$file.partial" && mv "$file.partial" "$file"; } 2>/dev/null ||
        rm -f "$file.partial"
}

# same_plan: after a requeue the launches must be those of before, or files would be taken for others.
same_plan() {
    local i
    for i in "${!planned_files[@]}"; do
        [[ ${planned_files[i]} == "$(file_of "$i")" ]] ||
            die "after the requeue the plan differs from $plan_file (launch $((i + 1))): submit a new job"
    done
    same_hosts "${made_on[@]}"
}
