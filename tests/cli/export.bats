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
    [ -z "$output$stderr" ]
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
    for format in header cu make cmake json; do
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
    c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror main.cc -o main
    run -0 ./main
}

@test "nvcc compiles the header" {
    find_nvcc
    export_as header out.h
    write_program main.cu
    "$nvcc" -Werror all-warnings main.cu -o main
    run -0 ./main
}

@test "nvcc compiles the CUDA source" {
    find_nvcc
    export_as cu out.cu -p 8192x8192:f32 -p 8192x8192:i32 -p 1000x999:f16,batch=3
    [ "$(grep -c '^namespace autotune_kernel' out.cu)" -eq 2 ]
    "$nvcc" -std=c++17 -arch=sm_90 -Xcompiler -Wall,-Wextra -Werror all-warnings -c out.cu
    run -0 nm out.o
    for name in autotune_transpose autotune_transpose_R8192_C8192_B4 \
        autotune_transpose_R1000_C999_B2_N3; do
        [[ $output == *" T $name"* ]]
    done
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
message("${AUTOTUNE_DEVICE}; ${AUTOTUNE_R8192_C8192_B4_GRID}")' >test.cmake
    run -0 cmake -P test.cmake
    [ "$output" = "NVIDIA H200; 16384 1 1" ]
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
        run --separate-stderr -0 "$AUTOTUNE" export --as "$format" -p 64x64:f32 hostile.yaml
        # shellcheck disable=SC2016
        for part in 'x */' '"); $' '${x}' '$(shell' '??/'; do
            [[ $output != *"$part"* ]]
        done
        [[ $output == *"x __ _)_"* ]]
    done
    "$AUTOTUNE" export --as make -p 64x64:f32 hostile.yaml >Makefile
    echo 'all: ; @:' >>Makefile
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s
    [ ! -e made ]
    run --separate-stderr -0 "$AUTOTUNE" export --as json -p 64x64:f32 hostile.yaml
}

@test "a file is replaced whole, and stays if the export fails" {
    echo old >out.h
    run -2 "$AUTOTUNE" export --as header --out out.h none.yaml
    [ "$(<out.h)" = old ]
    export_as header out.h
    [ "$(<out.h)" != old ]
    refused "cannot" export --as header --out /nonexistent/out.h "$profile"
}

@test "bad input" {
    refused "schema is" export --as header "$refused_profiles/version.yaml"
    refused "none.yaml" export --as header none.yaml
    refused "name a format with --as" export "$profile"
    refused 'unknown format "xml"; known are header, cu' export --as xml "$profile"
    refused "several files" export --as cubin "$profile"
    refused "named twice" export --as make -p 8x8:f32 -p 8x8:f32,batch=1 "$profile"
    refused "one profile at a time" export --as make a.yaml b.yaml
}
