# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# The options of the job scripts, checked before anything is touched. Needs say.sh.

# asked NAME -> value of --NAME; flags are yes or no.
declare -A asked=(
    [ppn]=1 [sizes]='' [launches]='' [nodes]='' [subsets]=nested [seed]='' [budget]='' [results]=results
    [site]="${A2APERF_SITE-}" [plan]='' [quick]=no ["drop-bad-nodes"]=no ["go-on"]=no [requeue]=no [rows]='' ["no-confirm"]=no
    [against]='' ["min-efficiency"]='' [limits]='' [expect]='' [spare]=''
)
declare -a settings=() # KEY=V1,V2 of compare.sbatch
declare -a passed=()   # what follows --, for a2aperf

# What a value looks like, what it is, and one that would be right.
declare -A pattern=(
    [ppn]='^[1-9][0-9]{0,3}$' [launches]='^[1-9][0-9]{0,2}$' [nodes]='^[1-9][0-9]{0,5}(,[1-9][0-9]{0,5})*$'
    [subsets]='^(nested|random|per-switch)$' [seed]='^[0-9]{1,9}$' [budget]='^([0-9]{1,9}\.)?[0-9]{1,9}$'
    [plan]='^[1-9][0-9]{0,5}$' [sizes]='.' [results]='.' [site]='^[A-Za-z0-9_.-]+$|/' [rows]='.'
    [against]='.' ["min-efficiency"]='^([0-9]{1,2}([.][0-9]+)?%|0[.][0-9]+)$' [limits]='.' [expect]='^link(,[a-z]+=[^,]+)*$'
    [spare]='^[1-9][0-9]{0,3}$'
)
declare -A meaning=(
    [ppn]='ranks per node:2' [launches]='launches per point:5' [nodes]='node counts:20,40,80'
    [subsets]='nested, random or per-switch:random' [seed]='a whole number:7' [budget]='a node-hour limit:120'
    [plan]='nodes of an allocation:320' [sizes]='message sizes:1000,60000' [results]='a folder:results'
    [site]='a site profile of jobs/sites, or its path:mycluster' [rows]='launches that a2a planned:screen.tsv'
    [against]='a folder, a file or the name of a baseline:accepted' ["min-efficiency"]='a share of the link rate:80%'
    [limits]='a file of limits:limits.toml' [expect]='link, and after commas what the files do not say:link,taper=2'
    [spare]='a number of spare nodes:2'
)
# Options that some kinds of jobs have alone.
declare -A only_of=([rows]='screen suite' [against]=check ["min-efficiency"]=check [limits]=check [expect]=check)

# And those that mean nothing in some; hosts: without Slurm.
kOfLaunches='ppn sizes launches nodes subsets seed budget plan quick drop-bad-nodes go-on requeue spare no-confirm'
declare -A never_of=([report]=$kOfLaunches [screen]=launches [hosts]='ppn requeue spare')

has_form() {
    [[ $2 =~ ${pattern[$1]} ]] || die -2 "--$1 '$2': expected ${meaning[$1]%%:*}, such as --$1 ${meaning[$1]#*:}"
}

# read_config WORD…: sets $configured to what the file says that --config names among these words, as --KEY=VALUE; what is
# wrong with the file the program tells.
read_config() {
    local word before='' file line form='^"?([a-z][a-z-]*)"?[[:space:]]*(=(.*))?$'
    configured=()
    for word in "$@"; do
        file=''
        [[ $before != --config ]] || file=$word
        [[ $word != --config=* ]] || file=${word#*=}
        before=$word
        [[ -f $file && -r $file ]] || continue
        while read -r line || [[ $line ]]; do
            line=${line%%#*} # which no value has
            [[ $line =~ $form ]] || continue
            word=${BASH_REMATCH[3]//[\"\'[:space:]]/}
            word=${word#[} word=${word%]}
            configured+=("--${BASH_REMATCH[1]}=${word:-yes}")
        done <"$file"
    done
}

# require_sizes_once: what stands behind -- would count for more, or be lost, without a word.
require_sizes_once() {
    local word configured
    [[ ${asked[sizes]} ]] || return 0
    read_config "${passed[@]}"
    for word in "${passed[@]}" "${configured[@]}"; do
        [[ ! $word =~ ^(--sizes|--message-size|-m)(=|$) ]] || die -2 "--sizes is given twice: before -- and, as $word, after it"
    done
}

# parse_options alltoall|compare|screen|suite|check|report WORD…; the script has a function usage.
parse_options() {
    local kind=$1 name
    shift
    [[ ! ${asked[site]} ]] || has_form site "${asked[site]}"
    while (($#)); do
        name=${1%%=*}
        name=${name#--}
        case $1 in
        --)
            passed=("${@:2}")
            require_sizes_once
            return
            ;;
        -h | --help)
            usage
            exit 0
            ;;
        --*)
            [[ " ${never_of[$kind]-} ${scheduler:+${never_of[$scheduler]-}} " != *" $name "* ]] ||
                die -2 "$1 means nothing here: --help shows all options"
            if [[ $1 == "--$name" && ${asked[$name]-} =~ ^(yes|no)$ ]]; then
                asked[$name]=yes
            elif [[ ${pattern[$name]-} && " ${only_of[$name]-$kind} " == *" $kind "* ]]; then
                if [[ $1 != *=* ]]; then
                    (($# > 1)) || die -2 "$1 needs a value: ${meaning[$name]%%:*}, such as $1 ${meaning[$name]#*:}"
                    set -- "$1=$2" "${@:3}"
                fi
                has_form "$name" "${1#*=}"
                asked[$name]=${1#*=}
            elif [[ $kind == compare && $1 == *=* ]]; then
                settings+=("$1")
            else
                die -2 "unknown option '$1': --help shows all; options of a2aperf go after --"
            fi
            ;;
        *=*)
            [[ $kind == compare ]] || die -2 "'$1' is a setting: compare.sbatch compares settings"
            settings+=("$1")
            ;;
        *) die -2 "unknown argument '$1': --help shows all" ;;
        esac
        shift
    done
}
