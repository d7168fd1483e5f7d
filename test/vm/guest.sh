#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# The second half of the machine's start, in its full system: runs the command and leaves its status behind.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8
[[ ! -e /dev/fd ]] && ln -s /proc/self/fd /dev/fd
unset A2APERF_CLONE
hostname vm1
ip link set lo up
ulimit -l unlimited
cd /output || exit 1
status=0
# shellcheck source=/dev/null # quoted by machine.sh
(. ./command) || status=$?
echo "$status" >status
sync
echo b >/proc/sysrq-trigger
