#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A round of tests/gpu/compare-lookup: its lists, its table, and that it goes on. The figures of a GPU are written by
# hand; an emulated device makes its own. It needs Python and PyYAML.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML"
    library=$srcdir/results/nvidia-h200-library.yaml
}

compare_lookup() {
    PYTHONDONTWRITEBYTECODE=1 python3 "$srcdir/tests/gpu/compare-lookup" "$library" "$AUTOTUNE" --round round "$@"
}

# figures LIST PROBLEM TUNED LOOKED_UP MEASURED MEMCPY PYTORCH: the list has this problem alone, with these times.
figures() {
    mkdir -p round
    printf 'schema: 1\nproblems:\n  - %s\n' "$2" >"round/$1.yaml"
    cat >"round/$1.csv" <<END
problem,copy_ns,tuning_ns,tuned_ns,looked up_ns,measured_ns,default_ns,memcpy_ns,plain_copy_ns,PyTorch_ns,again_looked up_ns,again_PyTorch_ns
"$2",100,100,$3,$4,$5,1000,$6,999,$7,$4,$7
END
}

@test "the seed draws lists of copies, everyday problems, random sides and tensors" {
    compare_lookup --seed 7 --list >first
    [ "$(wc -l <first)" -eq 300 ]
    [ "$(grep -c '^ *- ' round/copies.yaml)" -eq 40 ]
    # shellcheck disable=SC2046 # words without blanks
    run --separate-stderr -0 "$AUTOTUNE" lookup --device h200 $(sed -n '1,40s/^/-p /p' first) "$library"
    [ "$(grep -c '^  config     copy ' <<<"$output")" -eq 40 ]
    rm -r round
    compare_lookup --seed 7 --list | cmp - first
    rm -r round
    compare_lookup --seed 8 --list >other
    run -1 cmp -s other first
}

@test "figures stand beside those to reach, and what is missed is marked" {
    figures copies 1000000x1:b12,batch=9 100 110 100 100 ''
    figures everyday 64x64:f32,batch=1000 100 102 101 98 90
    figures sides 1000x3001:b1 100 107 100 81 200
    figures tensors 64x63x62:f32,perm=102 100 100 100 96 200
    run --separate-stderr -1 compare_lookup
    local row
    for row in 'copies, share of memcpy, tuned and looked up: lowest | **0.909** | 0.950' \
        'everyday, regret: 95th percentile | 2.0 % | 3.0 %' 'everyday, a peer ahead by over 1 %, twice | **1** | 0' \
        'sides, regret: worst | **7.0 %** | 6.0 %' 'sides, a peer ahead by over 1 %, twice | 0 | 0' \
        'plans that measure, everyday and sides: worst | 1.0 % | 4.0 %' \
        'the same, of elements of 1 byte | **0.810** | 0.960' 'the same, lowest | **0.810** | 0.820' \
        'tensors, regret: median | 0.0 % | 0.8 %' 'tensors, tuned over the faster copy: mean | 0.960 | 0.955'; do
        [[ $output == *"| $row |"* ]]
    done
    figures copies 1000000x1:b12,batch=9 100 100 100 100 ''
    figures everyday 64x64:f32,batch=1000 100 102 101 98 200
    figures sides 1000x3001:b1 100 101 100 99 200
    run --separate-stderr -0 compare_lookup
    [[ $output != *'**'* ]]
}

@test "a round on an emulated device is made in parts" {
    is_long
    need_nvrtc
    run --separate-stderr -3 compare_lookup --tiny --gpu emu:h200 --end 1
    [[ $stderr == *'copies.csv: 2 of 2'*'to be continued'* ]]
    cp round/copies.csv before
    run --separate-stderr compare_lookup --tiny --gpu emu:h200
    [ "$status" -le 1 ]
    [[ $output == 'Times are predicted, none is measured.'*'| 2 of 2 copies, 2 of 2 everyday, 2 of 2 sides, 2 of 2 tensors |'* ]]
    cmp before round/copies.csv
}
