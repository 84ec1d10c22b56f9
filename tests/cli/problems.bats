#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Malformed problems: each is refused with a message that names the fault, before the program looks
# for a device.

bats_require_minimum_version 1.5.0
load helpers

# refuses WORDS PROBLEM...: each problem is refused with these words.
refuses() {
    local words=$1 problem
    shift
    for problem in "$@"; do
        refused "$words" --problem "$problem"
        [[ $stderr == *"\"$problem\""* ]]
    done
}

@test "a problem that is not of the form ROWSxCOLS:TYPE is refused" {
    refuses 'expected ROWSxCOLS:TYPE' '' 64 64x64 64X64:f32 x64:f32 64x:f32 \
        ' 64x64:f32' +64x64:f32 064x64:f32 6.4x64:f32 1e3x64:f32
}

@test "sizes that are zero, negative or no numbers are refused" {
    refuses 'ROWS is "0"' 0x64:f32
    refuses 'ROWS is "-1"' -1x64:f32
    refuses 'COLS is "0"' 64x0:f32
    refuses 'COLS is "-64"' 64x-64:f32
    refuses 'batch is "0"' 64x64:f32,batch=0
    refuses 'batch is "-3"' 64x64:f32,batch=-3
    refuses 'ld_src is ""' 64x64:f32,ld_src=
    refuses 'ld_dst is "64k"' 64x64:f32,ld_dst=64k
    refuses 'stride_src is "0"' 64x64:f32,batch=2,stride_src=0
}

@test "sizes that overflow are refused" {
    refuses 'ROWS is "9223372036854775808"' 9223372036854775808x1:b1
    refuses 'COLS is "99999999999999999999"' 1x99999999999999999999:b1
    refuses 'fit 62 bits' 9223372036854775807x2:f32 3037000500x3037000500:f32 \
        2305843009213693952x1:b1 1x1:c128,batch=9223372036854775807 \
        2x2:b1,ld_src=9223372036854775807 1x2:b1,ld_dst=4611686018427387904 \
        2x2:b1,batch=2,stride_dst=9223372036854775807
}

@test "unknown types are refused" {
    refuses 'unknown type "f33"' 64x64:f33
    refuses 'did you mean bf16' 64x64:bf15
    refuses 'unknown type "float3"' 64x64:float3
    refuses 'unknown type ""' 64x64:
    refuses 'unknown type "f32 "' '64x64:f32 '
    refuses 'known are b1, b2, b4, b8, b16' 64x64:b65 64x64:b0 64x64:b03
}

@test "unknown and repeated keys are refused" {
    refuses 'expected one of ld_src=, ld_dst=, batch=, stride_src=, stride_dst=, offset_src=, offset_dst=, inplace=' \
        64x64:f32,foo=3 64x64:f32, 64x64:f32,ld_src 64x64:f32,LD_SRC=64 64x64:f32,=64
    refuses 'ld_src is given twice' 64x64:f32,ld_src=64,ld_src=64
    refuses 'perm is given twice' 2x3:f32,perm=10,perm=01
    for key in strides_src=3x1 strides_dst=2x1 offset_src=1 offset_dst=1; do
        refuses "${key%=*} is given twice" "2x3:f32,perm=10,$key,$key"
    done
}

@test "malformed tensors are refused" {
    refuses 'a tensor needs its permutation' 64x64x64:f32 0x40x64:f32
    refuses 'expected 1 to 24 extents' 4x0x6:f32,perm=012 4x-5x6:f32,perm=012 4x5x6,perm=012
    refuses 'each axis of the source once' 4x5x6:f32,perm=01 4x5x6:f32,perm=011 4x5x6:f32,perm=0.1
    refuses 'expected one of strides_src=' 4x5x6:f32,perm=012,batch=2
    refuses 'elements of the source overlap' 4x5x6:f32,perm=012,strides_src=30x5x1
    refuses 'elements of the destination overlap' 4x5x6:f32,perm=012,strides_dst=6x6x1
}

@test "tensors in place are dense, and only moved" {
    refuses 'inplace=1 is the only value' 4x5x6:f32,perm=021,inplace=2
    refuses 'inplace is given twice' 4x5x6:f32,inplace=1,perm=021,inplace=1
    refuses 'elements are moved as they are' 4x5x6:f32:f16,perm=021,inplace=1
    refuses 'a tensor is dense' 4x5x6:f32,perm=021,strides_src=50x6x1,inplace=1
    refuses 'offset_dst is offset_src' 4x5x6:f32,perm=102,offset_src=1,offset_dst=2,inplace=1
    run -0 "$AUTOTUNE" lookup --quiet --device h200 4x5x6:f32,perm=102,inplace=1 4x5x6x7:f32,perm=3210,inplace=1 \
        5x7:b32,inplace=1 4x5x6:b3,perm=021,inplace=1
    [ "$(grep -c 'bytes\|B of scratch memory' <<<"$output")" -ge 4 ]
}

@test "overlapping rows and matrices are refused" {
    refuses 'ld_src=63 is less than the 64 elements of a row' 1x64:f32,ld_src=63
    refuses 'ld_dst=1 is less than the 2 elements of a row' 2x64:f32,ld_dst=1
    refuses 'stride_src=4095' 64x64:f32,batch=2,stride_src=4095
    refuses 'with stride_dst=4158 the matrices overlap: one takes 4159' 64x64:f32,batch=2,ld_dst=65,stride_dst=4158
}

@test "one bad problem among good ones is refused" {
    refused '"64x64:f33"' --problem 64x64:f32 --problem 64x64:f33 --problem 1x1:b1
    refused '"64x64:f33"' bench --problem 64x64:f32 --problem 64x64:f33
}

@test "a repeated problem is refused, whatever its spelling" {
    refused 'problem 64x64:f32 is named twice' --problem 64x64:f32 --problem 64x64:f32
    refused 'problem 64x64:f32 is named twice' --problem 64x64:f32 --problem 1x1:b1 \
        --problem 64x64:f32,ld_src=64,batch=1
    refused 'problem 64x64:f32 is named twice' bench --problem 64x64:f32 --problem 64x64:f32
}

@test "--problems takes a list of problems from a file" {
    cd "$BATS_TEST_TMPDIR"
    printf 'schema: 1\nproblems:\n  - 64x64:f32\n  - 32x96:b1\n' >list.yaml
    run -0 --separate-stderr "$AUTOTUNE" tune --quiet --gpu emu --dry-run --problem 8x8:f64 \
        --problems list.yaml
    [ "${#lines[@]}" -eq 6 ]
    [[ ${lines[5]} == '3 problems: about '* ]]
    [[ ${lines[2]} == *' 8x8:f64 '* && ${lines[3]} == *' 64x64:f32 '* && ${lines[4]} == *' 32x96:b1 '* ]]
    refused 'problem 64x64:f32 is named twice' --problem 64x64:f32 --problems list.yaml
    refused 'none.yaml' --problems none.yaml
    printf 'schema: 1\nproblems:\n  - 64x64:f32\n  - 64x64:f33\n' >list.yaml
    refused 'list.yaml:4:5: ' --problems list.yaml
    refused 'list.yaml:4:5: ' bench --problems list.yaml
    printf 'schema: 1\nproblems: []\n' >list.yaml
    refused 'list.yaml:2' --problems list.yaml
}
