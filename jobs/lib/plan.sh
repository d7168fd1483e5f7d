# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Which launches a job makes, in which order, on which nodes; docs/study.md describes the file. Needs say.sh,
# options.sh, nodes.sh.

# One element per launch, in the order in which they are made.
plan_nodes=() plan_combination=() plan_place=() plan_draw=() plan_workload=()

# A generator of our own (Park and Miller, CACM 1988, with the multiplier of 1993): that of bash differs between its
# versions, and a seed must mean the same in all of them.
random_state=1
seed_random() { random_state=$(((($1 % 2147483647) * 2654435761 + 97) % 2147483646 + 1)); }
# random_below N: sets $drawn, 0 … N−1.
random_below() {
    random_state=$((random_state * 48271 % 2147483647))
    drawn=$((random_state % $1))
}

# shuffle ARRAY: in place (Fisher and Yates).
shuffle() {
    local -n items=$1
    local i kept
    for ((i = ${#items[@]} - 1; i > 0; --i)); do
        random_below $((i + 1))
        kept=${items[i]} items[i]=${items[drawn]} items[drawn]=$kept
    done
}

# split_values TEXT: V1,V2 into $split, empty ones too. As in lists of a2aperf a comma divides nothing in parentheses that are
# closed, such as those of moe(experts=8,top=2); there may be others within them.
split_values() {
    local rest=$1 value='^([^,(]|\(([^()]|\([^()]*\))*\)|\()*(,|$)'
    split=()
    while [[ $rest =~ $value && ${BASH_REMATCH[0]} == *, ]]; do
        split+=("${BASH_REMATCH[0]%,}")
        rest=${rest:${#BASH_REMATCH[0]}}
    done
    split+=("$rest")
}

# read_settings: KEY=V1,V2 of $settings into $keys, $values_N; $combinations is the number of all together.
read_settings() {
    local setting key split i=0
    local -A seen=()
    keys=() combinations=1
    for setting in "${settings[@]}"; do
        key=${setting%%=*}
        [[ $key =~ ^([A-Za-z_][A-Za-z0-9_]*|--[a-z][a-z-]*)$ ]] ||
            die -2 "'$key' is neither a variable nor an option of a2aperf, such as PSM2_RCVTHREAD=0,1 or --window=1,all"
        [[ ! ${seen[$key]-} ]] || die -2 "$key is given twice: put all its values in one list"
        seen[$key]=yes
        declare -ga "values_$i=()"
        local -n values=values_$i
        split_values "${setting#*=}"
        values=("${split[@]}")
        local -A distinct=()
        for value in "${values[@]}"; do distinct[=$value]=yes; done
        ((${#values[@]} > 1 && ${#distinct[@]} == ${#values[@]})) ||
            die -2 "$setting: expected two or more different values, such as $key=0,1"
        keys+=("$key")
        ((combinations *= ${#values[@]}, ++i))
    done
}

# combination N: sets $chosen to the KEY=VALUE words of combination N; the first key changes fastest.
combination() {
    local rest=$1 i
    ((${#row_label[@]} == 0)) || {
        settings_of_row "$1"
        return
    }
    chosen=()
    for ((i = 0; i < ${#keys[@]}; ++i)); do
        # shellcheck disable=SC2178 # a name, by which the array is read
        local -n values=values_$i
        chosen+=("${keys[i]}=${values[rest % ${#values[@]}]}")
        ((rest /= ${#values[@]}, 1))
    done
}

# spelled_settings: $chosen as the plan has it.
spelled_settings() {
    local word joined=''
    for word in "${chosen[@]}"; do
        word=${word//\\/\\\\} word=${word//;/\\;} word=${word//$'\t'/\\t} word=${word//$'\n'/\\n}
        joined+=${joined:+;}$word
    done
    printf '%s' "${joined:--}"
}

# add_launch NODES COMBINATION PLACE DRAW [WORKLOAD]: PLACE is the number of a switch or -; launches of one DRAW have the
# same random nodes and the same order of ranks; an all-to-all is measured where no other WORKLOAD is named.
add_launch() {
    plan_nodes+=("$1") plan_combination+=("$2") plan_place+=("$3") plan_draw+=("$4") plan_workload+=("${5:-alltoall}")
}

# Too few nodes are a gap in the log where the user said so, or where a requeued job has got fewer than before.
may_lack_nodes() { [[ ${asked[go-on]} == yes ]] || ((${#planned_files[@]})); }

# node_counts: sets $counts from --nodes and the allocation.
node_counts() {
    local count available=${#nodes[@]}
    counts=()
    if [[ ${asked[nodes]} ]]; then
        IFS=, read -ra counts <<<"${asked[nodes]}"
        [[ $(printf '%s\n' "${counts[@]}" | sort | uniq -d) == '' ]] || die -2 "--nodes ${asked[nodes]}: a number is there twice"
        for count in "${counts[@]}"; do
            ((count <= available)) || may_lack_nodes ||
                die -2 "--nodes ${asked[nodes]}: $count nodes were asked for and there are $available to measure on"
        done
        return
    fi
    for count in 20 40 80 160 320; do ((count > available)) || counts+=("$count"); done
    ((${#counts[@]})) || counts=("$available")
}

# fewer_nodes: nodes were left out before anything was measured. A count that cannot be had any more becomes what is
# left: the largest point of a study is not lost for one node. After a requeue the plan is what it was.
fewer_nodes() {
    local count members most=${#nodes[@]} possible=()
    ((${#planned_files[@]} == 0)) || return 0
    if [[ ${asked[subsets]} == per-switch ]]; then
        [[ ${asked[nodes]} ]] || return 0 # follows the switches by itself
        read_switches
        most=$(for members in "${switch_members[@]}"; do wc -w <<<"$members"; done | sort -n | tail -n 1)
    fi
    for count in "${counts[@]}"; do
        if ((count > most)); then
            say "$most nodes are measured instead of $count: no more are left"
            count=$most
        fi
        [[ " ${possible[*]} " == *" $count "* ]] || possible+=("$count")
    done
    asked[nodes]=$(IFS=, && echo "${possible[*]}")
}

# plan_alltoall: every point once in each round, in an order of its own: what time does to the machine does not end
# up in a curve.
plan_alltoall() {
    local round point points=() count switch
    node_counts
    if [[ ${asked[subsets]} == per-switch ]]; then
        read_switches
        [[ ${asked[nodes]} ]] || counts=("$smallest_switch")
        for count in "${counts[@]}"; do
            for switch in "${!switch_name[@]}"; do
                read -ra members <<<"${switch_members[switch]}"
                ((${#members[@]} < count)) || points+=("$count $switch")
            done
        done
        ((${#points[@]})) || die -2 "--nodes ${asked[nodes]}: no leaf switch has so many nodes of this allocation"
    else
        for count in "${counts[@]}"; do points+=("$count -"); done
    fi
    for ((round = 0; round < asked[launches]; ++round)); do
        shuffle points
        for point in "${points[@]}"; do add_launch "${point% *}" 0 "${point#* }" "$round"; done
    done
}

# plan_compare: A B B A …, on the same nodes within these four; with more than two combinations each pair of rounds has an order and its mirror image.
plan_compare() {
    local round i order=() mirrored count=${asked[nodes]:-${#nodes[@]}}
    [[ $count != *,* ]] || die -2 "--nodes $count: expected one node count"
    ((count <= ${#nodes[@]})) || may_lack_nodes || die -2 "--nodes $count: there are ${#nodes[@]} to measure on"
    [[ ${asked[subsets]} != per-switch ]] || die -2 "--subsets per-switch: settings are compared on the same nodes"
    counts=("$count")
    for ((i = 0; i < combinations; ++i)); do order+=("$i"); done
    for ((round = 0; round < asked[launches]; ++round)); do
        if ((round % 2)); then
            mirrored=()
            for i in "${order[@]}"; do mirrored=("$i" "${mirrored[@]}"); done
            for i in "${mirrored[@]}"; do add_launch "$count" "$i" - $((round / 2)); done
        else
            ((combinations == 2)) || shuffle order
            for i in "${order[@]}"; do add_launch "$count" "$i" - $((round / 2)); done
        fi
    done
}

# read_switches: $switch_name, $switch_members, and $smallest_switch, the number of nodes that all of them have.
read_switches() {
    local name members count
    switch_name=() switch_members=() smallest_switch=0
    have scontrol || die -2 "--subsets per-switch is planned in a job: Slurm has to say which switches there are"
    while read -r name members; do
        switch_name+=("$name") switch_members+=("$members")
        count=$(wc -w <<<"$members")
        ((smallest_switch && smallest_switch <= count)) || smallest_switch=$count
    done < <(leaf_switches)
    ((${#switch_name[@]})) ||
        die -2 "--subsets per-switch: this Slurm knows no switches ('scontrol show topology'): use nested or random"
}

# subset_of I: sets $subset to the nodes of launch I, chosen from $nodes; empty when there are too few.
subset_of() {
    local i=$1 count=${plan_nodes[$1]} from=("${nodes[@]}") order=() n
    subset=()
    if [[ ${plan_place[i]} != - ]]; then
        # Of its switch, those that are still there.
        from=()
        for n in ${switch_members[plan_place[i]]-}; do [[ " ${nodes[*]} " != *" $n "* ]] || from+=("$n"); done
    fi
    ((count <= ${#from[@]})) || return 0
    if [[ ${asked[subsets]} == random ]]; then
        seed_random $((asked[seed] + 1000 * (plan_draw[i] + 1)))
        order=("${!from[@]}")
        shuffle order
        # In the allocation's order: neighbours stay neighbours.
        for n in $(printf '%s\n' "${order[@]:0:count}" | sort -n); do subset+=("${from[n]}"); done
    else
        subset=("${from[@]:0:count}")
    fi
}
