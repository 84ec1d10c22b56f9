#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What explain says to change. tests/data/own/advice.cu has slow kernels, and each with one fault repaired. Advice is
# right if it names the repair that gains most, and if the time that it predicts is near that of the repaired kernel.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    need_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    cd "$srcdir/tests/data/own" || return 1
}

# explain_kernel NAME OPTION...: with the launch that is in the comment before the kernel.
explain_kernel() {
    local name=$1 launch
    shift
    launch=$(grep -B1 "__global__ void $name(" advice.cu | sed -n 's|^/\* \(.*\) \*/$|\1|p')
    # shellcheck disable=SC2086 # the options of a launch have no blanks in them
    "$AUTOTUNE" explain advice.cu --quiet --gpu emu --entry "$name" $launch "$@"
}

# figure KEY: the first number of this key in JSON.
figure() {
    grep -o "\"$1\": *[0-9]*" | head -n 1 | grep -o '[0-9]*$'
}

# Kernel, its first advice, and by how many percent the predicted time may differ from the repaired kernel's.
repairs() {
    cat <<'END_OF_TABLE'
turn coalesce 10
masses coalesce 10
copy_bytes vectors 25
wide_tile conflicts 5
long_walk vectors 5
big_tile occupancy 20
one_more_wave tail 5
sum_all atomics 5
short_rows coalesce 20
turn_bytes coalesce 20
add_one vectors 15
real_parts coalesce 5
by_columns coalesce 40
strided_scan conflicts 30
histogram atomics 10
odd_lanes divergence 50
factors restrict 20
few_columns coalesce 60
END_OF_TABLE
}

# near PERCENT A B: B is within so many percent of A.
near() {
    [ "$((100 * ($3 > $2 ? $3 - $2 : $2 - $3)))" -le "$(($1 * $2))" ]
}

@test "the first advice is the repair that gains most, and predicts what it gains" {
    local kernel repair percent slow fast count=8
    [ -z "${AUTOTUNE_TEST_WHOLE-}" ] || count=99
    while read -r kernel repair percent; do
        slow=$(explain_kernel "$kernel" --format json)
        fast=$(explain_kernel "${kernel}_$repair" --format json | grep '^  "predicted_ns"')
        [ "$(grep -o '"repair": *"[a-z]*"' <<<"$slow" | head -n 1)" = "\"repair\": \"$repair\"" ] ||
            { echo "$kernel: not $repair: $slow"; return 1; }
        near "$percent" "$(figure predicted_ns <<<"$fast")" "$(figure predicted_ns <<<"$slow")" ||
            { echo "$kernel: $fast, $slow"; return 1; }
    done < <(repairs | head -n "$count")
}

@test "on a GPU, the repairs that come first gain most" {
    [ -n "${AUTOTUNE_TEST_WHOLE-}" ] || skip "a sample"
    run -0 "$srcdir/tests/gpu/compare-advice" --read "$srcdir/results/nvidia-h200-advice.csv" "$AUTOTUNE"
    [[ ${lines[-1]} =~ ^'30 of 32' ]]
}

@test "a fast kernel gets no advice" {
    local kernel
    for kernel in copy_bytes_vectors add_one_vectors; do
        run -0 explain_kernel "$kernel"
        [[ $output != *'what to change'* ]] || { echo "$kernel: $output"; return 1; }
    done
}

@test "advice names the line, says what to change, and the time after it" {
    run -0 explain_kernel turn
    [[ $output == *'what to change, and the predicted time after it:'*'us advice.cu:12: A request writes 32 sectors'* ]]
    run -0 explain_kernel few_blocks
    [[ $output == *'24 blocks leave 108 of 132'* ]]
    run -0 explain_kernel odd_lanes
    [[ $output == *'advice.cu:'*': Lanes of a warp branch apart: in '* ]]
    run -0 explain_kernel filter
    [[ ${output//$'\n'    / } == *': 16 loads of an unrolled loop wait for the stores between them'* ]]
}
