#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune tune --out on a profile that is there: no entry is lost, and none becomes slower. On the
# emulated device, whose times are the same in each run.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

# Two families of a few configs each. What happens at random moments happens AUTOTUNE_TEST_FAULTS times.
setup_file() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    mkdir "$XDG_CACHE_HOME"
    find_nvrtc
    make_data
    narrowed naive DIRECTION='0, 1' READ_ONLY=0 BLOCK_X=32 BLOCK_Y='1, 8' \
        >"$AUTOTUNE_DATADIR/tuning/naive.yaml"
    narrowed tile TILE_COLS=32 TILE_ROWS=32 LOAD_VEC=1 BLOCK_ROWS=8 STORE_VEC=1 PAD='0, 1' ORDER=0 GROUP=1 \
        UNROLL=0 MIN_BLOCKS=0 DYNAMIC=0 CARVEOUT=-1 OUTER=0 >"$AUTOTUNE_DATADIR/tuning/tile.yaml"
}

# tuned ARGUMENT...: one more run of the same profile.
tuned() {
    run --separate-stderr "-${code:-0}" "$AUTOTUNE" tune --gpu emu --jobs 2 --out best.yaml "$@"
}

# told ADDED REPLACED KEPT: does the run say so in one line?
told() {
    [ "$(grep -E '^autotune: wrote best.yaml: ' <<<"$stderr")" = \
        "autotune: wrote best.yaml: $1 $([ "$1" -eq 1 ] && echo entry || echo entries) added, $2 replaced, $3 kept" ]
}

# entry PROBLEM [PROFILE]: print its entry, up to the next one.
entry() {
    awk -v name="$1" '/^  - problem: / { on = $3 == name || $3 == "'\''" name "'\''" } /^- / { on = 0 } on' "${2-best.yaml}"
}

# time_of PROBLEM [PROFILE]: the winner's time.
time_of() {
    entry "$@" | awk '/^    winner:/ { w = 1 } w && /time_ns:/ { print $2; exit }'
}

worst=(--search random --seed 3 --budget 1) # one config, the default

@test "entries of other problems stay as they are, byte for byte" {
    tuned 64x64:f32 33x65:f32
    told 2 0 0
    before=$(entry 33x65:f32)
    tuned 48x48:f64
    told 1 0 2
    [ "$(entry 33x65:f32)" = "$before" ]
    run -0 "$AUTOTUNE" check best.yaml
    [ "$output" = 'best.yaml: sound: 3 problems on 1 device' ]
    # Only the requested problem is printed.
    tuned 64x64:f32
    told 0 1 2
    [[ $output == *64x64:f32* && $output != *33x65* ]]
}

@test "a winner is replaced by a faster one, never by a slower one" {
    is_long
    tuned "${worst[@]}" --family naive 512x512:f32
    poor=$(time_of 512x512:f32)
    tuned --search exhaustive 512x512:f32
    told 0 1 0
    good=$(time_of 512x512:f32) whole=$(entry 512x512:f32)
    ((good < poor))
    for less in '--search random --budget 1' '--family naive --search exhaustive' '--budget 2 --seed 7'; do
        # shellcheck disable=SC2086 # several words
        tuned $less 512x512:f32
        told 0 0 1
        [ "$(entry 512x512:f32)" = "$whole" ]
        cp best.yaml kept.yaml
    done
    tuned "${worst[@]}" --family naive --replace 512x512:f32
    [ "$(time_of 512x512:f32)" -eq "$poor" ]
}

@test "the old winner of a family that this run does not know stays" {
    cp "$srcdir/templates/tile.cu" own.cu
    sed 's/family: tile/family: own/; s/tile.cu/own.cu/' "$AUTOTUNE_DATADIR/tuning/tile.yaml" >own.yaml
    tuned --space own.yaml --family own 96x96:f32
    before=$(entry 96x96:f32)
    tuned 96x96:f32
    told 0 0 1
    [ "$(entry 96x96:f32)" = "$before" ]
}

@test "an old winner of a template that has changed since is measured anew" {
    is_long
    cp "$srcdir/templates/naive.cu" own.cu
    sed 's/family: naive/family: own/; s/naive.cu/own.cu/' "$AUTOTUNE_DATADIR/tuning/naive.yaml" >own.yaml
    tuned --space own.yaml --family own --search exhaustive 96x96:f32
    tuned --space own.yaml --family own "${worst[@]}" 96x96:f32
    told 0 0 1
    before=$(entry 96x96:f32)
    echo '// a comment' >>own.cu
    tuned --space own.yaml --family own "${worst[@]}" 96x96:f32
    told 0 0 1
    [ "$(entry 96x96:f32)" = "$before" ]
    echo '__device__ int another_kernel;' >>own.cu
    tuned --space own.yaml --family own "${worst[@]}" 96x96:f32
    told 0 1 0
    [ "$(entry 96x96:f32 | grep kernel:)" != "$(grep kernel: <<<"$before")" ]
}

@test "an old winner that is wrong now is replaced, and a warning says why" {
    is_long
    cp "$srcdir/templates/tile.cu" own.cu
    sed 's/family: tile/family: own/; s/tile.cu/own.cu/' "$AUTOTUNE_DATADIR/tuning/tile.yaml" >own.yaml
    tuned --space own.yaml --family own 96x96:f32
    echo '#error no more' >>own.cu
    tuned --space own.yaml --family naive 96x96:f32
    told 0 1 0
    [[ $stderr == *"warning: 96x96:f32: the profile's winner does not hold: "*'no more'* ]]
    [[ $(entry 96x96:f32) == *'family: naive'* ]]
}

@test "each software keeps its entries; one GPU is one section" {
    is_long
    tuned 64x64:f32 33x65:f32
    sed -i "s/nvrtc: '.*'/nvrtc: '9.9'/" best.yaml
    old=$(entry 64x64:f32)
    tuned 64x64:f32
    told 1 0 2
    [ "$(grep -c 'problem: ' best.yaml)" -eq 3 ]
    [[ $(<best.yaml) == *"nvrtc: '9.9'"* && $(entry 64x64:f32) == *"$old"* ]]
    run -0 "$AUTOTUNE" check best.yaml
    [[ $output == *'best.yaml: sound: 2 problems on 1 device'* ]]
    run -0 "$AUTOTUNE" show best.yaml
    [ "$(grep -c 'compute capability' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^64x64:f32 ' <<<"$output")" -eq 1 ]
    run --separate-stderr -0 "$AUTOTUNE" lookup --gpu emu --problem 64x64:f32 best.yaml
    [[ $output == *exact* && $output != *'9.9 there'* ]]
}

@test "an interrupt, a spent budget: what was not tuned keeps its old entry" {
    is_long
    tuned 64x64:f32 33x65:f32 8x8:f32
    cp best.yaml before.yaml
    "$AUTOTUNE" tune --gpu emu --jobs 1 --no-cache --search exhaustive --out best.yaml \
        8x8:f32 64x64:f32 33x65:f32 >table 2>errors 3>&- &
    main=$!
    while ! grep -q 'tuning on' errors; do sleep 0.05; done
    kill -INT "$main"
    waited 130
    [ "$(grep -c 'problem: ' best.yaml)" -eq 3 ]
    for problem in 8x8:f32 64x64:f32 33x65:f32; do
        grep -q "problem: '*$problem" best.yaml
    done
    cp before.yaml best.yaml
    tuned --budget 1 64x64:f32 33x65:f32
    [ "$(grep -c 'problem: ' best.yaml)" -eq 3 ]
    [[ $stderr == *'1 of 2 problems keep their old entries'* ]]
}

# Half as many runs as $kills, each interrupted at another moment, from its first line on.
@test "interrupts at random moments lose no entry, and make none slower" {
    is_long
    local problem
    problems=(64x64:f32 33x65:f32 8x8:f32)
    tuned "${problems[@]}"
    cp best.yaml before.yaml
    for ((i = 0; i < (kills + 1) / 2; i++)); do
        "$AUTOTUNE" tune --gpu emu --jobs 1 --search random --seed "$i" --budget 30 --out best.yaml \
            "${problems[@]}" >table 2>errors 3>&- &
        main=$!
        while [ ! -s errors ] && kill -0 "$main" 2>/dev/null; do sleep 0.01; done
        sleep "$((RANDOM % 3)).$((RANDOM % 10))"
        kill -INT "$main" 2>/dev/null || true
        code=0
        wait "$main" || code=$?
        ((code == 130 || code == 0))
        [ "$(grep -c 'problem: ' best.yaml)" -eq 3 ]
        for problem in "${problems[@]}"; do
            (($(time_of "$problem") <= $(time_of "$problem" before.yaml)))
        done
    done
}

@test "a listed problem without an entry: exit code 7, and the message names it" {
    code=7 tuned --budget 1 64x64:f32 33x65:f32
    [[ ${stderr_lines[-1]} == 'autotune: 1 of 2 problems has no entry: 33x65:f32; the budget was spent' ]]
    [ "$(grep -c 'problem: ' best.yaml)" -eq 1 ]
    # A search that was merely cut short has an entry.
    tuned --budget 4 64x64:f32 33x65:f32
    [ "$(grep -c 'problem: ' best.yaml)" -eq 2 ]
}

@test "several devices, shares, and a run that is resumed add to one profile" {
    is_long
    tuned 64x64:f32
    tuned --gpu emu:h200,emu:a100 33x65:f32
    told 2 0 1
    tuned --shard 1/2 48x48:f64 16x128:f16
    tuned --shard 2/2 48x48:f64 16x128:f16
    [ "$(grep -c 'problem: ' best.yaml)" -eq 5 ]
    cp best.yaml before.yaml
    tuned --resume --shard 2/2 48x48:f64 16x128:f16
    told 0 1 4
    [[ $stderr =~ :\ [1-9][0-9]*\ results\ from\ the\ journal ]]
    cmp before.yaml best.yaml
    rm best.yaml.journal
    tuned --resume --shard 2/2 48x48:f64 16x128:f16
    [[ $stderr == *'there is no journal best.yaml.journal: the run starts anew'* ]]
}

@test "a file that is no profile is refused; an empty one is no file; --replace writes over it" {
    echo notes >best.yaml
    code=2 tuned 64x64:f32
    [[ $stderr == *'best.yaml exists, and new entries cannot join it'*--replace* ]]
    [ "$(<best.yaml)" = notes ]
    tuned --replace 64x64:f32
    told 1 0 0
    : >best.yaml
    chmod 640 best.yaml
    tuned 64x64:f32
    told 1 0 0
    [ "$(stat -c %a best.yaml)" = 640 ]
}

@test "no other command writes over a profile or a journal" {
    tuned 64x64:f32
    cp best.yaml other.yaml
    echo '__global__ void own(float *x) { x[threadIdx.x] = 1; }' >own.cu
    for file in best.yaml best.yaml.journal; do
        sum=$(sha256sum "$file")
        refused 'would be lost' report best.yaml --out "$file"
        refused 'would be lost' export --as header best.yaml --out "$file"
        refused 'would be lost' bench --gpu emu --out "$file"
        refused 'would be lost' study own.cu --gpu emu --grid 1 --block 32 --arg 'float[32]' --out "$file"
        refused 'would be lost' replay --out "$file" none.recording
        refused 'would be lost' convert --to t4 other.recording --out "$file"
        refused 'would be lost' check --gpu emu other.yaml --out "$file"
        [ "$(sha256sum "$file")" = "$sum" ]
    done
}
