#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs a2aperf and a2a from an unpacked bundle; asks neither for root nor for a network.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=/dev/null
. "$here/jobs/lib/say.sh"

usage() {
    cat <<'USAGE'
Usage: ./install.sh [--prefix DIR] [--program-only] [-- OPTION OF MESON…]

Builds a2aperf and installs it, the job scripts, completion, the manual page and a module file in DIR (default:
~/a2aperf), and a2a with an environment of its own. Needs a C++20 compiler, pkg-config, MPI, libfabric, HDF5, hwloc and
zlib with their headers, and for a2a Python with its module venv, of the version that the wheels are for. Load the site's
modules first.

  ./install.sh
  ./install.sh --prefix /shared/a2aperf-0.1.0
USAGE
}

prefix=$HOME/a2aperf analysis=yes options=()
while (($#)); do
    case $1 in
    --prefix)
        (($# > 1)) || die -2 "--prefix lacks its value, such as --prefix ~/a2aperf"
        prefix=$2
        shift 2
        ;;
    --program-only)
        analysis=no
        shift
        ;;
    --)
        options=("${@:2}")
        break
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die -2 "'$1' is not understood: --help shows what is" ;;
    esac
done
[[ -f $here/SHA256SUMS ]] || die -2 "this is no unpacked bundle: there is no SHA256SUMS (bundle.sh makes one)"
have python3 || die "python3 is missing: meson, which builds, is written in it"
mkdir -p "$prefix" || die -2 "--prefix $prefix cannot be made"
prefix=$(cd "$prefix" && pwd)
(cd "$here" && sha256sum --quiet --check SHA256SUMS) || die "the bundle is damaged: unpack it again"

log=$here/install.log
: >"$log"
quietly() {
    "$@" >>"$log" 2>&1 </dev/null || {
        tail -n 30 "$log" >&2
        die "$1 failed; all of it is in $log"
    }
}
from_wheels() { quietly "$1/bin/python" -m pip install --no-index --find-links "$here/wheels" "${@:2}"; }

if ! have meson || ! have ninja; then
    say "meson and ninja from the bundle"
    python3 -m venv "$here/tools" >>"$log" 2>&1 || die "python3 lacks its module venv (Debian: python3-venv)"
    from_wheels "$here/tools" meson ninja
    PATH=$here/tools/bin:$PATH
fi
say "building a2aperf"
[[ -f $here/build/build.ninja ]] ||
    quietly meson setup "$here/build" "$here" --prefix "$prefix" -Dtests=disabled "${options[@]}"
quietly meson configure "$here/build" --prefix "$prefix"
quietly ninja -C "$here/build"
# A subproject's parts are inside the program by now.
quietly meson install -C "$here/build" --no-rebuild --skip-subprojects
if [[ $analysis == yes ]]; then
    say "installing a2a"
    python3 -m venv "$prefix/lib/a2aperf/python" >>"$log" 2>&1 ||
        die "python3 lacks its module venv (Debian: python3-venv); --program-only installs without a2a"
    from_wheels "$prefix/lib/a2aperf/python" a2aperf
    ln -sfn ../lib/a2aperf/python/bin/a2a "$prefix/bin/a2a"
fi
say "installed in $prefix; 'module use $prefix/share/modulefiles; module load a2aperf', or put $prefix/bin into PATH"
