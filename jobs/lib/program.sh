# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Where the two commands are: named, built in this clone, installed beside the scripts, or in PATH. Needs say.sh,
# site.sh and $jobs.

# first_executable CANDIDATE…: the first that can be run.
first_executable() {
    local candidate
    for candidate in "$@"; do
        candidate=$(command -v -- "$candidate") || continue
        [[ ! -x $candidate ]] || { printf "%s\n" "$candidate" && return; }
    done
    return 1
}

# find_program: sets $program.
find_program() {
    local named=${A2APERF:-$site_program}
    if [[ $named ]]; then
        program=$(first_executable "$named") || die -2 "$named cannot be run: set A2APERF or site_program to the path of a2aperf"
    else
        program=$(first_executable "$jobs/../build/release/src/app/a2aperf" "$jobs/../../../bin/a2aperf" a2aperf) ||
            die -2 "a2aperf is not found: build it first (jobs/local.sh does), or set A2APERF or site_program to its path"
    fi
    "$program" --version >/dev/null || die "$program does not run on $(hostname): is a module missing in the site profile?"
}

# find_analysis: sets $a2a, empty where it is not installed, or no longer runs: an installation from before an update.
find_analysis() {
    a2a=$(first_executable ${A2A:+"$A2A"} ${site_analysis:+"$site_analysis"} "$jobs/../build/bin/a2a" \
        "$jobs/../analysis/.venv/bin/a2a" "$jobs/../.venv/bin/a2a" "$jobs/../../../bin/a2a" a2a) || a2a=
    [[ ! $a2a ]] || "$a2a" --version >/dev/null 2>&1 || {
        say "$a2a does not run: install it anew (jobs/local.sh does)"
        a2a=
    }
}
