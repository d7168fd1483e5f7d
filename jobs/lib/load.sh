# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# All of the library of the job scripts. Needs $jobs, the folder above.

# $scheduler: slurm, unless the script names another.
for part in say mpi options site program "${scheduler:-slurm}" nodes plan rows plan_file watch launcher reason hooks launches looks check spare closing study; do
    # shellcheck source=/dev/null
    . "${jobs:?}/lib/$part.sh"
done

# stopped STATUS LINE FILE: what ends a script unforeseen is said: a log that just stops helps nobody. The end of a
# subshell is not that of the script.
stopped() {
    ((BASH_SUBSHELL == 0)) || return 0
    last_words="stopped at line $2 of ${3##*/}: a command failed (exit status $1)"
    say "${0##*/}: $last_words"
}
set -E
trap 'stopped $? "$LINENO" "${BASH_SOURCE[0]}"' ERR
