# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Slurm: the allocation of the job, its nodes, what runs on them. hosts.sh has the same functions for machines without a
# scheduler. Needs say.sh and $scratch.

job_id=${SLURM_JOB_ID-}
# As commands are told it: the last task of a job array has the array's own id, which to them means all of its tasks.
own_id=$job_id
[[ ! ${SLURM_ARRAY_TASK_ID-} ]] || own_id=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID

readonly kStopSeconds=60 # for ranks of srun to end at an op

drop_hint='; --drop-bad-nodes goes on without them'
reports_verdict=no # a job's status is whether all was measured
quiet=no

require_job() {
    [[ $job_id ]] || no_job
    # With the status of a command that the signal cut short, set -e would end the script inside of the trap.
    trap 'interrupt "the time limit is near" || true' USR1
    trap 'interrupt "the job was cancelled" || true' TERM
}

# enter_allocation: what the job was given.
enter_allocation() {
    # After "sbatch --export=NONE" steps would get nothing of what was just set, not even PATH.
    export SLURM_EXPORT_ENV=ALL
    allocated=$SLURM_JOB_NUM_NODES # which a node that is lost later does not lessen
    mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
}

# may_go_on: there is a plan of this job's id in the folder. Ids begin anew when a controller loses its state, and two
# clusters may share a file system.
may_go_on() {
    ((${SLURM_RESTART_COUNT:-0})) || die -2 "$results has the plan of another job $SLURM_JOB_ID, and this one was not" \
        "requeued: --results names another folder"
}

# same_hosts LIST…: after a requeue the nodes are others.
same_hosts() { :; }
take_folder() { :; }

no_job() {
    local way="sbatch -N 20 jobs/$kind.sbatch"
    have sbatch || way="there is no Slurm on this machine, but jobs/local.sh measures here"
    die -2 "this is a job script, not to be run by hand: $way"
}

describe_job() {
    {
        scontrol show job -d "$SLURM_JOB_ID" || true
        scontrol show topology || true
    } >"$job_file" 2>/dev/null
}

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

# run_step SECONDS COMMAND…: one process on each node of $on; those that cannot be reached are left out.
run_step() {
    local seconds=$1
    shift
    timeout -k 5 "$seconds" srun --overlap --no-kill --kill-on-bad-exit=0 --mpi=none --cpu-bind=none --mem=0 \
        --nodes="${#on[@]}" --ntasks="${#on[@]}" --ntasks-per-node=1 --nodelist="$(host_list "${on[@]}")" \
        --quit-on-interrupt "$@" </dev/null 2>"$scratch/step_on.err" || true
}

# is_cancelled: whether Slurm is ending this job.
is_cancelled() {
    scontrol show job -o "$SLURM_JOB_ID" 2>/dev/null | grep -qE "^JobId=$SLURM_JOB_ID .* JobState=CANCELLED "
}

# Jobs of others on our nodes, asked once and not by every node. It only warns: a controller that does not answer ends
# nothing.
other_jobs() {
    local id node list
    squeue -h -t R -w "$(host_list "${nodes[@]}")" -o '%A %N' | while read -r id list; do
        [[ $id != "$SLURM_JOB_ID" ]] || continue
        for node in $(scontrol show hostnames "$list"); do
            [[ " ${nodes[*]} " != *" $node "* ]] || printf '%s\tjobs\twarn\tjob %s runs here too\n' "$node" "$id"
        done
    done || true
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

# stop_launch: SIGTERM for its ranks, which end at their next op; sets $ending_pid to who ends those that do not.
stop_launch() {
    local step
    if [[ $site_launcher == srun ]]; then
        # On a SIGTERM of its own srun would kill them: it gets one when they hang, or when Slurm did not tell of them.
        stop_ending
        {
            sleep "$kStopSeconds"
            kill -TERM "$launch_pid"
        } >/dev/null 2>&1 &
        ending_pid=$!
        for step in $(steps); do scancel --signal=TERM "$step" || true; done
    else
        kill -TERM "$launch_pid" 2>/dev/null || true
    fi
}

# end_steps: what a launcher that was killed has left, on nodes that may not answer.
end_steps() {
    local step
    for step in $(steps); do scancel "$step" || true; done
}

# steps: of this job, without the batch script. Launches are made one at a time: they are of the last one.
steps() { squeue -h -s -j "$own_id" -o %i | grep -E "^($own_id|$SLURM_JOB_ID)\.[0-9]+\$" || true; }

# requeue: does not return when Slurm takes the job back. A run that made nothing would do so again and again.
requeue() {
    if ((made == 0 && ${SLURM_RESTART_COUNT:-0} > 0)); then
        say "not requeued again: this run completed no launch, so the time limit is too short for one"
        return
    fi
    say "the time limit is near: the job is requeued and will go on"
    scontrol requeue "$own_id" || return 0
    exit 0
}

# mpirun_front PPN: sets $launcher to what mpirun needs before it. Slurm's number of tasks is what it takes for slots: ours
# is --ppn, whatever sbatch was told. Its daemons share the nodes with what a dead node has left unfinished: without that
# they wait for it.
mpirun_front() { launcher=(env "SLURM_TASKS_PER_NODE=$1(x$SLURM_JOB_NUM_NODES)" SLURM_OVERLAP=1); }

# keep_output: what a launch printed is in the job's own output.
keep_output() {
    show "$scratch/launch.out"
    show "$scratch/launch.err" >&2
}

# note_early_end STATUS: a job that ended before it had a plan would leave nothing in the folder by which who looks at the study
# sees it. Of bad input, with status 2, nothing is written.
note_early_end() {
    (($1 != 0 && $1 != 2)) && [[ ${results-} && ! -e ${plan_file-} ]] || return 0
    [[ ! -L $results/ended-$job_id.tsv ]] || return 0 # as of require_no_links, which may be still to come
    { mkdir -p "$results" &&
        printf 'kind\tended\tstatus\treason\n%s\t%s\t%d\t%s\n' "$kind" "$(now)" "$1" "${last_words//[[:cntrl:]]/ }" \
            >"$results/ended-$job_id.tsv"; } 2>/dev/null || true
}

# end_early: of a job that was cancelled there is no time for a report; one that is requeued has it later.
end_early() {
    if [[ $stopping == 'the job was cancelled' ]]; then exit 1; fi
    if [[ $stopping == 'the time limit is near' && ${asked[requeue]} == yes ]]; then requeue; fi
}
