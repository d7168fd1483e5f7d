#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A virtual machine with Debian's own kernel, for what this machine's kernel cannot do.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
# shellcheck source=/dev/null
. "$top/jobs/lib/say.sh"
# shellcheck source=test/support/options.sh
. "$top/test/support/options.sh"

usage() {
    cat <<'USAGE'
Usage: test/vm/machine.sh [-t SECONDS] FOLDER COMMAND [ARGUMENT]…

Boots Debian's kernel in plain emulation (no KVM, no root, nothing installed), with this machine's root as its own
(read-only below, changes are gone with it), this clone at its place, and FOLDER as /output. Runs COMMAND there as
root and exits with its status. FOLDER/console.log is what the guest's console said.

  -t SECONDS  the deadline for all of it (default 300): status 124

  test/vm/machine.sh /tmp/output uname -r

The kernel's package is downloaded once, to build/vm. Exits with 77 (skipped), with the reason, where a part is
missing: qemu-system-x86, busybox-static, cpio, kmod, or the package.
USAGE
}

# The guest loads these and what they need, in this order. RoCE asks for crc32 by name, which no module says.
modules=(crc32_generic virtio_pci 9pnet_virtio 9p overlay configfs rdma_rxe rdma_ucm ib_uverbs veth
    sch_ingress cls_u32 act_gact)
cache=$top/build/vm

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

# Names the kernel and what its initrd holds: another one is made anew.
image_name() { printf '%s/%s-%s' "$cache" "$1" "$(cat "$here/init.sh" - <<<"${modules[*]}" | cksum | cut -d ' ' -f 1)"; }

# Debian's kernel and an initrd with the modules, IMAGE.kernel and IMAGE.initrd, made once.
make_image() {
    local package=$1 image=$2 work version name
    [[ ! -f $image.complete ]] || return 0
    say "fetching $package and making its initrd in ${cache#"$top"/}"
    work=$(mktemp -d "$cache/work.XXXXXX")
    if ! (cd "$work" && apt-get -qq download "$package" >apt.log 2>&1); then
        tail -n 1 "$work/apt.log"
        rm -rf "$work"
        skip "$package cannot be downloaded"
    fi
    dpkg-deb -x "$work/$package"_*.deb "$work/package"
    version=${package#linux-image-}
    depmod -b "$work/package" "$version"
    mkdir -p "$work"/initrd/{bin,modules,proc,sys,dev,lower,upper,root}
    cp "$(type -P busybox)" "$work/initrd/bin/busybox"
    cp "$here/init.sh" "$work/initrd/init"
    for name in "${modules[@]}"; do
        modprobe -d "$work/package" -S "$version" --show-depends "$name" | awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' >"$work/order"
    while read -r name; do
        cp "$name" "$work/initrd/modules/"
        printf '%s\n' "${name##*/}" >>"$work/initrd/modules/order"
    done <"$work/order"
    (cd "$work/initrd" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$image.initrd"
    cp "$work/package/boot/vmlinuz-$version" "$image.kernel"
    rm -rf "$work"
    touch "$image.complete"
}

# share TAG FOLDER [OPTIONS]: what the guest may mount.
share() { printf '%s\n' -virtfs "local,path=$2,mount_tag=$1,security_model=none,multidevs=remap${3-}"; }

boot() {
    local image=$1 output=$2 seconds=$3 status=0 shares=()
    mapfile -t shares < <(share root / ,readonly=on && share clone "$top" ,readonly=on && share output "$output")
    rm -f "$output/status"
    timeout -k 5 "$seconds" qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 3072 \
        -display none -no-reboot -nodefaults -serial stdio -nic none \
        -kernel "$image.kernel" -initrd "$image.initrd" \
        -append "console=ttyS0 panic=-1 quiet mitigations=off nokaslr no_timer_check A2APERF_CLONE=$top" \
        "${shares[@]}" >"$output/console.log" 2>&1 </dev/null || status=$?
    ((status != 124 && status != 137)) || {
        say "the machine took more than $seconds s; the end of its console:"
        tail -n 20 "$output/console.log" >&2
        exit 124
    }
    [[ -s $output/status ]] || {
        say "the machine ended without a status (qemu: $status); the end of its console:"
        tail -n 20 "$output/console.log" >&2
        exit 1
    }
    exit "$(<"$output/status")"
}

take_deadline 300 "$@"
shift $((OPTIND - 1))
(($# >= 2)) || die -2 "a folder and a command are needed: machine.sh /tmp/output uname -r"
PATH=$PATH:/usr/sbin:/sbin
for program in qemu-system-x86_64 busybox cpio depmod modprobe apt-cache apt-get dpkg-deb; do
    have "$program" || skip "no $program here"
done
package=$(apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }')
[[ -n $package ]] || skip "no package linux-image-amd64 is known here (apt-get update?)"
mkdir -p "$1" "$cache"
output=$(realpath "$1")
shift
printf '%q ' "$@" >"$output/command"
image=$(image_name "$package")
make_image "$package" "$image"
boot "$image" "$output" "$seconds"
