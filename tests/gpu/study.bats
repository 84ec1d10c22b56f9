#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune study on a GPU: where counts differ clearly, times have the same order.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
}

setup() {
    command -v python3 >/dev/null || skip "no python3"
    need_device
}

# study NAME: write its figures as JSON to ./study.json.
study() {
    timeout --kill-after=5 300 "$AUTOTUNE" study --quiet --format json "$1" >study.json
}

# time_of LABEL [PROBLEM]: print the row's time in nanoseconds.
time_of() {
    python3 - "$@" <<'END'
import json
import sys

with open("study.json") as file:
    study = json.load(file)
assert study["times"] == "measured"
times = [line["time_ns"] for line in study["lines"]
         if line["label"] == sys.argv[1] and sys.argv[2:] in ([], [line["problem"]])]
assert len(times) == 1, sys.argv
print(times[0])
END
}

# slower PERCENT SLOW FAST [PROBLEM]: SLOW takes at least PERCENT longer than FAST.
slower() {
    local slow fast
    slow=$(time_of "$2" ${4:+"$4"})
    fast=$(time_of "$3" ${4:+"$4"})
    ((slow * 100 >= fast * (100 + $1))) || {
        echo "$2 takes $slow ns, $3 takes $fast ns"
        return 1
    }
}

@test "coalescing: more sectors or more requests take longer" {
    study coalescing
    slower 0 'loads, stride 4' 'loads, aligned' # 1 % on an H100, whose memory is slower than an H200's
    slower 10 'stores, stride 4' 'stores, aligned'
    for side in loads stores; do
        slower 10 "$side, one address per warp" "$side, aligned"
        slower -10 "$side, offset by one element" "$side, aligned"
        slower -10 "$side, aligned" "$side, permuted within the warp"
    done
}

@test "offset: a whole number of sectors costs nothing" {
    study offset
    for side in reads writes; do
        for loads in 'default loads' 'loads past L1' 'read-only loads'; do
            slower -10 "$side at offset 0, $loads" "$side at offset 128, $loads"
            slower -10 "$side at offset 11, $loads" "$side at offset 0, $loads"
        done
    done
}

@test "layout: one field of a structure costs more than one of an array" {
    study layout
    slower 10 'one field, read from structures' 'one field, read from arrays'
    slower 10 'one field, written to structures' 'one field, read from arrays'
    slower -5 'both fields, read from structures' 'both fields at once, read'
}

@test "unroll: four elements per thread are no slower than one" {
    study unroll
    for threads in 64 128 256 512 1024; do
        slower 0 "$threads threads, 1 element each" \
            "$threads threads, 4 elements each"
    done
}

@test "shared: bank conflicts take time" {
    study shared
    slower 10 'tile 32 wide' 'tile 32 wide, padded' 8192x8192:f32
    slower 10 'tile 64 wide' 'tile 64 wide, padded' 8192x8192:f32
    slower 5 'tile 32 wide' 'tile 32 wide, padded' 8192x8192:f64
    slower -5 'reversal, static' 'reversal, dynamic' 1x67108864:f32
    slower -5 'reversal, dynamic' 'reversal, static' 1x67108864:f32
}

@test "transpose: a tile is faster than naive, padding is faster than conflicts" {
    study transpose
    for type in f32 f64; do
        slower 10 'naive, reads coalesce' 'padded' "8192x8192:$type"
        slower 10 'naive, writes coalesce' 'several rows per thread' "8192x8192:$type"
        slower 5 'shared' 'padded' "8192x8192:$type"
        slower 0 'padded' 'several rows per thread' "8192x8192:$type"
        slower -2 'several rows per thread' 'vectorised' "8192x8192:$type" # as many bytes
    done
}
