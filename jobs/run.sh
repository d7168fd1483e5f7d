#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Does a setting help? Its values in turn, A B B A …, on this machine or on the hosts of a file; or: which of many settings
# matters? What 'a2a run' does.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: jobs/run.sh KEY=VALUE,VALUE… [KEY=…]… --ranks N [option]… [-- option…]
       jobs/run.sh --rows FILE [--suite] --ranks N [option]… [-- option…]

What 'a2a run' calls, which also takes ^C. Measures with each value of KEY in turn, A B B A …, eight launches each, as
jobs/compare.sbatch does under Slurm, and ends with what 'a2a compare' says. The same command in the same folder goes
on: launches that are good are not made again. docs/study.md says what is where.

With --rows the launches are those that 'a2a screen' has planned; then further rounds, where a setting dominates, further
values of settings one at a time, and those that confirm what all leave, and it ends with what 'a2a screen' says. With --suite
as the first word they are those that 'a2a suite' has planned, workloads over several interconnects.

  --ranks N            number of ranks, on this machine or evenly over the hosts
  --hostfile FILE      hosts, a line each: 'node1 slots=4'
  --sizes LIST         message sizes, such as 1KiB..1MiB*2
  --rows FILE          label, settings, block (and workload) of each launch; the plan lies beside it as .json
  --until-decided      looks at 8, 16 and 32 launches of each value, and makes no more than it takes
  --no-confirm         ends with the first round
  --launches N         launches of each value (8; fewer than five decide nothing)
  --seed N             random seed (1)
  --results DIR        folder (results)
  --site NAME          site profile of this cluster: jobs/sites/README.md ($A2APERF_SITE)
USAGE
}

jobs=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
# a2a speaks under its own name.
BASH_ARGV0=${A2APERF_SPEAKER:-run.sh}
# shellcheck disable=SC2034 # load.sh reads it
scheduler=hosts
# shellcheck source=/dev/null
. "$jobs/lib/load.sh"
kind=compare
for word in "$@"; do
    [[ $word != -- ]] || break
    [[ $word != --rows && $word != --rows=* ]] || kind=screen
done
if [[ ${1-} == --suite ]]; then
    kind=suite
    shift
fi
run_study "$kind" "$@"
