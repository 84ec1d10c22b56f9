#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The devices of tuning/devices, most of which nobody has tuned: a sample of every family's kernels is right on one
# of each compute capability, and lookup answers for all with what was tuned elsewhere. That all families compile for
# all architectures is tested by tests/unit/test_compile_space.c.

bats_require_minimum_version 1.5.0
load helpers

verify_families=$(dirname "$AUTOTUNE")/tests/gpu/verify-families

# Problems for families of matrices, batches, tensors, short and unaligned rows
problems=(--problem 33x65:f32 --problem '96x160:b1,batch=2' --problem '64x64:f64,inplace=1'
    --problem 1001x3:f16 --problem '6x5x7x16:f32,perm=2130' --problem '7x6x48:f16,perm=102')

setup_file() {
    find_nvrtc
    export XDG_DATA_HOME=$BATS_FILE_TMPDIR
    unset AUTOTUNE_PROFILE_PATH AUTOTUNE_WISDOM
}

# Arithmetic on the way, for types that older devices cast in software
# shellcheck disable=SC2054 # commas are part of a problem
steps=(--problem 96x64:bf16:e4m3,scale --problem 33x65:f32:bf16 --problem 65x64:f64:bf16 --problem 64x64:c64,conj
    --problem 64x48:f32,alpha,beta --problem 64x64:bf16:e4m3,scale,both,amax --problem 64x65:f32:bf16,both,sums
    --problem 96x128:bf16:e4m3,blocks=1x32,scales=floor,layout=swizzled
    --problem 64x64:bf16:e2m1,blocks=1x16,scales=nvfp4 --problem 5x6x7x16:u8:f16,perm=0312,affine=2)

# right WHOLE FAMILIES PROBLEM...: 20 configs, in whole so many, of so many families, a pattern, are right on a device
# of each compute capability.
right() {
    local configs=20 families=$2 ordinal
    [ -z "${AUTOTUNE_TEST_WHOLE:-}" ] || configs=$1
    shift 2
    "$AUTOTUNE" list --emulated --format csv >"$BATS_TEST_TMPDIR/devices"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/devices")" -eq $(($(find "$srcdir/tuning/devices" -name '*.yaml' | wc -l) + 1)) ]
    while read -r ordinal; do
        "$verify_families" emulated "$configs" --ordinal "$ordinal" "$@" >"$BATS_TEST_TMPDIR/said" 2>&1 || {
            echo "device $ordinal: $(<"$BATS_TEST_TMPDIR/said")"
            return 1
        }
        grep -qE "^verified $configs configs of ($families) families on [0-9]+ problems: 0 wrong$" "$BATS_TEST_TMPDIR/said"
    done < <(awk -F, 'NR > 1 && !seen[$3]++ { print NR - 2 }' "$BATS_TEST_TMPDIR/devices")
}

@test "a sample of all families' kernels is legal and right on a device of each compute capability" {
    is_long
    need_nvrtc
    right 300 '9|1[0-9]' "${problems[@]}"
}

@test "a sample of kernels that compute is right there, too" {
    is_long
    need_nvrtc
    right 60 '[5-9]' "${steps[@]}"
}

# An H200 and an H100 have been tuned. Elsewhere their answers are for another GPU.
@test "lookup answers all problems with a name on each described device, and says that it guesses" {
    for file in "$srcdir"/tuning/devices/*.yaml; do
        device=$(basename "$file" .yaml)
        "$AUTOTUNE" lookup -d "$device" --problems "$srcdir/tuning/problems-everyday.yaml" -f json \
            >"$BATS_TEST_TMPDIR/answers"
        [ "$(grep -c '^  "uncertain": ' "$BATS_TEST_TMPDIR/answers")" -eq 100 ]
        [[ $device == h[12]00 ]] || [ "$(grep -c '^  "uncertain": true' "$BATS_TEST_TMPDIR/answers")" -eq 100 ]
    done
}
