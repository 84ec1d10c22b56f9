#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The built program: how it is hardened, and which clocks it can read.

bats_require_minimum_version 1.5.0

build=$(dirname "$AUTOTUNE")
libraries=("$build"/libautotune_internal.a "$build"/.libs/libautotune_common.a)

setup() {
    command -v readelf >/dev/null || skip "no readelf"
    readelf --wide --dyn-syms "$AUTOTUNE" >"$BATS_TEST_TMPDIR/symbols"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "the program is position-independent, with RELRO and no executable stack" {
    readelf --wide --file-header "$AUTOTUNE" | grep -q 'Type: *DYN'
    readelf --wide --segments "$AUTOTUNE" >segments
    grep -q GNU_RELRO segments
    grep GNU_STACK segments | grep -q 'RW  *0x'
    run ! grep -q RWE segments
    readelf --wide --dynamic "$AUTOTUNE" >dynamic
    grep -q 'NOW' dynamic
    run ! grep -qE "RPATH|RUNPATH|TEXTREL" dynamic
}

# made_with NAME: the value of a variable of the Makefile.
made_with() {
    sed -n "s/^$1 = //p" "$build/Makefile"
}

# Whether the compiler is told to optimise; without that, _FORTIFY_SOURCE does nothing.
optimised() {
    # shellcheck disable=SC2046 # words of a command line
    $(made_with CC) $(made_with CFLAGS) -dM -E -x c /dev/null | grep -q __OPTIMIZE__
}

@test "overflows of the stack and of buffers are detected" {
    grep -q ' __stack_chk_fail' symbols
    grep -q ' __asan_init' symbols && skip "AddressSanitizer replaces _FORTIFY_SOURCE"
    grep -q ' __ubsan_handle' symbols && skip "built for a sanitiser"
    optimised || skip "built without optimisation"
    grep -q ' __vsnprintf_chk' symbols
    grep -q ' __memcpy_chk\| __fprintf_chk' symbols
}

@test "no clock that can be set is read" {
    [ -f "${libraries[0]}" ] || skip "not in a build folder"
    nm "${libraries[@]}" >symbols
    run ! grep -E ' U (time|gettimeofday|ftime|timespec_get|strftime|localtime.*)$' symbols
    # Only the monotonic clock is read, and only in one file.
    grep -rnowE 'CLOCK_[A-Z]+' "$srcdir/src" >clocks
    run ! grep -v CLOCK_MONOTONIC clocks
    [ "$(grep -rlE 'clock_gettime\(' "$srcdir/src")" = "$srcdir/src/base/clock.h" ]
}
