#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Rules of a block: the emulated device finds what breaks them and calls no right kernel faulty. Each kernel in
# tests/kernels/within_block says with what options it runs (RUN), and what a broken one is called (SAYS).

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    need_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# explain_kernels FOLDER FUNCTION: run a third of the kernels, or all; the function judges each.
explain_kernels() {
    local file files options failed=0
    mapfile -t files < <(sample 6 0 "$srcdir/tests/kernels/within_block/$1"/*.cu)
    for file in "${files[@]}"; do
        read -ra options < <(sed -n 's,^// RUN ,,p' "$file")
        run "$AUTOTUNE" explain "$file" "${options[@]}"
        "$2" "$file" || {
            printf '%s: %s\n' "$file" "$output"
            failed=1
        }
    done
    return "$failed"
}

# The message says what is wrong, at a line of the kernel's file.
is_caught() {
    local says
    says=$(sed -n 's,^// SAYS ,,p' "$1")
    [[ $status -eq 1 && $output == *"${1##*/} line "*"$says"* ]]
}

is_right() {
    [ "$status" -eq 0 ]
}

@test "kernels that break a rule of a block are stopped at their line" {
    explain_kernels broken is_caught
}

@test "kernels that come near are right" {
    explain_kernels right is_right
}
