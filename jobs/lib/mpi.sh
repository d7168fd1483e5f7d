# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI or MPICH as our launcher on this machine. Needs say.sh. MPIRUN names the launcher that belongs to the
# library that the program was built with (default: mpirun).

MPIRUN=${MPIRUN:-mpirun}

# Empty for another MPI.
open_mpi_major() { "$MPIRUN" --version 2>/dev/null | sed -n 's/^mpirun (Open MPI) \([0-9]*\).*/\1/p'; }

# mpi_settings: NAME=VALUE of what our launches want of MPI, a line each. MPI only launches, agrees and gathers: left
# alone it would open the fabric under test for itself.
mpi_settings() {
    local major shared_memory=vader
    major=$(open_mpi_major)
    # MPICH over UCX, as Debian builds it; over libfabric it would take the provider that FI_PROVIDER leaves.
    [[ -n $major ]] || {
        printf 'UCX_TLS=self,sm,tcp\n'
        return
    }
    ((major < 5)) || shared_memory=sm
    printf '%s\n' OMPI_MCA_pml=ob1 "OMPI_MCA_btl=self,$shared_memory,tcp"
}

# patience_settings: likewise, for a launcher that is told to stop: Open MPI's gives its ranks a second, too little for
# closing the file on a busy machine.
patience_settings() { printf '%s\n' OMPI_MCA_odls_base_sigkill_timeout=4 PRTE_MCA_odls_base_sigkill_timeout=4; }

# export_lacking: the settings on standard input; what the user has set stays, for that is the baseline's transport.
export_lacking() {
    local setting
    while read -r setting; do
        [[ -v ${setting%%=*} ]] || export "${setting?}"
    done
}

keep_mpi_off_fabric() { export_lacking < <(mpi_settings); }

# cores_here: those that this process may use; nproc alone tells how many threads OpenMP was told to take.
cores_here() { env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc; }

# launch_words RANKS COMMAND…: sets $launch, what launches the command on this machine, as any user, also with more
# ranks than cores. LAUNCH_BINDING says what ranks are bound to where each has a core of its own (default: core).
launch_words() {
    local ranks=$1 options=() cores
    cores=$(cores_here)
    shift
    # A rank bound to a core that it shares would never leave it.
    local binding=${LAUNCH_BINDING:-core}
    ((ranks <= cores)) || binding=none
    if [[ -n $(open_mpi_major) ]]; then
        options=(--bind-to "$binding")
        ((EUID != 0)) || options+=(--allow-run-as-root)
        ((ranks <= cores)) || options+=(--oversubscribe)
    else
        options=(-bind-to "$binding")
    fi
    launch=("$MPIRUN" -n "$ranks" "${options[@]}" "$@")
}

launch_here() {
    local launch
    launch_words "$@"
    "${launch[@]}"
}

# launch_line: $launch as a line for a shell, with the settings that keep MPI off the fabric.
launch_line() {
    local name names settings=()
    mapfile -t names < <(mpi_settings)
    for name in "${names[@]%%=*}"; do
        [[ ! -v $name ]] || settings+=("$name=${!name}")
    done
    as_words "${settings[@]}" "${launch[@]}"
}
