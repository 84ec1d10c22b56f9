#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A first space file for a transpose of one's own: it needs NVRTC, but no GPU and no CUDA headers.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    need_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    cd "$BATS_TEST_TMPDIR" || return 1
    # As Kernel Tuner takes it: a tuner defines the macros.
    cat >kt.cu <<'CUDA'
#include "helper.h"
extern "C" __global__ void transpose(float *output, const float *input, int width, int height)
{
    __shared__ float tile[block_size_x * tile_size_x][block_size_x * tile_size_x + use_padding];
    int x0 = blockIdx.x * block_size_x * tile_size_x, y0 = blockIdx.y * block_size_x * tile_size_x;

    for (int y = threadIdx.y; y < block_size_x * tile_size_x; y += block_size_y)
        for (int x = threadIdx.x; x < block_size_x * tile_size_x; x += block_size_x)
            if (x0 + x < width && y0 + y < height)
                tile[y][x] = input[(y0 + y) * width + x0 + x];
    __syncthreads();
    for (int y = threadIdx.y; y < block_size_x * tile_size_x; y += block_size_y)
        for (int x = threadIdx.x; x < block_size_x * tile_size_x; x += block_size_x)
            if (y0 + x < height && x0 + y < width)
                output[(x0 + y) * height + y0 + x] = tile[x][y];
}
CUDA
    # As NVIDIA's samples have it: the file defines them, and the kernel is for whole tiles of a square.
    cat >sample.cu <<'CUDA'
#include <cstdio>
#define TILE_DIM 32
#define BLOCK_ROWS 8
#define REPETITIONS 100
__global__ void __launch_bounds__(TILE_DIM *BLOCK_ROWS) turn(double *odata, double *idata)
{
    __shared__ double tile[TILE_DIM][TILE_DIM + 1];
    int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
    int width = gridDim.x * TILE_DIM;

    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        tile[threadIdx.y + j][threadIdx.x] = idata[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE_DIM + threadIdx.x;
    y = blockIdx.x * TILE_DIM + threadIdx.y;
    for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS)
        odata[(y + j) * width + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void other(double *data, int n) { data[n] = 0; }
int main() { for (int i = 0; i < REPETITIONS; i++) printf("%d\n", TILE_DIM); }
CUDA
}

# has LINE...: the file that was written has these lines.
has() {
    local line

    for line; do
        grep -qxF -- "$line" "$file" || {
            printf '%s\n' "expected: $line" && cat "$file"
            return 1
        }
    done
}

@test "a kernel for Kernel Tuner: its macros become parameters, and all its configs are right" {
    run -0 "$AUTOTUNE" space kt.cu
    [[ ${lines[1]} == "autotune tune --space kt-space.yaml --family kt --problem "* ]]
    file=kt-space.yaml
    has '  - name: BLOCK_SIZE_X' '    values: [16, 32, 64, 128]' '  - name: TILE_SIZE_X' \
        '  - name: USE_PADDING' '    values: [0, 1]' '  - name: BLOCK_SIZE_Y' '  - elem_size == 4' \
        '  grid_x: ceil_div(cols, BLOCK_SIZE_X * TILE_SIZE_X)' \
        '  grid_y: ceil_div(rows, BLOCK_SIZE_X * TILE_SIZE_X)' '  block_y: BLOCK_SIZE_Y'
    run --separate-stderr -0 "$AUTOTUNE" tune -q --gpu emu --space kt-space.yaml --family kt \
        --problem 100x70:f32 --budget 6
    [[ $output == *'100x70:f32  kt '* ]]
    [[ $output == *'6 correct'* || $output == *' correct, '*' compile'* ]]
}

@test "a sample: numbers that the code uses become parameters, and what it is not for is excluded" {
    run -0 "$AUTOTUNE" space sample.cu --entry turn --out turn.yaml --family turn
    file=turn.yaml
    has '  - name: TILE_DIM' '  - name: BLOCK_ROWS' '  - TILE_DIM % BLOCK_ROWS == 0' '  - elem_size == 8' \
        '  - rows == cols' '  - cols % (TILE_DIM) == 0 && rows % (TILE_DIM) == 0' '  block_y: BLOCK_ROWS'
    run ! grep -q REPETITIONS turn.yaml
    run --separate-stderr -0 "$AUTOTUNE" tune -q --gpu emu --space turn.yaml --family turn \
        --problem 128x128:f64 --budget 4
    [[ $output == *' 4 correct'* ]]
}

@test "constants of the file are parameters, too, and an instance of a template is tuned" {
    sed -e 's/#define TILE_DIM 32/const int TILE_DIM = 32;/' -e 's/#define BLOCK_ROWS 8/static constexpr int BLOCK_ROWS = 8;/' \
        -e 's/__global__ void __launch/template <int PAD> __global__ void __launch/' -e 's/TILE_DIM + 1/TILE_DIM + PAD/' \
        sample.cu >constants.cu
    run --separate-stderr -2 "$AUTOTUNE" space constants.cu --entry turn
    [[ $stderr == *"turn is a template: --entry names an instance, like 'turn<32>'"* ]]
    run -0 "$AUTOTUNE" space constants.cu --entry 'turn<1>' --out turn.yaml --family turn
    file=turn.yaml
    has '  - name: TILE_DIM' '    default: 32' '  - name: BLOCK_ROWS' '    default: 8' '  block_y: BLOCK_ROWS'
    grep -qF 'turn<1>((double *)dst, (double *)src);' turn.cu
    run --separate-stderr -0 "$AUTOTUNE" tune -q --gpu emu --space turn.yaml --family turn \
        --problem 128x128:f64 --budget 4
    [[ $output == *' 4 correct'* ]]
}

@test "a stranger's file cannot keep the reader busy" {
    {
        for i in {1..3000}; do echo "#define N$i $i"; done
        printf '#define %.0s' {1..3000}
        printf '\nstatic'
        printf ' static%.0s' {1..20000}
        printf ' int x;\n'
    } >many.cu
    cat sample.cu >>many.cu
    run --separate-stderr timeout 60 "$AUTOTUNE" space many.cu --entry turn
    [ "$status" -ne 124 ]
}

@test "a wrong config names the problem, and how to exclude it" {
    "$AUTOTUNE" space sample.cu --entry turn --out turn.yaml --family turn
    sed -i '/rows == cols/d' turn.yaml
    run --separate-stderr ! "$AUTOTUNE" tune -q --gpu emu --space turn.yaml --family turn \
        --problem 128x128:f64 --budget 2
    [[ $stderr == *'turn BLOCK_ROWS=8 TILE_DIM=32: '*x*:f64*'needs in its space file excludes it'* ]]
}

@test "macros can be given, and arguments whose names say nothing" {
    run -0 "$AUTOTUNE" space kt.cu --define block_size_x=32 --define tile_size_x=1
    run ! grep -q -e BLOCK_SIZE_X -e TILE_SIZE_X kt-space.yaml
    file=kt-space.yaml
    has '  grid_x: ceil_div(cols, 32)' '  block_x: 32'
    sed -e 's/width/p/g' -e 's/height/q/g' kt.cu >odd.cu
    run --separate-stderr -2 "$AUTOTUNE" space odd.cu
    [[ $stderr == *'what does transpose get as its argument 3, p? Give all with --arg'* ]]
    run -0 "$AUTOTUNE" space odd.cu --arg dst --arg src --arg cols --arg rows
    grep -qF '(float *)dst, (float *)src, (int)cols, (int)rows' odd-space.cu
}

# Options, and a part of the message.
refused() {
    cat <<'END_OF_TABLE'
sample.cu|several kernels: which one is the transpose? --entry takes turn, other
sample.cu --entry none|has no kernel none; there is turn, other
sample.cu --entry other|what does other get as its argument 1, data?
sample.cu --entry turn --arg dst|turn takes 2 arguments; --arg gives 1
sample.cu --entry turn --arg dst --arg rowz|--arg rowz: in a space file an argument is dst, src
sample.cu --entry turn --arg dst --arg row|--arg row: in a space file an argument is dst, src
kt.cu --grid 3|unrecognized option
kt.cu --define 3=x|--define takes NAME or NAME=VALUE
kt.cu --out space.yml|a space file is called NAME.yaml
gone.cu|gone.cu
typo.cu|identifier "tx" is undefined
twice.cu|SIZE_x and size_x would be the same parameter: give one with --define
long.cu|is too long for a parameter: give it with --define
END_OF_TABLE
}

@test "what is not understood is refused, and nothing is written" {
    echo '__global__ void f(float *out, const float *in) { out[tx] = in[0]; }' >typo.cu
    echo '__global__ void f(float *out, const float *in) { out[SIZE_x] = in[size_x]; }' >twice.cu
    echo '__global__ void f(float *out, const float *in) { out[0] = in[a_name_that_is_too_long_for_it_all]; }' >long.cu
    while IFS='|' read -r options message; do
        # shellcheck disable=SC2086 # options are words
        run --separate-stderr ! "$AUTOTUNE" space $options
        [[ $stderr == *"$message"* ]] || {
            printf '%s\n' "expected: $message" "got: $stderr"
            return 1
        }
        [ -z "$(find . -name '*-space.*' -o -name '*.yml')" ]
    done < <(refused)
}
