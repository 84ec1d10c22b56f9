#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Exported kernels and their launchers on a GPU.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
    export AUTOTUNE_DATADIR=$srcdir
}

setup() {
    need_device
}

@test "launchers permute matrices and tensors" {
    nvcc=$(command -v nvcc || true)
    [ -n "$nvcc" ] || nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
    [ -x "$nvcc" ] || skip "no nvcc"
    problems=(-p 1000x999:f32 -p '64x96:f16,batch=30' -p '6x5x8x32:f16,perm=0213'
        -p '4x3x2x40x48:f64,perm=21043' -p '3x3x3x3x3x3:f64,perm=543210'
        -p '512x768:bf16:e4m3,both,blocks=1x128' -p '512x768:bf16:e2m1,both,blocks=1x16,scales=nvfp4'
        -p '1000x300:f32,both,sums')
    "$AUTOTUNE" export --as cu --prefix gpu --gpu 0 "${problems[@]}" --out kernels.cu
    "$AUTOTUNE" export --as cu-header --prefix gpu --gpu 0 "${problems[@]}" --out launchers.h
    arch=$(sed -n 's/.*-arch=\(sm_[0-9]*\).*/\1/p' kernels.cu)
    "$nvcc" -std=c++17 -arch="$arch" -c kernels.cu
    scratch=$(sed -n 's/.*numbers->scratch has \([0-9]*\).*/\1/p' launchers.h)
    "$nvcc" -I. -DSCRATCH_BYTES="$scratch" -c "$srcdir/tests/gpu/export-run.c"
    "$nvcc" kernels.o export-run.o -o run
    run -0 timeout --kill-after=5 100 ./run
    [ "$output" = '5 of 5 problems are right' ]
    # Of blocks: results and scales of the source's rows, and of its columns.
    while read -r rule to cols tensor; do
        for side in src:kept transposed:dst; do
            "$(dirname "$AUTOTUNE")/tests/python/block-bytes" "$rule" bf16 "$to" "$cols" ${tensor:+"$tensor"} \
                <"$rule.${side%:*}" | cmp - "$rule.${side#*:}"
        done
    done <<<$'te e4m3 128\nnvfp4 e2m1 16 40400000'
}
