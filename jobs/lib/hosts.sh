# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Machines without a scheduler: this one, or the hosts of a file, for jobs/run.sh. slurm.sh has the same functions for a
# job of Slurm. Needs say.sh, options.sh, site.sh, mpi.sh and $scratch.

job_id=run
drop_hint=''
reports_verdict=yes
quiet=yes # where nobody looks on
[[ ! -t 2 ]] || quiet=no
ended_by='' # number of the signal that ended the run

# mpirun inside an allocation of Slurm would keep to Slurm's nodes and slots.
if [[ ${SLURM_JOB_ID-} ]]; then
    unset "${!SLURM_@}"
fi

readonly kRanksOfCore=64 # at the most, where no host file says how many

asked[ranks]='' asked[hostfile]='' asked[go-on]=yes asked[until-decided]=no
pattern[ranks]='^[1-9][0-9]{0,5}$' pattern[hostfile]='.'
meaning[ranks]='a number of ranks:4' meaning[hostfile]='a file of hosts:hosts'

require_job() {
    local name
    for name in INT TERM HUP; do
        # shellcheck disable=SC2064 # the name is that of now
        trap "stop_run $name || true" "$name"
    done
    site_launcher=mpirun
    [[ ${asked[ranks]} ]] || die -2 "how many ranks? --ranks 4"
    ((asked[ranks] > 1)) || die -2 "--ranks ${asked[ranks]}: one rank has no peer: take 2 or more"
    [[ $kind != compare ]] || ((asked[launches] > 1)) || die -2 "--launches ${asked[launches]}: the unit of a comparison is the launch: take 2 or" \
        "more, better 8"
    if [[ ${asked[hostfile]} ]]; then
        read_hosts "${asked[hostfile]}"
    else
        require_room "$(cores_here)"
        nodes=("$(hostname)")
        asked[ppn]=${asked[ranks]}
    fi
}

# require_room CORES: ranks may share cores, but no machine carries any number of them.
require_room() {
    ((asked[ranks] <= $1 * kRanksOfCore)) ||
        die -2 "--ranks ${asked[ranks]}: not enough cores: this machine has $1, for $(($1 * kRanksOfCore)) ranks at the most" \
            "($kRanksOfCore on each): take fewer, or more machines by --hostfile, where a line such as '$(hostname) slots=${asked[ranks]}' allows it here, too"
}

stop_run() {
    ended_by=$(kill -l "$1")
    interrupt "the run was stopped by SIG$1"
}

# read_hosts FILE: sets $nodes, and --ppn: the ranks are spread evenly over the hosts. A host has as many slots as the file
# says, or as often as it is listed; listed once without a number it has as many as are asked of it.
read_hosts() {
    local file=$1 line name word number=0 most limit
    local -A slots=() limits=() listed=()
    [[ -r $file && ! -d $file ]] || die -2 "--hostfile $file: no such file that can be read"
    nodes=()
    while read -r line || [[ $line ]]; do
        ((number += 1))
        read -r name line <<<"${line%%#*}"
        [[ $name ]] || continue
        [[ $name =~ ^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$ ]] || die -2 "$file, line $number: '$name' is no name of a host"
        [[ ${listed[$name]-} ]] || nodes+=("$name")
        listed[$name]=$((${listed[$name]:-0} + 1))
        for word in $line; do
            [[ $word =~ ^(max[_-])?slots=[1-9][0-9]{0,4}$ ]] ||
                die -2 "$file, line $number: '$word': expected a line such as 'node1 slots=4'"
            if [[ $word == slots=* ]]; then
                slots[$name]=$((${slots[$name]:-0} + ${word#*=}))
            else
                limits[$name]=${word#*=}
            fi
        done
    done <"$file"
    ((${#nodes[@]})) || die -2 "--hostfile $file: there is no host in it"
    ((asked[ranks] % ${#nodes[@]} == 0)) ||
        die -2 "--ranks ${asked[ranks]}: the ${#nodes[@]} hosts of $file have equally many ranks each: take a multiple of ${#nodes[@]}"
    asked[ppn]=$((asked[ranks] / ${#nodes[@]}))
    for name in "${nodes[@]}"; do
        most=${slots[$name]-}
        [[ $most || ${listed[$name]} == 1 ]] || most=${listed[$name]}
        limit=${limits[$name]-}
        [[ ! $most || ! $limit ]] || ((most <= limit)) ||
            die -2 "--hostfile $file: $name has $most slots, and at most $limit: expected max_slots no smaller than slots"
        most=${most:-$limit}
        [[ ! $most ]] || ((asked[ppn] <= most)) ||
            die -2 "--ranks ${asked[ranks]}: not enough slots: $name has $most of them in $file, and ${asked[ppn]} ranks would be there"
    done
}

# enter_allocation: what the hosts are like.
enter_allocation() {
    local cores fewest
    allocated=${#nodes[@]}
    # shellcheck disable=SC2016 # expands on the host
    mapfile -t cores < <(step_on "$kTogetherSeconds" "${nodes[@]}" -- bash -c '
        cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list 2>/dev/null | sort -u | wc -l)
        usable=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
        echo "$((cores && cores < usable ? cores : usable))"')
    fewest=$(printf '%s\n' "${cores[@]}" | sort -n | head -n 1)
    # A rank bound to a core that it shares would never leave it. Who does not answer is told by the preflight.
    ((asked[ppn] <= ${fewest:-asked[ppn]})) || site_binding=none
}

describe_job() {
    {
        printf 'hosts: %s\nranks on each: %s\n' "${nodes[*]}" "${asked[ppn]}"
        "$MPIRUN" --version | head -n 1
    } >"$job_file"
}

# may_go_on: there is a plan in the folder; only the run that made it goes on with it.
may_go_on() {
    local planned
    take_folder
    planned=$(sed -n $'s/^# command\t//p' "$plan_file")
    [[ $planned == "$command_line" ]] || die -2 "$results has the plan of another run ($planned): --results names another folder"
}

# same_hosts LIST…: whether the launches that are good were made on these.
same_hosts() {
    local list here
    here=$(host_list "${nodes[@]}")
    for list in "$@"; do
        [[ $list == "$here" ]] || die -2 "$results has launches on $list, and this run is on $here: --results names another folder"
    done
}

# take_folder: one run at a time in a folder. The lock is held until this shell and the launch have ended, however they end.
take_folder() {
    [[ ! ${folder_lock-} ]] || return 0
    { exec {folder_lock}>>"$results/run.lock"; } 2>/dev/null ||
        die -2 "nothing can be written to the results folder $results: --results names another"
    # Who looks at the study holds it for a moment.
    flock -w 5 "$folder_lock" || die -2 "another run is at work in $results: --results names another folder"
}

host_list() {
    local IFS=,
    printf '%s\n' "$*"
}

# Nobody takes hosts away, nobody cancels, and who else computes there is unknown.
follow_allocation() { taken=(); }
is_cancelled() { false; }
note_early_end() { :; }
other_jobs() { :; }
leaf_switches() { :; }
end_steps() { :; }

# run_step SECONDS COMMAND…: one process on each host of $on; those that cannot be reached are left out.
run_step() {
    local seconds=$1 node begun=0
    shift
    for node in "${on[@]}"; do
        step_on_host "$seconds" "$node" "$@" &
        ((begun += 1, begun % kAtOnce)) || wait
    done
    wait
}

# step_on_host SECONDS HOST COMMAND…: the command knows the host by the name that the file has for it.
step_on_host() {
    local seconds=$1 node=$2 front=()
    shift 2
    if ! is_here "$node"; then
        front=("$MPIRUN" -n 1 --host "$node" --bind-to none)
        ((EUID != 0)) || front+=(--allow-run-as-root)
    fi
    timeout -k 5 "$seconds" "${front[@]}" env "SLURMD_NODENAME=$node" "$@" </dev/null 2>>"$scratch/step_on.err" || true
}

is_here() { [[ $1 == localhost || $1 == "$(hostname)" || $1 == "$(hostname -s)" ]]; }

# mpirun_front PPN: nothing has to be told beside the hosts.
mpirun_front() { launcher=(); }

# stop_launch: SIGTERM for its ranks, which end at their next op.
stop_launch() { kill -TERM "$launch_pid" 2>/dev/null || true; }

# keep_output: what a launch printed is kept in a file: its table is not what was asked for.
keep_output() {
    {
        printf '=== launch %d\n' "$(($1 + 1))"
        cat "$scratch/launch.out" "$scratch/launch.err"
    } >>"$results/output-$job_id.txt" || true # words, not results: where they find no room nothing ends
}

# end_early: a run that was stopped compares nothing.
end_early() {
    [[ $ended_by ]] || return 0
    say "stopped: the same command again goes on"
    exit $((128 + ended_by))
}
