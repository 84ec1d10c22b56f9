#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Entries that are stale, on the emulated device: check tells which, and tune --stale tunes them again.

bats_require_minimum_version 1.5.0
load helpers

# best.yaml has two problems.
setup_file() {
    find_nvrtc
    [ -z "${NO_NVRTC:-}" ] || return 0
    make_data naive
    "$AUTOTUNE" tune --quiet --gpu emu --budget 4 64x64:f32 96x64:f64 --out "$BATS_FILE_TMPDIR/best.yaml"
}

setup() {
    need_nvrtc
    cp "$BATS_FILE_TMPDIR"/best.yaml* "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return
}

# ages REASON SED-SCRIPT: with this change the entries that check lists are stale, for this reason.
ages() {
    sed "$2" best.yaml >old.yaml
    run --separate-stderr -0 "$AUTOTUNE" check old.yaml
    # shellcheck disable=SC2053 # a pattern
    [[ ${lines[0]} == "64x64:f32: stale on NVIDIA H200, cold: "$1 ]] || {
        printf '%s\n' "$2" "expected: $1" "got:      $output"
        return 1
    }
}

# The kernel of the first problem's winner.
other_kernel="0,/^      kernel: .*/s//      kernel: '0000000000000000'/"

@test "check tells which entries are stale and why" {
    run --separate-stderr -0 "$AUTOTUNE" check best.yaml
    [ "$output" = 'best.yaml: sound: 2 problems on 1 device' ]
    version=$(awk -F"'" '/ nvrtc:/ { print $2 }' best.yaml)
    ages "NVRTC 11.1 then, $version here" "s/nvrtc: .*/nvrtc: '11.1'/"
    [[ ${lines[1]} == '96x64:f64: stale '* ]]
    [ "${lines[3]}" = '2 stale: autotune tune --stale old.yaml tunes them again' ]
    ages 'build of NVRTC ffff*' "s/nvrtc_identity: '..../nvrtc_identity: 'ffff/"
    ages 'autotune 0.0.1 then, *' "s/autotune: .*/autotune: '0.0.1'/"
    ages 'its kernel is another one now' "$other_kernel"
    [ "${lines[2]}" = '1 stale: autotune tune --stale old.yaml tunes it again' ]
    run --separate-stderr -1 "$AUTOTUNE" check --stale old.yaml
    [ "${lines[2]}" = '1 stale: autotune tune --stale old.yaml tunes it again' ]
    [ -z "$stderr" ]
    run --separate-stderr -1 "$AUTOTUNE" check --stale --format csv old.yaml
    [ "$(grep -c 'winner,stale,' <<<"$output")" -eq 1 ]
    run --separate-stderr -0 "$AUTOTUNE" check --stale best.yaml
    run --separate-stderr -0 "$AUTOTUNE" check --format csv old.yaml
    [ "$(grep -c 'winner,stale,.*,its kernel is another one now' <<<"$output")" -eq 1 ]
    [ "$(grep -c ',sound,' <<<"$output")" -eq 3 ]
}

@test "an edited template makes its entries stale, and a comment in it does not" {
    rm "$AUTOTUNE_DATADIR/templates"
    cp -r "$srcdir/templates" "$AUTOTUNE_DATADIR/templates"
    echo '// a remark' >>"$AUTOTUNE_DATADIR/templates/naive.cu"
    run --separate-stderr -0 "$AUTOTUNE" check best.yaml
    [[ $output != *stale* ]]
    echo 'static int more;' >>"$AUTOTUNE_DATADIR/templates/naive.cu"
    run --separate-stderr -0 "$AUTOTUNE" check best.yaml
    [ "$(grep -c 'its kernel is another one now' <<<"$output")" -eq 2 ]
    rm -r "$AUTOTUNE_DATADIR/templates"
    ln -s "$srcdir/templates" "$AUTOTUNE_DATADIR"
}

@test "tune --stale tunes exactly the stale entries again, and keeps the rest" {
    sed "$other_kernel" best.yaml >old.yaml
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --budget 4 --stale old.yaml
    [[ $output == *64x64:f32* && $output != *96x64:f64* ]]
    [[ $stderr == *'64x64:f32 is stale: its kernel is another one now'* ]]
    [[ $stderr == *'wrote old.yaml: 0 entries added, 1 replaced, 1 kept'* ]]
    run --separate-stderr -0 "$AUTOTUNE" check old.yaml
    [ "$output" = 'old.yaml: sound: 2 problems on 1 device' ]
}

@test "entries of other software give way to those that are tuned again" {
    for version in 11.1 99.9; do # older and newer than here
        sed "s/nvrtc: .*/nvrtc: '$version'/" best.yaml >old.yaml
        run --separate-stderr -0 "$AUTOTUNE" tune --quiet --gpu emu --budget 4 --stale old.yaml
        run --separate-stderr -0 "$AUTOTUNE" check old.yaml
        [ "$output" = 'old.yaml: sound: 2 problems on 1 device' ]
        [ "$(grep -c '^- environment' old.yaml)" -eq 1 ]
    done
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --stale old.yaml
    [[ $stderr == *'0 entries of old.yaml are stale'*'nothing is to be done'* ]]
    [ -z "$output" ]
}

@test "stale entries of other devices are told" {
    sed "s/nvrtc: .*/nvrtc: '11.1'/" best.yaml >old.yaml
    cp old.yaml same.yaml
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu:a100 --stale old.yaml
    [[ $stderr == *'2 more are: --gpu or --policy names another place'* ]]
    cmp old.yaml same.yaml
}

@test "--stale with other problems is refused" {
    refused '--stale has the problems, so "8x8:f32" is one too many' tune --stale best.yaml 8x8:f32
    refused '--stale has the problems, so "list.yaml" is one too many' tune --stale best.yaml --problems list.yaml
    refused '--replace drops entries' tune --stale best.yaml --replace
    refused 'none.yaml' tune --gpu emu --stale none.yaml
}

@test "--problems takes those of a profile and of a journal" {
    for list in best.yaml best.yaml.journal; do
        run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --dry-run --format csv --problems "$list"
        [ "$(cut -d, -f2 <<<"$output" | sort | tr '\n' ' ')" = '64x64:f32 96x64:f64 problem ' ]
    done
}

@test "one device with two versions of NVRTC is one device" {
    "$AUTOTUNE" tune --quiet --gpu emu --budget 2 64x32:f32 --out old.yaml
    sed -i "s/nvrtc: .*/nvrtc: '11.1'/" old.yaml
    "$AUTOTUNE" merge --quiet --out both.yaml best.yaml old.yaml
    run --separate-stderr -0 "$AUTOTUNE" show both.yaml
    [ "$(grep -c '^NVIDIA H200' <<<"$output")" -eq 1 ]
    [[ $output == *'NVRTC 11.1, autotune '*': 1 problem'* ]]
}
