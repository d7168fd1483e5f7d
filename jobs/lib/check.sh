# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The check after a maintenance: every pair once, a quick all-to-all, and what a2a gate says of both and of the nodes.
# Needs say.sh, options.sh, plan.sh, program.sh and $results.

readonly kUnknown=3 # status of a gate that cannot tell

# check_defaults: of what is measured; whatever is wrong with a node is in the verdict, and the others are measured.
check_defaults() {
    asked[quick]=yes asked["drop-bad-nodes"]=yes asked["go-on"]=yes
    : "${asked[sizes]:=1000,4000,15000,30000,60000}" "${asked[launches]:=3}"
    [[ ! ${asked[spare]} ]] || die -2 "--spare ${asked[spare]}: a check looks at all of its nodes"
    [[ ! ${asked[limits]} || -r ${asked[limits]} ]] || die -2 "--limits ${asked[limits]}: no such file that can be read"
}

# plan_check: every pair, then all-to-alls: several, for one alone is compared with nothing.
plan_check() {
    local i count=${asked[nodes]:-${#nodes[@]}}
    [[ $count != *,* ]] || die -2 "--nodes $count: expected one node count"
    ((count <= ${#nodes[@]})) || may_lack_nodes || die -2 "--nodes $count: there are ${#nodes[@]} to measure on"
    [[ ${asked[subsets]} == nested ]] || die -2 "--subsets ${asked[subsets]}: a check measures all of its nodes"
    counts=("$count")
    add_launch "$count" 0 - 0 pairs
    for ((i = 0; i < asked[launches]; ++i)); do add_launch "$count" 0 - "$i"; done
}

# judge_check: exits with what a2a gate says of this job, which is in the job's output and in a file.
judge_check() {
    local text=$results/check-$job_id.txt words=() name
    [[ $a2a ]] || die "a2a is not installed here: 'a2a gate $results --job $job_id' where it is has the verdict"
    for name in against min-efficiency limits expect; do [[ ! ${asked[$name]} ]] || words+=("--$name" "${asked[$name]}"); done
    verdict=0
    "$a2a" gate "$results" --job "$job_id" "${words[@]}" >"$text.partial" || verdict=$?
    show "$text.partial"
    # Whoever waits for the verdict finds a whole one.
    if [[ -s $text.partial ]]; then mv "$text.partial" "$text"; else rm -f "$text.partial"; fi
    ((verdict <= kUnknown)) || verdict=$kUnknown
    exit "$verdict"
}
