# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# A comparison that goes on until it is decided: it is looked at when so many launches of each value are there, and only
# then. The error of each look is planned beforehand, so that all together have 5 % (a2aperf/decision.py has the same).
# Needs say.sh, options.sh, plan.sh, plan_file.sh, launches.sh.

readonly kLooks=(8 16 32) kErrors=(0.5% 1.5% 3%)
look=0
error='' # of the comparison at the end; empty: that of a2a compare

# begin_looks: with the look that the launches in the plan are for.
begin_looks() {
    local i
    for i in "${!kLooks[@]}"; do
        ((${#planned_files[@]} < kLooks[i] * combinations)) || look=$i
    done
    begin_look
}

begin_look() { asked[launches]=${kLooks[look]} error=${kErrors[look]}; }

# launch_until_decided: more launches where those that there are do not decide, and more are planned for.
launch_until_decided() {
    while ((look + 1 < ${#kLooks[@]})) && all_good && is_undecided; do
        say "undecided at ${kLooks[look]} launches of each value: on to ${kLooks[look + 1]}"
        ((look += 1))
        begin_look
        make_plan
        write_plan
        make_launches
    done
}

all_good() {
    local i
    for i in "${!plan_nodes[@]}"; do [[ ${good[$i]-} == 0 ]] || return 1; done
}

# is_undecided: whether any cell is, of any of the values.
is_undecided() {
    local i files=() by=()
    [[ $a2a ]] || return 1
    for i in "${!plan_nodes[@]}"; do files+=("$results/$(file_of "$i")"); done
    compared_by
    "$a2a" compare "${files[@]}" "${by[@]}" --error "$error" >"$scratch/look" || (($? == 3 || $? == 4)) || return 1
    grep -q '^undecided: ' "$scratch/look"
}
