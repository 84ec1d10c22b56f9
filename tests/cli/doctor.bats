#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Broken machines: each command that meets the breakage names the cause and the remedy, and ends with the
# documented exit code.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LD_LIBRARY_PATH=${usual_library_path-} XDG_CACHE_HOME=$PWD/cache
    unset CUDA_VISIBLE_DEVICES AUTOTUNE_NVRTC AUTOTUNE_CUDA_INCLUDE
}

# driver OPTION...: make tests/cli/driver.c the machine's driver; the options set its macros.
driver() {
    local compiler
    compiler=$(command -v cc gcc clang | head -n 1)
    [ -n "$compiler" ] || skip "no C compiler"
    mkdir -p driver
    "$compiler" -shared -fPIC -w -pthread "$@" "$srcdir/tests/cli/driver.c" -o driver/libcuda.so.1
    : >driver/libnvidia-ml.so.1
    export LD_LIBRARY_PATH=$PWD/driver${usual_library_path:+:$usual_library_path}
}

# says STATUS WORDS ARGUMENT...: the command ends with this status, and a message that matches the words.
says() {
    local status=$1 words=$2
    shift 2
    run --separate-stderr "-$status" "$AUTOTUNE" "$@"
    # shellcheck disable=SC2053 # the words are a pattern
    if [[ $stderr != *$words* ]]; then
        printf '%s\n' "arguments: $*" "expected:  $words" "got:       $stderr"
        return 1
    fi
}

# gpu_says WORDS: all commands that need a GPU end with exit code 3 and these words.
gpu_says() {
    says 3 "$1" list
    says 3 "$1" tune --gpu 0 --problem 64x64:f32 --budget 1
    says 3 "$1" bench --gpu 0 --problem 64x64:f32
    says 3 "$1" explain tile --gpu 0 --counters
}

@test "hidden GPUs" {
    driver -DINIT=100
    for hidden in '' -1 7 GPU-12345678; do
        CUDA_VISIBLE_DEVICES=$hidden gpu_says 'CUDA_VISIBLE_DEVICES hides all GPUs: unset it'
    done
    says 3 'autotune list --emulated lists '[1-9]' devices' list
}

@test "a container without GPUs: libcuda is there, but no device file" {
    [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ] || skip "this machine has them"
    driver -DINIT=100
    gpu_says 'CUDA_ERROR_NO_DEVICE'*'no /dev/nvidiactl: start a container with GPU access'
}

@test "libcuda and the kernel module are of two versions" {
    driver -DINIT=803
    gpu_says 'are of two versions: restart the machine'
}

@test "the driver is older than NVRTC" {
    need_nvrtc
    driver -DCUDA=11080 -DLOAD=200
    words='the driver supports CUDA 11.8, and NVRTC is of CUDA *: update the driver, or install an NVRTC of CUDA 11'
    says 3 "$words" tune --gpu 0 --problem 64x64:f32 --budget 1
    says 3 "$words" explain tile --gpu 0 --counters
}

# ---- GPUs by name ----

# takes SELECTOR NAME...: --gpu SELECTOR means the GPUs of these names.
takes() {
    run --separate-stderr -0 "$AUTOTUNE" tune --dry-run --problem 64x64:f32 --gpu "$1"
    diff <(printf '%s\n' "${@:2}") <(grep '^NVIDIA' <<<"$output")
}

@test "--gpu takes words of a GPU's name" {
    driver -DGPUS='"NVIDIA H100 80GB HBM3", "NVIDIA GeForce RTX 4090", "NVIDIA L4", "NVIDIA H100 80GB HBM3"'
    for words in 4090 'RTX 4090' rtx4090 rtx-4090 'geforce 4090'; do
        takes "$words" 'NVIDIA GeForce RTX 4090'
    done
    takes l4,rtx4090 'NVIDIA GeForce RTX 4090' 'NVIDIA L4'
    while IFS='|' read -r status selector words; do
        says "$status" "$words" tune --dry-run --problem 64x64:f32 --gpu "$selector"
    done <<'END'
2|h100|"h100" means 2 devices: name one by its index, of 0 (NVIDIA H100 80GB HBM3), 3 (NVIDIA H100 80GB HBM3)
3|409|there is no device "409"; this machine has 0 (NVIDIA H100 80GB HBM3), 1 (
3|cuda:1|there is no device "cuda:1" (did you mean 1?); this machine has 0
3|gpu0|did you mean 0?)
3|cuda:9|there is no device "cuda:9"; this machine has 0
3|A100|; --gpu "emu:A100" emulates an NVIDIA A100
3|emu:h20|did you mean emu:h200,
2|1,emu|measured and predicted times do not go together
END
}

@test "emulated devices have all their names, and so does --device" {
    unset AUTOTUNE_PROFILE_PATH AUTOTUNE_WISDOM
    for name in h200 H200 'NVIDIA H200' 'h200 sxm5'; do
        takes "emu:$name" 'NVIDIA H200'
        "$AUTOTUNE" lookup --device "$name" 64x64:f32 | grep -q ' on NVIDIA H200,'
    done
    takes EMU:4090 'NVIDIA GeForce RTX 4090'
    "$AUTOTUNE" lookup --device 4090 64x64:f32 | grep -q ' on NVIDIA GeForce RTX 4090,'
    "$AUTOTUNE" export --as json --device 'rtx 4090' --problem 64x64:f32 | grep -q '"NVIDIA GeForce RTX 4090"'
    says 2 'did you mean h200,' lookup --device h20 64x64:f32
    says 2 'no description of a device "nvidia"' lookup --device nvidia 64x64:f32
    CUDA_VISIBLE_DEVICES=-1 says 3 '--gpu "emu:h100" emulates an NVIDIA H100' tune --gpu h100
}
