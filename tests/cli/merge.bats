#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune merge and autotune diff, over variants of the shipped profile.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    cp "$srcdir/results/nvidia-h200.yaml" old.yaml
}

# variant FILE SED-ARGUMENT...: of old.yaml.
variant() {
    local file=$1
    shift
    sed "$@" old.yaml >"$file"
}

# Its winner of 8x4194304:f32 takes 5 % longer.
slower=(-e 's/time_ns: 67823/time_ns: 71214/' -e 's/mbps: 3957882/mbps: 3769420/'
    -e '0,/of_copy_permille: 943/s//of_copy_permille: 898/')

merge() {
    run --separate-stderr -0 "$AUTOTUNE" merge --out merged.yaml "$@"
    [ -z "$output" ]
    run -0 "$AUTOTUNE" check merged.yaml
}

@test "one profile, or the same one twice, stays what it is" {
    merge old.yaml
    cmp old.yaml merged.yaml
    [ -z "$stderr" ]
    cp old.yaml copy.yaml
    run --separate-stderr -0 "$AUTOTUNE" merge old.yaml copy.yaml
    [ -z "$stderr" ]
    diff old.yaml <(printf '%s\n' "$output")
}

@test "problems of two runs come together" {
    variant new.yaml "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge old.yaml new.yaml -o merged.yaml
    [ -z "$stderr" ]
    [ "$(grep -c problem: merged.yaml)" -eq 32 ]
    [ "$(grep -c '  device:' merged.yaml)" -eq 1 ]
}

@test "different devices, side by side" {
    "$AUTOTUNE" merge old.yaml "$srcdir/tests/golden/profile/two-devices.yaml" >merged.yaml
    run -0 "$AUTOTUNE" show merged.yaml
    [ "$(grep -c 'compute capability' <<<"$output")" -ge 3 ]
}

@test "newer software wins, and what only the older has stays under its own" {
    variant new.yaml -e 's/580.159.04/590.1/' "${slower[@]}" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge new.yaml old.yaml -o merged.yaml
    [ "$(grep -c problem: merged.yaml)" -eq 32 ]
    [ "$(grep -c '  device:' merged.yaml)" -eq 2 ]
    [ "$(grep -c 'newer software$' <<<"$stderr")" -eq 30 ]
    [[ $stderr == *"8x4194304:f32 on NVIDIA H200, cold: new.yaml stays, with 71214 ns, not old.yaml, with 67823 ns: newer software"* ]]
    grep -q 'time_ns: 71214' merged.yaml
    run --separate-stderr -0 "$AUTOTUNE" lookup -d h200 -p 8192x8192:f32 merged.yaml
    [[ $output == *"1 of 6, exact"* ]]
    # The order of the files makes no difference to that.
    mv merged.yaml first.yaml
    "$AUTOTUNE" merge old.yaml new.yaml -o merged.yaml
    cmp first.yaml merged.yaml
}

@test "the rule, where the software is the same" {
    variant other.yaml "${slower[@]}"
    "$AUTOTUNE" merge old.yaml other.yaml 2>told >/dev/null
    grep -q 'old.yaml stays.*named first$' told
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q 'other.yaml stays.*named first$' told

    variant other.yaml "${slower[@]}" -e '0,/complete: 1/s//complete: 0/'
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q 'old.yaml stays.*a complete search$' told

    variant other.yaml "${slower[@]}" -e '0,/correct: 1938/s//correct: 1937/'
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q 'old.yaml stays.*more configs measured$' told

    variant other.yaml "${slower[@]}" -e 's/samples: 15$/samples: 16/' -e 's/shootout_samples: 16/shootout_samples: 15/'
    "$AUTOTUNE" merge old.yaml other.yaml 2>told >/dev/null
    grep -q 'other.yaml stays.*more samples$' told

    variant other.yaml "${slower[@]}" -e 's/spread_permille: 1$/spread_permille: 2/'
    "$AUTOTUNE" merge other.yaml old.yaml 2>told >/dev/null
    grep -q '^autotune: 8x4194304.*old.yaml stays.*a smaller spread$' told
}

@test "a file that cannot be read, or written" {
    refused "none.yaml" merge old.yaml none.yaml
    refused "schema is" merge old.yaml "$srcdir/tests/golden/profile/bad-version.yaml"
    refused "which profiles" merge
    refused "/nonexistent" merge old.yaml --out /nonexistent/merged.yaml
    echo kept >merged.yaml
    run -2 "$AUTOTUNE" merge old.yaml none.yaml -o merged.yaml
    [ "$(<merged.yaml)" = kept ]
}

@test "diff: nothing" {
    run --separate-stderr -0 "$AUTOTUNE" diff old.yaml old.yaml
    [ "$output" = "0 with another config, 0 with another time, 0 removed, 0 added, 31 alike" ]
    run --separate-stderr -0 "$AUTOTUNE" diff --format json old.yaml old.yaml
    [ "$(tr -d ' \n' <<<"$output")" = '{"alike":31,"changes":[]}' ]
}

@test "diff: a driver, a config, a time, and a problem that came and one that went" {
    variant new.yaml -e 's/580.159.04/590.1/' "${slower[@]}" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/" \
        -e "/problem: '1024x1024:b1'/,/UNROLL/s/PAD: 1/PAD: 2/"
    run --separate-stderr -1 "$AUTOTUNE" diff old.yaml new.yaml
    [ -z "$stderr" ]
    [ "$output" = "NVIDIA H200, cold
    driver 580.159.04 -> 590.1
  time     8x4194304:f32: 67823 ns -> 71214 ns, +5.0 %, 94.3 % -> 89.8 % of copy
  config   1024x1024:b1: 2285 ns -> 2285 ns, +0.0 %, 83.9 % -> 83.9 % of copy
    PAD=1->2
  removed  8192x8192:f32
  added    16384x4096:f32
1 with another config, 1 with another time, 1 removed, 1 added, 28 alike" ]
    run --separate-stderr -1 "$AUTOTUNE" diff -f json old.yaml new.yaml
    [[ $output == *'"change": "time"'*'"time_change_permille": 50'* ]]
}

@test "diff: a time within the spreads is alike" {
    variant new.yaml -e 's/time_ns: 67823/time_ns: 67900/' -e 's/mbps: 3957882/mbps: 3953394/' \
        -e '0,/of_copy_permille: 943/s//of_copy_permille: 942/'
    run --separate-stderr -0 "$AUTOTUNE" diff old.yaml new.yaml
}

@test "diff: bad input" {
    refused "which two profiles" diff old.yaml
    refused "two profiles at a time" diff old.yaml old.yaml old.yaml
    refused "none.yaml" diff old.yaml none.yaml
}

@test "conditions of two runs: the worse of either" {
    local first='0,/    clock_memory_khz/s//'
    variant worse.yaml -e "$first    capped_ms: 40\n    drifts: 2\n&/"
    variant other.yaml -e "$first    capped_ms: 30\n    other_processes: 1\n&/" \
        -e "s/problem: '8192x8192:f32'/problem: '16384x4096:f32'/"
    run --separate-stderr -0 "$AUTOTUNE" merge worse.yaml other.yaml
    grep -q '^    capped_ms: 40$' <<<"$output"
    grep -q '^    drifts: 2$' <<<"$output"
    grep -q '^    other_processes: 1$' <<<"$output"
}
