#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A CUDA file of one's own with explain and study: it needs NVRTC, but no GPU and no CUDA headers.

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

# explain_own ENTRY OPTION...: of lessons.cu
explain_own() {
    run --separate-stderr "$AUTOTUNE" explain lessons.cu --entry "$@"
}

# has WORDS: the output has a line with these words, whatever the blanks between them.
has() {
    grep -qF -- "$1" <<<"$(tr -s ' ' <<<"$output")" || {
        printf '%s\n' "expected: $1" "got: $output" "stderr: $stderr"
        return 1
    }
}

# Entry, options, what the output has: words of a line, with single blanks.
right() {
    cat <<'END_OF_TABLE'
saxpy|--grid 32 --block 256 --arg int=1<<13 --arg float=2.5 --arg float[1<<13]=index --arg float[1<<13]|load global 4 B 512 4.00 4.00
saxpy|--grid 32 --block 256 --arg int=0 --arg float=-1e3 --arg float[1] --arg float[1]|global: 0 sectors
gather|--grid 1 --block 32 --arg float[32]=index --arg int[32] --arg float[32]|lessons.cu:19 load global 4 B 1 1.00
gather|--grid 1 --block 32 --arg float[1<<8] --arg int[32]=index*8 --arg float[32]|lessons.cu:19 load global 4 B 1 32.00
gather|--grid 1 --block 32 --arg float[32] --arg int[32]=count-1-index --arg float[32]|lessons.cu:19 load global 4 B 1 4.00
strided<float, 8>|--grid 1 --block 32 --arg float[256]|store global 4 B 1 32.00 4.00 12.5%
lesson::strided<double, 2>|--grid 1 --block 32 --arg double[64]|store global 8 B 1 16.00 8.00 50.0%
_ZN6lesson7stridedIfLi1EEEvPT_|--grid 1 --block 32 --arg float[32]|lesson::strided<float, 1> of lessons.cu
column|--grid 1 --block 32,32 --shared 4*32*32 --arg float[1024]|load shared 4 B 32 32.00
column|--grid 1,2,3 --block 32,32,1 --shared 4096 --arg float[1024]|6 blocks of 1024 threads
takes_char|--grid 1 --block 1 --arg char[2]=7 --arg char=7|takes_char of lessons.cu
takes_char|--grid 1 --block 1 --arg int8_t[2]=index*7 --arg signed char=min(7,8)|takes_char of lessons.cu
takes_uint16|--grid 1 --block 1 --arg ushort[2]=65536+7 --arg unsigned  short=7|takes_uint16 of lessons.cu
takes_int64|--grid 1 --block 1 --arg long[2]=7 --arg size_t=7|takes_int64 of lessons.cu
takes_float|--grid 1 --block 1 --arg float[2]=7.0 --arg float=0.7e1|takes_float of lessons.cu
takes_double|--grid 1 --block 1 --arg double[2]=index+6 --arg double=7|takes_double of lessons.cu
takes_bits|--grid 1 --block 1 --arg half[2]=7 --arg bfloat16[2]=7|takes_bits of lessons.cu
takes_float4|--grid 1 --block 1 --arg float4=7 --arg float4[2]=7.0|takes_float4 of lessons.cu
takes_random|--grid 1 --block 1 --arg uint[99]=random --arg uint=99|takes_random of lessons.cu
takes_float|--grid 1 --block 1 --arg float[1+1]=@seven --arg float=7|takes_float of lessons.cu
nothing|--grid ceil_div(1000,256) --block max(1,2)|4 blocks of 2 threads
vector_sums|--grid 1 --block 32 --arg float4[32]=7 --arg float2[32] --arg int=7|atomic global 16 B 1 16.00 16.00
vector_sums|--grid 1 --block 32 --arg float4[32]=7 --arg float2[32] --arg int=7|atomic global 8 B 1 16.00
END_OF_TABLE
}

# Options, and what the message has.
wrong() {
    cat <<'END_OF_TABLE'
--grid 1 --block 1|lessons.cu has several kernels: name one with --entry; there are
--entry axpy --grid 1 --block 1|lessons.cu has no kernel "axpy"
--entry strided --grid 1 --block 1|lessons.cu has 3 kernels "strided"
--entry nothing --grid 1|how many threads? --block
--entry nothing --block 1|how many blocks? --grid
--entry nothing --grid 0 --block 1|--grid 0: x is from 1 to 2147483647 blocks, not 0
--entry nothing --grid 1,70000 --block 1|--grid 1,70000: y is from 1 to 65535 blocks
--entry nothing --grid 2147483647,65535,65535 --block 1|a grid of 9223090559730712575 blocks; figures are for at most 2147483647
--entry nothing --grid 1,1,1,1 --block 1|--grid 1,1,1,1: it has more than three numbers
--entry nothing --grid 1 --block 1,1,65|--block 1,1,65: z is from 1 to 64 threads
--entry nothing --grid 1 --block 64,32|--block 64,32: 2048 threads; a block has at most 1024
--entry nothing --grid n --block 1|--grid n:1:1: unknown name "n"
--entry nothing --grid 1 --block 1 --shared 300000|300000 bytes of dynamic shared memory and 0 of static
--entry nothing --grid 1 --block 1 --arg int=1|nothing() takes 0 arguments; --arg gives 1
--entry saxpy --grid 1 --block 1|saxpy(int, float, buffer or long, buffer or long) takes 4 arguments; --arg gives 0: a buffer like --arg float[1024]
--entry saxpy --grid 1 --block 1 --arg long=1 --arg float=1 --arg float[1] --arg float[1]|argument 1 is int, not --arg "long=1"
--entry saxpy --grid 1 --block 1 --arg int=1 --arg int=1 --arg float[1] --arg float[1]|argument 2 is float, not --arg "int=1"
--entry saxpy --grid 1 --block 1 --arg int=1 --arg float=1 --arg float=1 --arg float[1]|argument 3 is buffer or long, not --arg "float=1"
--entry takes_float4 --grid 1 --block 1 --arg float2=7 --arg float4[2]|argument 1 is 16 bytes, not --arg "float2=7"
--entry out_of_bounds --grid 1 --block 1 --arg flaot[1]|there is no type "flaot"
--entry out_of_bounds --grid 1 --block 1 --arg float|--arg "float": it has no value
--entry out_of_bounds --grid 1 --block 1 --arg float[0]|a buffer has from 1 to 2^53 elements
--entry out_of_bounds --grid 1 --block 1 --arg float[2|an argument is TYPE=VALUE, TYPE[COUNT]=VALUE or struct{TYPE=VALUE,...}
--entry out_of_bounds --grid 1 --block 1 --arg float[2]=i|unknown name "i"
--entry out_of_bounds --grid 1 --block 1 --arg float[1<<62]|a buffer has from 1 to 2^53 elements
--entry out_of_bounds --grid 1 --block 1 --arg float[2]=@nowhere|--arg "float[2]=@nowhere": cannot open nowhere
--entry out_of_bounds --grid 1 --block 1 --arg float[3]=@seven|the file has 8 bytes, not 12
--entry takes_char --grid 1 --block 1 --arg char[2] --arg char=128|the value is out of the type's range
--entry takes_char --grid 1 --block 1 --arg char[2] --arg char=0.5|the type has only whole numbers
--entry takes_char --grid 1 --block 1 --arg char[2] --arg char=random|only a buffer can be random
END_OF_TABLE
}

# words TEXT: split an options column of a table into the array `options`; an --arg ends at the next --.
words() {
    local part
    options=()
    while IFS= read -r part; do
        options+=("${part%% *}" "${part#* }")
    done <<<"${1// --/$'\n--'}"
}

# data: a copy of the folder with the file `seven`, 0 and 7 as float.
data() {
    cp lessons.cu lessons.h "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '\0\0\0\0\0\0\xe0\x40' >seven
}

@test "a kernel runs with the arguments and the launch that are given" {
    is_long
    data
    while IFS='|' read -r entry launch expected; do
        words "$launch"
        explain_own "$entry" "${options[@]}"
        [ "$status" -eq 0 ] || { echo "$entry $launch: $stderr" && return 1; }
        has "$expected"
    done < <(right)
}

@test "what a kernel does not take is refused, with what it takes" {
    data
    while IFS='|' read -r launch expected; do
        words "$launch"
        run --separate-stderr "$AUTOTUNE" explain lessons.cu "${options[@]}"
        [[ $status -eq 2 && -z $output && $stderr == *"$expected"* ]] || {
            printf '%s\n' "options: $launch" "expected: $expected" "got ($status): $stderr"
            return 1
        }
    done < <(wrong | sampled 6 0)
}

@test "every run of a kernel begins with the memory as it was given" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' '__global__ void odd(int *out, int *count, const int *x) {' \
        'int i = blockIdx.x * blockDim.x + threadIdx.x;' \
        'if (x[i] % 2) out[atomicAdd(count, 1)] = x[i]; }' >odd.cu
    arguments=(--arg 'int[4096]' --arg 'int[1]=0' --arg 'int[8192]=index')
    run --separate-stderr -0 "$AUTOTUNE" explain odd.cu --grid 32 --block 256 "${arguments[@]}"
    has 'atomic global 4 B 256 1.00'
    # The buffer has room for half of the elements, once.
    arguments[1]='int[1]'
    arguments[3]='int[1]=1'
    run --separate-stderr -1 "$AUTOTUNE" explain odd.cu --grid 32 --block 256 "${arguments[@]}"
    [[ $stderr == *'global access outside every allocation'* ]]
}

@test "options of a family and of a file are not mixed" {
    refused '"tile" is one too many' explain lessons.cu tile
    refused 'are for families, not for lessons.cu' explain lessons.cu --problem 64x64:f32
    refused 'are for families, not for lessons.cu' explain lessons.cu --params
    refused 'are for a CUDA file: autotune explain my.cu' explain tile --grid 1
    refused 'explain takes one kernel' explain lessons.cu --entry saxpy --entry gather
    refused 'are for a CUDA file: autotune study my.cu' study shared --block 1
    refused 'cannot open nowhere.cu' explain nowhere.cu --grid 1 --block 1
}

@test "a fault names the kernel as the source does" {
    explain_own out_of_bounds --grid 1 --block 8 --arg 'float[8]'
    [ "$status" -eq 1 ]
    [[ $stderr == *'lessons.cu: out_of_bounds, '*'thread (7, 0, 0): global access outside every allocation'* ]]
    [[ $stderr != *_Z* ]]
}

@test "a block larger than __launch_bounds__ is refused in CUDA's words" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' 'template <int N> __global__ void __launch_bounds__(N) fill(float *x) { x[threadIdx.x] = 1; }' \
        'template __global__ void fill<128>(float *);' >bounds.cu
    run --separate-stderr -2 "$AUTOTUNE" explain bounds.cu --grid 1 --block 256 --arg 'float[256]'
    [[ $stderr == *'bounds.cu: fill<128>: a block of 256 threads, which __launch_bounds__(128) does not allow' ]]
    run --separate-stderr -0 "$AUTOTUNE" explain bounds.cu --grid 1 --block 128 --arg 'float[256]'
}

@test "a file that does not compile is named with its line" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' '' '__global__ void f(int *x) { *x = y; }' >wrong.cu
    run --separate-stderr -1 "$AUTOTUNE" explain wrong.cu --grid 1 --block 1
    [[ $stderr == *'wrong.cu(2): error: identifier "y" is undefined'* ]]
    printf '%s\n' '__global__ void f() {}' 'int main() { f<<<1, 1>>>(); }' >host.cu
    run --separate-stderr -0 "$AUTOTUNE" explain host.cu --grid 1 --block 1
    printf '%s\n' 'int host(int a) { return a; }' '__global__ void f(int *x) { *x = host(1); }' >host.cu
    run --separate-stderr -1 "$AUTOTUNE" explain host.cu --grid 1 --block 1
    [[ $stderr == *'host.cu(2): error: identifier "host" is undefined'* ]]
    printf '%s\n' '#include <iostream>' '__global__ void f() {}' '#ifndef __CUDACC_RTC__' \
        'int main() { f<<<1, 1>>>(); }' '#endif' >host.cu
    run --separate-stderr -0 "$AUTOTUNE" explain host.cu --grid 1 --block 1
    sed '1s/^/\xef\xbb\xbf/' host.cu >marked.cu # a byte-order mark
    run --separate-stderr -0 "$AUTOTUNE" explain marked.cu --grid 1 --block 1
    echo '__global__ void f() { asm volatile("setmaxnreg.inc.sync.aligned.u32 40;"); }' >later.cu
    run --separate-stderr -1 "$AUTOTUNE" explain later.cu --grid 1 --block 32
    [[ $stderr == *"error   : Instruction 'setmaxnreg.inc' not supported on .target 'sm_90'" ]]
    echo 'template <class T> __global__ void f(T *x) {}' >template.cu
    run --separate-stderr -2 "$AUTOTUNE" explain template.cu --grid 1 --block 1
    [[ $stderr == *'template.cu has no kernel: no __global__ function, or only templates without an instance'* ]]
}

# A program as people post it: helpers, macros, templates, and what only the host has.
write_program() {
    cat >"$BATS_TEST_TMPDIR/program.cu" <<'END'
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
#include "nowhere.h"
#define CHECK(x) do { cudaError_t e = (x); if (e) exit(1); } while (0)
using namespace std;
const int TILE = 32;
struct Timer { cudaEvent_t start; void tic() { cudaEventRecord(start); } };
std::vector<float> kept;

template <int ROWS, typename T> __global__ void turn(T *out, const T *in, uint n)
{
    __shared__ T tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void fill(float *x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

static float reference(const vector<float> &v) { return v[0]; }

int main(int argc, char **argv)
{
    const int n = 256;
    size_t bytes = n * n * sizeof(float);
    float *in, *out;
    CHECK(cudaMalloc(&in, bytes));
    CHECK(cudaMalloc((void **)&out, bytes));
    dim3 block(TILE, 8), grid(n / TILE, n / TILE);
    fill<<<n * n / 256, 256>>>(in, 1.5f);
    turn<8, float><<<grid, block>>>(out, in, n);
    fill<<<MORE, 256>>>(out, 0);
    return reference(kept) > 0;
}
END
}

@test "a whole program tells its launches, and what only the host has is left out" {
    write_program
    cd "$BATS_TEST_TMPDIR" || return 1
    run --separate-stderr -0 "$AUTOTUNE" explain program.cu --entry turn
    [ "${lines[0]}" = "turn<8, float> of program.cu --grid 8,8 --block 32,8 --arg 'float[65536]' --arg 'float[65536]' --arg 'int=256'" ]
    [[ $output == *'program.cu:16 '*'load global'* ]]
    run --separate-stderr -0 "$AUTOTUNE" explain program.cu --entry fill
    [ "${lines[0]}" = "fill of program.cu --grid 256 --block 256 --arg 'float[65536]' --arg 'float=1.5'" ]
    # What the options say comes first.
    run --separate-stderr -0 "$AUTOTUNE" explain program.cu --entry fill --grid 4
    [[ ${lines[0]} == 'fill of program.cu --grid 4 --block 256 '* ]]
    run --separate-stderr -2 "$AUTOTUNE" explain program.cu
    [[ $stderr == *'has several kernels: name one with --entry'* ]]
    run --separate-stderr -0 "$AUTOTUNE" study program.cu --gpu emu --quiet
    [[ $output == *'turn<8, float>'* && $output == *'  fill '* ]]
    # An error in a kernel is told with its line.
    sed 's/tile\[threadIdx.y + j\]/tail[threadIdx.y + j]/' program.cu >wrong.cu
    run --separate-stderr -1 "$AUTOTUNE" explain wrong.cu --entry fill
    [[ $stderr == *'wrong.cu(4): '*'"nowhere.h"'* ]]
    sed -i '/nowhere/d' wrong.cu
    run --separate-stderr -1 "$AUTOTUNE" explain wrong.cu --entry fill
    [[ $stderr == *'wrong.cu(15): error: identifier "tail" is undefined'* ]]
}

@test "a launch that is not plain is told with its line, and what to give" {
    write_program
    cd "$BATS_TEST_TMPDIR" || return 1
    sed -i 's/<<<n \* n/<<<atoi(argv[1]) * n/' program.cu
    run --separate-stderr -1 "$AUTOTUNE" explain program.cu --entry fill
    [[ $stderr == *'program.cu: line 34 launches fill, but its grid is not plain: atoi(argv[1]) * n / 256; give --grid' ]]
    run --separate-stderr -0 "$AUTOTUNE" explain program.cu --entry fill --grid 1
    sed -i 's/(in, 1.5f)/(in + 4, 1.5f)/' program.cu
    run --separate-stderr -1 "$AUTOTUNE" explain program.cu --entry fill --grid 1
    [[ $stderr == *'but argument 1 is not plain: in + 4; give all with --arg' ]]
    # A study shows the other kernel.
    run --separate-stderr -1 "$AUTOTUNE" study program.cu --gpu emu --quiet
    [[ $output == *'turn<8, float>'* && $stderr == *'fill is left out'* ]]
}

@test "--entry makes an instance of a template" {
    cd "$BATS_TEST_TMPDIR" || return 1
    echo 'template <typename T, int N> __global__ void put(T *x) { x[threadIdx.x] = N; }' >put.cu
    run --separate-stderr -0 "$AUTOTUNE" explain put.cu --entry 'put<double,3>' --grid 1 --block 32 --arg 'double[32]'
    [[ ${lines[0]} == 'put<double, 3> of put.cu '* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain put.cu --entry 'put<nothing,3>' --grid 1 --block 32 --arg 'double[32]'
    [[ $stderr == *'identifier "nothing" is undefined'* ]]
}

@test "each format has the kernel, its launch and its costs" {
    launch=(saxpy --grid 2 --block 128 --arg int=256 --arg float=1 --arg 'float[256]' --arg 'float[256]')
    explain_own "${launch[@]}" --format csv
    [ "$(grep -c '^lessons.cu:12,' <<<"$output")" -eq 2 ]
    explain_own "${launch[@]}" --format markdown
    has '| lessons.cu:12 | load global | 4 | 16 | sectors | 64 | 64 |'
    has '| y\[i] = a \* x\[i] + y\[i]; |'
    explain_own "${launch[@]}" --format json
    for line in '"entry": "saxpy"' '"file": "lessons.cu"' '"blocks": 2' '"threads": 128' \
        "\"launch\": \"--grid 2 --block 128 --arg 'int=256'"; do
        has "$line"
    done
    [[ $output != *'"family"'* && $output != *'"bytes_needed"'* ]]
    explain_own "${launch[@]}"
    has 'predicted '
    has 'reads 0.00 MB, of which 100.0% are used'
    [[ $output != *measured\ [0-9]* && $output != *needed* ]]
}

@test "--gpu and --blocks are as for a family" {
    explain_own nothing --grid 1000 --block 32 --blocks 8 --gpu emu:a100
    has 'on NVIDIA A100-SXM4-80GB (emulated)'
    has 'counted in 8 of the blocks'
}

@test "a file has the macros of --define, and the lines of its messages stay" {
    local my=$BATS_TEST_TMPDIR/my.cu launch=(--grid 1 --block 32 --arg 'int[64]')

    printf '%s\n' '__global__ void k(int *x)' '{' 'x[threadIdx.x + offset] = WIDE 7;' \
        '#if wrong' '#error here' '#endif' '}' >"$my"
    run -0 "$AUTOTUNE" explain "$my" "${launch[@]}" --define offset=32 -D 'WIDE=3 +'
    run -1 --separate-stderr "$AUTOTUNE" explain "$my" "${launch[@]}" -D offset=33 -D WIDE=
    [[ $stderr == *'my.cu line 3'*'outside'* ]]
    run -1 --separate-stderr "$AUTOTUNE" explain "$my" "${launch[@]}" -D offset=0 -D WIDE= -D wrong
    [[ $stderr == *'my.cu(5): '*here* ]]
    refused '--define takes NAME or NAME=VALUE' explain "$my" "${launch[@]}" -D 3=4
    refused '--define takes NAME or NAME=VALUE' explain "$my" "${launch[@]}" -D "a=1\\"
    refused 'are for a CUDA file' explain tile --define a=1
}

# figure NAME: of the JSON on stdin, the first one.
figure() {
    sed -n "s/^ *\"$1\": \([0-9]*\),\?/\1/p" | head -1
}

@test "bytes and time of a grid with idle blocks are those of all its blocks" {
    is_long
    local range bytes

    for range in 0,4096 16383,16384; do
        explain_own busy_blocks --grid 16384 --block 256 --arg 'float[1<<24]' --arg 'float[1<<24]' \
            --arg "int=${range%,*}" --arg "int=${range#*,}" --format json
        bytes=$(((${range#*,} - ${range%,*}) * 16 * 256 * 4))
        [ "$(figure bytes_read <<<"$output")" -eq "$bytes" ]
        [ "$(figure bytes_written <<<"$output")" -eq "$bytes" ]
        [ "$(figure dram_to_l2_bytes <<<"$output")" -eq "$bytes" ]
        # An H200's DRAM moves 4814 bytes in a nanosecond.
        [ "$(figure predicted_ns <<<"$output")" -gt $((2 * bytes / 4814)) ]
    done
}

# CUDA's headers need nv/target of libcu++.
skip_without_headers() {
    [[ $stderr != *'no headers of CUDA were found'* && $stderr != *'install cuda-cccl'* ]] || skip "no CUDA headers"
}

@test "a file that includes cuda_fp16.h and others finds them" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' '#include <cuda_fp16.h>' '#include <cuda_bf16.h>' '#include <cuda_fp8.h>' \
        '#include <cooperative_groups.h>' '#include <cuda_pipeline.h>' '#include <cassert>' \
        '__global__ void f(__half *x, __nv_fp8_e4m3 y) { assert(float(y) == 16); }' >fp16.cu
    run --separate-stderr "$AUTOTUNE" explain fp16.cu --grid 1 --block 1 --arg 'half[1]' --arg __nv_fp8_e4m3=17
    skip_without_headers
    [ "$status" -eq 0 ]
    has 'f of fp16.cu'
    mkdir empty
    AUTOTUNE_CUDA_INCLUDE=empty run --separate-stderr -1 "$AUTOTUNE" explain fp16.cu --grid 1 --block 1
    [[ $stderr == *'fp16.cu(1): catastrophic error: '*"\"cuda_fp16.h\""*"; CUDA's headers are those in "*/empty* ]]
}

@test "a file may use the constants of math.h, names of std, and integers of 128 bits" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >constants.cu <<'END_OF_FILE'
#include <cfloat>
#include <cmath>
__global__ void f(unsigned long long n)
{
    unsigned __int128 square = (unsigned __int128)n * n;

    printf("%.12f %d %d %llu\n", std::sqrt(M_PI * std::abs(-M_PI)), INFINITY > FLT_MAX, NAN == NAN,
           (unsigned long long)(square >> 64));
}
END_OF_FILE
    run --separate-stderr -0 "$AUTOTUNE" explain constants.cu --grid 1 --block 1 --arg 'ulong=(1<<40)+1'
    [[ $stderr == *'3.141592653590 1 0 65536'* ]]
}

# headers FOLDER COUNT: a folder of headers, by which f of count.cu has this many stores.
headers() {
    mkdir -p "$1/cccl/cuda/std"
    echo "#define COUNT $2" >"$1/cuda_fp16.h"
    echo '#define STORE(x) (x) = 1' >"$1/cccl/cuda/std/store"
}

@test "the environment names the folder of CUDA's headers; a wrong version is named, and so is what is missing" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' '#include <cuda_fp16.h>' '#include <cuda/std/store>' '__global__ void f(volatile int *x)' \
        '{ for (int i = 0; i < COUNT; i++) STORE(*x); }' >count.cu
    headers named 1
    explain=(env AUTOTUNE_CUDA_INCLUDE=named "$AUTOTUNE" explain count.cu --grid 1 --block 1 --arg 'int[1]')
    run --separate-stderr -0 "${explain[@]}"
    has 'store global 4 B 1 1.00'
    echo '#define CUDA_VERSION 11080' >named/cuda.h
    run --separate-stderr -0 "${explain[@]}"
    echo '#error "unknown to this compiler"' >>named/cuda_fp16.h
    run --separate-stderr -1 "${explain[@]}"
    [[ $stderr == *'cuda_fp16.h(2): '*'; NVRTC is of CUDA '*', the headers of 11.8: name those of '*' (now '*/named')'* ]]
    rm named/cuda.h
    echo '#include <nv/target>' >named/cuda_fp16.h
    run --separate-stderr -1 "${explain[@]}"
    [[ $stderr == *'; it is of libcu++: install cuda-cccl, or nvidia-cuda-cccl for Python, beside'*'/named'* ]]
}

@test "a kernel of a family is compiled anew when the headers that it includes have changed" {
    cd "$BATS_TEST_TMPDIR" || return 1
    export AUTOTUNE_CUDA_INCLUDE=$PWD/named
    headers named 1
    sed 's/^family: .*/family: own/; s/^template: .*/template: own.cu/' "$srcdir/tuning/naive.yaml" >own.yaml
    { echo '#include <cuda_fp16.h>' && cat "$srcdir/templates/naive.cu"; } >own.cu
    run --separate-stderr -0 "$AUTOTUNE" explain own --space own.yaml
    echo '#error "this is another version"' >named/cuda_fp16.h
    run --separate-stderr -1 "$AUTOTUNE" explain own --space own.yaml
    [[ $stderr == *'cuda_fp16.h(1): '*'this is another version'* ]]
}

@test "all that NVRTC declares is there, with and without headers" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '%s\n' '__global__ void texture(cudaTextureObject_t t) {}' '__global__ void f() {}' >texture.cu
    run --separate-stderr -0 "$AUTOTUNE" explain texture.cu --entry f --grid 1 --block 1
    sed -i '1i #include <cmath>' texture.cu
    run --separate-stderr -0 "$AUTOTUNE" explain texture.cu --entry f --grid 1 --block 1
}

@test "a family can include CUDA's headers too" {
    is_long
    cd "$BATS_TEST_TMPDIR" || return 1
    sed 's/^family: .*/family: own/; s/^template: .*/template: own.cu/' "$srcdir/tuning/naive.yaml" >own.yaml
    { echo '#include <cuda_fp16.h>' && cat "$srcdir/templates/naive.cu"; } >own.cu
    run --separate-stderr "$AUTOTUNE" explain own --space own.yaml
    skip_without_headers
    [ "$status" -eq 0 ]
    has 'store global'
}

@test "study shows the kernels of a file side by side" {
    run --separate-stderr -0 "$AUTOTUNE" study lessons.cu --gpu emu --quiet --block 32 \
        --entry 'strided<float, 1>' --grid 64 --arg 'float[1<<11]' \
        --entry 'strided<float, 8>' --grid 64 --arg 'float[1<<14]' \
        --entry 'strided<float, 8>' --grid 32 --arg 'float[1<<13]'
    has 'lesson::strided<float, 1> 4.00 100.0 '
    has 'lesson::strided<float, 8>, 64 x 32 32.00 12.5 '
    has 'lesson::strided<float, 8>, 32 x 32 32.00 12.5 '
    [[ $output != *'per load'* && $output == *'all times are predicted, none is measured'* ]]
    [ "$(awk 'length > 100' <<<"$output" | wc -l)" -eq 0 ]
    printf '%s\n' '__global__ void a(int *x) { *x = 1; }' '__global__ void b(int *x) { *x += 1; }' \
        >"$BATS_TEST_TMPDIR/two.cu"
    run --separate-stderr -0 "$AUTOTUNE" study "$BATS_TEST_TMPDIR/two.cu" --gpu emu --quiet --grid 1 \
        --block 1 --arg 'int[1]' --format csv --out "$BATS_TEST_TMPDIR/page.html"
    [[ ${lines[1]} == two.cu,a,,,* && ${lines[2]} == two.cu,b,1.00,12.5,* ]]
    grep -q two.cu "$BATS_TEST_TMPDIR/page.html"
    refused 'two.cu: b(buffer or long) takes 1 argument; --arg gives 0' study --quiet --gpu emu \
        "$BATS_TEST_TMPDIR/two.cu" --grid 1 --block 1 --entry b
}

# ---- kernels of strangers ----

@test "what a kernel prints is shown without control characters, and not all of it" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >prints.cu <<'END'
__global__ void red() { printf("\033[31mred\t%s%c\n", "\033]0;title\a", 27); }
__global__ void much(const char *text) { printf("%s%s%s%s%s\n", text, text, text, text, text); }
END
    printf '%s' {1..1500} >digits
    run --separate-stderr -0 "$AUTOTUNE" explain prints.cu --entry red --grid 1 --block 1
    [ "$stderr" = $'\\x1b[31mred\t\\x1b]0;title\\x07\\x1b' ]
    size=$(stat -c %s digits)
    run --separate-stderr -0 "$AUTOTUNE" explain prints.cu --entry much --grid 100 --block 1 \
        --arg "char[$size]=@digits"
    [[ $stderr == *$'\n... and more: this block prints too much\n'* ]]
    [[ $stderr =~ \.\.\.\ and\ [0-9]+\ more\ lines$ ]]
    ((${#stderr} < 1048576 + 100))
}

@test "what a GPU does not launch is refused with its limit; what it does, runs" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >limits.cu <<'END'
__global__ void many(const float *x, float *y)
{
    float r[120], sum = 0;
#pragma unroll
    for (int i = 0; i < 120; i++)
        r[i] = x[threadIdx.x + i * 1024];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 120; i++)
        sum += r[i] * r[(i * 7 + 3) % 120];
    y[threadIdx.x] = sum;
}
__global__ void array(int *x, int n)
{
    int a[100000];
    for (int i = 0; i < n; i++)
        a[7 * i % 100000] = i;
    *x = a[7 * (n / 2) % 100000];
}
END
    run --separate-stderr -1 "$AUTOTUNE" explain limits.cu --entry many --grid 1 --block 1024 \
        --arg 'float[1<<17]' --arg 'float[1024]'
    [[ $stderr == *'NVIDIA H200 cannot launch it: '*' registers per block; the limit is 65536' ]]
    run --separate-stderr -0 "$AUTOTUNE" explain limits.cu --entry array --grid 20 --block 1024 \
        --arg 'int[1]' --arg int=64
    [[ $output == *'local: '* ]]
    sed 's/100000/140000/g' limits.cu >more.cu
    run --separate-stderr -2 "$AUTOTUNE" explain more.cu --entry array --grid 1 --block 1 \
        --arg 'int[1]' --arg int=64
    [[ $stderr == *524288* ]]
}

@test "a file may include all headers of the C and C++ libraries" {
    cd "$BATS_TEST_TMPDIR" || return 1
    printf '#include <%s>\n' limits iomanip iostream type_traits utility vector cctype ctime stdlib.h sys/time.h unistd.h >my.cu
    cat >>my.cu <<'END'
__global__ void f(uint *x, ushort y)
{
#if __has_include(<cuda/std/limits>)
    x[threadIdx.x] = y == 1 ? std::numeric_limits<ushort>::max() : 0;
#else
    x[threadIdx.x] = y == 1 ? 65535 : 0;
#endif
}
END
    printf '\377\377\0\0' >right
    run --separate-stderr -0 "$AUTOTUNE" explain my.cu --grid 1 --block 1 --arg 'uint[1]' --arg ushort=1 --check 1@right
}

@test "an argument may be a struct, with buffers and structs in it" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >my.cu <<'END'
struct inner { char c; double2 d; };
struct outer { short s; float3 v; inner i; const int *p; unsigned char z; };
__global__ void take(long *out, outer o)
{
    out[0] = o.s;
    out[1] = (long)(o.v.z * 2);
    out[2] = o.i.c;
    out[3] = (long)(o.i.d.y * 4);
    out[4] = o.p[3];
    out[5] = o.z;
    out[6] = sizeof(outer);
}
__global__ void wanted(long *out, outer)
{
    const long values[] = {-7, 3, 5, -1, 3, 200, 64};
    for (int i = 0; i < 7; i++)
        out[i] = values[i];
}
END
    local it=(explain my.cu --entry take --grid 1 --block 1 --arg 'long[7]')
    run --separate-stderr -0 "$AUTOTUNE" "${it[@]}" --check wanted \
        --arg 'struct{short=-7,float3=1.5,struct{char=5,double2=-0.25},int[4]=max(index,0),uchar=200}'
    refused 'argument 2 is 64 bytes, not --arg "struct{short=-7}"' "${it[@]}" --arg 'struct{short=-7}'
    refused 'there is no type "nope"' "${it[@]}" --arg 'struct{nope=1}'
    refused 'argument 2 is 64 bytes' "${it[@]}" --arg "$(printf 'struct{%.0s' {1..40})int=1$(printf '}%.0s' {1..40})"
    refused '--arg "struct{int=1": an argument is TYPE=VALUE' "${it[@]}" --arg 'struct{int=1'
    refused '--arg "struct{int=1}x": an argument is TYPE=VALUE' "${it[@]}" --arg 'struct{int=1}x'
    refused 'a struct has at most 512 bytes' "${it[@]}" --arg "struct{$(printf 'long=1,%.0s' {1..64})int=1}"
    refused 'argument 1 is buffer or long, not --arg "struct{long=1}"' explain my.cu --entry take --grid 1 --block 1 \
        --arg 'struct{long=1}' --arg int=1
}

@test "results are compared with those of another kernel or with a file" {
    cd "$BATS_TEST_TMPDIR" || return 1
    cat >turn.cu <<'END'
__global__ void plain(short *out, const short *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * height + y] = in[y * width + x];
}
__global__ void squares(short *out, const short *in, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[x * width + y] = in[y * width + x];
}
__global__ void half_done(float2 *out, const float2 *in)
{
    if (blockIdx.x < 500)
        out[blockIdx.x * 32 + threadIdx.x] = in[blockIdx.x * 32 + threadIdx.x];
}
__global__ void whole(float2 *out, const float2 *in)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
}
END
    local wide=(--grid '2,1' --block '16,16' --arg 'short[1024]' --arg 'short[512]=index' --arg int=32 --arg int=16)
    local square=(--grid '1,1' --block '16,16' --arg 'short[256]' --arg 'short[256]=index-9' --arg int=16 --arg int=16)
    local explain_it=(run --separate-stderr "$AUTOTUNE" explain turn.cu)
    "${explain_it[@]}" --entry squares "${square[@]}" --check plain
    [ "$status" -eq 0 ]
    [[ $output == *'store global'* ]]
    "${explain_it[@]}" --entry squares "${wide[@]}" --check plain
    [ "$status" -eq 1 ]
    [ "$stderr" = 'autotune: squares leaves wrong results in argument 1, short[1024]: element 16 is 0, and plain has 1 there; of 1024 elements 752 differ' ]
    # Of a thousand blocks 256 are explained, and all are compared.
    local pairs=(--arg 'float2[32000]' --arg 'float2[32000]=index')
    "${explain_it[@]}" --entry half_done --grid 1000 --block 32 "${pairs[@]}" --check whole
    [ "$status" -eq 1 ]
    [[ $stderr == *' element 16000 is 0, 0, and whole has 16000, 16000 there; of 32000 elements 16000 differ' ]]
    # In a study, each kernel has its own launch.
    run --separate-stderr -0 "$AUTOTUNE" study turn.cu --gpu emu "${wide[@]:4}" --check plain \
        --entry plain --grid 4,2 --block 8,8
    run --separate-stderr -1 "$AUTOTUNE" study turn.cu --gpu emu "${wide[@]:4}" --check plain \
        --entry squares --grid 2,1 --block 16,16 --entry plain --grid 4,2 --block 8,8
    [[ $stderr == *'squares leaves wrong results in argument 1'* ]]
    # Those that are wrong or do not run are left out.
    run --separate-stderr -1 "$AUTOTUNE" study turn.cu --gpu emu "${wide[@]}" --check plain
    has 'plain 2.00 100.0'
    [[ $output != *squares* && $output != *whole* ]]
    [[ $stderr == *'warning: squares is left out: squares leaves wrong results in argument 1'* ]]
    [[ $stderr == *'warning: whole is left out: turn.cu: whole('*') takes 2 arguments; --arg gives 4'* ]]
    [[ $stderr == *'3 of 4 kernels are left out' ]]
    refused 'how many blocks? --grid' study turn.cu --gpu emu
    # The same data as bytes.
    printf '\1\0\2\0' >right
    printf '\1\0\3\0' >other
    local two=(--entry plain --grid '2,1' --block '1,1' --arg 'short[2]' --arg 'short[2]=index+1' --arg int=2 --arg int=1)
    "${explain_it[@]}" "${two[@]}" --check 1@right
    [ "$status" -eq 0 ]
    "${explain_it[@]}" "${two[@]}" --check 1@other
    [ "$status" -eq 1 ]
    [[ $stderr == *'argument 1, short[2]: element 1 is 2, and other has 3 there; of 2 elements 1 differ' ]]
    refused 'argument 3 of plain is no buffer' explain turn.cu "${two[@]}" --check 3@right
    refused 'argument 9 of plain is no buffer' explain turn.cu "${two[@]}" --check 9@right
    refused 'the file has 4 bytes, and argument 1 has 2048' explain turn.cu --entry plain "${wide[@]}" --check 1@right
    refused 'has no kernel "nobody"' explain turn.cu "${two[@]}" --check nobody
    refused 'takes 2 arguments; --arg gives 4' explain turn.cu "${two[@]}" --check whole
    run --separate-stderr -2 "$AUTOTUNE" explain turn.cu "${two[@]}" --check 1@nowhere
    [[ $stderr == *'nowhere'* ]]
}

@test "a file includes what lies beside it, and nothing else unless told" {
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p inside/sub elsewhere
    echo 'seen' >secret.h
    echo '#define COUNT 3' >elsewhere/count.h
    echo '#include "../sub/more.h"' >inside/sub/near.h
    touch inside/sub/more.h
    mkfifo inside/pipe.h
    kernel='__global__ void k(int *x) { *x = 1; }'
    explain_it=("$AUTOTUNE" explain inside/my.cu --grid 1 --block 1 --arg 'int[1]')
    for include in '"%s"' '<%s>' '"../secret.h"' '"secret.h"' HEADER; do
        # shellcheck disable=SC2059 # the format has the file
        printf "#define HEADER \"%s\"\n#include $include\n$kernel\n" "$PWD/secret.h" "$PWD/secret.h" >inside/my.cu
        run --separate-stderr -1 "${explain_it[@]}"
        [[ $stderr == *'my.cu(2): '*'a file includes what lies in its own folder, in those of --include-dir'* ]]
        [[ $stderr$output != *seen* ]]
    done
    printf '#include "%s"\n' pipe.h >inside/my.cu
    run --separate-stderr -1 timeout 60 "${explain_it[@]}"
    [[ $stderr == *'my.cu(1): '*'pipe.h is not a regular file' ]]
    printf '%s\n' '#include "sub/near.h"' '#include <cuda_fp16.h>' '#include "count.h"' \
        '__global__ void k(int *x) { *x = COUNT; }' >inside/my.cu
    run --separate-stderr -1 "${explain_it[@]}"
    [[ $stderr == *'my.cu(3): '*'--include-dir'* ]]
    run --separate-stderr -0 "${explain_it[@]}" --include-dir inside --include-dir elsewhere
    run --separate-stderr -0 "$AUTOTUNE" study inside/my.cu --gpu emu --quiet --grid 1 --block 1 \
        --arg 'int[1]' --include-dir elsewhere
    refused 'are for a CUDA file' explain tile --include-dir elsewhere
    refused 'cannot open the folder nowhere: No such file' "${explain_it[@]:1}" --include-dir nowhere
}

@test "a file may have any name that the terminal can show" {
    is_long
    for name in 'a"b.cu' 'a\b.cu' "a'b.cu" 'a%s.cu' 'a b.cu' 'é.cu' '"é\.cu'; do
        mkdir -p "$BATS_TEST_TMPDIR/$name"
        cd "$BATS_TEST_TMPDIR/$name" || return 1
        printf '%s\n' '' '__global__ void k(int *x) { *x = 1; }' >"$name"
        run --separate-stderr -0 "$AUTOTUNE" explain "$name" --grid 1 --block 1 --arg 'int[1]'
        has "k of $name --grid 1"
        has "$name:2 store global"
        echo wrong >>"$name"
        run --separate-stderr -1 "$AUTOTUNE" explain "$name" --grid 1 --block 1 --arg 'int[1]'
        [[ $stderr == "autotune: $name(3): error: "* ]]
    done
}
