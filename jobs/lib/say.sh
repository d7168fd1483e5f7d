# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# How our scripts speak: one clear line on stderr. A job's output may be on a disk that is full, and its results are not: what
# cannot be said ends nothing.

# What programs, nodes and the scheduler have said is in it, too, and a terminal obeys control characters: they come as '?'.
say() {
    local LC_ALL=C text="$*"
    text=${text//[$kControl]/?}
    printf '%s\n' "${text//$'\xc2'[$'\x80'-$'\x9f']/?}" >&2 || true
}

# Those but tabs and new lines; those of eight bits in UTF-8 begin with c2.
kControl=$'\x01\x02\x03\x04\x05\x06\x07\x08\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f'

# show FILE: on standard output, as say() does it.
show() { LC_ALL=C sed "s/[$kControl]/?/g; s/\xc2[\x80-\x9f]/?/g" "$1" || true; }

# What die said, for a record of how a job ended.
# shellcheck disable=SC2034 # of slurm.sh
last_words=''

# die [-STATUS] TEXT: STATUS is 1 unless given; 2 is the caller's mistake.
die() {
    local status=1
    if [[ $1 == -[0-9]* ]]; then
        status=${1#-}
        shift
    fi
    # shellcheck disable=SC2034 # of slurm.sh
    last_words=$*
    say "${0##*/}: $*"
    exit "$status"
}

# as_words WORD…: one line that a shell reads as these words; only what needs quotes gets them.
as_words() {
    local word line=
    for word in "$@"; do
        [[ $word =~ ^[A-Za-z0-9_@%+=:,./-]+$ ]] || word=$(printf '%q' "$word")
        line+="$word "
    done
    printf '%s\n' "${line% }"
}

have() { command -v "$1" >/dev/null 2>&1; }
