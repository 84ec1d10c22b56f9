#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune cache: what it shows and removes. tests/unit/test_cubin_cache.c tests which files count
# as cached kernels.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export XDG_CACHE_HOME=$PWD
}

@test "an empty cache is shown, and its folder is private" {
    run -0 "$AUTOTUNE" cache
    [ "${lines[0]}" = "$PWD/autotune" ]
    [ "${lines[1]}" = '  0 kernels in 0 programs, 0.0 MiB of at most 1024 MiB' ]
    [ "$(stat -c %a autotune)" = 700 ]
}

@test "entries are counted and removed, and other files are not" {
    "$AUTOTUNE" cache
    head -c 1048576 /dev/zero >autotune/a.program
    touch autotune/{b,c}.kernel autotune/c.kernel.1.aside autotune/GPU-1.lock autotune/mine
    run -0 "$AUTOTUNE" cache
    [ "${lines[1]}" = '  2 kernels in 1 programs, 1.0 MiB of at most 1024 MiB' ]
    run -0 "$AUTOTUNE" cache --clear
    [[ ${lines[1]} == '  0 kernels in 0 programs, 0.0 MiB '* ]]
    [ "$(cd autotune && echo *)" = 'GPU-1.lock mine' ]
}

@test "an entry that cannot be removed is named; the others are removed" {
    "$AUTOTUNE" cache
    mkdir -p autotune/{b,d}.kernel/full
    touch autotune/{a,c,e}.kernel autotune/{f,g}.program
    refused "2 files were not removed: cannot remove $PWD/autotune/" cache --clear
    [ "$(cd autotune && echo *)" = 'b.kernel d.kernel' ]
    rmdir -p autotune/b.kernel/full 2>/dev/null || true
    refused "autotune: cannot remove $PWD/autotune/d.kernel: " cache --clear
}

@test "a cache folder that other users can write is refused" {
    mkdir -m 777 autotune
    refused 'autotune belongs to, or can be written by, another user' cache
    rmdir autotune
    mkdir -m 777 elsewhere
    ln -s elsewhere autotune
    refused 'autotune belongs to, or can be written by, another user' cache
    XDG_CACHE_HOME=/proc/none refused 'cannot make /proc/none' cache
}

@test "an argument is refused" {
    refused 'only --fill takes a profile' cache all
}

@test "--format prints the same figures for programs" {
    "$AUTOTUNE" cache
    head -c 1048576 /dev/zero >autotune/a.program
    touch autotune/{b,c}.kernel
    run --separate-stderr -0 "$AUTOTUNE" cache --format csv
    [ "$output" = $'folder,kernels,programs,bytes,at most\n'"$PWD/autotune,2,1,1048576,1073741824" ]
    run --separate-stderr -0 "$AUTOTUNE" cache -f markdown
    [[ ${lines[2]} == '| '*' | 2 | 1 | 1048576 | 1073741824 |' ]]
    run --separate-stderr -0 "$AUTOTUNE" cache -f json
    [[ $output == *'"kernels": 2'*'"programs": 1'* ]]
    refused 'known are table' cache --format=xml
}

@test "--fill compiles for a GPU that is not there, and a run on it finds the kernels" {
    find_nvrtc
    need_nvrtc
    rm -r autotune # with what was compiled to find it
    driver
    problems=(64x64:f32 64x64:f16 1000x1000:b1)
    run --separate-stderr -0 "$AUTOTUNE" cache --fill --device h200 "${problems[@]}"
    [ "$stderr" = 'autotune: compiled 3 kernels for NVIDIA H200; 0 were there' ]
    [ "${lines[0]}" = "$PWD/autotune" ]
    [[ ${lines[1]} == '  3 kernels in '[1-3]' programs, '* ]]
    run --separate-stderr -0 "$AUTOTUNE" cache --fill --gpu 0 "${problems[@]}" 8x8:f32
    [[ $stderr == *'autotune: compiled 1 kernel for NVIDIA H200; 3 were there' ]]
    run --separate-stderr -0 "$AUTOTUNE" cache --fill --quiet --gpu emu:h100 64x64:f32 # PTX is kept apart
    [[ ${lines[1]} == '  5 kernels in '* ]]
}

@test "--fill takes the problems of a profile, and refuses what makes no sense" {
    refused 'which kernels? Name a profile, or problems' cache --fill --device h200
    refused 'only --fill takes a profile' cache best.yaml
    refused 'only --fill takes' cache --device h200
    refused '--fill and --clear do not go together' cache --fill --clear best.yaml
    run --separate-stderr -4 "$AUTOTUNE" cache --fill --device a100 "$srcdir/results/nvidia-h200.yaml"
    [[ $stderr == *'no profile here is for NVIDIA A100'* ]]
}
