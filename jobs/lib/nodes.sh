# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The nodes of the allocation: which there are, which are fit, which answer, which switch they hang on. Needs say.sh,
# site.sh, $jobs and $scratch.

readonly kAnswerSeconds=120 # for a node to answer; then it does not

# host_list NODE…: as Slurm writes lists, node[001-020].
host_list() {
    local IFS=,
    scontrol show hostlist "$*"
}

# on_nodes COMMAND…: one process on each of $nodes; those that cannot be reached are left out. Has a deadline.
on_nodes() {
    local list
    list=$(host_list "${nodes[@]}")
    timeout -k 5 "$kAnswerSeconds" srun --overlap --no-kill --kill-on-bad-exit=0 --mpi=none --cpu-bind=none --mem=0 \
        --nodes="${#nodes[@]}" --ntasks="${#nodes[@]}" --ntasks-per-node=1 --nodelist="$list" --quit-on-interrupt \
        "$@" </dev/null 2>"$scratch/on_nodes.err" || true
}

# keep_answering: takes nodes out of $nodes that run nothing any more; $silent are those.
keep_answering() {
    local node answers
    # shellcheck disable=SC2016 # expands on the node
    answers=" $(on_nodes bash -c 'printf "%s " "$SLURMD_NODENAME"')"
    local answering=()
    silent=()
    for node in "${nodes[@]}"; do
        if [[ $answers == *" $node "* ]]; then answering+=("$node"); else silent+=("$node"); fi
    done
    # That nobody answers says more about the question than about the nodes.
    if ((${#answering[@]} == 0)); then
        silent=()
        return
    fi
    nodes=("${answering[@]}")
}

# preflight FILE: what every node says about itself; $unfit are the nodes with something bad.
preflight() {
    local file=$1 node check verdict text
    local -A answered=() is_bad=()
    on_nodes "$jobs/preflight.sh" --program "$program" --provider "$(provider_asked_for)" \
        --ranks-per-node "${asked[ppn]}" >"$file.partial"
    other_jobs >>"$file.partial"
    while IFS=$'\t' read -r node check verdict text; do
        answered[$node]=yes
        [[ $verdict != bad ]] || is_bad[$node]="$check: $text"
    done <"$file.partial"
    unfit=()
    for node in "${nodes[@]}"; do
        [[ ${answered[$node]-} ]] || {
            is_bad[$node]="answer: none within $kAnswerSeconds s"
            printf '%s\tanswer\tbad\tnone within %d s\n' "$node" "$kAnswerSeconds" >>"$file.partial"
        }
        [[ ! ${is_bad[$node]-} ]] || {
            say "$node is not fit to measure: ${is_bad[$node]}"
            unfit+=("$node")
        }
    done
    sort -s -t $'\t' -k 1,1 "$file.partial" >"$file"
    rm -f "$file.partial"
}

# Jobs of others on our nodes, asked once and not by every node.
other_jobs() {
    local id node list
    squeue -h -t R -w "$(host_list "${nodes[@]}")" -o '%A %N' | while read -r id list; do
        [[ $id != "$SLURM_JOB_ID" ]] || continue
        for node in $(scontrol show hostnames "$list"); do
            [[ " ${nodes[*]} " != *" $node "* ]] || printf '%s\tjobs\twarn\tjob %s runs here too\n' "$node" "$id"
        done
    done
}

# leaf_switches: a line "switch node node…" for each leaf switch, with those of $nodes that hang on it.
leaf_switches() {
    local name list node members
    scontrol show topology 2>/dev/null | sed -n 's/^ *SwitchName=\([^ ]*\) Level=0 .*Nodes=\([^ ]*\).*/\1 \2/p' |
        while read -r name list; do
            members=()
            for node in $(scontrol show hostnames "$list"); do
                [[ " ${nodes[*]} " != *" $node "* ]] || members+=("$node")
            done
            ((${#members[@]} == 0)) || echo "$name ${members[*]}"
        done
}
