#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every test, from a fresh clone on a bare machine.
# shellcheck disable=SC2154 # what test/support/counting.sh counts
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for part in jobs/lib/{say,packages,build,mpi,venv,commands}.sh test/support/{venv,counting,again,sanitized,stages}.sh; do
    # shellcheck source=/dev/null
    . "$top/$part"
done

all_stages=(meson python sanitizers fuzz slurm cluster analysis lint mpich psm3 vm)
slow_stages=(sanitizers fuzz slurm cluster mpich psm3 vm)
# These mostly wait: they run beside those that compute, and the one whose links are slow beside both. The virtual machine,
# whose kernel does not start where it is starved, has ours for itself.
waiting_stages=(python psm3)
slow_links=(cluster)
computing_stages=(sanitizers fuzz analysis)
# And these go on where any of those are through, the longest first.
late_stages=(slurm meson mpich lint)

usage() {
    sed "s/SLOW/${slow_stages[*]}/" <<'USAGE'
Usage: test/run.sh [--no-install] [--quick | --thirds | --all | --scale | --newest | --oldest] [stage]…

Installs what is missing (root is asked for only then; --no-install never installs), builds, and runs the tests:
of the stages python and analysis one in three of each file, of slurm one in two, at the next commit the next ones; of
those that are marked slow one in sixteen; MPI tests of up to three ranks and of four what ranks agree on, over MPICH three.
A stage's log is shown when it fails; all of them stay in build/results. Stages that mostly wait run beside those
that compute; what they say is then shown when they have ended.

  meson       unit and MPI tests of the release build
  python      the program as a user meets it: command line, files read back
  sanitizers  unit tests and a job under AddressSanitizer and UndefinedBehaviorSanitizer
  fuzz        every parser and reader, given what nobody thought of
  slurm       the job scripts under a real Slurm, on 20 emulated nodes
  cluster     hosts with links of known rate, in network namespaces: what is measured is what they have
  analysis    the checks of the Python package
  lint        format, clang-tidy, shellcheck, licence headers, man page, words
  mpich       another MPI: built with MPICH, its MPI tests, every provider that is here
  psm3        another libfabric, 1.21, with the psm3 provider: on one host, and between hosts
  vm          the verbs provider over software RoCE, in a virtual machine

  test/run.sh                every stage; about 40 minutes on two cores
  test/run.sh --thirds       with all three thirds, and both halves; about an hour
  test/run.sh --all          with every test, which takes longer: before a release, and after a change of what the
                             slow ones are about
  test/run.sh --quick        in some minutes: one test in eight of each Python file, MPI tests of up to three ranks,
                             without the tests that are marked slow, clang-tidy, and the stages
                             SLOW
  test/run.sh meson lint     two stages of it
  test/run.sh --scale        only this: the job scripts at 40 to 320 nodes, and what that takes
  test/run.sh --newest       only this: the newest versions that Debian releases, in a system of their own in
                             build/newest; ten minutes and half a gigabyte the first time
  test/run.sh --oldest       only this: the tests of the Python package with the lowest versions that it allows, in
                             build/oldest
USAGE
}

contains() { [[ " ${*:2} " == *" $1 "* ]]; }

may_install=yes
quick=no
thirds=no
all=no
stages=()
for argument in "$@"; do
    case $argument in
    --no-install) may_install=no ;;
    --quick) quick=yes ;;
    --thirds) thirds=yes ;;
    --all) all=yes ;;
    --scale) stages+=(scale) ;;
    --newest) stages+=(newest) ;;
    --oldest) stages+=(oldest) ;;
    -h | --help)
        usage
        exit 0
        ;;
    *)
        contains "$argument" "${all_stages[@]}" || die -2 "unknown stage '$argument': expected one of ${all_stages[*]}"
        contains "$argument" "${stages[@]}" || stages+=("$argument")
        ;;
    esac
done
asked=()
for option in quick thirds all; do [[ ${!option} == no ]] || asked+=("--$option"); done
((${#asked[@]} < 2)) || die -2 "${asked[0]} and ${asked[1]}: which of the two?"
if ((!${#stages[@]})); then
    for stage in "${all_stages[@]}"; do
        [[ $quick == yes ]] && contains "$stage" "${slow_stages[@]}" || stages+=("$stage")
    done
fi

# Thousands of processes would each compile every module anew.
unset PYTHONDONTWRITEBYTECODE
results=$top/build/results
python=$top/.venv/bin/python
release=$top/build/release
# Tests that mostly wait: some at a time.
four_files=(-n 4 --dist loadfile)
four_tests=(-n 4 --dist load --maxschedchunk 2)
launching=$top/test/support/without_symbols.sh # before what launches again and again
export PYTHONPATH=$top/test/support/plugins${PYTHONPATH:+:$PYTHONPATH}
not_many=(--no-suite most)
# A clone without history has one commit: there it is the commit's time.
of_history() { git -c safe.directory='*' -C "$top" "$@" 2>/dev/null; }
turn=$(of_history rev-list --count HEAD || echo 0)
[[ $(of_history rev-parse --is-shallow-repository) != true ]] || turn=$(of_history log -1 --format=%ct)
chosen=(-p share --share-slow 16 --share-turn "$turn")
third=(--share 3) half=(--share 2) # of the many tests of python and analysis, and of slurm's
[[ $thirds == no ]] || third=() half=()
[[ $all == no ]] || chosen=() third=() half=() not_many=()
if [[ $quick == yes ]]; then
    chosen=(-p share --share 8 -m 'not slow') third=() half=()
    not_many=(--no-suite many)
fi
stage_meson() {
    suite 'meson tests' "$release/meson-logs/testlog.junit.xml" \
        "$launching" meson test -C "$release" --no-rebuild --print-errorlogs --timeout-multiplier 4 "${not_many[@]}"
}

stage_python() {
    A2APERF=$(program_in "$release") A2A=$top/build/a2a/bin/a2a suite 'python tests' "$results/python.xml" \
        "$launching" "$python" -m pytest "$top/test" --ignore "$top/test/vm" --ignore "$top/test/slurm" \
        --ignore "$top/test/cluster" --ignore "$top/test/compat" "${four_files[@]}" "${chosen[@]}" "${third[@]}" -q -rs \
        --junitxml "$results/python.xml"
}

find_sanitized_units() {
    configure_sanitized
    mapfile -t units < <(ninja -C "$sanitized" -t targets all | sed -n 's/^\(test\/unit\/[^:]*\): .*_LINKER.*/\1/p')
    ((${#units[@]})) || die 'no unit tests to sanitize'
}

stage_sanitizers() {
    local folder=$sanitized units
    find_sanitized_units
    build_targets "$folder" src/app/a2aperf "${units[@]}"
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    suite 'sanitized units' "$folder/meson-logs/testlog.junit.xml" \
        meson test -C "$folder" --no-rebuild --print-errorlogs --suite unit --timeout-multiplier 5
    # MPI and libfabric keep memory to the end; leaks of ours are looked for in the unit tests.
    ASAN_OPTIONS=detect_leaks=0 check 'sanitized job' "$top/test/support/mpirun.sh" -t 300 3 "$(program_in "$folder")" \
        alltoall --provider tcp --mode tagged,msg,write-imm,read,write --schedule shift,random --window 1,all \
        --sizes 1,1000,60000 --ops 20 --baseline mpi --force -o "$results/sanitized.h5"
}

stage_fuzz() {
    suite 'fuzz' "$results/fuzz.xml" "$top/test/fuzz/run.sh" --runs 100 --seed 1 --junit "$results/fuzz.xml" --no-install
}

stage_analysis() {
    local options=(--turn "$turn")
    ((!${#third[@]})) || options=(--third --turn "$turn")
    [[ $quick == no ]] || options=(--quick)
    [[ $all == no ]] || options=(--all)
    suite 'analysis' "$top/analysis/.venv/pytest.xml" "$top/analysis/run-checks.sh" "${options[@]}"
}

stage_lint() {
    local part
    for part in $("$top/test/lint.sh" --list); do
        if [[ $quick == yes && $part == tidy ]]; then
            omit 'lint tidy' 'left out by --quick'
        else
            check "lint $part" "$top/test/lint.sh" "$part"
        fi
    done
}

stage_mpich() {
    local folder=$top/build/mpich
    if ! pkg-config --exists mpich || ! have mpirun.mpich; then
        omit mpich 'no MPICH here'
        return
    fi
    configure_build "$folder" -Dtests=enabled -Dmpi=mpich -Doptimization=0
    build_targets "$folder" src/app/a2aperf test/mpi/mpi-{job,clock,channel,credit-stream,duration-loop,duration-runner,echo-engine,engine,forwarding,op-loop,paced-echo,path-streams,point-runner,setup,thread-team,threaded-stream,verifier}
    local of_many=(--no-suite many)
    [[ $all == no ]] || of_many=()
    MPIRUN=mpirun.mpich suite 'MPICH: MPI tests' "$folder/meson-logs/testlog.junit.xml" \
        "$launching" meson test -C "$folder" --no-rebuild --print-errorlogs --suite mpi --no-suite again "${of_many[@]}" \
        --timeout-multiplier 4
    MPIRUN=mpirun.mpich A2APERF=$(program_in "$folder") suite 'MPICH: providers' "$results/mpich.xml" \
        "$launching" "$python" -m pytest "$top/test/fabric/test_matrix.py" -q -rs --junitxml "$results/mpich.xml"
}

stage_psm3() {
    local with=$top/test/compat/with_impi.sh why
    local status=0
    why=$("$with" true 2>&1) || status=$?
    if ((status == 77)); then
        omit psm3 "${why#skipped: }"
        return
    fi
    ((!status)) || die "$with failed: $why"
    A2APERF=$(program_in "$release") suite 'libfabric 1.21, psm3' "$results/psm3.xml" \
        "$launching" "$with" "$python" -m pytest "$top/test/compat" "$top/test/fabric/test_matrix.py" -k 'psm3 or tcp or shm' \
        -q -rs --junitxml "$results/psm3.xml"
}

slurm_suite() {
    # shellcheck disable=SC2034 # for suite
    local name=$1 may_lack='no Slurm can be started here: '
    shift
    A2APERF=$(program_in "$release") suite "$name" "$results/${name// /-}.xml" \
        "$launching" "$python" -m pytest "$@" "${chosen[@]}" -q -rs --junitxml "$results/${name// /-}.xml"
}
stage_slurm() { slurm_suite 'slurm' "$top/test/slurm" --ignore "$top/test/slurm/test_scale.py" "${four_tests[@]}" "${half[@]}"; }
stage_scale() {
    slurm_suite 'slurm at scale' "$top/test/slurm/test_scale.py"
    cat "$results/scale.txt" >&2 || true
}

stage_cluster() {
    # shellcheck disable=SC2034 # for suite
    local may_lack='network namespaces need root|no [a-z, ]+ here|no (namespaces|cable) can be made here'
    A2APERF=$(program_in "$release") suite 'links of known rate' "$results/cluster.xml" \
        "$launching" "$python" -m pytest "$top/test/cluster" "${chosen[@]}" -q -rs --junitxml "$results/cluster.xml"
}

stage_newest() {
    if ((EUID != 0)); then
        omit newest 'a system in a folder needs root'
        return
    fi
    check 'newest versions' "$top/test/compat/newest.sh"
}

stage_oldest() {
    local folder=$top/build/oldest source=$top/analysis
    make_venv "$folder" "$(cat "$source/pyproject.toml" "$source/constraints-oldest.txt")" \
        --constraint "$source/constraints-oldest.txt" "${source}[test]" ||
        die "could not make $folder ($(why_no_venv)); the log is $venv_log"
    "$folder/bin/python" -m pip install --quiet --no-deps --no-build-isolation --force-reinstall "$source"
    suite 'analysis, oldest' "$results/oldest.xml" env --chdir "$source" "$folder/bin/python" -m pytest -q -n "$(nproc)" \
        "${chosen[@]}" --junitxml "$results/oldest.xml"
}

# The machine takes one core; what it leaves goes into what takes longest to compile.
compile_ahead() {
    local units
    find_sanitized_units
    exec nice -n 19 ninja -j 1 -C "$sanitized" src/app/a2aperf "${units[@]}"
}

stage_vm() {
    # shellcheck disable=SC2034 # for suite: machine.sh's word for a part that is missing
    local ahead='' may_lack='skipped: '
    if needs sanitizers; then
        (compile_ahead) >/dev/null 2>&1 </dev/null &
        ahead=$!
    fi
    A2APERF=$(program_in "$release") suite 'verbs in a machine' "$results/vm.xml" \
        "$python" -m pytest "$top/test/vm" -q -rs --junitxml "$results/vm.xml"
    if [[ $ahead ]]; then
        python3 "$top/test/support/ending.py" "$ahead"
        wait "$ahead" || true
    fi
}

# What all of this says something about, and what it does not.
covered() {
    local stage left=()
    printf 'covered: %s\n' "${stages[*]}"
    printf '  with %s, libfabric %s, HDF5 %s, %s\n' "$(mpirun --version 2>/dev/null | head -n 1)" \
        "$(pkg-config --modversion libfabric)" "$(pkg-config --modversion hdf5-serial hdf5 2>/dev/null | head -n 1)" \
        "$(c++ --version | head -n 1)"
    for stage in "${all_stages[@]}" scale newest oldest; do contains "$stage" "${stages[@]}" || left+=("$stage"); done
    ((!${#left[@]})) || printf 'not run: %s\n' "${left[*]}"
    if ((${#third[@]})) && needs python analysis slurm; then
        printf 'of python and analysis third %d of 3, of slurm half %d of 2 (--thirds takes all)\n' \
            $((turn % 3 + 1)) $((turn % 2 + 1))
    fi
    for stage in "${stages[@]}"; do printf '%s' "${omissions_of[$stage]-}"; done
}

needs() {
    local stage
    for stage in "$@"; do ! contains "$stage" "${stages[@]}" || return 0; done
    return 1
}

# No package of the system is installed while stages run beside each other. What cannot be had a stage skips, and says so.
install_all() {
    local stage
    ensure_packages "$may_install" build analysis test
    ! needs sanitizers fuzz || (ensure_packages "$may_install" fuzz) || true
    for stage in slurm mpich vm; do
        ! needs "$stage" || (ensure_packages "$may_install" "$stage") || true
    done
    ! needs scale || (ensure_packages "$may_install" slurm) || true
    if needs python fuzz slurm scale cluster mpich psm3 vm; then ensure_venv; fi
    # Beside the tests' own packages: the jobs call it.
    if needs fuzz slurm scale cluster; then install_analysis; fi
}

# asked_of STAGE…: those of them that are to be run, in this order.
asked_of() {
    local stage asked=()
    for stage in "$@"; do ! needs "$stage" || asked+=("$stage"); done
    printf '%s' "${asked[*]}"
}

# run_stages: first those that want the machine for themselves.
run_stages() {
    local stage beside=("${late_stages[@]}" "${waiting_stages[@]}" "${computing_stages[@]}" "${slow_links[@]}")
    for stage in "${stages[@]}"; do contains "$stage" "${beside[@]}" || run_alone "$stage"; done
    run_beside "$(asked_of "${late_stages[@]}")" "$(asked_of "${waiting_stages[@]}")" "$(asked_of "${computing_stages[@]}")" \
        "$(asked_of "${slow_links[@]}")"
}

mkdir -p "$results"
rm -rf "$results/again" "$results/cache"
install_all
if needs meson python lint vm cluster slurm scale psm3; then
    configure_build "$release" -Dtests=enabled
    build_targets "$release"
fi
if needs python; then
    # The documents' commands are run as they stand there: with a2aperf and a2a of build/bin.
    make_analysis || die "could not install the analysis in build/a2a ($(why_no_venv)); the log is $venv_log"
    offer_commands
fi
keep_mpi_off_fabric
# Stages run beside each other: as test/support/mpirun.sh does it, for what launches by itself.
export LAUNCH_BINDING=none OMPI_MCA_mpi_yield_when_idle=1
# The launcher refuses root unless told twice.
((EUID != 0)) || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
end_stages_at_signals
run_stages
look_again

printf '\n'
covered
printf '\n'
for stage in "${stages[@]}"; do printf '%s' "${summary_of[$stage]-}"; done
((!${#summary[@]})) || printf '%s\n' "${summary[@]}"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
