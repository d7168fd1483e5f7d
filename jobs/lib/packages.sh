# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What we need from the distribution, said once, and how it gets here. Needs say.sh.

# packages_to PURPOSE: Debian's names, one to a line.
packages_to() {
    case $1 in
    build)
        printf '%s\n' g++ meson ninja-build pkg-config git \
            libopenmpi-dev openmpi-bin libfabric-dev libhdf5-dev libcli11-dev libfmt-dev libhwloc-dev zlib1g-dev libibverbs-dev
        ;;
    analysis) printf '%s\n' python3 python3-venv ca-certificates ;;
    test)
        printf '%s\n' doctest-dev clang-format clang-tidy shellcheck mandoc \
            hdf5-tools valgrind chromium poppler-utils fonts-dejavu-core \
            environment-modules iproute2 util-linux
        ;;
    mpich) printf '%s\n' mpich libmpich-dev ;;
    fuzz) printf '%s\n' clang-14 libclang-rt-14-dev ;;
    vm) printf '%s\n' qemu-system-x86 busybox-static cpio kmod ibverbs-utils ;;
    slurm)
        printf '%s\n' slurm-wlm slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge iproute2 util-linux
        ;;
    compat) printf '%s\n' debootstrap util-linux ;;
    esac
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# ensure_packages yes|no PURPOSE…: installs those that are missing, asking for root only then; with "no", or
# where it cannot, ends with one line that names them.
ensure_packages() {
    local may_install=$1 purpose name wanted=() missing=()
    shift
    for purpose in "$@"; do mapfile -t -O "${#wanted[@]}" wanted < <(packages_to "$purpose"); done
    have dpkg-query || {
        say "not a Debian system: assuming that the equivalents of these are installed: ${wanted[*]}"
        return
    }
    for name in "${wanted[@]}"; do is_installed "$name" || missing+=("$name"); done
    ((${#missing[@]})) || return 0
    [[ $may_install == yes ]] || die "missing: ${missing[*]} (apt-get install them, or run without --no-install)"

    local as_root=()
    if ((EUID != 0)); then
        have sudo || die "missing, and neither root nor sudo: as root, apt-get install ${missing[*]}"
        as_root=(sudo)
        # With nobody there to type a password, ask for none.
        [[ -t 0 ]] || as_root+=(-n)
    fi
    say "installing ${missing[*]}"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=600
        -o Dpkg::Use-Pty=0)
    local log
    log=$(mktemp)
    if ! { "${apt[@]}" update && "${apt[@]}" install --yes --no-install-recommends "${missing[@]}"; } \
        >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install ${missing[*]}"
    fi
    rm -f "$log"
}
