#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune export: what it writes goes through the compilers and build tools that it is for.

bats_require_minimum_version 1.5.0
load helpers

profile=$srcdir/tests/data/h200-profile.yaml

setup() {
    export XDG_DATA_HOME=$BATS_TEST_TMPDIR/data
    unset AUTOTUNE_PROFILE_PATH
    cd "$BATS_TEST_TMPDIR" || return
}

# need PROGRAM: skips the test if the program is missing.
need() {
    command -v "$1" >/dev/null || skip "no $1"
}

# Set $nvcc to the CUDA compiler, on the path or in its usual folder.
find_nvcc() {
    nvcc=$(command -v nvcc || true)
    [ -n "$nvcc" ] || nvcc=${CUDA_HOME:-/usr/local/cuda}/bin/nvcc
    [ -x "$nvcc" ] || skip "no nvcc"
}

# export_as FORMAT FILE [ARGUMENT...]: exports the test's profile to the file.
export_as() {
    local format=$1 file=$2
    shift 2
    run --separate-stderr -0 "$AUTOTUNE" export --as "$format" --out "$file" "$@" "$profile"
    [ -z "$output" ]
    ! grep -qvE '^(autotune: a guess: |$)' <<<"$stderr"
}

# write_program FILE: a program that looks problems up in out.h.
write_program() {
    cat >"$1" <<'END'
#include "out.h"
#include "out.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
    const struct autotune_tuned *tuned = autotune_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 0);

    if (!tuned || strcmp(tuned->family, "micro") != 0 || tuned->block[0] != 512 ||
        AUTOTUNE_R8192_C8192_B4_PARAM_SRC_BYTES != 256 ||
        AUTOTUNE_R8192_C8192_B4_LAUNCH_GRID_X != tuned->grid[0])
        return 1;
    if (autotune_tuned_find(4, 8192, 8192, 8192, 8193, 1, 0, 0, 0) ||
        autotune_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 1) ||
        !autotune_tuned_find(4, 64, 64, 64, 64, 4096, 4096, 4096, 0) ||
        autotune_tuned_find(4, 64, 64, 64, 64, 4096, 4096, 4097, 0))
        return 2;
    printf("%d %s %s\n", AUTOTUNE_TUNED_COUNT, AUTOTUNE_TUNED_DEVICE, tuned->launcher);
    return 0;
}
END
}

@test "what is written, and again the same bytes" {
    assert_transcript "$srcdir/tests/golden/export.txt"
    for format in header cu cu-header make cmake json; do
        export_as "$format" first
        export_as "$format" second
        cmp first second
    done
}

@test "T4 results have the measurements of winner and default alone" {
    export_as t4 out.json -p 8192x8192:f32 -p 8191x8192:f32
    [ "$(grep -c '"configuration"' out.json)" -eq 2 ]
    [ "$(grep -c '"problem": "8192x8192:f32"' out.json)" -eq 2 ]
    time_ns=$("$AUTOTUNE" lookup --format json --problem 8192x8192:f32 --device 'NVIDIA H200' \
        "$profile" | sed -n 's/.*"time_ns": \([0-9]*\).*/\1/p' | head -n 1)
    grep -q "\"value\": $(awk -v ns="$time_ns" 'BEGIN { print ns / 1e6 }')" out.json
    run --separate-stderr -4 "$AUTOTUNE" export --as t4 -p 8191x8192:f32 "$profile"
    [[ $stderr == *'none of these problems was measured on NVIDIA H200'* ]]
    # A predicted time is no result.
    run --separate-stderr -4 "$AUTOTUNE" export --as t4 "$srcdir/tests/golden/profile/emulated.yaml"
    [[ $stderr == *'none of these problems was measured'* ]]
}

@test "the header compiles as C99 and finds problems" {
    need cc
    export_as header out.h
    write_program main.c
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c -o main
    run -0 ./main
    [ "$output" = "50 NVIDIA H200 autotune_transpose_R8192_C8192_B4" ]
}

@test "the header compiles as C++ and finds problems" {
    need c++
    export_as header out.h
    write_program main.cc
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Wold-style-cast -Wzero-as-null-pointer-constant -Werror -c -x c++ out.h
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror main.cc -o main
    run -0 ./main
}

@test "a problem that is named twice is exported once" {
    export_as make once -p 8192x8192:f32
    export_as make twice -p 8192x8192:f32 -p 8192x8192:i32 -p 8192x8192:f32
    cmp once twice
}

@test "nvcc compiles the header" {
    is_long
    find_nvcc
    export_as header out.h
    write_program main.cu
    "$nvcc" -Werror all-warnings main.cu -o main
    run -0 ./main
}

@test "nvcc compiles the CUDA source" {
    find_nvcc
    export_as cu out.cu -p 8192x8192:f32 -p 8192x8192:i32 -p 1000x999:f16,batch=3
    [ "$(grep -c '^namespace autotune_kernel_' out.cu)" -eq 2 ]
    "$nvcc" -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c out.cu
    run -0 nm out.o
    [[ $output != *' T autotune_kernel'* ]]
    for name in autotune_transpose autotune_transpose_R8192_C8192_B4 \
        autotune_transpose_R1000_C999_B2_N3; do
        [[ $output == *" T $name"* ]]
    done
}

@test "kernels of a family share their text" {
    export_as cu out.cu
    [ "$(wc -c <out.cu)" -lt 200000 ] # of 50 problems
}

@test "several devices are in one file, and guesses say of which" {
    local problems=(-p 8192x8192:f32 -p '1000x1500:f32,inplace=1')
    for format in header cu make json; do
        run --separate-stderr -0 "$AUTOTUNE" export --as "$format" -d h200 -d a100 "${problems[@]}" --out out
        [[ $stderr == *'a guess: 8192x8192:f32 on NVIDIA A100-SXM4-80GB: tier '* ]]
        [[ $stderr != *'8192x8192:f32 on NVIDIA H200'* ]]
        cp out "of-$format"
        "$AUTOTUNE" export --quiet --as "$format" -d a100 -d h200 "${problems[@]}" --out out
        cmp out "of-$format" # whatever the order
    done
    grep -qx 'AUTOTUNE_ARCH := sm_80 sm_90' of-make
    grep -qx 'AUTOTUNE_PROBLEMS := R8192_C8192_B4_SM80 R8192_C8192_B4_SM90 R1000_C1500_B4_IP_SM80 R1000_C1500_B4_IP_SM90' \
        of-make
    grep -qx 'AUTOTUNE_R8192_C8192_B4_SM80_GUESS := 1' of-make
    grep -qx 'AUTOTUNE_R8192_C8192_B4_SM90_GUESS := 0' of-make
    grep -qx 'AUTOTUNE_R1000_C1500_B4_IP_SM90_LAUNCHES := 4' of-make
    [ "$(grep -c '"device": "NVIDIA' of-json)" -eq 4 ]
    run "$AUTOTUNE" export --quiet --as cubin -d h200 -d a100 "${problems[@]}" --out folder
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$(grep -o '"arch": "sm_[0-9]*"' folder/index.json | sort | uniq -c | tr -d '\n ')" = \
        '2"arch":"sm_80"2"arch":"sm_90"' ]
}

@test "in-place problems are exported beside out-of-place ones" {
    find_nvcc
    export_as header out.h -p 512x512:f32,inplace=1 -p 512x512:f32
    cat >main.c <<'END'
#include "out.h"

int main(void)
{
    const struct autotune_tuned *two = autotune_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 0);
    const struct autotune_tuned *one = autotune_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 1);

    return one && two && one->in_place && !two->in_place && AUTOTUNE_R512_C512_B4_IP_PARAM_TILE ? 0 : 1;
}
END
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c -o main
    ./main
    export_as cu out.cu -p 512x512:f32,inplace=1 -p 512x512:f32
    "$nvcc" -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c out.cu
    run -0 nm out.o
    [[ $output == *" T autotune_transpose_R512_C512_B4_IP"* ]]
    export_as make out.mk -p 512x512:f32,inplace=1
    grep -q '^AUTOTUNE_R512_C512_B4_IP_FAMILY := inplace$' out.mk
}

@test "two headers in one program" {
    need cc
    export_as header one.h --prefix one -p 512x512:f32
    export_as header two.h --prefix two -p 512x512:f32 -p 6x5x8x32:f16,perm=0213
    cat >main.c <<'END'
#include "one.h"
#include "two.h"

int main(void)
{
    const struct two_tuned *t = &two_tuned_entries[TWO_T6_5_8_32_B2_P0213_INDEX];

    return one_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 0) && two_tuned_find(4, 512, 512, 512, 512, 1, 0, 0, 0) &&
           two_tuned_named("6x5x8x32:f16,perm=0213") == t && !one_tuned_named("6x5x8x32:f16,perm=0213") &&
           !two_tuned_find(2, 0, 0, 0, 0, 0, 0, 0, 0) && ONE_TUNED_COUNT == 1 && TWO_TUNED_COUNT == 2 &&
           t->problem[0] == '6' && t->argument_count == 7 && t->word_counts[4] == 5 && t->words[4] == 240 ? 0 : 1;
}
END
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c -o main
    ./main
    # With one prefix, the second is not ignored without a word.
    export_as header two.h --prefix one -p 512x512:f32 -p 64x64:f32
    run ! cc -std=c99 -c main.c
    [[ $output == *'#error "two exports have the prefix one: give them different ones with --prefix"'* ]]
}

@test "two exports in one program and in two shared libraries" {
    is_long
    find_nvcc
    cp -r "$srcdir/tests/downstream/exports" .
    chmod -R u+w exports
    cd exports
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make AUTOTUNE="$AUTOTUNE" NVCC="$nvcc"
    run -0 ./program
    [ "$output" = "25 launches of two exports" ]
    run -0 ./program-shared
    [ "$output" = "25 launches of two exports" ]
    # No name but the launchers' is visible, with relocatable device code too.
    "$nvcc" -std=c++17 -arch=sm_90 -dc one.cu -o relocatable.o
    for object in one.o relocatable.o; do
        run -0 sh -c "nm '$object' | grep ' [TDBRG] ' | grep -v ' __fatbinwrap_'"
        [ "${#lines[@]}" -eq 7 ]
        [[ ${lines[0]} == *' T one_transpose' ]]
        [[ ${lines[1]} == *' T one_transpose_G4_T96_C64_P16_B4' ]]
        [[ ${lines[2]} == *' T one_transpose_G9_R0_64_C64_B2_BF16_E4M3_SCALE' ]]
        [[ ${lines[3]} == *' T one_transpose_R512_C512_B2_BF16_E4M3_SCALE' ]]
        [[ ${lines[4]} == *' T one_transpose_R512_C512_B4' ]]
        [[ ${lines[5]} == *' T one_transpose_R512_C512_B8_C64_C64_CONJ' ]]
        [[ ${lines[6]} == *' T one_transpose_T6_5_8_32_B2_P0213' ]]
    done
    # Both in one translation unit, and with the prototypes.
    printf '#include "%s"\n' one.cu two.cu one_launchers.h two_launchers.h two.cu >all.cu
    sed -i '$d' all.cu
    "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -c all.cu
}

@test "--prefix begins all names" {
    for format in header cu cu-header make cmake; do
        export_as "$format" out --prefix my_fft -p 512x512:f32 -p 6x5x8x32:f16,perm=0213
        # What stays: our name in the first line, macros and kernels that the file ends with, a line number.
        run -1 sh -c "sed -e '/Generated by autotune/d' -e '/as autotune spells it/d' out |
            grep -i autotune | grep -v 'AUTOTUNE_ENTRY\|AUTOTUNE_BODY_\|autotune_kernel_\|autotune_launchers.cu'"
    done
    refused 'the prefix "Fft" is not a name of' export --as make --prefix Fft -p 8x8:f32 "$profile"
    refused 'json has no names that --prefix would change' export --as json --prefix fft "$profile"
}

@test "a step has its number in every format" {
    local spec=512x500:bf16:e4m3,scale key=R512_C500_B2_BF16_E4M3_SCALE
    local words='0x200 0x1f4 0x1f4 0x200 0x1 0x3e800 0x3e800 0x0 0x3ff0000000000000'
    words+=' 0x0 0x0 0x0 0x0 0x0 0x0 0x0' # beta is 0
    words+=' 0x0 0x0 0x0 0x0 0x0 0x0 0x0' # no further outputs
    export_as make out -p "$spec" -p 512x500:f16
    grep -qx "AUTOTUNE_${key}_WORDS := $words" out
    grep -qx "AUTOTUNE_${key}_WORD_COUNTS := 1 1 1 1 1 1 1 16" out
    grep -qx "AUTOTUNE_${key}_TAKES_NUMBERS := 1" out
    grep -qx "AUTOTUNE_R512_C500_B2_TAKES_NUMBERS := 0" out
    grep -q "^AUTOTUNE_${key}_DEFINES := .*-DRESULT_SIZE=1 -DSTEP=[0-9]* -DSTEP_NUMBERS=1 " out
    export_as json out -p "$spec"
    grep -q "\"words\": \"$words\"" out
    grep -q '"takes_numbers": 1' out
    export_as header out -p 512x500:f16
    run ! grep 'struct autotune_numbers {' out
}

@test "more outputs are part of the key, and their addresses of the numbers" {
    export_as make out -p 512x500:bf16:e4m3,scale,both,amax=nan -p 512x500:f32,both
    grep -q '^AUTOTUNE_R512_C500_B2_BF16_E4M3_SCALE_BOTH_AMAX_NAN_E4M3_WORD_COUNTS := 1 1 1 1 1 1 1 16$' out
    grep -qx 'AUTOTUNE_R512_C500_B4_F32_F32_BOTH_F32_TAKES_NUMBERS := 1' out
}

@test "exports say how much scratch a kernel with sums needs" {
    local spec=512x500:bf16:e4m3,scale,amax,sums bytes
    export_as make out -p "$spec" -p 512x500:f16,amax -p 512x500:f16
    grep -qx 'AUTOTUNE_R512_C500_B2_F16_F16_AMAX_SCRATCH_BYTES := 8' out
    grep -qx 'AUTOTUNE_R512_C500_B2_SCRATCH_BYTES := 0' out
    bytes=$(sed -n 's/^AUTOTUNE_R512_C500_B2_BF16_E4M3_SCALE_AMAX_SUMS_SCRATCH_BYTES := //p' out)
    # At most that of tiles of 8x32, with a ticket each.
    ((bytes > 8 && bytes <= 8 + 64 * 16 * 33 * 4))
    export_as cu-header out -p "$spec"
    grep -qx " \* numbers->sums gets 2000 bytes, numbers->scratch has $bytes \*/" out
    export_as json out -p "$spec"
    grep -q "\"scratch_bytes\": $bytes" out
    export_as header out -p "$spec"
    grep -q ", 2, 1, 1, 0, {0LL, 0LL}, ${bytes}LL, 0, 0, 90, 1,\$" out
}

@test "exports say how many bytes of scales a kernel with blocks writes, and where" {
    local plain=512x500:bf16:e4m3,blocks=1x128 both=512x500:bf16:e4m3,both,blocks=1x32,scales=te-rceil,layout=swizzled
    local key=R512_C500_B2_BF16_E4M3_BOTH_BLOCKS_1_32_TE_RCEIL_SWIZZLED_E4M3
    export_as make out -p "$plain" -p "$both" -p 512x500:f16
    grep -qx "AUTOTUNE_R512_C500_B2_BF16_E4M3_BLOCKS_1_128_TE_PLAIN_SCALE_BYTES := 8000 0" out
    grep -qx "AUTOTUNE_${key}_SCALE_BYTES := 8192 8192" out # (512 x 16 and 512 x 16 places)
    grep -qx "AUTOTUNE_${key}_TAKES_NUMBERS := 1" out
    grep -qx "AUTOTUNE_R512_C500_B2_SCALE_BYTES := 0 0" out
    export_as cu-header out -p "$plain" -p "$both"
    grep -qx ' \* numbers->scales gets 8000 bytes \*/' out
    grep -qx ' \* numbers->scales gets 8192 bytes, numbers->kept_scales 8192 \*/' out
    export_as header out -p "$both"
    grep -q ', 2, 1, 1, 0, {8192LL, 8192LL}, 0LL, 0, 0, 90, 1,$' out
    export_as json out -p "$plain"
    tr -d ' \n' <out | grep -q '"scale_bytes":\[8000,0\]'
    run "$AUTOTUNE" export --as cubin --out folder -p "$plain" "$profile"
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$status" -eq 0 ]
    tr -d ' \n' <folder/index.json | grep -q '"scale_bytes":\[8000,0\]'
}

@test "channels are an argument before the numbers, and part of the key" {
    export_as make out -p 512x3:u8:f32,affine -p 512x3:u8:f32,affine=rows
    grep -q '^AUTOTUNE_R512_C3_B1_U8_F32_AFFINE_3_512_WORD_COUNTS := 1 1 1 1 1 1 1 7 16$' out
    grep -q '^AUTOTUNE_R512_C3_B1_U8_F32_AFFINE_512_1_DEFINES := .*-DSTEP_NUMBERS=2 ' out
}

@test "what exports say of steps compiles in C and C++" {
    need cc
    need c++
    for format in header cu-header; do
        export_as "$format" "$format.h" -p 512x500:bf16:e4m3,scale -p 64x64:f32:bf16
    done
    mkdir cuda
    printf 'typedef int cudaError_t;\ntypedef struct stream *cudaStream_t;\n' >cuda/cuda_runtime_api.h
    cat >main.c <<'END'
#include "header.h"
#include "cu-header.h"

cudaError_t scale(void *dst, const void *src, double by)
{
    const struct autotune_numbers numbers = {{0, {by, 0}}, {0, {0, 0}}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

    (void)&autotune_tuned_find;
    return autotune_tuned_entries[AUTOTUNE_R64_C64_B4_F32_BF16_INDEX].takes_numbers
               ? autotune_transpose_R64_C64_B4_F32_BF16(dst, src, 0)
               : autotune_transpose_R512_C500_B2_BF16_E4M3_SCALE(dst, src, &numbers, 0);
}
END
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -Icuda -c main.c
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Icuda -x c++ -c main.c
}

@test "a tensor has its arguments in every format" {
    local spec=2x3x4x1024:f32,perm=2103 key=T2_3_4_1024_B4_P2103
    local words='0x1 0x400 0x400 0x1 0x18 0x8000000000000002 0x20 0xaaaaaaab00000003 0x21'
    words+=' 0x3000 0x1000 0x400 0x400 0x800 0x1800'
    export_as make out -p "$spec"
    grep -qx "AUTOTUNE_${key}_WORDS := $words" out
    grep -qx "AUTOTUNE_${key}_WORD_COUNTS := 1 1 1 1 5 3 3" out
    grep -q "^AUTOTUNE_${key}_DEFINES := -DELEM_SIZE=4 -DAXES=3 " out
    export_as cmake out -p "$spec"
    grep -qx "set(AUTOTUNE_${key}_WORDS \"${words// /;}\")" out
    export_as json out -p "$spec"
    grep -q "\"words\": \"$words\"" out
    for format in header cu; do
        export_as "$format" out -p "$spec"
        grep -qF "/* $spec */ ${words// /, }," out
        grep -q '7, {1, 1, 1, 1, 5, 3, 3}},$' out
    done
    run "$AUTOTUNE" export --as cubin --out folder -p "$spec" "$profile"
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$status" -eq 0 ]
    grep -q "\"words\": \"$words\"" folder/index.json
}

@test "many matrices have their list or rows in every format" {
    local list=group=9,rows=0..64,cols=64:bf16:e4m3,scale rows=group=4,total=96,cols=64,pad=16:f32
    local words='0x0 0x0 0x0 0x8 0x4 0x40 0x40 0x10 0x80 0x0 0x0 0x0'
    export_as make out -p "$list" -p "$rows" -p 512x500:f16
    grep -qx 'AUTOTUNE_G9_R0_64_C64_B2_BF16_E4M3_SCALE_WORD_COUNTS := 3 16' out
    grep -qx 'AUTOTUNE_G9_R0_64_C64_B2_BF16_E4M3_SCALE_GROUPS := 1' out
    grep -q '^AUTOTUNE_G9_R0_64_C64_B2_BF16_E4M3_SCALE_DEFINES := .*-DGROUPED=1 ' out
    grep -qx "AUTOTUNE_G4_T96_C64_P16_B4_WORDS := $words" out
    grep -qx 'AUTOTUNE_G4_T96_C64_P16_B4_GROUPS := 2' out
    grep -qx 'AUTOTUNE_R512_C500_B2_GROUPS := 0' out
    export_as make out -p "$rows,affine" # its numbers end with how far those of a group are from the next
    grep -qx 'AUTOTUNE_G4_T96_C64_P16_B4_F32_F32_AFFINE_WORD_COUNTS := 12 17' out
    export_as make out -p "$rows,affine=rows"
    grep -q '^AUTOTUNE_G4_T96_C64_P16_B4_F32_F32_AFFINE_ROWS_DEFINES := .*-DSTEP_NUMBERS=3 ' out
    export_as json out -p "$rows"
    grep -q "\"words\": \"$words\"" out
    grep -q '"groups": 2' out
    export_as cu-header out -p 512x500:f16
    run ! grep autotune_matrix out
    for format in header cu-header; do
        export_as "$format" "$format.h" -p "$list" -p "$rows"
    done
    need cc
    need c++
    mkdir cuda
    printf 'typedef int cudaError_t;\ntypedef struct stream *cudaStream_t;\n' >cuda/cuda_runtime_api.h
    cat >main.c <<'END'
#include "header.h"
#include "cu-header.h"

cudaError_t both(const struct autotune_list *list, const struct autotune_numbers *numbers, void *dst, const void *src,
                 const struct autotune_rows *rows)
{
    return autotune_tuned_entries[AUTOTUNE_G9_R0_64_C64_B2_BF16_E4M3_SCALE_INDEX].groups == 1 &&
                   !autotune_tuned_find(4, 1, 64, 64, 1, 4, 64, 64, 0)
               ? autotune_transpose_G9_R0_64_C64_B2_BF16_E4M3_SCALE(list, numbers, 0)
               : autotune_transpose_G4_T96_C64_P16_B4(dst, src, rows, 0);
}
END
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -Icuda -c main.c
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Icuda -x c++ -c main.c
    run "$AUTOTUNE" export --as cubin --out folder -p "$rows" "$profile"
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$status" -eq 0 ]
    grep -q '"groups": 2' folder/index.json
}

# skew has one kernel for matrices of 65,536 rows and more, and one for others.
@test "a tall matrix is compiled as it was measured" {
    local spec options
    for spec in 65536x1619:b1 65535x1619:b1; do
        run -0 "$AUTOTUNE" export --as make --device 'NVIDIA H200' -p "$spec" \
            "$srcdir/results/nvidia-h200.yaml"
        [[ $output == *"_FAMILY := skew"* ]]
        options+=$(grep -o 'ELEM_SIZE=1 -D[A-Z_]*=[0-9]*' <<<"$output")$'\n'
    done
    [[ $options == 'ELEM_SIZE=1 -DTALL=1'*'ELEM_SIZE=1 -DSRC_BYTES='* ]]
}

@test "make includes the makefile" {
    export_as make out.mk
    cat >Makefile <<'END'
include out.mk
all:
	@echo $(AUTOTUNE_ARCH) $(words $(AUTOTUNE_PROBLEMS)) $(AUTOTUNE_R8192_C8192_B4_DEFINES) \
	    $(AUTOTUNE_R8192_C8192_B4_BLOCK)
END
    run -0 env -u MAKEFLAGS -u MAKELEVEL make -s # independent of the make that runs the tests
    [[ $output == "sm_90 50 -DELEM_SIZE=4 -DLOAD_BYTES=8 "*" 512 1 1" ]]
}

@test "cmake includes the CMake file" {
    need cmake
    export_as cmake out.cmake
    # shellcheck disable=SC2016 # CMake expands it
    echo 'include(out.cmake)
message("${AUTOTUNE_DEVICE}")
list(LENGTH AUTOTUNE_PROBLEMS count)
foreach(key IN LISTS AUTOTUNE_PROBLEMS)
    list(LENGTH AUTOTUNE_${key}_GRID extents)
    math(EXPR sum "${sum} + ${extents}")
endforeach()
list(GET AUTOTUNE_R8192_C8192_B4_DEFINES 0 1 defines)
message("${count} ${sum} ${defines} ${AUTOTUNE_R8192_C8192_B4_SHARED_BYTES}")' >test.cmake
    run -0 cmake -P test.cmake
    [ "${lines[0]}" = "NVIDIA H200" ]
    [ "${lines[1]}" = "50 150 -DELEM_SIZE=4;-DLOAD_BYTES=8 16384" ]
}

@test "cubins and their index are the same bytes each time" {
    run "$AUTOTUNE" export --as cubin --out first -p 8192x8192:f32 -p 64x64:b1 "$profile"
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$status" -eq 0 ]
    "$AUTOTUNE" export --as cubin --out second -p 8192x8192:f32 -p 64x64:b1 "$profile"
    diff -r first second
    image=$(sed -n 's/.*"image": "\(.*\)".*/\1/p' first/index.json | head -n 1)
    kernel=$(sed -n 's/.*"kernel": "\(.*\)".*/\1/p' first/index.json | head -n 1)
    grep -q "$kernel" "first/$image"
    [ "$(grep -c '"problem"' first/index.json)" -eq 2 ]
}

@test "a program in C loads cubins by a table" {
    need cc
    load ../examples
    find_cuda
    run "$AUTOTUNE" export --quiet --as cubin --out folder -d h200 -d a100 -p 1000x3000:f32
    [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
    [ "$status" -eq 0 ]
    cc -std=c11 -Wall -Wextra -Werror -Ifolder "-I$cuda_headers" "$srcdir/examples/cubin.c" \
        "$srcdir/tests/cli/cubin-driver.c" -o program
    run -0 ./program folder
    [ "${lines[2]}" = '0 of 3000000 elements are wrong' ]
    "$AUTOTUNE" export --quiet --as make -d h200 -p 1000x3000:f32 --out out.mk
    value() { sed -n "s/^AUTOTUNE_R1000_C3000_B4_$1 := //p" out.mk; }
    [ "${lines[1]}" = "grid $(value GRID) block $(value BLOCK) shared $(value SHARED_BYTES) words $(value WORDS)" ]
    rm folder/*.cubin
    run -3 ./program folder
    [[ $output == folder/*.cubin:* ]]
}

@test "with --any-address there is a kernel for addresses that are less aligned" {
    need cc
    export_as header one.h --prefix one -p 8192x8192:f32 --strict
    export_as header two.h --prefix two -p 8192x8192:f32 -p 4096x4096:c128 --any-address --strict
    cat >main.c <<'END'
#include "one.h"
#include "two.h"

int main(void)
{
    const struct one_tuned *one = one_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 0);
    const struct two_tuned *two = two_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 0);

    return one_tuned_choose(one, 90, 16, 32) == one && !one_tuned_choose(one, 90, 16, 4) &&
           two_tuned_choose(two, 90, 16, 32) == two && two_tuned_choose(two, 90, 16, 4) == two + 1 &&
           two_tuned_choose(two, 90, 4, 32) == two + 1 && !two_tuned_choose(two, 90, 2, 32) &&
           TWO_R8192_C8192_B4_ANY_LAUNCH_GRID_X == two[1].grid[0] && TWO_TUNED_COUNT == 3 ? 0 : 1;
}
END
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror main.c -o main
    ./main
    find_nvcc
    export_as cu out.cu -p 8192x8192:f32 --any-address
    grep -q ', 4, 0, 90, 2, {16, 16}, {0, 0}, kernels + 0,' out.cu
    grep -q ', 4, 0, 90, 1, {4, 4}, {0, 0}, kernels + 1,' out.cu
    "$nvcc" -std=c++17 -arch=sm_90 -Werror all-warnings -c out.cu
}

@test "cubins: new folders and files have the permissions that the umask allows" {
    local mask
    for mask in 022 077 027; do
        run sh -c 'umask "$1" && shift && exec "$@"' sh "$mask" \
            "$AUTOTUNE" export --as cubin --out "$mask/a/b" -p 64x64:b1 "$profile"
        [[ $output != *"no NVRTC"* ]] || skip "no NVRTC"
        [ "$status" -eq 0 ]
        [ "$(stat -c %a "$mask" "$mask/a" "$mask/a/b" | sort -u)" = "$(printf %o $((0777 & ~mask)))" ]
        [ "$(stat -c %a "$mask"/a/b/* | sort -u)" = "$(printf %o $((0666 & ~mask)))" ]
    done
}

@test "a preferred carveout is exported" {
    sed -e "/problem: '4096x4096:c128'/,/UNROLL/s/CARVEOUT: -1/CARVEOUT: 50/" \
        -e "/problem: '4096x4096:c128'/,/UNROLL/s/DYNAMIC: 0/DYNAMIC: 1/" "$profile" >preferred.yaml
    "$AUTOTUNE" export --as make -p 4096x4096:c128 preferred.yaml >out.mk
    grep -q '^AUTOTUNE_R4096_C4096_B16_CARVEOUT := 50$' out.mk
    "$AUTOTUNE" export --as header -p 4096x4096:c128 preferred.yaml >out.h
    grep -q ', 50, "autotune_transpose_R4096_C4096_B16"' out.h
    "$AUTOTUNE" lookup -d h200 -p 4096x4096:c128 -f json preferred.yaml >out.json
    grep -q '"carveout_percent": 50' out.json
}

@test "untuned problems are looked up for the named device" {
    run --separate-stderr -0 "$AUTOTUNE" export --as json -d h200 -p 6000x6001:f32
    [[ $output == *'"problem": "6000x6001:f32"'*'"tier": "shape"'* ]]
    sed 's/multiprocessors: 132/multiprocessors: 100/' "$profile" >other.yaml
    run --separate-stderr -4 "$AUTOTUNE" export --as make -d h200 other.yaml
    [[ $stderr == *"name problems with --problem"* ]]
    run --separate-stderr -0 "$AUTOTUNE" export --as make -d h200 -p 64x64:f32 other.yaml
    refused "has several devices" export --as make "$srcdir/tests/golden/profile/two-devices.yaml"
}

@test "text from a profile cannot become code in an export" {
    # shellcheck disable=SC2016 # not to be expanded is the point
    hostile='x */ "); ${x} $(shell touch made) #\\ ??/ '
    sed "s|name: NVIDIA H200|name: '$hostile'|" "$profile" >hostile.yaml
    for format in header cu make cmake; do
        run --separate-stderr -0 "$AUTOTUNE" export --as "$format" -p 8192x8192:f32 hostile.yaml
        # shellcheck disable=SC2016
        for part in 'x */' '"); $' '${x}' '$(shell' '??/'; do
            [[ $output != *"$part"* ]]
        done
        [[ $output == *"x __ _)_"* ]]
    done
    "$AUTOTUNE" export --as make -p 8192x8192:f32 hostile.yaml >Makefile
    echo 'all: ; @:' >>Makefile
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s
    [ ! -e made ]
    run --separate-stderr -0 "$AUTOTUNE" export --as json -p 8192x8192:f32 hostile.yaml
}

@test "a file is replaced whole, and stays if the export fails" {
    echo old >out.h
    run -2 "$AUTOTUNE" export --as header --out out.h none.yaml
    [ "$(<out.h)" = old ]
    export_as header out.h
    [ "$(<out.h)" != old ]
    refused "cannot" export --as header --out /nonexistent/out.h "$profile"
}

# Comments begin otherwise in each format.
@test "guesses are told, in the file too, and --strict refuses them" {
    exact=8192x8192:f32
    local -A why=(
        [8191x8192:f32]='tier 2 of 6, shape, from 9973x8191:f16, predicted'
        [6x5x8x32:f16,perm=0213]='tier * of 6, *'
    )
    for format in header cu make cmake; do
        run --separate-stderr -0 "$AUTOTUNE" export --as "$format" --strict -p "$exact" "$profile"
        [[ -z $stderr && $output != *'Guesses, not'* ]]
        for spec in "${!why[@]}"; do
            run --separate-stderr -0 "$AUTOTUNE" export --as "$format" -p "$exact" -p "$spec" "$profile"
            # shellcheck disable=SC2053 # patterns
            [[ $stderr == "autotune: a guess: $spec: "${why[$spec]} ]]
            [ "$(grep -cF "  ${stderr#*guess: }" <<<"$output")" -eq 1 ]
            [[ $output == *'Guesses, not measured for their problem on this device:'* ]]
            run --separate-stderr -1 "$AUTOTUNE" export --as "$format" --strict -p "$exact" -p "$spec" "$profile"
            [[ -z $output && $stderr == *'1 of 2 kernels is guessed, which --strict refuses'* ]]
        done
    done
    sed 's/kind: cuda/kind: emulated/' "$profile" >emulated.yaml
    run --separate-stderr -0 "$AUTOTUNE" export --as make -p "$exact" emulated.yaml
    [[ $stderr == "autotune: a guess: $exact: tier 1 of 6, exact, predicted" ]]
}

@test "bad input" {
    refused "schema is" export --as header "$refused_profiles/version.yaml"
    refused "none.yaml" export --as header none.yaml
    refused "name a format with --as" export "$profile"
    refused 'unknown format "xml" (did you mean cu, t4, make?); known are header, cu' export --as xml "$profile"
    refused "t4 is about one device" export --as t4 -d h200 -d a100 -p 8x8:f32
    refused "have one compute capability, by which programs choose" export --as cu -d h200 -d h100 -p 8x8:f32
    refused "--device names h200 and a100: this takes one device" lookup -d h200 -d a100 -p 8x8:f32
    refused "several files" export --as cubin "$profile"
    refused "name problems, or the profile whose tuned problems" export --as make --device h200
    refused "one profile at a time" export --as make a.yaml b.yaml
}
