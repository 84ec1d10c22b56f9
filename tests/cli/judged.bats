#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Kernels of tests/kernels/judged on the emulated device: the right ones run, the broken ones are
# stopped with what they say. It needs NVRTC, but no GPU. A fifteenth of them runs; with AUTOTUNE_TEST_WHOLE, all.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    need_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    cd "$srcdir/tests/kernels/judged" || return 1
}

# Explain a kernel with the options of its line "// RUN"; "_" stands for a blank in them.
explain_file() {
    local word args=()

    # shellcheck disable=SC2013 # words are meant
    for word in $(sed -n 's,^// RUN ,,p' "$1"); do
        args+=("${word//_/ }")
    done
    run --separate-stderr "$AUTOTUNE" explain "$1" "${args[@]}"
}

# Without CUDA's headers, a file that includes one says nothing.
lacks_header() {
    [[ $stderr == *"cannot open source file"* ]]
}

@test "right kernels run" {
    local file wrong=0

    sample 15 0 right/*.cu >"$BATS_TEST_TMPDIR/files"
    while read -r file; do
        explain_file "$file"
        if [ "$status" -ne 0 ] && ! lacks_header; then
            printf '%s: %s\n' "$file" "$stderr"
            wrong=1
        fi
    done <"$BATS_TEST_TMPDIR/files"
    [ "$wrong" -eq 0 ]
}

@test "broken kernels are stopped, and the message says why" {
    local file wrong=0

    sample 15 0 broken/*.cu >"$BATS_TEST_TMPDIR/files"
    while read -r file; do
        explain_file "$file"
        if [ "$status" -ne 1 ] || [[ $stderr != *"$(sed -n 's,^// SAYS ,,p' "$file")"* ]]; then
            printf '%s: %s %s\n' "$file" "$status" "$stderr"
            wrong=1
        fi
    done <"$BATS_TEST_TMPDIR/files"
    [ "$wrong" -eq 0 ]
}
