#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Without a usable GPU, a command that asks for one ends with a message and exit code 3. A command
# that leaves the choice to the program gets an emulated one (see emulated.bats).

bats_require_minimum_version 1.5.0

# If the machine has a driver, show this process no device.
setup() {
    hidden=${LD_LIBRARY_PATH-}
    export CUDA_VISIBLE_DEVICES=-1 LD_LIBRARY_PATH=${usual_library_path-}
}

no_device() {
    run --separate-stderr -3 "$AUTOTUNE" "$@"
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "autotune: no "* ]]
}

@test "list ends with exit code 3" {
    no_device list
    [[ $stderr == *'; autotune list --emulated lists '[1-9][0-9]' devices that need no GPU' ]]
    no_device list --format json
}

@test "tune ends with exit code 3, and leaves neither profile nor journal" {
    no_device tune --quiet --gpu 0
    no_device tune --gpu all --dry-run
    mkdir "$BATS_TEST_TMPDIR/out"
    no_device --gpu 0 --problem 64x64:f32 --out "$BATS_TEST_TMPDIR/out/best.yaml"
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/out")" ]
}

@test "bench ends with exit code 3" {
    no_device bench --gpu 0 --problem 64x64:f32
}

@test "explain --counters ends with exit code 3" {
    no_device explain tile --gpu 0 --counters
}

@test "by default the device is emulated, with a warning" {
    run --separate-stderr -0 "$AUTOTUNE" tune --quiet --dry-run
    [[ ${lines[0]} == 'NVIDIA H200' ]]
    [ "$stderr" = 'autotune: warning: no usable GPU: this is an emulated NVIDIA H200; all times are predicted, none is measured; nine of ten are within 27 %' ]
}

@test "the toolkit's stub in place of the driver is named, with the remedy" {
    stub=${CUDA_HOME:-/usr/local/cuda}/lib64/stubs/libcuda.so
    [ -e "$stub" ] || skip "no stub of the driver in $stub"
    ln -s "$stub" "$BATS_TEST_TMPDIR/libcuda.so.1"
    export LD_LIBRARY_PATH=$BATS_TEST_TMPDIR
    no_device list
    [[ $stderr == *"$BATS_TEST_TMPDIR/libcuda.so.1 reports CUDA error 34; it is the CUDA Toolkit's stub of the driver"*'take its folder out of LD_LIBRARY_PATH'* ]]
}

@test "a driver that cannot be loaded: the message says why" {
    [ -n "$hidden" ] || skip "not run by run-bats"
    LD_LIBRARY_PATH=$hidden run --separate-stderr -3 "$AUTOTUNE" list
    [ -z "$output" ]
    [[ $stderr == 'autotune: cannot load '*'/tests/no-driver/libcuda.so.1: file too short; '* ]]
}
