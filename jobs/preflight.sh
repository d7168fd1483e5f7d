#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Is this node fit to measure? Looks, and measures nothing.
set -uo pipefail

usage() {
    cat <<'USAGE'
Usage: jobs/preflight.sh [--program FILE] [--provider NAME] [--ranks-per-node K] [--binding KIND] [--mark FILE]

Looks at the node that it runs on and prints a line "node<TAB>check<TAB>ok|warn|bad<TAB>text" for each check: bad is
what would make a launch fail or its figures wrong, warn is what may. Changes nothing and measures nothing. Exit
status 0, also when something is bad. With --mark a job asks whether FILE, which it has just written into its results
folder and which holds its own name, is seen here too. KIND is core, socket, numa or none.

  jobs/preflight.sh
  srun -N 20 --ntasks-per-node=1 jobs/preflight.sh --provider psm2 --ranks-per-node 2
USAGE
}

program=a2aperf provider=auto ranks=1 binding=none mark=''
while (($#)); do
    case $1 in
    --program | --provider | --ranks-per-node | --binding | --mark)
        (($# > 1)) || {
            echo "preflight.sh: $1 needs a value: --help shows all" >&2
            exit 2
        }
        case $1 in
        --program) program=$2 ;;
        --provider) provider=$2 ;;
        --ranks-per-node) ranks=$2 ;;
        --binding) binding=$2 ;;
        --mark) mark=$2 ;;
        esac
        shift 2
        ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        echo "preflight.sh: unknown argument '$1': --help shows all" >&2
        exit 2
        ;;
    esac
done
[[ $ranks =~ ^[1-9][0-9]{0,3}$ ]] || {
    echo "preflight.sh: --ranks-per-node '$ranks': expected a number of ranks, such as 2" >&2
    exit 2
}

# Started by srun the program would take itself for a rank, and let the first one speak for all.
unset SLURM_PROCID
node=${SLURMD_NODENAME:-$(hostname -s)}
infiniband=${A2APERF_INFINIBAND:-/sys/class/infiniband}
net=${A2APERF_NET:-/sys/class/net}
tell() { printf '%s\t%s\t%s\t%s\n' "$node" "$1" "$2" "${3//[$'\t\n']/ }"; }
first_line() { head -n 1 "$1" 2>/dev/null; }

check_program() {
    local said
    if said=$(timeout 20 "$program" --version 2>&1); then
        tell program ok "$(head -n 1 <<<"$said")"
    else
        tell program bad "$program does not run: $(head -n 1 <<<"$said")"
        return 1
    fi
}

check_provider() {
    local said row
    if ! said=$(timeout 30 "$program" providers 2>&1); then
        tell provider bad "asking libfabric failed: $(tail -n 1 <<<"$said")"
    elif [[ $provider == auto ]]; then
        tell provider ok "here: $(awk '/^not here:/ { exit } NF && NR > 3 && !seen[$1]++ { printf "%s ", $1 }' <<<"$said")"
    elif row=$(awk -v name="$provider" '/^not here:/ { exit } $1 == name || $2 == name { print; exit }' <<<"$said") &&
        [[ $row ]]; then
        tell provider ok "$(tr -s ' ' <<<"$row")"
    else
        tell provider bad "$provider cannot be used: $(awk -v name="$provider" '/^not here:/ { after = 1 }
            after && $1 == name { $1 = ""; print; found = 1 } END { if (!found) print "libfabric does not have it" }' <<<"$said")"
    fi
}

# The folder of the results: rank 0, who writes, may be on any node.
check_results() {
    [[ $mark ]] || return 0
    local folder=${mark%/*} second=0
    # NFS may remember for half a minute that a name was not there.
    until [[ $(first_line "$mark") == "$mark" ]] || ((second++ == 35)); do
        ls "$folder" "${folder%/*}/" >/dev/null 2>&1
        sleep 1
    done
    if [[ ! -d $folder ]]; then
        tell results bad "$folder is not here: the results folder must be shared by all nodes"
    elif [[ $(first_line "$mark") != "$mark" ]]; then
        tell results bad "$folder is another folder here: the results folder must be shared by all nodes"
    elif [[ ! -w $folder ]]; then
        tell results bad "nothing can be written to $folder"
    else
        tell results ok "$folder is shared"
    fi
}

# Cores of the node, whatever this process may use of it: a job has all of them.
check_cores() {
    local cores
    cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list 2>/dev/null | sort -u | wc -l)
    ((cores)) || cores=$(getconf _NPROCESSORS_ONLN)
    if ((ranks <= cores)); then
        tell cores ok "$ranks of $cores cores needed"
    elif [[ $binding == core ]]; then
        tell cores bad "oversubscribed: $ranks ranks on $cores cores, and each is to have its own"
    else
        tell cores warn "oversubscribed: $ranks ranks on $cores cores"
    fi
}

# Each rank on Omni-Path takes a context of the adapter.
check_contexts() {
    local folder place free=0 found=no seen=' '
    for folder in ${HFI_SYSFS_PATH:+"$HFI_SYSFS_PATH"} "$infiniband"/hfi1_*; do
        [[ -r $folder/nfreectxts ]] || continue
        place=$(realpath "$folder") # the variable may name one of the others
        [[ $seen != *" $place "* ]] || continue
        found=yes seen+="$place "
        ((free += $(<"$folder/nfreectxts")))
    done
    [[ $found == yes ]] || return 0
    if ((free >= ranks)); then
        tell contexts ok "$free free, $ranks needed"
    else
        tell contexts bad "$free free, $ranks needed: other processes hold them, or a killed process left them behind"
    fi
}

check_memlock() {
    local limit
    limit=$(ulimit -l)
    if [[ $limit == unlimited ]] || ((limit >= 1 << 20)); then
        tell memlock ok "$limit"
    elif [[ -d $infiniband ]]; then
        tell memlock bad "$limit KiB: an RDMA provider locks its memory; LimitMEMLOCK=infinity for slurmd is usual"
    else
        tell memlock ok "$limit KiB, and no RDMA device"
    fi
}

# librdmacm finds its peers by IP address.
check_ipoib() {
    local device interface addresses=()
    for device in "$infiniband"/*; do
        [[ -e $device && ${device##*/} != hfi1_* ]] || continue
        for interface in "$device"/device/net/*; do
            [[ -e $interface ]] || continue
            mapfile -t -O "${#addresses[@]}" addresses < <(ip -4 -o addr show dev "${interface##*/}" 2>/dev/null |
                awk '{ print $2 "=" $4 }')
        done
    done
    if ((${#addresses[@]})); then
        tell ipoib ok "${addresses[*]}"
    elif [[ $provider == verbs* ]]; then
        tell ipoib bad "no interface of an RDMA device has an IPv4 address: verbs needs IPoIB"
    fi
}

check_hugepages() {
    local total free transparent
    total=$(awk '/^HugePages_Total/ { print $2 }' /proc/meminfo)
    free=$(awk '/^HugePages_Free/ { print $2 }' /proc/meminfo)
    transparent=$(first_line /sys/kernel/mm/transparent_hugepage/enabled | sed -n 's/.*\[\(.*\)\].*/\1/p')
    tell hugepages ok "${free:-0} of ${total:-0} reserved ones free, transparent: ${transparent:-none}"
}

check_governor() {
    local governors
    governors=$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | paste -s -d ' ')
    case $governors in
    '') tell governor ok "the kernel does not control the frequency" ;;
    performance) tell governor ok performance ;;
    *) tell governor warn "$governors: the frequency changes while it is measured; performance is steady" ;;
    esac
}

check_clock() {
    local source
    source=$(first_line /sys/devices/system/clocksource/clocksource0/current_clocksource)
    case $source in
    tsc | kvm-clock | hyperv_clocksource_tsc_page | arch_sys_counter | timebase) tell clock ok "$source" ;;
    *) tell clock warn "${source:-unknown}: reading it may take a microsecond; tsc is fast" ;;
    esac
}

# Processors of a list such as 0-3,8 within another.
share_processor() {
    local part cpu
    local -A first=()
    for part in ${1//,/ }; do for ((cpu = ${part%-*}; cpu <= ${part#*-}; ++cpu)); do first[$cpu]=yes; done; done
    for part in ${2//,/ }; do
        for ((cpu = ${part%-*}; cpu <= ${part#*-}; ++cpu)); do [[ ! ${first[$cpu]-} ]] || return 0; done
    done
    return 1
}

check_nic() {
    local device numa usable near
    usable=$(awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
    for device in "$infiniband"/*; do
        numa=$(first_line "$device/device/numa_node") || continue
        [[ $numa =~ ^[0-9]+$ ]] || continue
        near=$(first_line "/sys/devices/system/node/node$numa/cpulist")
        if share_processor "$near" "$usable"; then
            tell nic ok "${device##*/} on NUMA node $numa, processors $near"
        else
            tell nic warn "${device##*/} is on NUMA node $numa, and none of its cores ($near) is usable by the job ($usable)"
        fi
    done
}

# A port of an RDMA device that carries nothing; of a device with several one may be without a cable.
check_ports() {
    local device port state rate text active
    for device in "$infiniband"/*; do
        active=no text=''
        for port in "$device"/ports/*; do
            state=$(first_line "$port/state") || continue
            rate=$(first_line "$port/rate")
            [[ $state != *ACTIVE* ]] || active=yes
            text+="${text:+, }${device##*/}/${port##*/} ${state#*: } ${rate:-of unknown rate}"
        done
        [[ $text ]] || continue
        if [[ $active == yes ]]; then
            tell port ok "$text"
        elif [[ $provider =~ ^(psm|opx|verbs) ]]; then
            tell port bad "$text: no port is active"
        else
            tell port warn "$text: no port is active"
        fi
    done
}

# An adapter that trained to fewer lanes, or to a lower speed, than it and its slot can.
check_pcie() {
    local device width most speed fastest
    local -A seen=()
    for device in "$infiniband"/*/device "$net"/*/device; do
        [[ -e $device && ! ${seen[$(realpath "$device")]-} ]] || continue
        seen[$(realpath "$device")]=yes
        width=$(first_line "$device/current_link_width") || continue
        most=$(first_line "$device/max_link_width")
        speed=$(first_line "$device/current_link_speed")
        fastest=$(first_line "$device/max_link_speed")
        # A function of a virtual machine says 0 lanes, or Unknown.
        [[ $width =~ ^[1-9][0-9]*$ && $most =~ ^[1-9][0-9]*$ && $speed == [0-9]* && $fastest == [0-9]* ]] || continue
        device=${device%/device}
        if ((width < most)) || [[ ${speed%% *} != "${fastest%% *}" ]]; then
            tell pcie warn "${device##*/} x$width at $speed, and it can do x$most at $fastest"
        else
            tell pcie ok "${device##*/} x$width at $speed"
        fi
    done
}

# Interfaces of real devices that are up: what tcp, net and sockets use.
check_links() {
    local interface speed
    for interface in "$net"/*; do
        [[ -e $interface/device && $(first_line "$interface/operstate") == up ]] || continue
        speed=$(first_line "$interface/speed")
        if [[ $speed =~ ^[1-9][0-9]*$ ]]; then speed+=' Mbit/s'; else speed='of unknown rate'; fi
        tell link ok "${interface##*/} $speed, MTU $(first_line "$interface/mtu")"
    done
}

# What should be the same on all nodes, for whoever compares them.
check_kind() {
    local model sockets device version firmware=()
    model=$(awk -F ': *' '/^(model name|Processor)/ { print $2; exit }' /proc/cpuinfo)
    sockets=$(cat /sys/devices/system/cpu/cpu*/topology/physical_package_id 2>/dev/null | sort -u | wc -l)
    tell cpu ok "${model:-$(uname -m)}, $(getconf _NPROCESSORS_CONF) processors, sockets: $sockets"
    tell kernel ok "$(uname -r)"
    for device in "$infiniband"/*; do
        version=$(first_line "$device/fw_ver") && firmware+=("${device##*/} $version")
    done
    version=$(first_line /sys/class/dmi/id/bios_version) && firmware+=("BIOS $version")
    version=$(awk -F ': *' '/^microcode/ { print $2; exit }' /proc/cpuinfo) && [[ $version ]] && firmware+=("microcode $version")
    ((${#firmware[@]} == 0)) || tell firmware ok "$(IFS=, && echo "${firmware[*]}")"
}

# What ranks that were killed left in memory: names of psm2, of Open MPI, of a2aperf over shm.
check_leftovers() {
    local file count=0 kept=''
    for file in /dev/shm/psm2_shm.* /dev/shm/vader_segment.* /dev/shm/sm_segment.* /dev/shm/a2aperf.*; do
        [[ -e $file ]] || continue
        ((count += 1))
        kept=${kept:-$file}
    done
    if ((count)); then
        tell leftovers warn "$count segments in /dev/shm, such as $kept: remove them unless their process is still running"
    else
        tell leftovers ok none
    fi
}

check_load() {
    local running cores
    running=$(awk '{ split($4, part, "/"); print part[1] - 1 }' /proc/loadavg)
    cores=$(getconf _NPROCESSORS_ONLN)
    if ((running <= (cores + 7) / 8)); then
        tell load ok "$running of $cores processors busy"
    else
        tell load warn "$running of $cores processors busy: something else runs here"
    fi
}

if check_program; then check_provider; fi
check_results
check_cores
check_contexts
check_memlock
check_ipoib
check_hugepages
check_governor
check_clock
check_nic
check_ports
check_pcie
check_links
check_kind
check_leftovers
check_load
