# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# How our scripts speak: one clear line on stderr. A job's output may be on a disk that is full, and its results are not: what
# cannot be said ends nothing.

say() { printf '%s\n' "$*" >&2 || true; }

# show FILE: on standard output.
show() { cat "$1" || true; }

# die [-STATUS] TEXT: STATUS is 1 unless given; 2 is the caller's mistake.
die() {
    local status=1
    if [[ $1 == -[0-9]* ]]; then
        status=${1#-}
        shift
    fi
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
