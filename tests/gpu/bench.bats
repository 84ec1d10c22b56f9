#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune bench --peers on a GPU.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
}

setup() {
    need_device
}

# bench ARGUMENT...: sets $output to the rows, as CSV.
bench() {
    run --separate-stderr -0 "$AUTOTUNE" bench --quiet --gpu 0 --family naive --peers --format csv "$@"
}

@test "PyTorch is timed beside the tuned kernel" {
    python3 -c 'import torch; assert torch.cuda.is_available()' || skip 'no PyTorch'
    for problem in 1024x1024:f32 1000x512:f16,batch=3 512x512:c128 700x900:b1,ld_src=1000; do
        bench "$problem"
        [[ $output == *,PyTorch,* && $output == *,tuned,* ]]
    done
    bench --policy warm 1024x1024:f64
    [[ $output == *,PyTorch,* ]]
}

@test "cuBLAS is timed for its types, and a note says why it is not for others" {
    bench 1024x1024:f32
    [[ $output == *,'cuBLAS geam',* ]] || skip 'no cuBLAS'
    bench 1000x512:f64,ld_dst=1008
    [[ $output == *,'cuBLAS geam',* ]]
    run --separate-stderr -0 "$AUTOTUNE" bench --gpu 0 --family naive --peers 64x64:f16
    [[ $output != *cuBLAS* && $stderr == *'no row for cuBLAS geam: has no elements of this size'* ]]
}

@test "no row without python3, and for problems that the libraries do not have" {
    mkdir bin
    run --separate-stderr -0 env PATH="$PWD/bin" "$AUTOTUNE" bench --gpu 0 --family naive --peers 64x64:f32
    [[ $output != *PyTorch* && $stderr == *'cannot start python3'* ]]
    run --separate-stderr -0 "$AUTOTUNE" bench --gpu 0 --peers 64x64:f32,inplace=1
    [[ $output != *PyTorch* && $stderr == *'--peers has matrices and batches alone'* ]]
}
