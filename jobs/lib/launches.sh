# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# One launch of the plan after another, what became of each in the log, until all are made or a limit is reached. Needs
# say.sh, options.sh, nodes.sh, plan.sh, plan_file.sh, launcher.sh, watch.sh, reason.sh, hooks.sh.

readonly kQuickSeconds=300

stopping=''   # why no launch is begun any more
launch_pid='' # of the launch that runs
ending_pid='' # of who ends it when it does not stop
unsound=''    # why its file is not one
tries=0       # of this launch in this run
lost=no       # whether it is to be tried once more
interrupts=0
made=0         # launches that became good in this run
node_seconds=0 # used before this run
declare -A damaged=() # files that are not sound
declare -A took=() # seconds of the last good launch, by number of nodes and workload

# interrupt WHY: ends the launch at its next op; what it has completed is kept.
interrupt() {
    [[ $BASHPID == "$owner" ]] || exit
    stopping=$1
    ((interrupts += 1))
    [[ ! $launch_pid ]] || stop_launch
}

# log_launch I STARTED STATUS REASON: whatever a launcher or a hook has said, the log stays a table in UTF-8.
log_launch() {
    local reason=${4//[[:cntrl:]]/ }
    iconv -f UTF-8 -t UTF-8 <<<"$reason" >/dev/null 2>&1 || reason=$(LC_ALL=C tr -c '[:print:]\n' '?' <<<"$reason")
    printf '%03d\t%s\t%s\t%s\t%s\n' $(($1 + 1)) "$2" "$(now)" "$3" "$reason" >>"$log_file" ||
        die "nothing can be written to $log_file"
    note_use
    good[$1]=$3
}

# What else says the same as an option, or what it goes without.
declare -A also_said=(["--ops"]='-i --precision' ["--sizes"]='-m --message-size' ["--nic"]=--domain)

# add_unless_given OPTION VALUE…: the user's word counts for more than ours, also in a file for --config, which the program
# takes for less than ours; and it takes each once.
add_unless_given() {
    local word configured
    read_config "${passed[@]}" "${site_options[@]}" "${chosen[@]}"
    for word in "${passed[@]}" "${site_options[@]}" "${configured[@]}" "${keys[@]}" "${words[@]}" "${chosen[@]}"; do
        [[ $word != -[a-z]* ]] || word=${word:0:2} # its value may stand behind it
        [[ " $1 ${also_said[$1]-} " != *" ${word%%=*} "* ]] || return 0
    done
    words+=("$@")
}

# add_measured: what the job says that an all-to-all measures.
add_measured() {
    [[ ! ${asked[sizes]} ]] || add_unless_given --sizes "${asked[sizes]}"
    [[ ${asked[quick]} == no ]] || add_unless_given --ops 30
}

# provider_asked_for: the one that launches will be told to use.
provider_asked_for() {
    local word before='' configured name=${site_provider:-auto}
    read_config "${site_options[@]}" "${passed[@]}"
    for word in "${configured[@]}" "${site_options[@]}" "${passed[@]}"; do
        [[ $before != --provider ]] || name=$word
        [[ $word != --provider=* ]] || name=${word#*=}
        before=$word
    done
    printf '%s' "$name"
}

# program_words I: sets $words to the arguments of launch I without its file, $variables to the variables of its
# settings; $chosen are its settings.
program_words() {
    local seed=$((asked[seed] + plan_draw[$1])) row=${plan_combination[$1]} word workload given=("${site_options[@]}" "${passed[@]}")
    read -ra words <<<"${plan_workload[$1]}"
    workload=${words[0]} variables=()
    if [[ $workload == alltoall ]]; then
        add_measured
    elif [[ $kind == suite ]]; then
        taken_by "$workload" "${site_options[@]}"
        given=("${kept_words[@]}" "${passed[@]}")
    else
        taken_by "$workload" "${given[@]}"
        given=("${kept_words[@]}")
    fi
    [[ ! $site_provider ]] || add_unless_given --provider "$site_provider"
    [[ ! $site_nic ]] || add_unless_given --nic "$site_nic"
    # Where a launch would choose, launches could choose differently, and then they are not compared.
    [[ $workload != alltoall || ${scheduler-} != hosts ]] || add_unless_given --sync barrier
    [[ $kind != screen ]] || words+=(--label "screen=${row_label[row]}")
    [[ $kind != suite ]] || words+=(--label "interconnect=${row_label[row]}")
    add_unless_given --seed "$seed"
    add_unless_given --order shuffled
    # Pairs of ranks that lie on two nodes shall lie there in every launch.
    [[ $kind == suite ]] || add_unless_given --shuffle-ranks
    words+=("${given[@]}")
    for word in "${chosen[@]}"; do
        if [[ $word == --* ]]; then
            words+=("$word")
        else
            words+=(--require "$word")
            variables+=("$word")
        fi
    done
}

# taken_by WORKLOAD WORD…: sets $kept_words to those of the program's options, with their values, that this workload has: a
# site's options are those of an all-to-all.
taken_by() {
    local workload=$1 known word name keeps=yes
    shift
    kept_words=()
    (($#)) || return 0
    known=" $("$program" "$workload" --help-all | grep -oE -- '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' | tr '\n' ' ')"
    for word in "$@"; do
        name=${word%%=*}
        [[ $word != -[a-z]* ]] || name=${word:0:2} # its value may stand behind it
        [[ $word != -[a-z-]* ]] || if [[ $known == *" $name "* ]]; then keeps=yes; else keeps=no; fi
        [[ $keeps == no ]] || kept_words+=("$word")
    done
}

# wait_for_launch: sets $status. A trapped signal ends wait, not the launch.
wait_for_launch() {
    local seen
    while :; do
        seen=$interrupts status=0
        wait "$launch_pid" || status=$?
        ((interrupts > seen)) || break
    done
    launch_pid=
    stop_ending
}

stop_ending() {
    [[ ! $ending_pid ]] || kill "$ending_pid" 2>/dev/null || true
    ending_pid=
}

# size_of I: sets $size, a key of $took: launches that have it in common take about as long as one another.
size_of() { size="${plan_nodes[$1]} ${plan_workload[$1]%% *}"; }

# seconds_left I: where a limit of the whole job holds, sets $limited_by to its words, $launch_limit to what launch I may take
# then, and $short to the words, too, when it is too long for what is left. No launch is too long by itself: watch.sh ends
# one that gives no sign of life.
seconds_left() {
    local size expected
    size_of "$1"
    launch_limit=0 limited_by='' short=''
    expected=${took[$size]:-1}
    ((expected > 0)) || expected=1 # a limit of 0 would be none
    if [[ ${asked[quick]} == yes ]]; then
        limit_to $((kQuickSeconds - SECONDS)) "--quick: the five minutes are over"
    fi
    if [[ ${asked[budget]} ]]; then
        limit_to "$(awk -v hours="${asked[budget]}" -v used="$node_seconds" -v nodes="$allocated" \
            -v seconds="$SECONDS" 'BEGIN { printf "%d", (hours * 3600 - used) / nodes - seconds }')" \
            "the node-hour limit of ${asked[budget]} is reached"
    fi
    [[ ! $limited_by ]] || ((launch_limit >= expected)) || short=$limited_by
}

# limit_to SECONDS WHY
limit_to() {
    [[ $limited_by ]] && (($1 >= launch_limit)) || launch_limit=$1 limited_by=$2
}

make_launches() {
    local i
    for i in "${!plan_nodes[@]}"; do
        [[ ${good[$i]-} != 0 ]] || continue
        [[ ! ${given_up[$i]-} ]] || continue
        [[ $kind != screen ]] || ! is_dropped "$i" || continue
        tries=0
        take_turn "$i"
        [[ $lost == no ]] || take_turn "$i"
        [[ $kind != screen ]] || try_again "$i"
    done
}

# take_turn I: makes launch I, where there is time for it and nodes.
take_turn() {
    local i=$1 total=${#plan_nodes[@]}
    lost=no
    if [[ ! $stopping ]]; then
        follow_allocation
        lose 'Slurm has taken it from the job' "${taken[@]}"
    fi
    if [[ ! $stopping ]]; then
        seconds_left "$i"
        stopping=$short
    fi
    if [[ $stopping ]]; then
        log_launch "$i" - - "not begun: $stopping"
        return
    fi
    subset_of "$i"
    if ((${#subset[@]} == 0)); then
        log_launch "$i" - - "not begun: it needs ${plan_nodes[i]} nodes, and ${#nodes[@]} are left"
        return
    fi
    combination "${plan_combination[i]}"
    [[ $quiet == yes ]] ||
        say "launch $((i + 1)) of $total: $(host_list "${subset[@]}")${chosen[*]:+, ${chosen[*]}}$(time_left "$i")"
    make_launch "$i"
}

# time_left I: for launch I and those after it, where launches of their workloads on as many nodes were made in this run.
time_left() {
    local i size seconds=0
    for ((i = $1; i < ${#plan_nodes[@]}; ++i)); do
        [[ ${good[$i]-} != 0 ]] || continue
        size_of "$i"
        [[ ${took[$size]-} ]] || return 0
        ((seconds += ${took[$size]}, 1))
    done
    if ((seconds < 90)); then
        printf '; about %d s to go' "$seconds"
    elif ((seconds < 5400)); then
        printf '; about %d min to go' $(((seconds + 30) / 60))
    else
        printf '; about %d h %02d min to go' $((seconds / 3600)) $((seconds % 3600 / 60))
    fi
}

# lose WHY NODE…: nodes that the job has no more; it goes on without them if it was told to.
lose() {
    (($# > 1)) || return 0
    leave_out "$@"
    write_plan
    [[ ${asked[go-on]} == yes ]] || : "${stopping:="$(host_list "${@:2}"): $1, and --go-on was not given"}"
}

make_launch() {
    local i=$1 file text started size
    file=$results/$(file_of "$i")
    program_words "$i"
    words+=(--output "$file")
    for text in "$job_file" "$nodes_file"; do words+=(--attach "$text"); done
    # It would be refused, in every run again.
    [[ ! -r $file || ! $(damage_of "$file") ]] || set_aside "$file" || true
    if [[ -e $file ]]; then # of a try that failed; a search is made anew
        [[ " ${words[*]} " == *' --search'* ]] && words+=(--force) || words+=(--resume)
    fi
    launcher_words "${plan_nodes[i]}" "${asked[ppn]}" "${variables[@]%%=*}" "${site_environment[@]%%=*}"
    started=$(now) launch_seconds=$SECONDS
    made_on["$i"]=$(host_list "${subset[@]}")
    rm -f "$scratch/not_going" "$scratch/silent"
    ((tries += 1))
    unsound='' status=1
    if before_launch && [[ ! $stopping ]]; then
        start_launch "$launch_limit" "$file" "${variables[@]}" -- "${words[@]}"
        wait_for_launch
        stop_watching
        keep_output "$i"
    else
        ((tries += 1)) # it would be the same once more
    fi
    after_launch
    launch_seconds=$((SECONDS - launch_seconds))
    if ((status == 0)); then
        unsound=$(why_unsound "$file")
        [[ ! $unsound ]] || status=1
        damaged["$file"]=${unsound:+yes}
    fi
    if ((status == 0)); then
        size_of "$i"
        took[$size]=$launch_seconds
        ((made += 1))
        log_launch "$i" "$started" 0 -
    else
        failed_launch "$i" "$started"
    fi
}

# failed_launch I STARTED: what became of a launch that is not good, by its $status and $unsound file.
failed_launch() {
    local i=$1 started=$2 reason=$unsound node
    [[ ! $limited_by ]] || ((launch_seconds < launch_limit)) || : "${stopping:=$limited_by}"
    if [[ $stopping && ! $reason ]]; then
        reason="$stopping: stopped before its first op"
        [[ ! -e $file ]] || reason="$stopping: stopped at an op, what was complete is kept"
        log_launch "$i" "$started" "$status" "$reason"
        return
    fi
    silent=() missing=()
    # A launcher that lost a node may say that all went well.
    if [[ ! $reason ]] || is_unfinished "$file"; then
        keep_answering
        for node in "${silent[@]}"; do [[ " ${subset[*]} " != *" $node "* ]] || missing+=("$node"); done
        [[ $reason && ${#missing[@]} -eq 0 ]] || reason=$(why_failed "$status")
        # Slurm ends those of a job that was cancelled, and has no time for questions.
        [[ $stopping ]] || end_steps
    fi
    if [[ ! $stopping ]] && ((tries == 1 && ${#silent[@]} == 0)) && was_lost_at_start "$file"; then
        lost=yes reason+=', before anything was measured'
    fi
    if [[ ! $unsound && -e $file ]] && was_refused_as_damaged && set_aside "$file"; then
        ((tries > 1)) || lost=yes
    fi
    say "launch $((i + 1)) failed: $reason"
    log_launch "$i" "$started" "$status" "$reason"
    lose 'does not answer' "${silent[@]}"
    # What a setting of a screening does to a launch is no reason to end it.
    [[ ${asked[go-on]} == yes || $lost == yes || ($kind == screen && ${#silent[@]} == 0) ]] || : "${stopping:="launch $((i + 1)) failed, and --go-on was not given"}"
}
