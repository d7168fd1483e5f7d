# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The nodes of the allocation: which there are, which are fit, which answer, which switch they hang on. Needs say.sh,
# site.sh, study.sh, $jobs and $scratch.

readonly kAnswerSeconds=120  # for the preflight of a node
readonly kTogetherSeconds=20 # for all nodes to say that they are there
readonly kAloneSeconds=10    # for one of them
readonly kPauseSeconds=20    # before those that said nothing are asked for the last time
readonly kAtOnce=16          # so many are asked alone at a time

# step_on SECONDS NODE… -- COMMAND…: one process on each of these nodes; those that cannot be reached are left out.
step_on() {
    local seconds=$1 on=()
    shift
    while [[ $1 != -- ]]; do
        on+=("$1")
        shift
    done
    run_step "$seconds" "${@:2}"
}

# find_silent NODE…: $silent are those of these nodes that run nothing. They are asked together, and those that said
# nothing once more, each alone: one that hangs may keep back what others say. Who is silent then is asked again after a
# pause: a controller that is slow for half a minute keeps questions back, and the nodes are not to blame.
find_silent() {
    local node answers pause
    silent=()
    # shellcheck disable=SC2016 # expands on the node
    hear step_on "$kTogetherSeconds" "$@" -- bash -c 'printf "%s " "$SLURMD_NODENAME"' || return 0
    answers=" $heard"
    for node in "$@"; do [[ $answers == *" $node "* ]] || silent+=("$node"); done
    for pause in 0 "$kPauseSeconds"; do
        ((${#silent[@]})) || return 0
        { hear sleep "$pause" && hear ask_alone "${silent[@]}"; } || {
            silent=()
            return 0
        }
        answers+=" ${heard//$'\n'/ } "
        silent=()
        for node in "$@"; do [[ $answers == *" $node "* ]] || silent+=("$node"); done
    done
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

# preflight FILE: what every node says about itself; $unfit are the nodes with something bad. A job that is $stopping
# does not hear them out, and blames none; nor does one whose question reached nobody.
preflight() {
    local file=$1 node check verdict text
    local -A answered=() is_bad=()
    local mark begin=$SECONDS waited asking words
    unfit=()
    follow_allocation
    # Whatever the folder is called, only one that is the same everywhere has this file with this in it.
    mark=$results/.seen-$job_id-$RANDOM$RANDOM
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
    # That nobody answers says more about the question than about the nodes.
    if [[ ! -s $file.partial ]] && ((${#nodes[@]} > 1)); then
        rm -f "$file.partial"
        words=$(tail -n 1 "$scratch/step_on.err" 2>/dev/null) || true
        give_up "no node answered the preflight${words:+: $words}" "nobody is to blame: try again later"
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
            words="none within $waited s"
            # Who is looked for in vain fails at once. Only 2 says that there is none; a resolver may be slow, or missing.
            ((waited >= kAnswerSeconds)) || { timeout 5 getent ahosts "$node" >/dev/null; (($? != 2)); } ||
                words='none; no address is known of that name'
            is_bad[$node]="answer: $words"
            printf '%s\tanswer\tbad\t%s\n' "$node" "$words" >>"$file.partial"
        }
        [[ ! ${is_bad[$node]-} ]] || {
            say "$node is not fit to measure: ${is_bad[$node]}"
            unfit+=("$node")
        }
    done
    sort -s -t $'\t' -k 1,1 "$file.partial" >"$file"
    rm -f "$file.partial"
}
