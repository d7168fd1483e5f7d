# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# Settings that only a script can set: the site profile's site_hook, called before and after each launch that has one of them
# (jobs/sites/README.md). Needs say.sh, site.sh and $scratch.

readonly kHookSeconds=300 # a hook that takes longer hangs

hooked=() # settings of this launch whose hook was begun, the last one first

# before_launch: the hook of each of $variables that is for it; sets $unsound and returns 1 where one fails.
before_launch() {
    local word
    for word in "${variables[@]}"; do
        [[ " ${site_hooked[*]} " == *" ${word%%=*} "* ]] || continue
        hooked=("$word" "${hooked[@]}")
        call_hook before "$word" || {
            unsound=$hook_said
            return 1
        }
    done
}

# after_launch: restores what was set, whatever became of the launch. Where that fails the next launches would measure
# something else than they say.
after_launch() {
    local word
    for word in "${hooked[@]}"; do
        call_hook after "$word" || {
            say "$hook_said"
            : "${stopping:=$hook_said}"
        }
    done
    hooked=()
}

# call_hook before|after NAME=VALUE: in a shell of its own; sets $hook_said to what it said last, where it fails.
call_hook() {
    local status=0
    # shellcheck disable=SC2016 # expands there
    timeout -k 5 "$kHookSeconds" bash -c '. "$0" || true; set -e; site_hook "$@"' "$profile" "$1" "${2%%=*}" "${2#*=}" \
        </dev/null >"$scratch/hook" 2>&1 || status=$?
    ((status)) || return 0
    hook_said=$(grep -v '^[[:space:]]*$' "$scratch/hook" | tail -n 1) || true
    ((status != 124)) || hook_said="no end after $kHookSeconds s"
    hook_said="site_hook $1 $2: ${hook_said:-it said nothing} (exit status $status)"
    return 1
}
