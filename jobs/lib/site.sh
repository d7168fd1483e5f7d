# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2034,SC2154 # variables are shared among the files of this folder
# What differs between clusters: jobs/sites/README.md has the list. Needs say.sh and $jobs.

site_names=(site_modules site_launcher site_launcher_options site_binding site_provider site_nic site_options
    site_environment site_program site_analysis site_partition site_account site_hooked site_catalogue)
site_modules=() site_launcher='' site_launcher_options=() site_binding=core site_provider='' site_nic=''
site_options=() site_environment=() site_program='' site_analysis='' site_partition='' site_account=''
site_hooked=() site_catalogue=''
profile=''
site_setup() { :; }

# load_site NAME|FILE|'': reads the file and checks what it set; changes no environment yet.
load_site() {
    local file=$1 name
    if [[ $file ]]; then
        [[ $file == */* ]] || file=$jobs/sites/$file.sh
        [[ -r $file ]] || die -2 "no site profile $file: expected one of $(known_sites); jobs/sites/README.md shows how to write a new one"
        read_site "$file"
        profile=$(realpath "$file")
    fi
    for name in $(compgen -v site_); do
        [[ " ${site_names[*]} site_names " == *" $name "* ]] ||
            die -2 "$file sets $name, which is not a setting: expected one of ${site_names[*]}"
    done
    : "${site_launcher:=$(have mpirun && echo mpirun || echo srun)}"
    [[ $site_launcher == mpirun || $site_launcher == srun ]] ||
        die -2 "site_launcher=$site_launcher in $file: expected one of mpirun, srun"
    [[ $site_binding =~ ^(core|socket|numa|none)$ ]] ||
        die -2 "site_binding=$site_binding in $file: expected one of core, socket, numa, none"
    for name in "${site_environment[@]}"; do
        [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || die -2 "site_environment in $file: '$name' is not NAME=VALUE"
    done
    for name in "${site_hooked[@]}"; do
        [[ $name =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || die -2 "site_hooked in $file: '$name' is no name of a variable"
    done
    ((${#site_hooked[@]} == 0)) || declare -F site_hook >/dev/null ||
        die -2 "site_hooked in $file: there is no function site_hook that sets ${site_hooked[*]}"
    [[ ! $site_catalogue || $site_catalogue == /* ]] || site_catalogue=$(dirname "$profile")/$site_catalogue
}

# read_site FILE: what its lines return is nobody's affair, such as a last "[[ -d … ]] && …"; that it can be read and
# does not end the shell is.
read_site() {
    local said
    said=$(bash -n "$1" 2>&1) || {
        said=${said%%$'\n'*}
        die -2 "site profile $1 is not bash: ${said#"$1: "}"
    }
    # shellcheck source=/dev/null
    said=$(. "$1" 2>&1 >/dev/null || true && echo reached) || true
    [[ $said == *reached ]] || die -2 "site profile $1 ends the shell${said:+: ${said##*$'\n'}}"
    # shellcheck source=/dev/null
    . "$1" || true
}

known_sites() {
    local file names=()
    for file in "$jobs"/sites/*.sh; do
        file=${file##*/}
        names+=("${file%.sh}")
    done
    echo "${names[*]}"
}

# run_setup: site_setup, which ends at the first of its own commands that fails; $setup_failed says which. Behind "||" bash would
# go on to the last one, and with set -e a last "[[ -d … ]] && …" would end the script.
run_setup() {
    local flags=$- before status line
    before=$(trap -p ERR)
    setup_failed=''
    set -E +e
    trap 'status=$? line=$LINENO
    case ${FUNCNAME[0]} in
    site_setup) setup_failed="line $line (exit status $status)" && return 1 ;;
    run_setup) [[ $setup_failed || $BASH_COMMAND != return* ]] || setup_failed="it returned $status" ;;
    esac' ERR
    site_setup
    trap - ERR
    eval "$before"
    [[ $flags == *E* ]] || set +E
    [[ $flags != *e* ]] || set -e
}

# enter_site: modules and environment, for this shell and all that it starts.
enter_site() {
    local file
    if ((${#site_modules[@]})); then
        # A batch shell that is no login shell may lack the function.
        for file in /etc/profile.d/{modules,lmod,z00_lmod}.sh; do
            # shellcheck source=/dev/null
            have module || [[ ! -r $file ]] || . "$file" || true
        done
        have module || die "site_modules is set, but there is no module command on $(hostname)"
        module load "${site_modules[@]}" || die "module load ${site_modules[*]} failed"
    fi
    run_setup
    [[ ! $setup_failed ]] || die "site_setup of $profile failed: $setup_failed"
    ((${#site_environment[@]} == 0)) || export "${site_environment[@]}"
}
