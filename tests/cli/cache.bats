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
    [ "${lines[1]}" = '  kernels   0 in 0 programs' ]
    [ "${lines[2]}" = '  size      0.0 MiB, of at most 1024 MiB' ]
    [ "$(stat -c %a autotune)" = 700 ]
}

@test "entries are counted and removed, and other files are not" {
    "$AUTOTUNE" cache
    head -c 1048576 /dev/zero >autotune/a.program
    touch autotune/{b,c}.kernel autotune/c.kernel.1.aside autotune/GPU-1.lock autotune/mine
    run -0 "$AUTOTUNE" cache
    [ "${lines[1]}" = '  kernels   2 in 1 programs' ]
    [[ ${lines[2]} == '  size      1.0 MiB,'* ]]
    run -0 "$AUTOTUNE" cache --clear
    [ "${lines[1]}" = '  kernels   0 in 0 programs' ]
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
    refused 'unexpected argument "all"' cache all
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
