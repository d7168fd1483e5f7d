# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# a2aperf and a2a as commands of a shell. Needs say.sh, build.sh, mpi.sh and $top.

# offer_commands: links to both in build/bin, and build/env.sh, which a shell reads to find them.
offer_commands() {
    local bin=${top:?}/build/bin setting
    mkdir -p "$bin"
    ln -sfn "$(program_in ../release)" "$bin/a2aperf"
    rm -f "$bin/a2a"
    [[ ! -x $top/build/a2a/bin/a2a ]] || ln -sfn ../a2a/bin/a2a "$bin/a2a"
    {
        printf '# What this clone has built, and mpirun on this machine:  . build/env.sh\n'
        printf 'a2aperf_bin=%q\n' "$bin"
        cat <<'SETTINGS'
export PATH="$a2aperf_bin:$PATH"
unset a2aperf_bin
# MPI only launches, agrees and gathers; the fabric is a2aperf's own. A launcher that is stopped is patient.
SETTINGS
        while read -r setting; do
            # shellcheck disable=SC2016 # the reading shell expands them
            printf 'export %s="${%s:-%s}"\n' "${setting%%=*}" "${setting%%=*}" "${setting#*=}"
        done < <(mpi_settings && patience_settings)
        cat <<'SETTINGS'
# Open MPI refuses root, and more ranks than cores, unless told. In a job the nodes are the scheduler's to give.
if [ -z "${SLURM_JOB_ID-}${PBS_JOBID-}${LSB_JOBID-}" ]; then
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
SETTINGS
    } >"$top/build/env.sh"
}
