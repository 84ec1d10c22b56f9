#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# One list of 1,000 random problems on a GPU in C, C++, Fortran, Python and Rust: the bindings, the kernels that lookup
# chooses, and each byte of the results.

bats_require_minimum_version 1.5.0
load helpers
load ../examples
load ../languages

setup_file() {
    find_device
}

setup() {
    need_device
    use_list_libraries
    make_stub "$srcdir/tests/bindings/device.c"
    build_device stub/libcuda.so.1
}

# All languages run at once and share the kernels that are compiled: each begins elsewhere in the list.
@test "1,000 random problems in each language, bit for bit" {
    local language status=0 first=1
    local -a built=()
    "$srcdir/tests/bindings/draw-problems" >list
    for language in "${languages[@]}"; do
        has_tools "$language" || continue
        build_list "$language" stub/libcuda.so.1
        { tail -n "+$first" list && head -n "$((first - 1))" list; } >"list.$language"
        first=$((first + 200))
        timeout --kill-after=5 300 "./list-$language" "list.$language" >"said.$language" 2>&1 &
        built+=("$language")
    done
    wait
    for language in "${built[@]}"; do
        echo "$language: $(<"said.$language")"
        [ "$(<"said.$language")" = '1000 problems, 0 differ' ] || status=1
    done
    [ "${#built[@]}" -ge 2 ] && return "$status"
}
