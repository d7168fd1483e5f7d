# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# What a job leaves when its launches are made: the comparison, one file, a report, its exit status. Needs say.sh,
# program.sh, plan_file.sh, launches.sh and reason.sh.

# analyse MERGED PAGE FILE…: the report, and one file from all; nothing where a2a is not installed. The report is first: time
# may be short, and files that cannot become one have it all the same.
analyse() {
    local merged=$1 page=$2 status=0
    shift 2
    (($#)) || {
        say "there is no results file yet: no report"
        return 1
    }
    [[ $a2a ]] || {
        say "a2a is not installed here: 'a2a report $results' where it is makes the report"
        return 0
    }
    if "$a2a" report "$@" ${error:+--error "$error"} -o "$page"; then say "report: $page"; else status=1; fi
    # One file is merged as it is; those of several workloads are not, nor those that a plan beside them tells apart.
    (($# == 1)) || [[ ${kind-} == suite || ${kind-} == screen ]] || { mkdir -p "${merged%/*}" && "$a2a" merge "$@" --force -o "$merged"; } || {
        say "there is no $merged of all files: they were not merged, see above"
        status=1
    }
    return "$status"
}

# find_sound FILE…: $sound are those that a report on a folder is on: without what only chose among nodes, and without what
# is damaged, which would cost the report on all others.
find_sound() {
    local file reason
    local -A bad=()
    sound=()
    while IFS=$'\t' read -r file reason; do
        [[ ! ${bad[$file]-} ]] || continue
        bad[$file]=yes
        say "left out: $file: $reason"
    done < <(find_unsound "$@")
    for file in "$@"; do [[ ${bad[$file]-} || ${file##*/} == spare-* ]] || sound+=("$file"); done
}

# check_results: a launch whose file turns out to be damaged is not good.
check_results() {
    local i file reason files=()
    local -A launch_of=()
    for i in "${!plan_nodes[@]}"; do
        [[ ${good[$i]-} == 0 ]] || continue
        file=$results/$(file_of "$i")
        launch_of[$file]=$i
        files+=("$file")
    done
    while IFS=$'\t' read -r file reason; do
        i=${launch_of[$file]}
        [[ ${good[$i]} == 0 ]] || continue
        damaged["$file"]=yes
        say "launch $((i + 1)) is not good: $reason"
        log_launch "$i" - 1 "$reason"
    done < <(find_unsound "${files[@]}")
}

close_study() {
    local i file count=0 files=()
    [[ $stopping == 'the job was cancelled' || ${ended_by-} ]] || check_results
    for i in "${!plan_nodes[@]}"; do
        [[ ${good[$i]-} != 0 ]] || ((count += 1))
        file=$results/$(file_of "$i")
        # One that cannot be read would cost the report on all others.
        [[ ! -f $file || ${damaged[$file]-} ]] || files+=("$file")
    done
    say "$count of ${#plan_nodes[@]} launches are good, in $results"
    end_early
    [[ $kind != check ]] || judge_check
    [[ $kind != compare ]] || compare_sides "${files[@]}"
    [[ $kind != suite ]] || judge_suite "${files[@]}"
    if [[ $kind == screen ]]; then
        judge_screening "${files[@]}"
        analyse '' "$results/report-$job_id.html" "${files[@]}" || exit 1
        ((count == ${#plan_nodes[@]})) || exit 1
        exit "$verdict"
    fi
    analyse "$results/merged/$kind-$job_id.h5" "$results/report-$job_id.html" "${files[@]}" || exit 1
    ((count == ${#plan_nodes[@]})) || exit 1
    [[ $reports_verdict == no ]] || exit "$verdict"
    # What the verdict is is not the status of a job; that there is none is.
    [[ $kind != compare || ! $a2a || $verdict != 1 ]] || die "there is no verdict: a2a compare failed, see above"
    exit 0
}

# compare_sides FILE…: what a2a compare says, in the job's output and in a file, and its picture. Its status is a verdict,
# not an error: sets $verdict.
compare_sides() {
    local by=() text=$results/compare-$job_id.txt picture=$results/compare-$job_id.svg
    verdict=1
    [[ $a2a ]] && (($#)) || return 0
    if [[ $error ]] && ! all_good; then
        say "not looked at: that is done when all ${asked[launches]} launches of each value are there"
        return 0
    fi
    compared_by
    [[ ! $error ]] || by+=(--error "$error")
    verdict=0
    "$a2a" compare "$@" "${by[@]}" >"$text" || verdict=$?
    [[ ! $error ]] || echo "look $((look + 1)) of ${#kLooks[@]}, at ${asked[launches]} launches of each value: error ${error/\%/ %}" >>"$text"
    show "$text"
    # 3: something is slower; 4: something is undecided.
    ((verdict == 0 || verdict == 3 || verdict == 4)) || verdict=1
    ((verdict == 1)) || ! "$a2a" plot compare "$@" "${by[@]}" -o "$picture" || say "picture: $picture"
}

# compared_by: sets $by to the options of a2a compare that name the settings.
compared_by() {
    local key
    by=()
    for key in "${keys[@]}"; do
        [[ $key != --* ]] || key=${key#--} key=${key//-/_}
        by+=(--by "$key")
    done
}
