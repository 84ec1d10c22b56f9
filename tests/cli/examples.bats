#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The examples build cleanly, and say what is missing where there is no GPU. tests/gpu/plan.bats runs
# them where there is one.

bats_require_minimum_version 1.5.0
load ../examples

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    find_cuda
    use_library
    export CUDA_VISIBLE_DEVICES= # with a GPU as without
}

# ends_with_message: no crash.
ends_with_message() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "a program without AddressSanitizer cannot load a library with it"
    fi
    run --separate-stderr -3 "$@"
    [ -n "$stderr" ]
    [ -z "$output" ]
}

@test "C, with the driver API" {
    build_driver
    # The toolkit's stand-in for the driver has another name than the driver, and fails every call.
    ln -s "$cuda_home/lib64/stubs/libcuda.so" libcuda.so.1
    LD_LIBRARY_PATH=$PWD:$LD_LIBRARY_PATH ends_with_message ./example
}

@test "C++, with the runtime API" {
    build_runtime
    ends_with_message ./example
}

@test "Python" {
    command -v python3 >/dev/null || skip "no python3"
    # What it says of the library is true, which needs no PyTorch to be seen.
    cat >check.py <<'END'
import ast
import re
import sys

with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], encoding="utf-8") as header:
    code, prototypes = ast.parse(source.read()), header.read()
words = {node.value for node in ast.walk(code) if isinstance(node, ast.Constant)
         and isinstance(node.value, str) and node.value.startswith("autotune_")}
functions = {word for word in words if " " not in word and word.isidentifier()} - {"autotune_problem"}
assert len(functions) == 3, functions
members = re.search(r"struct autotune_problem {(.*?)}", prototypes, re.S)[1]
members = re.findall(r"(\w+)[,;]", re.sub(r"/\*.*?\*/", "", members, flags=re.S))
fields = next(ast.literal_eval(node.value.generators[0].iter) for node in ast.walk(code)
              if isinstance(node, ast.Assign) and node.targets[0].id == "_fields_")
assert list(fields) == members, (fields, members)
assert all(f"{name}(" in prototypes for name in functions), functions
END
    python3 check.py "$srcdir/examples/tensors.py" \
        "$srcdir/src/lib/autotune.h"
}
