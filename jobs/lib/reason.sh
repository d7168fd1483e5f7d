# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Why a launch failed, from what it printed: the cause, and not the loudest of its consequences. Needs nodes.sh,
# program.sh and $scratch.

readonly kFileSeconds=60 # until a file that another node has written is seen here; what NFS may take

# why_failed STATUS: one line. A rank that was killed, or a node of the launch that is $missing, makes the others complain
# of one another: their words count only where there is no such cause.
why_failed() {
    local status=$1 words gone=''
    ((${#missing[@]} == 0)) || gone="no answer from $(host_list "${missing[@]}")"
    words=$(cat "$scratch/not_going" 2>/dev/null) || true
    [[ $words ]] || words=$(died_of_signal <"$scratch/launch.err")
    [[ ! $gone ]] || words=$gone${words:+; $words}
    # A launcher ends the ranks that are left: that they were stopped is the last thing to say.
    [[ $words ]] || words=$(sed -n -e '/^a2aperf: \(.* ended; \)\{0,1\}stopped by signal 15 /d' -e 's/^a2aperf: //p' "$scratch/launch.err" |
        head -n 1)
    [[ $words ]] || words=$(lost_daemon <"$scratch/launch.err")
    [[ $words ]] || words=$(sed -n 's/^a2aperf: //p' "$scratch/launch.err" | head -n 1)
    [[ $words ]] || words=$(first_complaint <"$scratch/launch.err")
    if ((launch_limit && launch_seconds >= launch_limit && (status == 124 || status == 137))); then
        words="no end after $launch_limit s${words:+; $words}"
    fi
    [[ $words ]] || words=$(end_of_launcher "$status")$(first_printed <"$scratch/launch.err")
    tr '\t\n' '  ' <<<"$words" | sed 's/ *$//'
}

# first_printed: of a program that did not say in a way of ours why it ended.
first_printed() {
    sed -n -E -e '/^[-=[:space:]]*$/d' -e '/^Primary job +terminated/d' -e 's/^(.{1,200}).*/; the first that was printed: \1/p' -e q
}

# first_complaint: the first sentence that looks like one; Open MPI breaks its own over several lines.
first_complaint() {
    awk '/^[-=[:space:]]*$/ { if (said) exit; next }
        /^Primary job +terminated normally|^a non-zero exit code[.] Per|detected that one or more processes/ { next }
        !said && !/srun: error|lost communication|non-zero|unable|not |failed|ORTE/ { next }
        { said = said (said ? " " : "") $0 }
        /^srun:/ { exit }
        match(said, /[.]( |$)|:$/) { said = substr(said, 1, RSTART - 1); exit }
        END { if (said) print substr(said, 1, 300) }'
}

# end_of_launcher STATUS: of one that said nothing. The shell's status of a process that a signal ended is 128 more.
end_of_launcher() {
    local name
    if (($1 > 128)) && name=$(kill -l "$(($1 - 128))" 2>/dev/null); then
        printf 'signal %d (SIG%s) ended %s\n' "$(($1 - 128))" "$name" "$site_launcher"
    else
        printf '%s ended with exit status %d and did not say why\n' "$site_launcher" "$1"
    fi
}

# died_of_signal: the rank that a signal ended, as the launcher names it. The program may number its ranks in another
# order. SIGTERM is the launcher's own when another rank has ended the job; srun ends the others by SIGKILL, so its first
# word counts, and none after that it ended the step itself.
died_of_signal() {
    sed -n -E \
        -e 's/^(mpirun|prterun) noticed that process rank ([0-9]+) with PID [0-9]+ on node ([^ ]+) exited on signal ([0-9]+ \(.*\))\.$/signal \4 ended a rank on \3 (process \2 of mpirun)/p' \
        -e '/Job step aborted|STEP .* CANCELLED/q' \
        -e 's/^srun: error: ([^ :]+): tasks? ([0-9,-]+): (Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point exception|Out Of Memory)( \(core dumped\))?$/\3: task \2 of srun on \1/p' |
        grep -v '^signal 15 ' | head -n 1 || true
}

# lost_daemon: Open MPI's daemon whose connection broke, from its lines "HNP daemon : … on node A", "Remote daemon: …
# on node B". It need not be that of the node that is gone.
lost_daemon() { sed -n 's/^ *Remote daemon: .* on node \([^ ]*\)$/mpirun lost its connection to \1/p' | head -n 1; }

# was_lost_at_start FILE: whether mpirun lost a daemon before the launch that was to write FILE had said anything.
was_lost_at_start() {
    [[ $(lost_daemon <"$scratch/launch.err") && ! $1 -nt $begun_file && ! -s $scratch/launch.out ]] &&
        ! grep -q '^a2aperf: ' "$scratch/launch.err"
}

# why_unsound FILE: why a launch that ended well has no results to show; nothing where it has. Takes no time of the
# nodes; the close look is for the end of the job.
why_unsound() {
    local file=$1 second=0
    # Rank 0 has written it, maybe on another node. Looking through the folder makes a shared one ask its server.
    until ls "${file%/*}" >/dev/null && [[ -s $file ]] && { [[ $(damage_of "$file") ]] || is_finished "$file" || is_large; }; do
        ((second++ < kFileSeconds)) || {
            if [[ -s $file ]]; then
                echo "$site_launcher says that it ended well, and its file is not finished: a rank or a node was lost"
            else
                echo "it ended well, and its file is not in ${file%/*} as this node sees it: is that folder shared by all nodes?"
            fi
            return 0
        }
        sleep 1
    done
    damage_of "$file"
}

# is_finished FILE: whether it has the trailer, which is written last of all.
is_finished() { [[ $(tail -c 64 "$1" 2>/dev/null | head -c 17 | tr -d '\0') == 'a2aperf digest v1' ]]; }

# is_large: whether the launch has said that its file is complete, and only its last step, which makes it small, was not possible.
is_large() { grep -q '^a2aperf: .* is complete but larger than necessary: ' "$scratch/launch.err"; }

# is_unfinished FILE: whether a launch that wrote it did not come to its end; what it holds is sound at the first look.
is_unfinished() { [[ -s $1 && ! $(damage_of "$1") ]] && ! is_finished "$1"; }

# damage_of FILE: what is wrong with it at the first look; nothing where nothing is.
damage_of() {
    if [[ $(head -c 4 "$1" | tail -c 3) != HDF ]]; then
        echo "its file is not sound: it is no HDF5 file"
    elif is_cut "$1"; then
        echo "its file is not sound: it is shorter than its own header says"
    fi
}

# was_refused_as_damaged: whether the program would not go on with the file of an earlier try.
was_refused_as_damaged() { grep -qE '^a2aperf: .* is (damaged: .*|not an HDF5 file)$' "$scratch/launch.err"; }

# set_aside FILE: one that cannot be gone on with; what is sound in it can be saved by hand.
set_aside() {
    mv --backup=numbered -- "$1" "$1.damaged" || return
    say "set aside: $1.damaged ('a2a check --repair' may save a part of it)"
}

# is_cut FILE: whether an HDF5 file ends before the end that its superblock has (of version 0, as the program writes it).
is_cut() {
    local end
    [[ $(od -An -t u1 -j 8 -N 1 "$1") -eq 0 ]] || return 1
    end=$(od -An --endian=little -t u8 -j 40 -N 8 "$1")
    (($(stat -c %s "$1") < ${end:-0}))
}

# find_unsound FILE…: "FILE<TAB>reason" of those that a2a finds damaged; says nothing where there is no a2a.
find_unsound() {
    local line file
    [[ $a2a ]] && (($#)) || return 0
    while read -r line; do
        for file in "$@"; do
            # The second is of a file that cannot be read. What else a2a may say is its own trouble.
            case $line in
            "$file: error: "*) line=${line#"$file: error: "} ;;
            "a2a: $file: "*) line=${line#"a2a: $file: "} ;;
            *) continue ;;
            esac
            printf '%s\t%s\n' "$file" "its file is not sound: ${line:0:300}"
            break
        done
    done < <("$a2a" check "$@" 2>&1)
}
