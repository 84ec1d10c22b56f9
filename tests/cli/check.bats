#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune check, without a device and on the emulated one.

bats_require_minimum_version 1.5.0
load helpers

ktt=$srcdir/tests/data/ktt.yaml
sound=$srcdir/tests/golden/check/sound.yaml

# A sound profile: the smallest one, with a winner of the family in tests/data/ktt.yaml.
setup() {
    local parameters='CR: 0, DIAGONAL_MAP: 0, LOCAL_MEM: 1, PADD_LOCAL: 1, TILE_SIZE_X: 32, TILE_SIZE_Y: 32'
    parameters+=', VECTOR_TYPE: 1, WORK_GROUP_SIZE_X: 32, WORK_GROUP_SIZE_Y: 8'
    profile=$BATS_TEST_TMPDIR/profile.yaml
    sed -e 's/family: tile/family: ktt/' -e 's/grid: .*/grid: [128, 128, 2]/' \
        -e "s/parameters: .*/parameters: {$parameters}/" \
        "$srcdir/tests/golden/profile/least.yaml" >"$profile"
}

# fails WORDS: the profile is unsound, for this reason.
fails() {
    run --separate-stderr -1 "$AUTOTUNE" check --space "$ktt" "$profile"
    [[ $output == *"$1"* ]]
    [[ $stderr == "autotune: $profile: "* ]]
}

# unsound WORDS SED-SCRIPT: with this change the profile does not hold. Words begin with the problem.
unsound() {
    sed "$2" "$sound" >"$profile"
    run --separate-stderr -1 "$AUTOTUNE" check "$profile"
    [[ $output == "250x500:b4: $1"* ]] || {
        printf '%s\n' "$2" "expected: $1" "got:      $output"
        return 1
    }
    [ "$stderr" = "autotune: $profile: $((${#lines[@]})) config$([ ${#lines[@]} -eq 1 ] && echo ' does' || echo 's do') not hold" ]
}

@test "a sound profile" {
    run --separate-stderr -0 "$AUTOTUNE" check --space "$ktt" "$profile"
    [ "$output" = "$profile: sound: 1 problem on 1 device" ]
    [ -z "$stderr" ]
}

@test "the profiles in results/ are sound" {
    for shipped in "$srcdir"/results/*.yaml "$srcdir"/results/predicted/*.yaml; do
        run -0 "$AUTOTUNE" check "$shipped"
    done
}

@test "a config that breaks a constraint is found" {
    sed -i 's/VECTOR_TYPE: 1/VECTOR_TYPE: 2/' "$profile"
    fails 'winner: illegal here'
}

@test "a value that the parameter does not have is found" {
    sed -i 's/TILE_SIZE_Y: 32/TILE_SIZE_Y: 33/' "$profile"
    fails 'TILE_SIZE_Y'
}

@test "a launch that does not follow from the config is found" {
    sed -i 's/grid: .*/grid: [128, 64, 1]/' "$profile"
    fails 'winner: the launch is not the one'
}

@test "an unknown family is found" {
    run --separate-stderr -1 "$AUTOTUNE" check "$profile"
    [[ $output == *'there is no family "ktt"'* ]]
}

# ---- against the spaces that come with the program, for a device that does not exist ----

@test "a sound profile of the family naive" {
    cp "$sound" "$profile"
    run --separate-stderr -0 "$AUTOTUNE" check "$profile"
    [ "$output" = "$profile: sound: 1 problem on 1 device" ]
    [ -z "$stderr" ]
}

@test "a family that there is not" {
    unsound 'winner: there is no family "nothing"' '/^    winner:/,/^    copy:/s/family: naive/family: nothing/'
    unsound 'default: there is no family "nothing"' '/^    default:/,/^    ended:/s/family: naive/family: nothing/'
}

@test "a config that is not of the space" {
    unsound 'winner: BLOCK_X=100 is not in the space' 's/BLOCK_X: 128/BLOCK_X: 100/'
    unsound 'winner: family naive has no parameter BLOCK_Z' 's/BLOCK_Y: 4/BLOCK_Z: 4/'
    unsound 'winner: a config of family naive needs parameter READ_ONLY' 's/, READ_ONLY: 1//'
}

@test "a config that is illegal" {
    unsound 'winner: illegal here: the constraint ' 's/BLOCK_X: 128/BLOCK_X: 16/'
    unsound 'default: illegal here: the constraint ' 's/BLOCK_Y: 8/BLOCK_Y: 1/'
}

@test "a config that is illegal on the device" {
    unsound 'winner: illegal here: a block of 512 threads; the device allows 256' \
        's/max_threads_per_block: 1024/max_threads_per_block: 256/'
}

@test "a launch that is not the config's" {
    unsound 'winner: the launch is not the one' 's/grid: \[250, 1, 1\]/grid: [250, 2, 1]/'
    unsound 'winner: the launch is not the one' 's/block: \[128, 4, 1\]/block: [4, 128, 1]/'
    unsound 'default: the launch is not the one' 's/grid: \[512, 1, 1\]/grid: [511, 1, 1]/'
}

@test "all that does not hold is told" {
    unsound 'winner: ' 's/family: naive/family: nothing/'
    [ "${#lines[@]}" -eq 2 ]
    [[ ${lines[1]} == '250x500:b4: default: there is no family "nothing"' ]]
}

# ---- on a device ----

# own_family DIRECTIONS [PARAMETER=VALUES]...: the space file of the naive family by another name.
own_family() {
    narrowed naive "DIRECTION=$1" BLOCK_X=32 BLOCK_Y=8 "${@:2}" |
        sed 's/family: naive/family: own/; s/naive.cu/own.cu/'
}

# For the tests below: a family that is not the program's own, and a profile made with it.
setup_file() {
    find_nvrtc
    [ -z "${NO_NVRTC:-}" ] || return 0
    export own=$BATS_FILE_TMPDIR/own
    mkdir "$own"
    own_family 0 >"$own/own.yaml"
    cp "$srcdir/templates/naive.cu" "$own/own.cu"
    (
        make_data naive
        cd "$own" &&
            "$AUTOTUNE" tune --quiet --gpu emu --space own.yaml --family own --problem 64x96:f32 \
                --out best.yaml
    )
}

# Work in a copy of that family's folder.
use_own() {
    need_nvrtc
    cp -r "$own/." "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR" || return
}

# With a device, check runs the winners again.
@test "a winner that keeps its time has held" {
    use_own
    run --separate-stderr -0 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml best.yaml
    [ -z "$stderr" ]
    [[ $output == *'emulated: all times are predicted'* && $output != *'now us'* ]]
    [[ ${lines[4]} =~ ^\ +64x96:f32\ +held\ .*\ \+0\.0$ ]]
}

@test "--format has a row for each config, and for each winner that is timed; --verbose tells each" {
    use_own
    run --separate-stderr -0 "$AUTOTUNE" check --space own.yaml --format csv best.yaml
    [ "${lines[0]}" = 'problem,device,config,verdict,recorded us,us,reason' ]
    [[ ${lines[1]} == '64x96:f32,NVIDIA H200,winner,sound,'*',,' ]]
    [[ ${lines[2]} == '64x96:f32,NVIDIA H200,default,sound,'*',,' ]]
    run --separate-stderr -0 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml --format csv best.yaml
    [[ ${lines[3]} =~ ^64x96:f32,NVIDIA\ H200,winner,held,([0-9.]+),([0-9.]+),$ ]]
    [ "${BASH_REMATCH[1]}" = "${BASH_REMATCH[2]}" ]
    run --separate-stderr -0 "$AUTOTUNE" check --space own.yaml --verbose best.yaml
    [[ $stderr == *'read own.yaml and '*'read best.yaml'*'64x96:f32 on NVIDIA H200: winner, own: sound'* ]]
    run --separate-stderr -0 "$AUTOTUNE" check --space own.yaml -v --quiet best.yaml
    [ -z "$stderr" ]
    sed 's/^    grid: .*/    grid: [7, 1, 1]/; s/^      grid: .*/      grid: [7, 1, 1]/' best.yaml >other.yaml
    run --separate-stderr -1 "$AUTOTUNE" check --space own.yaml --format json other.yaml
    [ "$(grep -c '"verdict": "illegal"' <<<"$output")" -eq 2 ]
    [[ $output == *'"message": "the launch is not'* ]]
}

@test "a winner whose time differs from the recorded one has drifted" {
    use_own
    # Halve the recorded time, and adjust the figures that depend on it.
    awk '/^    [a-z]/ { winner = $1 == "winner:" }
        winner && $1 == "bandwidth_MB_per_s:" { $0 = "      bandwidth_MB_per_s: " bandwidth }
        winner && $1 == "of_copy_permille:" { $0 = "      of_copy_permille: " share }
        winner && $1 == "time_ns:" { $0 = "      time_ns: " time }
        { print }' \
        time=$(($(awk '/ time_ns/ { print $2; exit }' best.yaml) / 2)) \
        bandwidth=0 share=0 best.yaml >half.yaml
    time=$(awk '/ time_ns/ { print $2; exit }' half.yaml)
    copy=$(awk '/^    copy/ { c = 1 } c && / time_ns/ { print $2; exit }' half.yaml)
    sed -i -e "s/MB_per_s: 0$/MB_per_s: $((1000 * 2 * 4 * 64 * 96 / time))/" \
        -e "s/permille: 0$/permille: $((1000 * copy / time))/" \
        -e "s/spread_permille: .*/spread_permille: 0/" half.yaml
    run --separate-stderr -1 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml half.yaml
    [[ ${lines[4]} =~ ^\ +64x96:f32\ +drifted\ .*\ \+100\.[01]$ ]]
    [ "$stderr" = "autotune: half.yaml: 0 held, 1 drifted, 0 broken" ]
}

@test "a winner that is now wrong or does not compile is broken" {
    use_own
    sed -i 's/row < tile.rows \&\&/row < tile.rows - 1 \&\&/' own.cu # leaves a row out
    run --separate-stderr -1 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml best.yaml
    [[ $output == *'64x96:f32 '*' broken   wrong: '* ]]
    echo '#error no more' >>own.cu
    run --separate-stderr -1 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml best.yaml
    [[ $output == *'64x96:f32 '*' broken '*'does not compile'*'no more'* ]]
    [ "$stderr" = "autotune: best.yaml: 0 held, 0 drifted, 1 broken" ]
}

@test "a winner that is now slower than its default is broken" {
    use_own
    own_family '0, 1' READ_ONLY=0 >own.yaml
    AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data "$AUTOTUNE" tune --quiet --gpu emu --space own.yaml \
        --family own --problem 256x256:f32 --replace --out best.yaml
    # The winner now stores thirty-two times.
    sed -i 's/\( *\)store<.*);/\1for (int i = 0; i < 1 + 31 * DIRECTION; i++, __threadfence())\n&/' own.cu
    grep -q threadfence own.cu
    run --separate-stderr -1 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml best.yaml
    [[ $output == *'256x256:f32 '*' broken '*'slower than the default, by '* ]]
    [ "$stderr" = "autotune: best.yaml: 0 held, 0 drifted, 1 broken" ]
}

@test "answers of another model are tried, and their times do not count" {
    use_own
    sed -i "s/multiprocessors: 132/multiprocessors: 78/" best.yaml
    run --separate-stderr -0 "$AUTOTUNE" check --quiet --gpu emu --space own.yaml best.yaml
    [[ $output == *'answers of another model: NVIDIA H200 with 78 multiprocessors'*' held '* ]]
    [[ ${lines[5]} =~ ^\ +64x96:f32\ +held\ +-\  ]]
    run --separate-stderr -3 "$AUTOTUNE" check --quiet --gpu 0 --space own.yaml best.yaml
}

@test "--out writes where else all winners were correct" {
    use_own
    cp best.yaml old.yaml
    run -2 "$AUTOTUNE" check --out new.yaml --space own.yaml best.yaml # needs --gpu
    run -0 "$AUTOTUNE" check --quiet --gpu emu:h200 --out new.yaml --space own.yaml best.yaml
    cmp best.yaml new.yaml # its own model
    refused 'new.yaml is a profile, which would be lost' check --gpu emu:a100 --out new.yaml --space own.yaml best.yaml
    rm new.yaml
    run -0 "$AUTOTUNE" check --quiet --gpu emu:a100 --out new.yaml --space own.yaml best.yaml
    cmp best.yaml old.yaml
    [ "$(diff best.yaml new.yaml | grep '^>')" = ">   also_correct_on:
>   - name: NVIDIA A100-SXM4-80GB
>     compute_capability: 80
>     multiprocessors: 108
>     memory_bytes: 85899345920" ]
    # Once is enough; another model is added; the merged profile has both.
    run -0 "$AUTOTUNE" check --quiet --gpu emu:a100 --out new.yaml --space own.yaml new.yaml
    [ "$(grep -c 'name: NVIDIA A100' new.yaml)" -eq 1 ]
    run -0 "$AUTOTUNE" check --quiet --gpu emu:l40s --out new.yaml --space own.yaml new.yaml
    run -0 "$AUTOTUNE" merge --quiet --out merged.yaml new.yaml
    cmp new.yaml merged.yaml
    [ "$(grep -c '^  - name: NVIDIA' merged.yaml)" -eq 2 ]
}

@test "what is illegal on another model is no failure there" {
    use_own
    sed -i 's/multiprocessors: 132/multiprocessors: 78/; s/l2_bytes: .*/l2_bytes: 1000/' best.yaml # of another model
    sed -i 's/^constraints:/&\n  - l2_bytes == 1000/' own.yaml
    run --separate-stderr -0 "$AUTOTUNE" check --quiet --gpu emu --out new.yaml --space own.yaml best.yaml
    [[ $output == *'64x96:f32 '*' illegal '*'the constraint l2_bytes == 1000 does not hold'* ]]
    [[ $(<new.yaml) == *'also_correct_on:'*'multiprocessors: 132'* ]]
}

@test "--out writes nothing if a winner is wrong" {
    use_own
    sed -i 's/row < tile.rows \&\&/row < tile.rows - 1 \&\&/' own.cu # leaves a row out
    run -1 "$AUTOTUNE" check --quiet --gpu emu:a100 --out new.yaml --space own.yaml best.yaml
    [ ! -e new.yaml ]
}
