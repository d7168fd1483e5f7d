#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A site profile in a form for programs, and for those who write one.
# shellcheck disable=SC2154 # set in jobs/lib
set -euo pipefail
jobs=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for part in say site; do
    # shellcheck source=/dev/null
    . "$jobs/lib/$part.sh"
done

usage() {
    cat <<'USAGE'
Usage: jobs/show-site.sh [NAME|FILE]

Reads jobs/sites/NAME.sh (or FILE), checks it, and prints what it sets: a line "name<TAB>value" per setting, one per
element for lists. Loads no module and runs nothing of it but the file itself. Without an argument: the known sites.

  jobs/show-site.sh
  jobs/show-site.sh omnipath-psm2
USAGE
}

case ${1-} in
-h | --help) usage ;;
'') known_sites | tr ' ' '\n' ;;
*)
    load_site "$1"
    for name in "${site_names[@]}"; do
        declare -n values=$name
        for value in "${values[@]}"; do printf '%s\t%s\n' "$name" "$value"; done
    done
    ;;
esac
