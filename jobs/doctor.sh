#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The preflight of this node as a job of this site would find it.
# shellcheck disable=SC2154 # set in jobs/lib
set -euo pipefail
jobs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$jobs/lib/load.sh"

usage() {
    cat <<'USAGE'
Usage: jobs/doctor.sh [--site NAME] [--provider NAME] [--ranks-per-node K]

Enters the site (modules, environment), finds a2aperf as the jobs do and runs jobs/preflight.sh with it: a line
"node<TAB>check<TAB>ok|warn|bad<TAB>text" for each check. 'a2a doctor' runs this on every node. Measures nothing.

  jobs/doctor.sh
  srun -N 20 --ntasks-per-node=1 jobs/doctor.sh --site mycluster
USAGE
}

ranks=1 provider='' site=${A2APERF_SITE-}
while (($#)); do
    case $1 in
    --site | --provider | --ranks-per-node)
        (($# > 1)) || die -2 "$1 needs a value: --help shows all"
        case $1 in --site) site=$2 ;; --provider) provider=$2 ;; *) ranks=$2 ;; esac
        shift 2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die -2 "unknown argument '$1': --help shows all" ;;
    esac
done

load_site "$site"
# What keeps a job from starting here is a finding on this node. Behind "if" bash would go on where a command fails.
on_error=$(trap -p ERR)
trap - ERR
set +e
said=$(set -e && { enter_site; find_program; } 2>&1 >/dev/null)
status=$?
set -e
eval "$on_error"
if ((status)); then
    printf '%s\tprogram\tbad\t%s\n' "${SLURMD_NODENAME:-$(hostname -s)}" "$(tail -n 1 <<<"$said" | tr '\t' ' ')"
    exit 0
fi
enter_site
find_program
exec "$jobs/preflight.sh" --program "$program" --provider "${provider:-$(provider_asked_for)}" --ranks-per-node "$ranks" \
    --binding "$site_binding"
