# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Meson, quietly: the log is shown when something fails. Needs say.sh.

# configure_build FOLDER [MESON OPTION…]: from the sources in $top; a folder that is configured stays as it is.
configure_build() {
    local folder=$1
    shift
    [[ -f $folder/build.ninja ]] && return
    # A folder that was left half configured is configured anew.
    rm -rf "$folder"
    mkdir -p "${folder%/*}"
    meson setup "$folder" "${top:?}" "$@" >"$folder.log" 2>&1 </dev/null || {
        tail -n 30 "$folder.log" >&2
        die "meson setup failed; all of it is in $folder.log"
    }
    rm -f "$folder.log"
}

# build_targets FOLDER [TARGET…]: all when none is named.
build_targets() {
    local folder=$1
    shift
    say "building ${*:-everything} in ${folder#"$top"/}"
    local log=$folder/build.log
    ninja -C "$folder" "$@" >"$log" 2>&1 </dev/null || {
        # What failed, without the progress lines of what did not.
        grep -v '^\[' "$log" | tail -n 60 >&2
        die "the build failed; all of it is in $log"
    }
}

# Where a build folder keeps the program.
program_in() { printf '%s/src/app/a2aperf' "$1"; }
