#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Two RoCE adapters in one kernel, with a wire between them.
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: test/vm/two_adapters.sh

To be run in the guest of machine.sh: makes the adapters rxe0 (10.77.0.1) and rxe1 (10.77.0.2) at the ends of a
cable. The kernel would deliver from one to the other by itself, for both addresses are its own; policy routing
sends the packets out by one end of the cable and takes them in at the other.
USAGE
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
    usage
    exit 0
fi

# A frame holds 4096 bytes of payload, RoCE's largest, and its headers.
ip link add wire0 mtu 4500 type veth peer name wire1 mtu 4500
for end in 0 1; do
    sysctl -qw "net.ipv4.conf.wire$end.accept_local=1" "net.ipv4.conf.wire$end.rp_filter=0"
    ip address add "10.77.0.$((end + 1))/24" dev "wire$end"
    ip link set "wire$end" up
done
sysctl -qw net.ipv4.conf.all.rp_filter=0
# What begins here (iif lo) and goes to the other end asks these tables before the one of local addresses.
ip rule add pref 100 lookup local
for end in 0 1; do
    other=$((1 - end))
    ip route add "10.77.0.$((other + 1))" dev "wire$end" src "10.77.0.$((end + 1))" table "$((101 + end))"
    ip rule add pref "$((10 + end))" iif lo from "10.77.0.$((end + 1))" to "10.77.0.$((other + 1))" \
        lookup "$((101 + end))"
done
ip rule del pref 0
for end in 0 1; do rdma link add "rxe$end" type rxe netdev "wire$end"; done
