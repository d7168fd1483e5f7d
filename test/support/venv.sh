# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The tests' Python packages, pinned, in a virtual environment of the clone. Needs say.sh and $top.

# ensure_venv: makes or renews $top/.venv. The stamp holds what was asked for.
ensure_venv() {
    local venv=${top:?}/.venv wanted=$top/test/requirements.txt log
    local python=$venv/bin/python
    if [[ -x $python ]] && cmp -s "$wanted" "$venv/requirements.txt"; then return; fi
    say "installing the tests' Python packages in .venv"
    log=$(mktemp)
    if ! { python3 -m venv --clear "$venv" && "$python" -m pip install --quiet -r "$wanted"; } >"$log" 2>&1; then
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not make the virtual environment .venv"
    fi
    rm -f "$log"
    cp "$wanted" "$venv/requirements.txt"
}

# install_analysis: a2a as it is in the clone now, into the same environment.
install_analysis() {
    local log
    log=$(mktemp)
    "${top:?}/.venv/bin/python" -m pip install --quiet --constraint "$top/analysis/constraints.txt" "$top/analysis" \
        >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install the analysis in .venv"
    }
    rm -f "$log"
}
