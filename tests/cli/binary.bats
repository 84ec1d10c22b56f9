#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The program as it was built: what hardens it, and which clocks it can ask.

bats_require_minimum_version 1.5.0

build=$(dirname "$AUTOTUNE")
library=$build/libautotune_internal.a

setup() {
    command -v readelf >/dev/null || skip "no readelf"
    readelf --wide --dyn-syms "$AUTOTUNE" >"$BATS_TEST_TMPDIR/symbols"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "position-independent, its tables read-only, its stack not executable" {
    readelf --wide --file-header "$AUTOTUNE" | grep -q 'Type: *DYN'
    readelf --wide --segments "$AUTOTUNE" >segments
    grep -q GNU_RELRO segments
    grep GNU_STACK segments | grep -q 'RW  *0x'
    run ! grep -q RWE segments
    readelf --wide --dynamic "$AUTOTUNE" >dynamic
    grep -q 'NOW' dynamic
    run ! grep -qE "RPATH|RUNPATH|TEXTREL" dynamic
}

# made_with NAME: its value in the Makefile.
made_with() {
    sed -n "s/^$1 = //p" "$build/Makefile"
}

# Does the compiler optimise as it is called? Without, _FORTIFY_SOURCE does nothing.
optimised() {
    # shellcheck disable=SC2046 # words of a command line
    $(made_with CC) $(made_with CFLAGS) -dM -E -x c /dev/null | grep -q __OPTIMIZE__
}

@test "overflows of the stack and of buffers are noticed" {
    grep -q ' __stack_chk_fail' symbols
    grep -q ' __asan_init' symbols && skip "AddressSanitizer stands in for _FORTIFY_SOURCE"
    grep -q ' __ubsan_handle' symbols && skip "built for a sanitiser"
    optimised || skip "built without optimisation"
    grep -q ' __vsnprintf_chk' symbols
    grep -q ' __memcpy_chk\| __fprintf_chk' symbols
}

@test "no clock that can be set is asked" {
    [ -f "$library" ] || skip "not in a build folder"
    nm "$library" >symbols
    run ! grep -E ' U (time|gettimeofday|ftime|timespec_get|strftime|localtime.*|gmtime.*)$' symbols
    # What asks a clock asks the monotonic one.
    grep -rnowE 'CLOCK_[A-Z]+' "$srcdir/src" >clocks
    run ! grep -v CLOCK_MONOTONIC clocks
    [ "$(grep -rlE 'clock_gettime\(' "$srcdir/src")" = "$srcdir/src/base/clock.h" ]
}
