#!/bin/busybox sh
# shellcheck shell=dash
# SPDX-License-Identifier: BSD-3-Clause
# The first process of the machine that machine.sh boots: its root is the host's, with a memory-backed layer above.
# Whatever fails ends the machine, for the kernel panics without its first process and qemu leaves at once.
set -e
busybox=/bin/busybox
$busybox mount -t proc proc /proc
$busybox mount -t sysfs sysfs /sys
$busybox mount -t devtmpfs dev /dev
while read -r module; do $busybox insmod "/modules/$module"; done </modules/order

share=trans=virtio,version=9p2000.L,msize=524288
$busybox mount -t 9p -o "$share,ro,cache=loose" root /lower
$busybox mount -t tmpfs upper /upper
$busybox mkdir /upper/files /upper/work
$busybox mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work overlay /root
for folder in tmp run; do $busybox mount -t tmpfs "$folder" "/root/$folder"; done
$busybox chmod 1777 /root/tmp
# The clone lies where it lies on the host, so that every path in it holds; it may well lie in /tmp.
$busybox mkdir -p "/root$A2APERF_CLONE" /root/output
$busybox mount -t 9p -o "$share,ro,cache=loose" clone "/root$A2APERF_CLONE"
$busybox mount -t 9p -o "$share" output /root/output

$busybox mkdir -p /dev/pts /dev/shm
$busybox mount -t devpts devpts /dev/pts
$busybox mount -t tmpfs shm /dev/shm
for folder in dev proc sys; do $busybox mount -o move "/$folder" "/root/$folder"; done
exec $busybox switch_root /root "$A2APERF_CLONE/test/vm/guest.sh"
