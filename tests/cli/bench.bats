#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune bench --peers, where there is no GPU: what cannot be timed has no row, and a note says why.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

@test "libraries need a GPU, and a note says so" {
    need_nvrtc
    cd "$BATS_TEST_TMPDIR"
    "$AUTOTUNE" tune --quiet --gpu emu --family naive --budget 1 8x8:f32 --out best.yaml
    run --separate-stderr -0 "$AUTOTUNE" bench --gpu emu --peers --profile best.yaml 8x8:f32 --format csv
    [[ $stderr == *'--peers needs a GPU: cuBLAS and PyTorch do not run on an emulated one'* ]]
    [[ $output == *',tuned,'* && $output != *PyTorch* && $output != *cuBLAS* ]]
}

# The script is also run where a GPU is; here it must say what it lacks, in the form that bench reads.
@test "the script names what is missing, a line for each library" {
    command -v python3 >/dev/null || skip 'no python3'
    run --separate-stderr -0 env LD_LIBRARY_PATH= CUDA_VISIBLE_DEVICES= \
        python3 "$srcdir/tuning/peers.py" GPU-none 8 8 8 8 1 64 64 4 0
    [ -z "$stderr" ]
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[0]} == PyTorch$'\t0\t0\t'?* && ${lines[1]} == 'cuBLAS geam'$'\t0\t0\t'?* ]]
}
