# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# One launch on some nodes of the allocation, by mpirun or srun. Needs say.sh, mpi.sh, site.sh, nodes.sh, watch.sh, $results
# and $scratch.

readonly kKillSeconds=30 # from SIGTERM to SIGKILL for a launcher that does not end

# check_launcher: what the site names has to be there, and able to start MPI.
check_launcher() {
    have "$site_launcher" || die "site_launcher=$site_launcher is not found on $(hostname): is a module missing?"
    if [[ $site_launcher == srun ]]; then
        srun --mpi=list 2>&1 | grep -qw 'pmix' ||
            die "site_launcher=srun needs Slurm's pmix plugin, which 'srun --mpi=list' does not list: take mpirun"
    else
        [[ $(open_mpi_major) ]] || die "$(command -v mpirun) is not from Open MPI, whose options are used: set site_launcher=srun"
    fi
}

# launcher_words NODES PPN VARIABLE…: sets $launcher to the words before the program, for the nodes in $subset.
launcher_words() {
    local count=$1 ppn=$2 name
    shift 2
    if [[ $site_launcher == srun ]]; then
        launcher=(srun --mpi=pmix --kill-on-bad-exit=1 --overlap --mem=0 --nodes="$count" --ntasks="$((count * ppn))"
            --ntasks-per-node="$ppn" --nodelist="$(host_list "${subset[@]}")" --distribution=block:block)
        # The names of srun and of mpirun differ.
        case $site_binding in
        core) launcher+=(--cpu-bind=cores) ;;
        socket) launcher+=(--cpu-bind=sockets) ;;
        numa) launcher+=(--cpu-bind=ldoms) ;;
        none) launcher+=(--cpu-bind=none) ;;
        esac
    else
        printf "%s slots=$ppn\n" "${subset[@]}" >"$scratch/hosts"
        mpirun_front "$ppn"
        launcher+=("$MPIRUN" -n "$((count * ppn))" --hostfile "$scratch/hosts" --map-by "ppr:$ppn:node")
        if [[ $site_binding == none ]]; then launcher+=(--bind-to none); else launcher+=(--bind-to "$site_binding"); fi
        ((EUID != 0)) || launcher+=(--allow-run-as-root)
        for name in "$@"; do launcher+=(-x "$name"); done
    fi
    launcher+=("${site_launcher_options[@]}")
}

# start_launch SECONDS FILE VARIABLE=VALUE… -- WORD…: runs the program with these words, for so long at the most (0: without
# a limit); sets $launch_pid, $watch_pid of who looks after it (watch.sh), and $begun_file, which is as old as the launch. Its
# output goes to launch.out and launch.err in $scratch.
start_launch() {
    local seconds=$1 file=$2 assignments=()
    shift 2
    while [[ $1 != -- ]]; do
        assignments+=("$1")
        shift
    done
    shift
    # Beside the results: the clock of a file server may be another than that of this node.
    begun_file=$results/.begun-$job_id
    touch "$begun_file" 2>/dev/null || {
        begun_file=$scratch/begun
        touch "$begun_file"
    }
    # The launcher may ignore SIGTERM, hence -k.
    env "${assignments[@]}" timeout --foreground -k "$kKillSeconds" "$seconds" "${launcher[@]}" "$program" "$@" \
        </dev/null >"$scratch/launch.out" 2>"$scratch/launch.err" &
    launch_pid=$!
    watch_launch "$file" >/dev/null 2>&1 &
    watch_pid=$!
}
