# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Meson, quietly: the log is shown when something fails. Needs say.sh.

# What a configuration depends on, a line each.
build_origin() {
    local compiler
    read -ra compiler <<<"${CXX:-c++}"
    printf 'sources %s\nmeson %s\ncompiler %s\n' "${top:?}" "$(meson --version)" \
        "$("${compiler[@]}" --version 2>/dev/null | head -n 1)"
}

# configure_build FOLDER [MESON OPTION…]: from the sources in $top. A folder that is configured so stays as it is; one
# of an earlier commit, of somebody else, or with other options is configured again, and what is compiled in it is
# kept where that can be.
configure_build() {
    local folder=$1 stamp=$1/configured-for log=$1.log origin files option known=no
    shift
    origin=$(build_origin)
    files="files $(cat "${top:?}/meson.build" "$top/meson_options.txt" | cksum)"
    if [[ -f $folder/build.ninja && -f $stamp && $(head -n 3 "$stamp") == "$origin" ]]; then
        ! grep -qxF "$files" "$stamp" || known=yes
        for option in "$@"; do grep -qxF -e "$option" "$stamp" || known=no; done
        [[ $known == no ]] || return 0
    elif [[ -f $stamp || ! -f $folder/build.ninja ]]; then
        rm -rf "$folder" # half configured, or moved here, or of another compiler
    fi
    mkdir -p "${folder%/*}"
    if [[ ! -d $folder ]] || ! meson setup --reconfigure "$folder" "$top" "$@" >"$log" 2>&1 </dev/null; then
        rm -rf "$folder"
        meson setup "$folder" "$top" "$@" >"$log" 2>&1 </dev/null || {
            tail -n 30 "$log" >&2
            die "meson setup failed; all of it is in $log"
        }
    fi
    printf '%s\n' "$origin" "$files" "$@" >"$stamp"
    rm -f "$log"
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
