# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# A job from its arguments to its exit status. Needs all the others of jobs/lib.

# The shell that has the traps. bash runs them in a child, too, that a signal meets before it has put them off.
owner=$BASHPID

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

# run_study alltoall|compare|screen|suite|check WORD…: exits with the job's status.
run_study() {
    kind=$1
    trap leave EXIT
    parse_options "$@"
    printf -v command_line ' %q' "${@:2}"
    command_line=${command_line# }
    take_defaults
    load_site "${asked[site]}"
    if [[ ${asked[plan]} ]]; then
        print_plan
        exit 0
    fi
    require_job
    name_files
    scratch=$(mktemp -d)
    enter_site
    clear_screened
    keep_mpi_off_fabric
    export_lacking < <(patience_settings)
    find_program
    find_analysis
    check_launcher

    enter_allocation
    keep_spares
    recall
    [[ ${asked[until-decided]-no} == no ]] || begin_looks
    make_plan
    same_plan
    try_program
    open_folder
    describe_job
    choose_nodes
    make_launches
    [[ $kind != screen ]] || go_on_screening
    [[ ${asked[until-decided]-no} == no ]] || launch_until_decided
    close_study
}

# leave: what the script has made for itself is removed. A check that came to no verdict has the status of what is unknown.
leave() {
    local status=$?
    [[ $BASHPID == "$owner" ]] || return 0
    note_early_end "$status"
    [[ ! ${hooked[*]} ]] || after_launch
    note_use
    [[ ! ${scratch-} ]] || rm -rf "$scratch"
    [[ ! ${begun_file-} ]] || rm -f "$begun_file"
    [[ $kind != check || $status == 0 || ${verdict-} ]] || exit "$kUnknown"
}

take_defaults() {
    local word configured
    read_config "${passed[@]}"
    for word in "${passed[@]}" "${configured[@]}"; do
        [[ ! $word =~ ^--(force|resume|dry-run)=(false|no|off|0)$ ]] || continue # of a file
        [[ ! $word =~ ^(-o|--output|--(force|resume|dry-run)(=|$)) ]] ||
            die -2 "the job sets ${word%%=*} itself: --results chooses the folder"
    done
    if [[ ${asked[quick]} == yes && $kind != suite ]]; then
        : "${asked[sizes]:=1000,4000,15000,30000,60000}" "${asked[launches]:=1}"
    fi
    [[ $kind != check ]] || check_defaults
    : "${asked[launches]:=$([[ $kind == compare ]] && echo 8 || echo 3)}" "${asked[seed]:=${SLURM_JOB_ID:-1}}"
    keys=() combinations=1 planned_files=()
    [[ $kind != compare ]] || ((${#settings[@]})) || die -2 "no setting to compare: expected one such as compare.sbatch PSM2_RCVTHREAD=0,1"
    if [[ $kind == screen || $kind == suite ]]; then
        [[ ${asked[rows]} ]] || die -2 "no plan of launches: --rows FILE"
        read_rows
    else
        [[ ! ${asked[rows]} ]] || die -2 "--rows: only a screening or a suite takes planned launches"
        [[ ${asked[no-confirm]} == no ]] || die -2 "--no-confirm: only a screening is confirmed"
        read_settings
    fi
}

name_files() {
    results=${asked[results]}
    [[ $results == /* ]] || results=$PWD/$results
    plan_file=$results/plan-$job_id.tsv
    log_file=$results/log-$job_id.tsv
    nodes_file=$results/nodes-$job_id.txt
    job_file=$results/job-$job_id.txt
}

# try_program: what the program would refuse is refused now, in its own words, before anything is written.
try_program() {
    local i launch=0
    for ((i = 0; i < combinations; ++i)); do
        combination "$i"
        ((${#row_label[@]} == 0)) || launch=$i
        # Rounds of a suite repeat their launches.
        [[ $kind != suite || ${row_block[i]} == "${row_block[0]}" ]] || continue
        would_be_taken "$launch"
    done
    # The first launch may be of another workload than the last.
    [[ $kind != check ]] || would_be_taken $((${#plan_nodes[@]} - 1))
}

would_be_taken() {
    program_words "$1"
    "$program" "${words[@]}" --dry-run --ranks $((plan_nodes[$1] * asked[ppn])) \
        --ranks-per-node "${asked[ppn]}" >/dev/null || exit 2
}

open_folder() {
    mkdir -p "$results" 2>/dev/null || die -2 "the results folder $results could not be made: --results names another"
    [[ -w $results ]] || die -2 "nothing can be written to the results folder $results: --results names another"
    require_no_links
    take_folder
    # What a study says of itself takes some kB. On a full disk a file can be made, and nothing put into it.
    local room=$results/.room-$job_id is_room=yes
    head -c 32768 /dev/zero 2>/dev/null >"$room" || is_room=no
    rm -f "$room"
    [[ $is_room == no || -s $log_file ]] || printf 'launch\tstarted\tended\tstatus\treason\n' 2>/dev/null >"$log_file" || is_room=no
    [[ $is_room == yes ]] ||
        die -2 "nothing can be written to the results folder $results ($(df -Ph "$results" | awk 'END { print $4 }') free)"
    is_open=yes
}

# require_no_links: what a study writes has names that anybody can tell beforehand. In a folder that others may write to a
# link of such a name has us write to a file of their choice.
require_no_links() {
    local name
    for name in "$results/run.lock" "$results"/{,.}*"-$job_id"{,.*,-*}; do
        [[ ! -L $name ]] || die -2 "$name is a symbolic link, and this study would write to what it names: remove it, or --results names another folder"
    done
}

# choose_nodes: those that are fit to measure, as the job was told to; the plan follows from them.
choose_nodes() {
    local node fit=() wanted=${#nodes[@]}
    # There is a plan before there are nodes to make it on: who looks at the study sees the job.
    write_plan
    nodes=("${offered_nodes[@]}")
    [[ $stopping ]] || preflight "$nodes_file"
    [[ ! $stopping ]] || return 0
    if [[ ${asked[spare]} ]]; then
        use_spares "$wanted"
    elif ((${#unfit[@]})); then
        [[ ${asked[drop-bad-nodes]} == yes ]] || give_up "not fit to measure: $(host_list "${unfit[@]}")" \
            "see $nodes_file$drop_hint"
        for node in "${nodes[@]}"; do [[ " ${unfit[*]} " == *" $node "* ]] || fit+=("$node"); done
        ((${#fit[@]} * asked[ppn] > 1)) || give_up "${#fit[@]} nodes are fit to measure" "see $nodes_file"
        [[ ! $stopping ]] || return 0
        leave_out 'not fit, see above' "${unfit[@]}"
        nodes=("${fit[@]}")
        fewer_nodes
        make_plan
        write_plan
    fi
}

# use_spares WANTED: so many good nodes, or what --drop-bad-nodes does where there are fewer.
use_spares() {
    local wanted=$1 node fit=()
    for node in "${nodes[@]}"; do [[ " ${unfit[*]} " == *" $node "* ]] || fit+=("$node"); done
    ((${#unfit[@]} == 0)) || leave_out 'not fit, see above' "${unfit[@]}"
    nodes=("${fit[@]}")
    choose_spares "$wanted"
    [[ ! $stopping ]] || return 0
    if ((${#nodes[@]} < wanted)); then
        ((${#nodes[@]} * asked[ppn] > 1)) || asked[drop-bad-nodes]=no
        [[ ${asked[drop-bad-nodes]} == yes ]] ||
            give_up "${#nodes[@]} of ${#offered_nodes[@]} nodes are good, and $wanted were wanted" "see $nodes_file$drop_hint"
        fewer_nodes
        make_plan
    fi
    write_plan
}

# give_up WHY HINT: before the first launch; the log says why for each of them. A check has its verdict on the nodes then.
give_up() {
    local i
    [[ $kind != check ]] || {
        stopping=$1
        say "$1, $2"
        return
    }
    for i in "${!plan_nodes[@]}"; do [[ ${good[$i]-} == 0 ]] || log_launch "$i" - - "not begun: $1"; done
    die "$1, $2"
}

# leave_out WHY NODE…: for the record.
leave_out() {
    local why=$1 node
    shift
    for node in "$@"; do printf '%s\tuse\tbad\tleft out: %s\n' "$node" "$why"; done >>"$nodes_file"
    say "left out: $(host_list "$@") ($why)"
}
