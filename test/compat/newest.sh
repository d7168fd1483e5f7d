#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds and runs with the newest versions that Debian releases (trixie: libfabric 2, Open MPI 5, HDF5 1.14), in
# a folder of its own.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for part in say packages build mpi; do
    # shellcheck source=/dev/null
    . "$top/jobs/lib/$part.sh"
done

usage() {
    cat <<'USAGE'
Usage: [SUITE=trixie] [MIRROR=URL] test/compat/newest.sh [FOLDER]

Makes a Debian of that suite in FOLDER (default: build/newest; kept for the next time), builds there, runs the
unit and MPI tests, and jobs of 2 to 7 ranks over every provider that serves on one machine, read back from their
files. Root only.
USAGE
}

# Makes the system once; a stamp tells a whole one from a torn one. Dpkg runs without syncing every file: what a
# power cut tears is made again.
make_system() {
    local root=$1 packages
    [[ ! -f $root/.complete ]] || return 0
    ensure_packages yes compat
    rm -rf "$root"
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
    say "making a Debian $suite in $root"
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$root.log" 2>&1 ||
        die "debootstrap failed; its log is $root.log"
    mapfile -t packages < <(packages_to build && printf '%s\n' doctest-dev python3 python3-pytest python3-h5py)
    DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qq install --yes --no-install-recommends \
        "${packages[@]}" >>"$root.log" 2>&1 </dev/null || die "apt-get failed inside; its log is $root.log"
    touch "$root/.complete"
}

# Runs this script again inside, with the sources read-only; the mounts end with their namespace.
enter_system() {
    local root=$1
    mkdir -p "$root/a2aperf"
    # shellcheck disable=SC2016 # the inner shell expands
    unshare --mount --propagation private bash -euc '
        mount --bind "$1" "$2/a2aperf"
        mount -o remount,bind,ro "$2/a2aperf"
        mount -t proc proc "$2/proc"
        mount --rbind /sys "$2/sys"
        mount --rbind /dev "$2/dev"
        mount -t tmpfs tmpfs "$2/dev/shm"
        exec chroot "$2" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
            bash /a2aperf/test/compat/newest.sh --inside
    ' newest.sh "$top" "$root"
}

versions() {
    local name
    for name in libfabric ompi hdf5-serial hdf5 CLI11 fmt hwloc zlib; do
        pkg-config --exists "$name" && printf '%s %s\n' "$name" "$(pkg-config --modversion "$name")"
    done
    g++ --version | head -n 1
}

inside() {
    local build=/root/build failed=0
    versions
    # A newer tree is configured anew: the old one may have gone with the clone.
    rm -rf "$build"
    # Each source alone: in a handful one may lack an include that another has.
    configure_build "$build" -Dtests=enabled -Dunity=off
    build_targets "$build"
    keep_mpi_off_fabric
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    meson test -C "$build" --no-rebuild --print-errorlogs --timeout-multiplier 4 || failed=1
    "$(program_in "$build")" providers
    A2APERF=$(program_in "$build") python3 -m pytest /a2aperf/test/fabric/test_matrix.py -q -rs \
        -p no:cacheprovider --junitxml /root/matrix.xml || failed=1
    ((failed == 0)) || die "something failed with the newest versions"
    say "everything passed with the newest versions"
}

case ${1-} in
-h | --help)
    usage
    exit 0
    ;;
--inside)
    inside
    exit
    ;;
esac
((EUID == 0)) || die "needs root, for a system of its own in a folder"
suite=${SUITE:-trixie}
# The archive that this machine's own packages come from.
# shellcheck disable=SC2016 # apt-get expands it
mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)}
root=$(realpath -m "${1:-$top/build/newest}")
make_system "$root"
enter_system "$root"
