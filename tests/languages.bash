# SPDX-License-Identifier: Apache-2.0
# The programs that transpose lists of problems in one language each (tests/bindings), without and with a GPU.
# For files that load examples.bash.

languages=(C C++ Fortran Python Rust)

# has_tools LANGUAGE
has_tools() {
    local -A tool=([C]=cc [C++]=c++ [Fortran]=gfortran [Python]=python3 [Rust]=rustc)
    command -v "${tool[$1]}" >/dev/null
}

# build_device LIBCUDA: ./libdevice.so, the GPU's memory for all languages.
build_device() {
    cc -O1 -shared -fPIC -Wall -Wextra -Werror "-I$cuda_headers" "$srcdir/tests/bindings/device.c" -o libdevice.so "$1"
}

# build_list LANGUAGE LIBCUDA: ./list-LANGUAGE, which takes a list.
build_list() {
    local bindings=$srcdir/bindings tests=$srcdir/tests/bindings
    local -a libraries=(libdevice.so "$2" "-L$build/.libs" -lautotune)
    local -a c_flags=(-O1 -Wall -Wextra -Werror "-I$srcdir/src/lib" "-I$bindings/cpp")
    case $1 in
    C)
        cc -std=c11 "${c_flags[@]}" "$tests/transpose_list.c" -o list-C "${libraries[@]}"
        ;;
    C++)
        c++ -std=c++17 "${c_flags[@]}" "$tests/transpose_list.cc" -o list-C++ "${libraries[@]}"
        ;;
    Fortran)
        gfortran -std=f2018 -O1 -Wall -Wextra -Werror -fcheck=bounds "$bindings"/fortran/autotune{_c,_problems,}.f90 \
            "$tests/transpose_list.f90" -o list-Fortran "${libraries[@]}"
        ;;
    Python)
        printf '#!/bin/sh\nexec python3 "%s" "$@"\n' "$tests/transpose_list.py" >list-Python
        chmod +x list-Python
        ;;
    Rust)
        rustc -O --edition 2021 --crate-type rlib --crate-name autotune "$bindings/rust/src/lib.rs" \
            -L "$build/.libs" -o libautotune.rlib
        rustc -O --edition 2021 -D warnings "$tests/transpose_list.rs" --extern autotune=libautotune.rlib \
            -L . -L "$build/.libs" -C "link-arg=$2" -o list-Rust
        ;;
    esac
}

# The programs find the library of this build tree, and ./libdevice.so.
use_list_libraries() {
    find_cuda
    use_library
    export LD_LIBRARY_PATH=$PWD:$LD_LIBRARY_PATH
    export AUTOTUNE_LIBRARY=$build/.libs/libautotune.so.0 DEVICE_LIBRARY=$PWD/libdevice.so
    export PYTHONPATH=$srcdir/python PYTHONDONTWRITEBYTECODE=1
}
