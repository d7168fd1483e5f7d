# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Python packages in virtual environments of the clone. Needs say.sh and $top.

# make_venv FOLDER WANTED WORD…: an environment with what `pip install WORD…` gives. It stays as it is while WANTED, the
# text that says what is needed, is what it was made by. Fails, with the log in $venv_log, where it cannot be made.
make_venv() {
    local folder=$1 wanted=$2 name=${1##*/}
    venv_log=${top:?}/build/${name#.}.log
    shift 2
    if [[ -x $folder/bin/python ]] && cmp -s - "$folder/requirements.txt" <<<"$wanted"; then return; fi
    say "installing Python packages in ${folder#"$top"/}"
    mkdir -p "$top/build"
    python3 -m venv --clear "$folder" >"$venv_log" 2>&1 || return
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 2 "$@" >>"$venv_log" 2>&1 || return
    rm -f "$venv_log"
    printf '%s\n' "$wanted" >"$folder/requirements.txt"
}

# why_no_venv: the first error in the log.
why_no_venv() {
    local line
    line=$(grep -m 1 'ERROR: ' "$venv_log" || grep -i -m 1 'error\|not available\|not found' "$venv_log" ||
        tail -n 1 "$venv_log")
    printf '%s\n' "${line#"${line%%[! ]*}"}"
}

# make_analysis: a2a in build/a2a. It runs from the sources, so it changes with them; only another name of the package,
# or other versions of what it needs, make it anew.
make_analysis() {
    local source=${top:?}/analysis
    make_venv "$top/build/a2a" "$(cat "$source/pyproject.toml" "$source/constraints.txt")" \
        --constraint "$source/constraints.txt" --editable "$source"
}
