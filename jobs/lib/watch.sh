# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Who looks after a launch that gives no sign of life: Slurm itself tells of a dead node only after SlurmdTimeout, and a
# launcher may wait for its daemon for ever. A launch that goes on is left alone. Needs say.sh, nodes.sh and $scratch.

readonly kStartSeconds=600 # until ranks have found one another
readonly kLateSeconds=60   # without a sign of life; then the nodes are asked
readonly kDeadSeconds=3600 # without a sign of life, although all nodes answer
readonly kGlanceSeconds=5  # between two glances at what the launch has written

# watch_launch FILE: ends the launch that is to write FILE when it has not begun in time, when it is late and one of its nodes
# does not answer, or when nothing came of it for an hour; why is in $scratch/not_going, or the nodes in $scratch/silent.
watch_launch() {
    local file=$1 seen='' life begin=$SECONDS last=$SECONDS patience=$kLateSeconds
    # A sleep that is left over must not hold the folder of a run that has ended.
    [[ ! ${folder_lock-} ]] || exec {folder_lock}>&-
    while :; do
        sleep "$kGlanceSeconds"
        life=$(stat -c '%s %Y' "$file" "$scratch/launch.out" "$scratch/launch.err" 2>/dev/null || true)
        if [[ $life != "$seen" ]]; then
            # Once it measures it is given more time: asking takes a moment of every node.
            [[ ! $seen ]] || patience=$((2 * kLateSeconds))
            seen=$life last=$SECONDS
        fi
        if [[ ! $file -nt $begun_file ]] && ((SECONDS - begin >= kStartSeconds)); then
            echo "nothing was written after $kStartSeconds s: the ranks did not start" >"$scratch/not_going"
            break
        fi
        if ((SECONDS - last >= kDeadSeconds)); then
            echo "no sign of life for $kDeadSeconds s" >"$scratch/not_going"
            break
        fi
        ((SECONDS - last >= patience)) || continue
        ((patience *= 2)) # as long as all of them answer
        find_lost
        ((${#silent[@]} == 0)) || {
            printf '%s\n' "${silent[@]}" >"$scratch/silent"
            break
        }
    done
    # Its launcher is killed by timeout when it does not end by itself.
    kill -TERM "$launch_pid"
    sleep $((kKillSeconds + 5))
    kill -KILL "$launch_pid"
}

# find_lost: $silent are the nodes of $subset that Slurm has taken from the job, which it need not be asked about once more;
# where there are none, those that run nothing.
find_lost() {
    local node gone
    follow_allocation
    gone=" ${taken[*]} "
    silent=()
    for node in "${subset[@]}"; do [[ $gone != *" $node "* ]] || silent+=("$node"); done
    ((${#silent[@]})) || find_silent "${subset[@]}"
}

stop_watching() {
    kill "$watch_pid" 2>/dev/null || true
    wait "$watch_pid" || true
}
