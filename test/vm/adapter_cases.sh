#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Launches over two RoCE adapters, one after another, each with what the wire between them carried.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'USAGE'
Usage: test/vm/adapter_cases.sh PROGRAM <CASES

To be run in the guest of machine.sh. Each line of CASES is a launch of PROGRAM, whose WORDs are of it:

  NAME RANKS RANKS_ON_HOST_0 TRAFFIC_CLASS WORD…

TRAFFIC_CLASS is the byte that the RDMA connection manager is told to put in the IP header. Left behind in the
current folder: NAME.h5, NAME.log, NAME.status, NAME.class, the byte that it puts there afterwards at each of the two
adapters, and NAME.wire, which tc wrote: packets and bytes of RoCE that left rxe0 with that byte (filter 1) and with
any other (filter 2). And of both adapters, rxe0 and rxe1, what ibv_devinfo says, where it is here (ADAPTER.devinfo), and what
PROGRAM does (providers.txt).
USAGE
}

if [[ ${1-} == -h || ${1-} == --help ]]; then
    usage
    exit 0
fi
program=$1
support=$here/../support
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl=self,tcp OMPI_MCA_mpi_yield_when_idle=1

"$here/two_adapters.sh"
mount -t configfs configfs /sys/kernel/config

for adapter in rxe0 rxe1; do
    [[ ! -x $(type -P ibv_devinfo) ]] || ibv_devinfo -v -d "$adapter" >"$adapter.devinfo"
done
"$program" providers -v >providers.txt

# default_class ADAPTER [BYTE]: what the kernel keeps of it, though the folder goes again.
default_class() {
    local folder=/sys/kernel/config/rdma_cm/$1
    mkdir "$folder"
    [[ -z ${2-} ]] || echo "$2" >"$folder/ports/1/default_roce_tos"
    cat "$folder/ports/1/default_roce_tos"
    rmdir "$folder"
}

watch_for() {
    tc qdisc replace dev wire0 clsact
    tc filter del dev wire0 egress
    tc filter add dev wire0 egress protocol ip pref 1 u32 match ip dport 4791 0xffff match ip tos "$1" 0xff action ok
    tc filter add dev wire0 egress protocol ip pref 2 u32 match ip dport 4791 0xffff action ok
}

while read -r name ranks on_first class words; do
    for adapter in rxe0 rxe1; do default_class "$adapter" "$class" >/dev/null; done
    watch_for "$class"
    status=0
    # shellcheck disable=SC2086 # words are words
    "$support/without_symbols.sh" "$support/mpirun.sh" -t 600 "$ranks" "$here/as_host.sh" "$on_first" "$program" \
        $words -o "$name.h5" >"$name.log" 2>&1 </dev/null || status=$?
    echo "$status" >"$name.status"
    for adapter in rxe0 rxe1; do default_class "$adapter"; done >"$name.class"
    tc -s -j filter show dev wire0 egress >"$name.wire"
    echo "$name ended with $status"
done
