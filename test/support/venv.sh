# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154 # $venv_log
# The tests' Python packages, pinned, in a virtual environment of the clone. Needs say.sh, jobs/lib/venv.sh and $top.

# ensure_venv: makes or renews $top/.venv.
ensure_venv() {
    make_venv "${top:?}/.venv" "$(cat "$top/test/requirements.txt")" -r "$top/test/requirements.txt" || {
        tail -n 20 "$venv_log" >&2
        die "could not make the virtual environment .venv"
    }
}

# install_analysis: a2a as it is in the clone now, into the same environment; nothing happens where it is that already.
install_analysis() {
    local log source=${top:?}/analysis stamp=$top/.venv/installed-analysis now
    now=$(cd "$source" && find src pyproject.toml constraints.txt -type f ! -name '*.pyc' -exec cksum {} + | sort -k 3)
    if [[ -x $top/.venv/bin/a2a ]] && cmp -s - "$stamp" <<<"$now"; then return; fi
    rm -f "$stamp"
    log=$(mktemp)
    # The former name's command would be taken from the new one by whoever uninstalls it later.
    {
        "$top/.venv/bin/python" -m pip uninstall --quiet --yes a2a &&
            "$top/.venv/bin/python" -m pip install --quiet --constraint "$source/constraints.txt" "$source"
    } >"$log" 2>&1 || {
        tail -n 20 "$log" >&2
        rm -f "$log"
        die "could not install the analysis in .venv"
    }
    rm -f "$log"
    printf '%s\n' "$now" >"$stamp"
}
