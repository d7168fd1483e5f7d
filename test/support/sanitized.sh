# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The build that AddressSanitizer and UndefinedBehaviorSanitizer watch: unit tests, program, and where clang has libFuzzer
# here the fuzzers, of the same objects. Needs say.sh, build.sh and $top.

sanitized=${top:?}/build/sanitize

has_libfuzzer() {
    have clang++-14 && compgen -G '/usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a' >/dev/null
}

configure_sanitized() {
    local fuzz=false cache=''
    if has_libfuzzer; then
        ! have ccache || cache='ccache '
        local -x CC="${cache}clang-14" CXX="${cache}clang++-14"
        fuzz=true
    fi
    # Compiling takes most of the time: no optimisation, of the debug information the line numbers.
    configure_build "$sanitized" -Dtests=enabled "-Dfuzz=$fuzz" -Doptimization=0 -Ddebug=false \
        -Dcpp_args=-g1 -Db_sanitize=address,undefined -Db_lundef=false
}
