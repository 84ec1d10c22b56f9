#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Broken machines: doctor and each command that meets the breakage name the cause and the remedy, and end with
# the documented exit code.

# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    export LD_LIBRARY_PATH=${usual_library_path-} XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    unset CUDA_VISIBLE_DEVICES AUTOTUNE_NVRTC AUTOTUNE_CUDA_INCLUDE
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

# finds CHECK STATE WORDS: doctor has this finding. It has a remedy for all that is not well, and exit code 3 for
# a fault. Its output stays in ./doctor for the next calls, until something else is called.
finds() {
    local found status=0
    if [ ! -e doctor.csv ]; then
        "$AUTOTUNE" doctor --format csv >doctor.csv 2>errors || status=$?
        [ $status -eq "$(awk -F, '$2 == "fault" { status = 3 } END { print status + 0 }' doctor.csv)" ]
        [ -z "$(awk -F, '($2 == "fault" || $2 == "warning") && !/; /' doctor.csv)" ]
    fi
    found=$(grep "^$1,$2," doctor.csv || true)
    # shellcheck disable=SC2053 # the words are a pattern
    if [[ $found != *$3* ]]; then
        printf '%s\n' "expected: $1,$2,$3" "found:" && cat doctor.csv
        return 1
    fi
}

# gpu_says WORDS: all commands that need a GPU end with exit code 3 and these words, and doctor finds them.
gpu_says() {
    local command
    finds driver fault "$1"
    while read -ra command; do
        says 3 "$1" "${command[@]}"
    done < <(sample 2 $((BATS_TEST_NUMBER % 2)) list 'tune --gpu 0 --problem 64x64:f32 --budget 1' \
        'bench --gpu 0 --problem 64x64:f32' 'explain tile --gpu 0 --counters')
}

# with_disk OPTIONS COMMAND...: run it with a small disk in ./disk, mounted with these options.
with_disk() {
    unshare --map-root-user --mount true 2>/dev/null || skip "no namespaces for this user"
    mkdir -p disk
    # shellcheck disable=SC2016 # that shell expands them
    unshare --map-root-user --mount bash -ec 'mount -t tmpfs -o "$1" tmpfs disk; "${@:2}"' bash "$@"
}

@test "a machine on which all is well" {
    need_nvrtc
    driver
    finds driver ok 'supports CUDA 13.0'
    finds 'GPU 0' ok 'NVIDIA H200, 140 GiB, ECC on, compute capability 9.0'
    finds kernel ok 'run and verified on an NVIDIA H200'
    "$AUTOTUNE" doctor --format json >doctor.json 2>errors
    [ "$(grep -c '"state": "ok"' doctor.json)" -gt 9 ]
    run ! grep '/\.\.*/' doctor.json # paths as people write them
}

@test "--version --verbose prints doctor's findings, which are no failure of it" {
    driver -DINIT=34
    "$AUTOTUNE" doctor >whole 2>errors || [ $? -eq 3 ]
    "$AUTOTUNE" -v --version >details 2>errors
    diff <(sed 's/[0-9.]* GiB free//' whole) <(sed 's/[0-9.]* GiB free//' details)
    run -0 "$AUTOTUNE" --version
    [[ $output == 'autotune '[0-9]* ]]
}

@test "no driver" {
    ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' || skip "this machine has one"
    gpu_says 'no NVIDIA driver: cannot open libcuda.so.1 (*); install it, or start the container with GPU access'
    [ -n "${NO_NVRTC-}" ] || finds kernel ok 'verified on an emulated NVIDIA H200'
}

@test "the toolkit's stub of the driver" {
    driver -DINIT=34
    gpu_says "/driver/libcuda.so.1 reports CUDA error 34; it is the CUDA Toolkit's stub*take its folder out of"
}

@test "no NVRTC" {
    export AUTOTUNE_NVRTC=/nowhere/libnvrtc.so
    words='no NVRTC: cannot open /nowhere/libnvrtc.so (*); install the CUDA Toolkit or *in LD_LIBRARY_PATH'
    finds NVRTC fault "$words"
    finds kernel 'not tried' 'needs the data and NVRTC'
    says 3 "$words" tune --gpu emu --problem 64x64:f32 --budget 1
    says 3 "$words" explain tile
}

# nvrtc: links to the library and to its builtins, in ./nvrtc, become the machine's NVRTC.
nvrtc() {
    local library
    need_nvrtc
    library=$("$AUTOTUNE" doctor --format csv 2>errors | sed -n 's/^NVRTC,ok,"[0-9.]*, \(.*\)"$/\1/p')
    mkdir nvrtc
    ln -s "$library" "${library%/*}"/libnvrtc-builtins.so.* nvrtc
    export AUTOTUNE_NVRTC=$PWD/nvrtc/${library##*/} LD_LIBRARY_PATH=$PWD/nvrtc
}

@test "NVRTC without its builtins" {
    nvrtc
    for file in nvrtc/libnvrtc-builtins.so.*; do
        rm "$file"
        : >"$file" # a file that is no library stops the search
    done
    finds "NVRTC's builtins" fault 'is missing; install NVRTC anew, with all its files'
    finds kernel fault 'libnvrtc-builtins'
    says 3 'install NVRTC anew' tune --gpu emu --problem 64x64:f32 --budget 1
    says 3 'install NVRTC anew' explain tile
}

@test "NVRTC and headers of two toolkits" {
    nvrtc
    mkdir -p other/include
    printf '#error of another version\n' | tee other/include/cooperative_groups.h >other/include/cuda_fp16.h
    echo '#define CUDA_VERSION 11080' >other/include/cuda.h
    # Headers of NVRTC's version count before those of CUDA_HOME.
    CUDA_HOME=$PWD/other finds 'CUDA headers' '[a-z]*' ''
    run ! grep '^CUDA headers.*11\.8' doctor.csv
    rm doctor.csv
    export AUTOTUNE_CUDA_INCLUDE=$PWD/other/include
    finds 'CUDA headers' warning '11.8, but NVRTC is of *; name the folder of NVRTC'
    printf '#include <cooperative_groups.h>\n__global__ void k(float *x) { *x = 1; }\n' >groups.cu
    says 1 'NVRTC is of CUDA *, the headers of 11.8: name those of *in AUTOTUNE_CUDA_INCLUDE' \
        explain groups.cu --grid 1 --block 1 --arg 'float[1]'
}

on_full_disk() {
    cd disk || return
    dd if=/dev/zero of=fill bs=4k 2>/dev/null || true
    export XDG_CACHE_HOME=$PWD/cache
    "$AUTOTUNE" doctor --format csv >../doctor.csv 2>../errors || true
    "$AUTOTUNE" tune --gpu emu --problem 64x64:f32 --budget 1 --out best.yaml >../table 2>../errors || echo $? >../code
}

@test "a full disk" {
    export -f on_full_disk
    with_disk size=64k on_full_disk
    if [ -z "${NO_NVRTC-}" ]; then
        [ "$(<code)" -eq 2 ]
        grep -q 'is full; free some space\|No space left on device' errors
    fi
    finds 'kernel cache' warning '/disk/cache*No space left on device; free some space, or name another folder in XDG'
    finds 'working folder' warning 'No space left on device; free some space, or name a file elsewhere'
}

on_read_only_home() {
    export HOME=$PWD/disk
    unset XDG_CACHE_HOME
    "$AUTOTUNE" doctor --format csv >doctor.csv 2>errors || true
    [ -n "${NO_NVRTC-}" ] || "$AUTOTUNE" tune --quiet --gpu emu --problem 64x64:f32 --budget 1 >table 2>errors
}

@test "a home that is read-only" {
    export -f on_read_only_home
    with_disk ro on_read_only_home
    finds 'kernel cache' warning 'Read-only file system; free some space, or name another folder in XDG_CACHE_HOME'
    [ -n "${NO_NVRTC-}" ] ||
        grep -q 'not kept: cannot make .*: Read-only file system; XDG_CACHE_HOME names another folder' errors
}

@test "hidden GPUs" {
    driver -DINIT=100
    words='CUDA_VISIBLE_DEVICES hides all GPUs: unset it'
    CUDA_VISIBLE_DEVICES='' gpu_says "$words"
    for hidden in -1 7 GPU-12345678; do
        CUDA_VISIBLE_DEVICES=$hidden says 3 "$words" list
    done
    says 3 'autotune list --emulated lists '[1-9][0-9]' devices' list
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
    words='the driver supports CUDA 11.8, and NVRTC is of CUDA *; update the driver, or install an NVRTC of CUDA 11'
    finds 'driver and NVRTC' fault "$words"
    finds kernel fault "$words"
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
3|../l4|there is no device "../l4"; this machine has 0
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
