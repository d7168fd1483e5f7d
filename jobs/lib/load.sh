# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# All of the library of the job scripts. Needs $jobs, the folder above.

for part in say mpi options site program nodes plan plan_file launcher launches closing study; do
    # shellcheck source=/dev/null
    . "${jobs:?}/lib/$part.sh"
done
