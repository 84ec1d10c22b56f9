#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The bindings over the library of this build tree, with a driver that transposes in host memory (tests/bindings).
# Python's are tested in python.bats.

bats_require_minimum_version 1.5.0
load ../examples

setup() {
    ! grep -q __asan_init "$AUTOTUNE" || skip "a program without AddressSanitizer cannot load a library with it"
    cd "$BATS_TEST_TMPDIR" || return
    find_cuda
    use_library
    export LD_LIBRARY_PATH=$PWD:$LD_LIBRARY_PATH
    # Its own dlopen is for programs that contain it.
    cc -O1 -shared -fPIC -Wl,-soname,libcuda.so.1 -Ddlopen=unused_dlopen -o libcuda.so.1 \
        "$srcdir/tests/bindings/driver.c" -ldl
}

# needs PROGRAM...
needs() {
    local program
    for program; do
        command -v "$program" >/dev/null || skip "no $program"
    done
}

# says_ok COMMAND...: it succeeds, and its last line is "ok".
says_ok() {
    run "$@"
    echo "$output"
    [ "$status" -eq 0 ] && [ "${lines[-1]}" = ok ]
}

# check_cpp COMPILER STANDARD...: the header has no warnings, and its tests pass.
check_cpp() {
    local compiler=$1 standard
    shift
    needs "$compiler"
    for standard; do
        "$compiler" "-std=$standard" -O1 -Wall -Wextra -Wpedantic -Wconversion -Wold-style-cast -Wshadow -Werror \
            "-I$srcdir/src/lib" "-I$srcdir/bindings/cpp" "$srcdir/tests/bindings/test.cc" -o "test-$standard" \
            libcuda.so.1 "-L$build/.libs" -lautotune
        says_ok "./test-$standard"
    done
}

@test "C++: the header with g++, as C++17 and C++20" {
    check_cpp g++ c++17 c++20
}

@test "C++: the header with clang++, as C++17 and C++20" {
    check_cpp clang++ c++17 c++20
}

@test "constants, structs and functions in other languages are those of autotune.h" {
    needs python3
    "$srcdir/build-aux/make-bindings" --check
}

# check_layout COMMAND...: it prints the structs as C has them.
check_layout() {
    cc "-I$srcdir/src/lib" "$srcdir/tests/bindings/layout.c" -o layout-c
    diff <(./layout-c) <("$@")
}

# build_fortran FILE: as the file's name without its end. The modules have no warnings.
build_fortran() {
    local name=${1##*/}
    needs gfortran
    gfortran -std=f2018 -O1 -Wall -Wextra -Werror -c "$srcdir"/bindings/fortran/autotune{_c,_problems,}.f90
    gfortran -std=f2018 -O1 "$1" autotune{_c,_problems,}.o -o "${name%.f90}" libcuda.so.1 "-L$build/.libs" -lautotune
}

@test "Fortran: structs are those of C" {
    build_fortran "$srcdir/tests/bindings/layout.f90"
    check_layout ./layout
}

@test "Fortran: objects, and arrays that are column-major" {
    build_fortran "$srcdir/tests/bindings/test.f90"
    says_ok ./test
}

@test "Fortran: the example" {
    build_fortran "$srcdir/examples/transpose.f90"
    run -0 ./transpose
    [ "$output" = '0 of 3000000 elements are wrong' ]
}

# cargo_offline ARGUMENT...: in a copy of the crate, with the driver before all libraries.
cargo_offline() {
    needs cargo
    cp -r "$srcdir/bindings/rust" rust
    chmod -R u+w rust
    ln -s libcuda.so.1 libcuda.so
    cd rust || return
    AUTOTUNE_LIB_DIR=$build/.libs RUSTFLAGS="-D warnings -L $BATS_TEST_TMPDIR" AUTOTUNE_TEST_DRIVER=libcuda.so.1 \
        CARGO_TARGET_DIR=$BATS_TEST_TMPDIR/target \
        CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='env LD_PRELOAD=libcuda.so.1' cargo "$1" --offline "${@:2}"
}

@test "Rust: the crate's tests, and structs are those of C" {
    needs cargo
    cc "-I$srcdir/src/lib" "$srcdir/tests/bindings/layout.c" -o layout-c
    ./layout-c >layout
    AUTOTUNE_TEST_LAYOUT=$PWD/layout run cargo_offline test
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *'test structs_are_those_of_c ... ok'*'test plans ... ok'* ]]
}

@test "Rust: the example" {
    needs cargo
    run cargo_offline run --quiet --example transpose --features cuda
    [ "${lines[-1]}" = '0 of 3000000 elements are wrong' ]
}

@test "Julia: the package's tests, and structs are those of C" {
    needs julia
    cp -r "$srcdir/bindings/julia" julia
    cc "-I$srcdir/src/lib" "$srcdir/tests/bindings/layout.c" -o layout-c
    ./layout-c >layout
    AUTOTUNE_LIBRARY=$build/.libs/libautotune.so.0 AUTOTUNE_TEST_LAYOUT=$PWD/layout AUTOTUNE_TEST_DRIVER=libcuda.so.1 \
        JULIA_DEPOT_PATH=$PWD/depot LD_PRELOAD=libcuda.so.1 run julia --threads=2 --project=julia julia/test/runtests.jl
    echo "$output"
    [ "$status" -eq 0 ]
}
