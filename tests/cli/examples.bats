#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The examples build without warnings, and without a GPU they end with a message. On a GPU,
# tests/gpu/plan.bats runs them.

bats_require_minimum_version 1.5.0
load ../examples

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    find_cuda
    use_library
    export CUDA_VISIBLE_DEVICES= # the same result on a machine with a GPU
}

# ends_with_message COMMAND...: the command ends with a message and exit code 3, without a crash.
ends_with_message() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "a program without AddressSanitizer cannot load a library with it"
    fi
    run --separate-stderr -3 "$@"
    [ -n "$stderr" ]
    [ -z "$output" ]
}

@test "the C example, with the driver API, builds and ends with a message" {
    build_driver
    # The toolkit's stub of the driver fails every call. It needs the driver's file name.
    ln -s "$cuda_home/lib64/stubs/libcuda.so" libcuda.so.1
    LD_LIBRARY_PATH=$PWD:$LD_LIBRARY_PATH ends_with_message ./example
}

@test "the C++ example, with the runtime API, builds and ends with a message" {
    build_runtime
    ends_with_message ./example
}

@test "the Python example names functions and fields that the library has" {
    command -v python3 >/dev/null || skip "no python3"
    # Compare its source with the library's header; that needs no PyTorch.
    cat >check.py <<'END'
import ast
import ctypes
import re
import sys

with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], encoding="utf-8") as header:
    code, prototypes = ast.parse(source.read()), header.read()
words = {node.value for node in ast.walk(code) if isinstance(node, ast.Constant)
         and isinstance(node.value, str) and node.value.startswith("autotune_")}
structs = {"autotune_problem": "Problem", "autotune_tensor": "Tensor"}
functions = {word for word in words if " " not in word and word.isidentifier()} - set(structs)
assert len(functions) == 4, functions
known = {"ctypes": ctypes, "RANK_MAX": int(re.search(r"AUTOTUNE_RANK_MAX (\d+)", prototypes)[1])}
classes = [node for node in code.body if isinstance(node, ast.ClassDef) and node.name in structs.values()]
exec(compile(ast.Module(classes, []), "tensors.py", "exec"), known)
for struct, name in structs.items():
    members = re.search(r"struct %s {(.*?)}" % struct, prototypes, re.S)[1]
    members = re.findall(r"(\w+)(?:\[\w+\])?[,;]", re.sub(r"/\*.*?\*/", "", members, flags=re.S))
    fields = [field[0] for field in known[name]._fields_]
    assert fields == members, (fields, members)
assert all(f"{name}(" in prototypes for name in functions), functions
END
    python3 check.py "$srcdir/examples/tensors.py" \
        "$srcdir/src/lib/autotune.h"
}
