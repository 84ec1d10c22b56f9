#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The devices of tuning/devices, most of which nobody has tuned: a sample of every family's kernels is right on one of
# each compute capability, and lookup answers for all with what was tuned elsewhere. That all families compile for all architectures
# is tested by tests/unit/test_compile_space.c.

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

@test "a sample of all families' kernels is legal and right on a device of each compute capability" {
    is_long
    need_nvrtc
    "$AUTOTUNE" list --emulated --format csv >"$BATS_TEST_TMPDIR/devices"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/devices")" -eq "$(($(find "$srcdir/tuning/devices" -name '*.yaml' | wc -l) + 1))" ]
    while read -r ordinal; do
        run --separate-stderr "$verify_families" emulated 20 --ordinal "$ordinal" "${problems[@]}"
        echo "device $ordinal: $output $stderr"
        [ "$status" -eq 0 ]
        [[ ${lines[-1]} =~ ^'verified 20 configs of '(9|1[0-9])' families on 6 problems: 0 wrong'$ ]]
    done < <(awk -F, 'NR > 1 && !seen[$3]++ { print NR - 2 }' "$BATS_TEST_TMPDIR/devices")
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
