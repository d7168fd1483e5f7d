# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Spare nodes: N + K are allocated, and N are measured of those that the preflight and a look at every pair find good.
# Needs nodes.sh, launcher.sh, launches.sh, watch.sh, reason.sh.

readonly kSpareSeconds=600 # for the look at every pair

# keep_spares: the plan is made for the nodes that are not spare; which these are is not known before they are looked at.
keep_spares() {
    offered_nodes=("${nodes[@]}")
    [[ ${asked[spare]} ]] || return 0
    ((asked[spare] < ${#nodes[@]})) ||
        die -2 "--spare ${asked[spare]}: there are ${#nodes[@]} nodes in all; the allocation has the spare ones, too"
    nodes=("${nodes[@]:0:${#nodes[@]}-asked[spare]}")
}

# choose_spares WANTED: of $nodes, which are fit, the WANTED that are good, in the allocation's order; who is not says why.
choose_spares() {
    local wanted=$1 node good_ones=() left=()
    look_at_pairs
    for node in "${nodes[@]}"; do
        if [[ ${weak[$node]-} ]]; then
            leave_out "${weak[$node]}" "$node"
        elif ((${#good_ones[@]} < wanted)); then
            good_ones+=("$node")
        else
            left+=("$node")
        fi
    done
    ((${#left[@]} == 0)) || {
        printf '%s\tuse\tok\tspare, and not needed\n' "${left[@]}" >>"$nodes_file"
        say "spare, and not needed: $(host_list "${left[@]}")"
    }
    nodes=("${good_ones[@]}")
}

# look_at_pairs: sets weak[node] to why a node of $nodes is slower than the others.
look_at_pairs() {
    local file=$results/spare-$job_id.h5 given=("${site_options[@]}" "${passed[@]}") node reason short
    declare -gA weak=()
    ((${#nodes[@]} > 2)) || return 0
    [[ $a2a ]] || {
        say "a2a is not installed here: nodes are chosen by the preflight alone"
        return
    }
    subset=("${nodes[@]}")
    taken_by pairs "${given[@]}"
    words=(pairs)
    [[ ! $site_provider ]] || add_unless_given --provider "$site_provider"
    [[ ! $site_nic ]] || add_unless_given --nic "$site_nic"
    words+=("${kept_words[@]}" --output "$file" --force)
    launcher_words "${#nodes[@]}" 1 "${site_environment[@]%%=*}"
    rm -f "$scratch/not_going" "$scratch/silent"
    say "every pair of $(host_list "${nodes[@]}"), to choose among them"
    start_launch "$kSpareSeconds" "$file" -- "${words[@]}"
    wait_for_launch
    stop_watching
    keep_output
    [[ ! $stopping ]] || return 0
    ((status == 0)) || {
        say "the look at every pair failed ($(tail -n 1 "$scratch/launch.err")): nodes are chosen by the preflight alone"
        return
    }
    while read -r short reason; do
        for node in "${nodes[@]}"; do [[ ${node%%.*} != "${short%%.*}" ]] || weak[$node]=$reason; done
    done < <("$a2a" gate "$file" --candidates || true)
}
