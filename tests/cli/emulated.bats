#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whole runs on the emulated device. They need NVRTC, but no GPU.

# shellcheck disable=SC2030,SC2031 # each test has a shell of its own
bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers

faults=$srcdir/tests/gpu/fault.yaml
predicted='all times are predicted, none is measured; nine of ten are within 27 %'

# The guided search measures copies before each problem; here six copy kernels are enough.
setup_file() {
    find_nvrtc
    make_data inplace naive tile
    narrowed copy VEC='1, 16' SHARED='0, 1' LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' \
        >"$AUTOTUNE_DATADIR/tuning/copy.yaml"
}

setup() {
    need_nvrtc
    cd "$BATS_TEST_TMPDIR" || return 1
}

# all_correct: no config of ./best.yaml failed.
all_correct() {
    [ "$(grep -E ' (compile|launch|timeout|crash|wrong|oom): ' best.yaml | grep -cv ': 0$')" -eq 0 ]
}

@test "--gpu emu: takes any name of a device that --device takes" {
    for name in h200 H200 'NVIDIA H200' nvidia-h200; do
        run -0 --separate-stderr "$AUTOTUNE" tune --dry-run --problem 8x8:f32 --gpu "emu:$name"
        [[ ${lines[0]} == 'NVIDIA H200' ]]
    done
    run -3 --separate-stderr "$AUTOTUNE" tune --dry-run --problem 8x8:f32 --gpu emu:H201
    [[ $stderr == *'there is no device "emu:H201" (did you mean '* ]]
}

# Each problem compiles two configs, its default and at most two copies; no more is precompiled.
@test "every element size is tuned, padded and batched problems too" {
    is_long
    export XDG_CACHE_HOME=$PWD
    run --separate-stderr -0 tune --quiet --gpu emu --jobs 2 --family tile --family naive --budget 10 \
        --search random --problem 64x96:f32 --problem 33x65:b1,ld_src=70,batch=3 --problem 1x1:f16 \
        --problem 31x64:f64,ld_dst=40 --problem 17x19:c128 --out best.yaml
    [ -z "$stderr" ]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 5 ]
    [ "$(grep -cE " method: (memcpy|'?copy .* VEC=[0-9]+'?)$" best.yaml)" -eq 5 ] # the whole line
    all_correct
    grep -q 'kind: emulated' best.yaml
    run -0 "$AUTOTUNE" check best.yaml
    [ "$(find autotune -name '*.kernel' | wc -l)" -le $((5 * (2 + 1 + 2))) ]
}

# Copies begin at aligned addresses, whatever the problem's offsets.
@test "matrices that begin at odd addresses are tuned" {
    is_long
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --family naive --budget 6 \
        --problem 96x256:f32 --problem 96x1024:b1,offset_src=1,offset_dst=3 --out best.yaml
    [ -z "$stderr" ]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 2 ]
}

# On a device with 192 KiB of L2, a matrix of 150 KB is tall enough for two sweeps over two columns of tiles.
@test "skew takes tiles in sweeps where a column of them is too large for L2" {
    is_long
    local sizes=(SRC_BYTES='256, 128' DST_BYTES=128 ALIGN='16, 32' THREADS='128, 256' UNROLL='1, 4' PREFETCH=128)
    cp -R "$AUTOTUNE_DATADIR" data
    rm data/tuning/devices
    mkdir data/tuning/devices
    sed 's/l2_bytes: .*/l2_bytes: 196608/' "$srcdir/tuning/devices/h200.yaml" >data/tuning/devices/h200.yaml
    narrowed skew "${sizes[@]}" ENDS=0 SPREAD=0 >data/tuning/skew.yaml
    export AUTOTUNE_DATADIR=$PWD/data
    run --separate-stderr -0 tune --quiet --gpu emu --family skew --search exhaustive --problem 1101x141:b1 \
        --problem 101x141:b1 --out best.yaml
    all_correct
    run -0 "$AUTOTUNE" show --top 99 --format csv best.yaml
    [ "$(grep -c '^1101x141:b1,.* SWEEP=256' <<<"$output")" -ge 2 ]
    [ "$(grep -c '^101x141:b1,.* SWEEP=256' <<<"$output")" -eq 0 ]
}

@test "tile and rows let L2 fetch more where results are wider than elements" {
    is_long
    cp -R "$AUTOTUNE_DATADIR" data
    rm -f data/tuning/{tile,rows}.yaml
    narrowed tile TILE_COLS=32 TILE_ROWS=32 LOAD_VEC='1, 2' BLOCK_ROWS=8 STORE_VEC=1 PAD=1 ORDER=0 UNROLL=0 MIN_BLOCKS=0 \
        DYNAMIC=0 CARVEOUT=-1 SPREAD=0 OUTER=0 >data/tuning/tile.yaml
    narrowed rows VEC='16, 8' THREADS=128 UNROLL=1 LOAD=0 STORE=0 OUTER=0 >data/tuning/rows.yaml
    export AUTOTUNE_DATADIR=$PWD/data
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --family rows --search exhaustive \
        --problem 70x66:bf16:f32 --problem 70x66:f32:bf16 --problem 5x6x64:bf16:f32,perm=102 --out best.yaml
    all_correct
    run -0 "$AUTOTUNE" show --top 99 --format csv best.yaml
    [ "$(grep -c '^70x66:bf16:f32,.*FETCH=\(128\|256\)' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^70x66:f32:bf16,.*FETCH=\(128\|256\)' <<<"$output")" -eq 0 ]
    [ "$(grep -c '^.5x6x64:bf16:f32,perm=102.*FETCH=\(128\|256\)' <<<"$output")" -eq 2 ]
}

@test "tile has padding after the rows of a vector" {
    is_long
    cp -R "$AUTOTUNE_DATADIR" data
    rm -f data/tuning/tile.yaml
    narrowed tile TILE_COLS=32 TILE_ROWS='32, 64' LOAD_VEC='1, 4' BLOCK_ROWS='8, 16' STORE_VEC='1, 4, 8' PAD='1, 0' \
        ORDER=0 UNROLL=0 MIN_BLOCKS=0 DYNAMIC=0 CARVEOUT=-1 SPREAD=0 OUTER=0 FETCH=0 >data/tuning/tile.yaml
    export AUTOTUNE_DATADIR=$PWD/data
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --search exhaustive \
        --problem 72x68:b1 --problem 72x68:bf16:e4m3,scale --out best.yaml
    all_correct
    run -0 "$AUTOTUNE" show --top 99 --format csv best.yaml
    [ "$(grep -c '^72x68:b1,.*GAP=1' <<<"$output")" -ge 2 ]
    [ "$(grep -c '^.72x68:bf16:e4m3,scale.*GAP=1' <<<"$output")" -ge 2 ]
}

@test "the KTT spaces of tests/gpu/bench-tune are tuned" {
    is_long
    local data=$srcdir/tests/data
    for name in ktt ktt-wide; do
        run --separate-stderr -0 tune --quiet --gpu emu --space "$data/$name.yaml" --family "$name" \
            --budget 10 --search random --problem 67x131:f32,batch=2 --out best.yaml
        [ "$(figure correct)" -eq 10 ]
    done
}

@test "in-place problems are tuned with in-place families alone" {
    is_long
    run --separate-stderr -0 tune --quiet --gpu emu --budget 30 --search random \
        --problem 96x96:f32,inplace=1 --problem 33x33:b1,ld_src=35,batch=3,inplace=1 --out best.yaml
    [ "$(grep -c 'family: inplace' best.yaml)" -eq 5 ] # winner and default of each; the list of defaults
    all_correct
    run -0 "$AUTOTUNE" check --gpu emu best.yaml
    run -0 "$AUTOTUNE" bench --quiet --gpu emu --profile best.yaml --problem 96x96:f32,inplace=1
    [[ $output == *'conflict-free '*'not legal here'* ]]
    run -1 --separate-stderr "$AUTOTUNE" explain naive --problem 96x96:f32,inplace=1
    [[ $stderr == *"the family does not transpose in place"* ]]
}

@test "bench times the config that lookup gives" {
    is_long
    run --separate-stderr -0 tune --gpu emu --family naive --budget 2 --problem 64x96:f32 \
        --out other.yaml
    run -0 "$AUTOTUNE" bench --quiet --gpu emu --family tile --problem 64x70:f32 --lookup other.yaml
    [[ $output == *$'\n  looked up '*$'\n  tuned '* ]]
    run --separate-stderr -0 tune --gpu emu --family tile --budget 2 --problem 64x70:f32 \
        --out best.yaml
    run -0 "$AUTOTUNE" bench --quiet --gpu emu --profile best.yaml --problem 64x70:f32 \
        --lookup other.yaml --format json
    [[ $output == *'"kernel":"naive '*'"label":"looked up"'*'"kernel":"tile '*'"label":"tuned"'* ]]
    run -0 "$AUTOTUNE" bench --quiet --gpu emu --profile best.yaml 64x70:f32 --format csv
    [[ ${lines[0]} == device,times,problem,kernel,* ]]
    [ "$(grep -c '^NVIDIA H200,predicted,64x70:f32,tuned,' <<<"$output")" -eq 1 ]
}

@test "predictions are never called measurements" {
    run --separate-stderr -0 tune --gpu emu --family naive --budget 2 --problem 64x96:f32 \
        --out best.yaml
    [[ $stderr == *"this is an emulated NVIDIA H200; $predicted"* ]]
    [[ ${lines[1]} == "  emulated: $predicted" ]]
    run -0 "$AUTOTUNE" show best.yaml
    [[ ${lines[1]} == "  emulated: $predicted" ]]
    [[ $output == *'predicted us'* && $output != *'time us'* && $output != *samples* ]]
    run -0 "$AUTOTUNE" bench --quiet --gpu emu:h200 --profile best.yaml --problem 64x96:f32
    [[ ${lines[1]} == "  emulated: $predicted" ]]
    [[ $output == *'predicted us'* && $output != *'time us'* ]]
    run -0 "$AUTOTUNE" bench --quiet --gpu emu:h200 --profile best.yaml --problem 64x96:f32 \
        --out bench.html
    grep -qF "Emulated:</b> $predicted" bench.html
    [[ $(<bench.html) == *'<th>predicted µs'* && $(<bench.html) != *'<th>µs'* ]]
    run -0 "$AUTOTUNE" report best.yaml --journal best.yaml.journal --baseline best.yaml --out report.html
    grep -qF "Emulated:</b> $predicted" report.html
    grep -qF 'All 2 evaluations' report.html
    [[ $(<report.html) == *'<th>predicted µs'* && $(<report.html) != *'<th>µs'* ]]
    run -0 "$AUTOTUNE" bench --quiet --gpu emu:h200 --profile best.yaml --problem 64x96:f32 \
        --format json
    [ "${#lines[@]}" -eq 1 ]
    [[ ${lines[0]} == '{"device":"NVIDIA H200","note":"all times are predicted, none is measured; nine of ten are within 27 %","policy":"cold","predicted":1,"problem":"64x96:f32"'* ]]
    for label in 'copy limit' 'memcpy by the driver' conflict-free default tuned; do
        [[ ${lines[0]} == *"\"label\":\"$label\""* ]]
    done
}

@test "uncalibrated devices are marked wherever they are shown" {
    is_long
    uncalibrated='all times are predicted, none is measured; nine of ten may be within 37 %, as no such GPU has been measured'
    count=$(find "$srcdir/tuning/devices" -name '*.yaml' | wc -l)
    run -0 "$AUTOTUNE" list --emulated
    [ "${#lines[@]}" -eq $((count + 1)) ]
    [ "$(grep -c ' uncalibrated$' <<<"$output")" -eq $((count - 1)) ]
    [[ $output == *$'\nemu:h200 '*' calibrated'* ]]
    for device in emu:{a100,b200,h200,l4,rtx-3060,t4}; do
        run --separate-stderr -0 tune --gpu "$device" --family tile --budget 2 --search random \
            --problem 64x96:f32 --out best.yaml
        if [ "$device" = emu:h200 ]; then
            [[ $stderr != *uncalibrated* && $output != *uncalibrated* ]]
            grep -q ' predictions: calibrated' best.yaml
            continue
        fi
        [[ $stderr == *"$uncalibrated"* ]]
        [[ ${lines[1]} == "  emulated: $uncalibrated" ]]
        grep -q ' predictions: uncalibrated' best.yaml
        run -0 "$AUTOTUNE" show best.yaml
        [[ ${lines[1]} == "  emulated: $uncalibrated" ]]
    done
    run -0 "$AUTOTUNE" bench --quiet --gpu emu:t4 --profile best.yaml --problem 64x96:f32
    [[ ${lines[1]} == "  emulated: $uncalibrated" ]]
}

# The search leaves this case to the winner.
@test "a kernel that is wrong on a long side alone does not win" {
    variant 16
    run --separate-stderr -7 tune --gpu emu --family fault --space fault.yaml --problem 64x96:f32 --out best.yaml
    [[ $stderr == *'a finalist failed when it was verified again: wrong: 1x65543:f32: 7 wrong elements in the '* ]]
    [ ! -e best.yaml ]
}

@test "an exhaustive search has no bound on the emulated device" {
    is_long
    cp "$srcdir/templates/naive.cu" .
    narrowed naive READ_ONLY=0 | sed 's/^family: .*/family: short/' >short.yaml
    run --separate-stderr -0 tune --gpu emu --search exhaustive --family short --space short.yaml \
        --problem 33x33:b1 --out best.yaml
    [[ $stderr != *'configs per problem'* ]]
    [ "$(figure ended)" = exhausted ]
    [ "$(figure correct)" -gt 24 ]
}

@test "a budget is kept exactly, and problems share it" {
    need_sqlite
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --family naive --budget 15 \
        --problem 64x96:f32 --problem 96x64:f32 --out best.yaml
    query best.yaml.journal "SELECT count(*) FROM measurements WHERE family <> 'copy'
        GROUP BY problem" >counts
    [ "$(paste -sd ' ' counts)" = '7 8' ]
}

@test "--budget-per-problem bounds each search by configs or time, and --budget the sum" {
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --budget-per-problem 4 \
        --problem 64x96:f32 --problem 96x64:f32 --out best.yaml
    [ "$(grep -c ' correct: 4$' best.yaml)" -eq 2 ]
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --budget-per-problem 4 --budget 6 \
        --problem 64x96:f32 --problem 96x64:f32 --out sum.yaml
    [ "$(grep -c ' correct: 3$' sum.yaml)" -eq 2 ]
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --budget-per-problem 1s --search random \
        --problem 64x96:f32 --out time.yaml
    grep -q ' ended: budget$' time.yaml
}

@test "the first wrong result of a family tells its problem and elements, once" {
    variant '5, 6, 7, 0'
    run --separate-stderr -0 tune --gpu emu --family fault --space fault.yaml --problem 64x96:f32
    [ "$(grep -c '^autotune: warning: fault FAULT=[56]: wrong: .*: [0-9]* wrong elements in the .*, the first at [0-9]*; if it is not for this problem, needs in its space file excludes it; --verbose prints all failures$' <<<"$stderr")" -eq 1 ]
    [ "$(grep -c ': wrong: ' <<<"$stderr")" -eq 1 ]
    run --separate-stderr -0 tune --verbose --gpu emu --family fault --space fault.yaml --problem 64x96:f32
    [ "$(grep -c ': wrong: ' <<<"$stderr")" -eq 3 ]
}

@test "a run says first about how long it takes, from earlier runs if there are any" {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
    run --separate-stderr -0 tune --gpu emu --dry-run --problem 64x96:f32 --problem 96x64:f32
    [[ ${lines[-1]} =~ ^'2 problems: about '[0-9]+' s, by figures of another machine'$ ]]
    run --separate-stderr -0 tune --gpu emu --dry-run --jobs 1 --problem 64x96:f32 # its kernels are to be compiled
    [[ ${lines[-1]} =~ ^'1 problem: about '[0-9]+' s, by figures of another machine'$ ]]
    run --separate-stderr -0 tune --gpu emu --dry-run --problem 64x96:f32 --search exhaustive
    [[ ${lines[-1]} =~ ^'1 problem: about '[0-9]+' min, ' ]]
    run --separate-stderr -0 tune --gpu emu --dry-run --problem 64x96:f32 --search exhaustive --budget 30s
    [[ ${lines[-1]} == '1 problem: about 30 s, by figures of another machine' ]]
    run --separate-stderr -0 tune --gpu emu --budget 2 --problem 64x96:f32
    [[ $stderr == *$'\nautotune: 1 problem: '*'by figures of another machine'$'\nautotune: tuning on '* ]]
    run --separate-stderr -0 tune --gpu emu --dry-run --problem 64x96:f32
    [[ ${lines[-1]} == '1 problem: '*', as earlier runs here took' ]]
    run --separate-stderr -0 tune --gpu emu:h100 --dry-run --problem 64x96:f32
    [[ ${lines[-1]} == '1 problem: '*', by figures of another machine' ]]
}

@test "--resume says what the journal had, or that there is none" {
    args=(--gpu emu --family tile --budget 4 --problem 64x96:f32)
    run --separate-stderr -0 tune "${args[@]}" --out best.yaml
    [[ $stderr == *$'\nautotune: 64x96:f32: tuned in '* ]]
    run --separate-stderr -0 tune "${args[@]}" --out best.yaml --resume
    [[ $stderr == *$'\nautotune: 64x96:f32: 4 results from the journal\nautotune: 64x96:f32: finished in '*'; the journal had all results of its search'* ]]
    run --separate-stderr -0 tune "${args[@]}" --out bets.yaml --resume
    [[ $stderr == 'autotune: there is no journal bets.yaml.journal: the run starts anew'* ]]
    [[ $stderr == *$'\nautotune: 64x96:f32: tuned in '* ]]
}

@test "a budget also bounds problems that fail" {
    is_long
    need_sqlite
    variant 5 '/^launch:/i\  - {name: ROUND, summary: again, values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], default: 0}'
    run --separate-stderr -7 tune --quiet --gpu emu --family fault --space fault.yaml --budget 10 \
        --search random --problem 64x96:f32 --problem 96x64:f32 --out best.yaml
    [[ $stderr == *'2 of 2 problems have no entry: 64x96:f32, 96x64:f32; no correct config was found' ]]
    [ "$(query best.yaml.journal "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n
        FROM measurements WHERE family = 'fault' GROUP BY problem)")" = '5 5' ]
}

@test "a budget bounds the copies as well, which are counted apart" {
    is_long
    need_sqlite
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --budget 5 --search random \
        --problem 64x96:f32 --problem 16x8:f32 --out best.yaml
    [ "$(query best.yaml.journal "SELECT group_concat(n, ' ') FROM (SELECT count(*) AS n
        FROM measurements WHERE family = 'copy' GROUP BY problem ORDER BY n)")" = '2 3' ]
}

# wide COUNT: prints the space file of a family "wide": naive with COUNT more parameters. Each has 64
# values, and a rule that excludes all but one.
wide() {
    local i
    sed -e 's/^family: .*/family: wide/' -e '/^parameters:/,$d' "$srcdir/tuning/naive.yaml"
    echo parameters:
    for ((i = 0; i < $1; i++)); do
        echo "  - {name: P$i, summary: unused, values: [$(seq -s , 0 63)], default: 0}"
    done
    sed -n '/^parameters:/,/^constraints:/p' "$srcdir/tuning/naive.yaml" | sed 1d
    for ((i = 0; i < $1; i++)); do
        echo "  - P$i == 0"
    done
    sed '1,/^constraints:/d' "$srcdir/tuning/naive.yaml"
}

@test "a space may have more points than can be counted" {
    is_long
    cp "$srcdir/templates/naive.cu" .
    for case in '7 527765581332480' '8 1000000000000000' '20 1000000000000000'; do
        wide "${case% *}" >wide.yaml
        run --separate-stderr -0 tune --quiet --gpu emu --family wide --space wide.yaml --budget 2 \
            --problem 64x96:f32 --problem 96x64:f32 --out best.yaml
        run --separate-stderr -0 "$AUTOTUNE" show --format json best.yaml
        [ "$(grep -c "\"points\": ${case#* }," <<<"$output")" -eq 2 ]
    done
}

@test "--verbose tells each config, why it is refused, the finalists and the files; -q and -v exclude each other" {
    run --separate-stderr -0 tune --verbose --gpu emu --family tile --problem 64x96:f32 --search random --budget 6 \
        --out best.yaml
    [ "$(grep -cE '^autotune: 64x96:f32: tile [A-Z_]+=[0-9].*: [0-9.]+ us$' <<<"$stderr")" -ge 6 ]
    [ "$(grep -c '64x96:f32: finalist .* us, the winner$' <<<"$stderr")" -eq 1 ]
    [[ $stderr == *' families in '*'the journal is best.yaml.journal'*'wrote best.yaml'* ]]
    run --separate-stderr -0 tune -v -q --gpu emu --family tile --problem 64x96:f32 --search random --budget 2
    [ -z "$stderr" ]
    run --separate-stderr -0 tune -q -v --gpu emu --family tile --problem 64x96:f32 --search random --budget 2
    [[ $stderr == *': finalist tile '* ]]
}

@test "a search is short by default; its journal has when, on which device, and what it expected" {
    is_long
    need_sqlite
    before=$(date +%s)
    run --separate-stderr -0 tune --gpu emu:a100 --family tile --problem 64x96:f32 --out best.yaml
    after=$(date +%s)
    [[ $stderr == *'24 configs per problem'*$'\nautotune: wrote best.yaml: 1 entry added, 0 replaced, 0 kept' ]]
    [ "$(figure correct)" -eq 24 ]
    [ "$(figure search)" = guided ]
    # In the order of time, within the run; the device as in the profile; clocks are not emulated.
    [ "$(query best.yaml.journal "SELECT count(*), min(measured_utc_ms) >= $before * 1000,
        max(measured_utc_ms) < ($after + 1) * 1000, sum(typeof(measured_utc_ms) <> 'integer'),
        group_concat(DISTINCT gpu), count(clock_sm_khz), count(clock_memory_khz)
        FROM measurements WHERE family = 'tile'")" = '24|1|1|0|emu:a100|0|0' ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements AS a JOIN measurements AS b
        ON a.id < b.id AND a.measured_utc_ms > b.measured_utc_ms')" -eq 0 ]
    grep -q 'uuid: emu:a100$' best.yaml
    # The last shoot-out, of which the profile has the winner; power and temperature are not emulated.
    [ "$(query best.yaml.journal "SELECT min(place), max(place) = count(*) - 1, sum(won), group_concat(DISTINCT gpu),
        min(json_array_length(samples_ns)), (SELECT count(power_mw) FROM measurements) FROM finals")" = '0|1|1|emu:a100|15|0' ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM finals WHERE (problem, family, family_hash, config) NOT IN
        (SELECT problem, family, family_hash, config FROM measurements)')" -eq 0 ]
    "$AUTOTUNE" report best.yaml --journal best.yaml.journal --out report.html
    grep -q 'Predicted times have no spread: equal ones are a tie' report.html
    run ! grep -E 'Power over time|Temperature over time|Throttling:' report.html
    # Nothing is expected of the first configs; most of the others come within a factor of 1.5.
    [ "$(query best.yaml.journal "SELECT count(*) - count(expected_ns) >= 8 FROM measurements
        WHERE family = 'tile'")" -eq 1 ]
    [ "$(query best.yaml.journal 'SELECT expected_ns FROM measurements WHERE id = 1')" = None ]
    query best.yaml.journal "SELECT count(*), sum(ratio BETWEEN 1 / 1.5 AND 1.5) FROM (
        SELECT expected_ns / min(value) AS ratio FROM measurements, json_each(samples_ns)
        WHERE family = 'tile' AND expected_ns NOT NULL GROUP BY measurements.id)" >ratios
    IFS='|' read -r count near <ratios
    [ "$count" -ge 6 ]
    [ "$((2 * near))" -gt "$count" ]
}

@test "a strategy without a model expects nothing" {
    need_sqlite
    run --separate-stderr -0 tune --quiet --gpu emu --family tile --problem 64x96:f32 --search random \
        --budget 4 --out best.yaml
    [ "$(query best.yaml.journal 'SELECT count(*) > 3, count(expected_ns) FROM measurements')" = '1|0' ]
}

@test "every way to fail gets the same outcome as on a GPU" {
    run --separate-stderr -0 tune --quiet --gpu emu --family fault --space "$faults" \
        --problem 96x64:f32 --search exhaustive --jobs 2 --out best.yaml
    for count in correct:1 timeout:1 crash:3 wrong:5 compile:2 launch:2 oom:0; do
        [ "$(figure "${count%:*}")" -eq "${count#*:}" ]
    done
    grep -q 'FAULT: 0' best.yaml
    run -0 "$AUTOTUNE" check --space "$faults" best.yaml
}

@test "the journal names each fault" {
    need_sqlite
    variant '1, 2, 3, 4, 0'
    run --separate-stderr -0 tune --verbose --gpu emu --family fault --space fault.yaml \
        --problem 96x64:f32 --search exhaustive --jobs 2 --out best.yaml
    [[ $stderr == *': fault FAULT=3: crash: '*'misaligned access'* ]]
    query best.yaml.journal "SELECT config, message FROM measurements WHERE family = 'fault'
        AND outcome <> 'correct' ORDER BY config" >faults
    mapfile -t found <faults
    [ "${#found[@]}" -eq 4 ]
    [[ ${found[0]} == 'FAULT=1|'*'too many instructions'* ]]
    [[ ${found[1]} == 'FAULT=2|'*'outside every allocation at 0x40'* ]]
    [[ ${found[2]} == 'FAULT=3|'*'misaligned access'* ]]
    [[ ${found[3]} == 'FAULT=4|'*'trap'* ]]
}

@test "unknown devices and too large problems are refused" {
    run --separate-stderr -3 tune --gpu emu:nothing --problem 64x96:f32 --out best.yaml
    [[ $stderr == *'there is no device "emu:nothing" '*emu:h200* ]]
    run --separate-stderr -2 tune --quiet --gpu emu --problem 32768x32768:b1 --out best.yaml
    [[ $stderr == *'32768x32768:b1 is too large for an emulated device'* ]]
    [ ! -e best.yaml ]
}
