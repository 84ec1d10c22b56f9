#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whole runs on a GPU.

bats_require_minimum_version 1.5.0
load helpers

faults=$srcdir/tests/gpu/fault.yaml

setup_file() {
    find_device
}

setup() {
    need_device
}

@test "explain shows the measured time beside the predicted one" {
    run -0 "$AUTOTUNE" explain tile --gpu 0 --problem 1024x1024:f32
    [[ $output == *'  measured '*' us, spread '* ]]
    [[ $output == *'  predicted '*'(a prediction; nine of ten '* ||
        $output == *'  no time is predicted'* ]]
    [[ ${lines[1]} != *emulated* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain fault FAULT=5 --space "$faults" --gpu 0 \
        --problem 96x64:f32
    [[ $stderr == *'fault: wrong: '* ]]
}

@test "without a correct config, no profile is written" {
    variant 5
    run --separate-stderr tune --quiet --family fault --space fault.yaml --problem 96x64:f32 \
        --out best.yaml
    [ "$status" -eq 7 ]
    [[ $stderr == *'1 wrong'* ]]
    [[ ${stderr_lines[-1]} == 'autotune: 1 of 1 problems has no entry: 96x64:f32; no correct config was found' ]]
    [ ! -e best.yaml ]
}

@test "the warm policy, all element sizes, padding and batches are tuned" {
    run --separate-stderr -0 tune --quiet --family naive --policy warm --problem 17x19:c128 \
        --problem 33x65:b1,ld_src=70,batch=3 --problem 1x1:f16 --problem 31x1:f64 --out best.yaml
    [ -z "$stderr" ]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 4 ]
    [ "$(grep -E ' (compile|launch|timeout|crash|wrong|oom): ' best.yaml | grep -cv ': 0$')" -eq 0 ]
    run -0 "$AUTOTUNE" check best.yaml
}

@test "two problems are tuned at a time: neither counts as another process, and there is one journal" {
    need_sqlite
    run --separate-stderr -0 tune --family naive --tuners 2 --problem 2048x2048:f32 --problem 2048x2047:f32 \
        --problem 1024x1024:f32 --out best.yaml
    [[ $stderr != *"other process"* ]]
    run ! grep -q 'other_processes: [1-9]' best.yaml
    [ "$(query best.yaml.journal 'SELECT count(DISTINCT problem) FROM finals')" -eq 3 ]
    [ -z "$(find . -name '*.tuner*')" ]
}

# A copy that looks up the channel of each element takes 1.4 times as long as a good kernel.
@test "a slow copy does not end a search" {
    run --separate-stderr -0 tune --quiet --family narrow --problem 2073600x3:u8:f32,batch=8,divide,affine --out best.yaml
    run -0 sed -n 's/^ *correct: //p' best.yaml
    [ "$output" -ge 40 ]
}

@test "--out - prints the profile" {
    run --separate-stderr -0 tune --quiet --family naive --problem 96x64:f32 --out -
    [ -z "$stderr" ]
    printf '%s\n' "$output" >best.yaml
    run -0 "$AUTOTUNE" show best.yaml
    [[ $output == *96x64:f32* ]]
    [ -z "$(find . -name '*.journal*')" ]
}

@test "a budget is kept, and the same seed draws the same configs" {
    need_sqlite
    for try in 1:7 2:7 3:8; do
        seed=${try#*:}
        run --separate-stderr -0 tune --quiet --family tile --problem 96x64:f32 --search random \
            --seed "$seed" --budget 6 --out best.yaml --journal "$seed.journal"
        [ "$(figure ended)" = budget ]
        [ "$(figure seed)" -eq "$seed" ]
        [ "$(figure correct)" -eq 6 ]
        query "$seed.journal" "SELECT config FROM measurements WHERE family = 'tile'
            AND run = (SELECT max(id) FROM runs) AND NOT again ORDER BY config" >"$try"
    done
    diff 1:7 2:7
    run ! cmp -s 1:7 3:8
}

@test "the journal has the GPU of each measurement, its clocks, power and temperature, and the finalists" {
    need_sqlite
    run --separate-stderr -0 tune --quiet --family naive --problem 1024x1024:f32 --budget 6 --out best.yaml
    uuid=$(sed -n 's/.* uuid: //p' best.yaml)
    [ "$(query best.yaml.journal 'SELECT DISTINCT gpu FROM measurements')" = "$uuid" ]
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE outcome = 'correct'
        AND clock_sm_khz BETWEEN 100000 AND 10000000")" -gt 0 ]
    # NVML is not asked during every measurement, and a container may hide it.
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements
        WHERE clock_memory_khz NOT BETWEEN 100000 AND 10000000')" -eq 0 ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements WHERE power_mw NOT BETWEEN 5000 AND 2000000
        OR temperature_c NOT BETWEEN 1 AND 120 OR throttle NOT BETWEEN 0 AND 127')" -eq 0 ]
    # Whoever tells the memory's clock tells one of these too.
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements WHERE clock_memory_khz > 0
        AND coalesce(power_mw, temperature_c, throttle) IS NULL')" -eq 0 ]
    # The samples of a shoot-out differ, and the profile has the winner's median.
    [ "$(query best.yaml.journal "SELECT sum(won), min(json_array_length(samples_ns)) >= 15 FROM finals")" = '1|1' ]
    [ "$(query best.yaml.journal "SELECT count(DISTINCT value) > 1 FROM finals, json_each(samples_ns) WHERE won")" = 1 ]
}

@test "a problem larger than the memory is refused" {
    run --separate-stderr -2 tune --problem 96x64:f32 --problem 4000000x1000000:f32 --out best.yaml
    [[ $stderr =~ 4000000x1000000:f32\ needs\ [0-9.]+\ GiB.*\ [0-9.]+\ GiB\ of\ [0-9.]+\ GiB\ are\ free ]]
    [ ! -e best.yaml ]
}

@test "missing devices are refused" {
    for name in 99 4294967296 GPU-ffffffff-dead-beef 0000:ff:1f.7 x -1 0,99; do
        run --separate-stderr -3 tune --gpu=$name --problem 96x64:f32 --out best.yaml
        [[ $stderr == *"there is no device \"${name#0,}\""* ]]
    done
    for name in '' ',' '0,' ',0'; do
        run --separate-stderr -2 tune --gpu=$name --problem 96x64:f32
    done
    [ ! -e best.yaml ] && [ ! -e best.yaml.journal ]
}

@test "a device is found by each of its names" {
    run -0 "$AUTOTUNE" list --format json
    uuid=$(sed -n 's/.*"uuid": "\(.*\)".*/\1/p' <<<"$output" | head -n 1)
    bus=$(sed -n 's/.*"pci_bus_id": "\(.*\)".*/\1/p' <<<"$output" | head -n 1)
    [ -n "$uuid" ] && [ -n "$bus" ]
    for name in 0 auto 0,0 "$uuid" "${uuid:0:12}" "$bus" "0,$uuid"; do
        run -0 tune --dry-run --gpu "$name" --problem 96x64:f32
        [ "$(grep -c 96x64:f32 <<<"$output")" -eq 1 ]
    done
}

@test "a file that is no journal is left alone" {
    echo "a letter" >letter
    cp letter copy
    run --separate-stderr -2 tune --problem 96x64:f32 --journal letter
    [[ $stderr == *'letter is not a journal'* ]]
    cmp letter copy
}

@test "bench shows the textbook kernels beside the tuned one" {
    run --separate-stderr -0 "$AUTOTUNE" bench --quiet --family naive --problem 256x256:f32 \
        --problem 256x256:f64
    [ -z "$stderr" ]
    mapfile -t labels < <(sed -n 's/^ *- label: //p' "$srcdir/tuning/textbook.yaml")
    [ "${#labels[@]}" -gt 3 ]
    for label in "copy limit" "memcpy by the driver" "${labels[@]}" tuned; do
        # Time, bandwidth, share of the copy and spread, for each problem.
        [ "$(grep -cE "^  $label +[0-9.]+ +[0-9]+ +[0-9.]+ +[0-9.]+\$" <<<"$output")" -eq 2 ]
    done
    [ "$(grep -c '^  tuned is naive ' <<<"$output")" -eq 2 ]
}

@test "bench takes the tuned kernel from a profile of this device" {
    run -0 tune --quiet --family naive --problem 256x256:f32 --out best.yaml
    run -0 "$AUTOTUNE" bench --quiet --profile best.yaml --problem 256x256:f32
    grep -q '^  tuned is naive ' <<<"$output"
    run --separate-stderr -4 "$AUTOTUNE" bench --quiet --profile best.yaml --problem 256x257:f32
    [[ $stderr == *'has no 256x257:f32 for this device'* ]]
    run --separate-stderr -4 "$AUTOTUNE" bench --quiet --problem 256x256:f32 \
        --profile "$srcdir/tests/golden/check/sound.yaml"
}

@test "check measures the predictions of its model" {
    name=$("$AUTOTUNE" list --format json | sed -n 's/.*"name": *"NVIDIA \([A-Z0-9]*\).*/\1/p' | head -n 1)
    [ -e "$srcdir/tuning/devices/${name,,}.yaml" ] || skip "no description of this GPU"
    run --separate-stderr -0 tune --quiet --gpu "emu:${name,,}" --budget 8 --problem 96x64:f32 --problem 300x200:f16 \
        --out predicted.yaml
    grep -q 'kind: emulated' predicted.yaml
    run --separate-stderr -0 "$AUTOTUNE" check --gpu 0 predicted.yaml --out measured.yaml
    [[ $output == *'predicted us'*'default'*'96x64:f32 '*' held '*'the defaults take '*' times as long'*' of 2'* ]]
    run ! grep -q 'kind: emulated' measured.yaml
    grep -q ' driver: ' measured.yaml
    run -0 "$AUTOTUNE" check --gpu 0 measured.yaml
}
