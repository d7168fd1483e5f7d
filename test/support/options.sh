# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What scripts that run a COMMAND take before it. Each has a usage() of its own.

# answer_help LEAST WORD…: shows the usage for -h and --help; refuses fewer than LEAST words with it.
answer_help() {
    local least=$1
    shift
    if [[ ${1-} == -h || ${1-} == --help ]]; then
        usage
        exit 0
    fi
    (($# >= least)) || {
        usage >&2
        exit 2
    }
}

# take_deadline SECONDS WORD…: -t SECONDS into $seconds, the first word here without it; -h shows the usage. The
# caller drops what was taken: shift $((OPTIND - 1)). Needs jobs/lib/say.sh.
take_deadline() {
    local option
    seconds=$1
    shift
    while getopts ':t:h' option; do
        case $option in
        t) seconds=$OPTARG ;;
        h)
            usage
            exit 0
            ;;
        *)
            usage >&2
            exit 2
            ;;
        esac
    done
    [[ $seconds =~ ^[1-9][0-9]*$ ]] || die -2 "-t $seconds is not a number of seconds, e.g. -t 60"
}
