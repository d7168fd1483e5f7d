# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The nodes of the allocation: which there are, which are fit, which answer, which switch they hang on. Needs say.sh,
# site.sh, $jobs and $scratch.

readonly kAnswerSeconds=120  # for the preflight of a node
readonly kTogetherSeconds=20 # for all nodes to say that they are there
readonly kAloneSeconds=10    # for one of them
readonly kAtOnce=16          # so many are asked alone at a time

# host_list NODE…: as Slurm writes lists, node[001-020].
host_list() {
    local IFS=,
    scontrol show hostlist "$*"
}

# follow_allocation: takes nodes out of $nodes that Slurm has taken from the job, as it does with one that it holds for
# down; $taken are those. It refuses every step that names one of them, and the launchers believe the environment.
follow_allocation() {
    local node list has kept=()
    taken=()
    list=$(scontrol show job -o "$SLURM_JOB_ID" 2>/dev/null |
        sed -n "s/^JobId=$SLURM_JOB_ID .* NodeList=\([^ ]*\) .*/\1/p") || true
    # A controller that does not answer says nothing about nodes.
    [[ $list && $list != '(null)' ]] || return 0
    has=" $(scontrol show hostnames "$list" | tr '\n' ' ')"
    for node in "${nodes[@]}"; do
        if [[ $has == *" $node "* ]]; then kept+=("$node"); else taken+=("$node"); fi
    done
    ((${#taken[@]})) || return 0
    nodes=("${kept[@]}")
    SLURM_NNODES=$(wc -w <<<"$has")
    export SLURM_JOB_NODELIST=$list SLURM_NODELIST=$list SLURM_NNODES SLURM_JOB_NUM_NODES=$SLURM_NNODES
    export SLURM_TASKS_PER_NODE="1(x$SLURM_NNODES)"
}

# step_on SECONDS NODE… -- COMMAND…: one process on each of these nodes; those that cannot be reached are left out.
step_on() {
    local seconds=$1 on=()
    shift
    while [[ $1 != -- ]]; do
        on+=("$1")
        shift
    done
    shift
    timeout -k 5 "$seconds" srun --overlap --no-kill --kill-on-bad-exit=0 --mpi=none --cpu-bind=none --mem=0 \
        --nodes="${#on[@]}" --ntasks="${#on[@]}" --ntasks-per-node=1 --nodelist="$(host_list "${on[@]}")" \
        --quit-on-interrupt "$@" </dev/null 2>"$scratch/step_on.err" || true
}

# find_silent NODE…: $silent are those of these nodes that run nothing. They are asked together, and those that said
# nothing once more, each alone: one that hangs may keep back what others say.
find_silent() {
    local node answers
    silent=()
    # shellcheck disable=SC2016 # expands on the node
    hear step_on "$kTogetherSeconds" "$@" -- bash -c 'printf "%s " "$SLURMD_NODENAME"' || return 0
    answers=" $heard"
    for node in "$@"; do [[ $answers == *" $node "* ]] || silent+=("$node"); done
    ((${#silent[@]})) || return 0
    hear ask_alone "${silent[@]}" || {
        silent=()
        return 0
    }
    answers+=" ${heard//$'\n'/ } "
    silent=()
    for node in "$@"; do [[ $answers == *" $node "* ]] || silent+=("$node"); done
    # That nobody answers says more about the question than about the nodes.
    ((${#silent[@]} < $#)) || silent=()
}

# hear COMMAND…: sets $heard to what it says; false when a signal says that the job is to end: it waits for nobody then,
# and nobody is to blame for not being heard.
hear() {
    local file=$scratch/heard.$BASHPID before=$stopping
    "$@" >"$file" &
    wait "$!" || true
    heard=$(<"$file")
    [[ $stopping == "$before" ]] || return 1
    ! is_cancelled || {
        stopping='the job was cancelled'
        return 1
    }
}

# ask_alone NODE…: those that run something, a few of them asked at a time.
ask_alone() {
    local node asked=0
    for node in "$@"; do
        { [[ $(step_on "$kAloneSeconds" "$node" -- echo yes) != yes ]] || echo "$node"; } &
        ((asked += 1, asked % kAtOnce)) || wait
    done
    wait
}

# keep_answering: takes nodes out of $nodes that the job has no more or that run nothing any more; $silent are those.
keep_answering() {
    local node kept=() gone
    follow_allocation
    # Where the watch has ended the launch it knows.
    mapfile -t silent < <(cat "$scratch/silent" 2>/dev/null || true)
    ((${#silent[@]})) || find_silent "${nodes[@]}"
    gone=" ${silent[*]} "
    for node in "${nodes[@]}"; do [[ $gone == *" $node "* ]] || kept+=("$node"); done
    nodes=("${kept[@]}")
    for node in "${taken[@]}"; do [[ $gone == *" $node "* ]] || silent+=("$node"); done
}

# is_cancelled: whether Slurm is ending this job.
is_cancelled() {
    scontrol show job -o "$SLURM_JOB_ID" 2>/dev/null | grep -qE "^JobId=$SLURM_JOB_ID .* JobState=CANCELLED "
}

# preflight FILE: what every node says about itself; $unfit are the nodes with something bad. A job that is $stopping
# does not hear them out, and blames none.
preflight() {
    local file=$1 node check verdict text
    local -A answered=() is_bad=()
    local mark begin=$SECONDS waited asking
    unfit=()
    follow_allocation
    # Whatever the folder is called, only one that is the same everywhere has this file with this in it.
    mark=$results/.seen-$SLURM_JOB_ID-$RANDOM$RANDOM
    echo "$mark" >"$mark" || die "nothing can be written to the results folder $results"
    step_on "$kAnswerSeconds" "${nodes[@]}" -- "$jobs/preflight.sh" --program "$program" \
        --provider "$(provider_asked_for)" --ranks-per-node "${asked[ppn]}" --binding "$site_binding" --mark "$mark" \
        >"$file.partial" &
    asking=$!
    # A signal ends wait: a job that is to end does not wait for a node that hangs.
    wait "$asking" || true
    waited=$((SECONDS - begin))
    rm -f "$mark"
    # Slurm may end the step before it tells this script.
    [[ $stopping ]] || ! is_cancelled || stopping='the job was cancelled'
    if [[ $stopping ]]; then
        rm -f "$file.partial"
        return
    fi
    ((${#taken[@]} == 0)) || printf '%s\tanswer\tbad\tSlurm has taken it from the job\n' "${taken[@]}" >>"$file.partial"
    other_jobs >>"$file.partial"
    while IFS=$'\t' read -r node check verdict text; do
        answered[$node]=yes
        [[ $verdict != bad ]] || is_bad[$node]="$check: $text"
    done <"$file.partial"
    for node in "${nodes[@]}" "${taken[@]}"; do
        [[ ${answered[$node]-} ]] || {
            is_bad[$node]="answer: none within $waited s"
            printf '%s\tanswer\tbad\tnone within %d s\n' "$node" "$waited" >>"$file.partial"
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
