# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Open MPI as our launcher on this machine. Needs say.sh.

open_mpi_major() { mpirun --version 2>/dev/null | sed -n 's/^mpirun (Open MPI) \([0-9]*\).*/\1/p'; }

# MPI only launches, agrees and gathers: without this it would open the fabric under test for itself. What the
# user has set stays, for that is the baseline's transport.
keep_mpi_off_fabric() {
    local shared_memory=vader
    (($(open_mpi_major) >= 5)) && shared_memory=sm
    export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
    export OMPI_MCA_btl=${OMPI_MCA_btl:-self,$shared_memory,tcp}
}

# launch_here RANKS COMMAND…: on this machine, as any user, also with more ranks than cores.
launch_here() {
    local ranks=$1
    shift
    local options=(-n "$ranks")
    ((EUID == 0)) && options+=(--allow-run-as-root)
    if ((ranks > $(nproc))); then
        # A rank bound to a core that it shares would never leave it.
        options+=(--oversubscribe --bind-to none)
    else
        options+=(--bind-to core)
    fi
    mpirun "${options[@]}" "$@"
}
