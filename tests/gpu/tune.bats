#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Whole runs on a GPU: kernels that fail in every way, and a run that is interrupted, killed and gone
# on with. They take about two minutes together.

bats_require_minimum_version 1.5.0
load helpers

faults=$srcdir/tests/gpu/fault.yaml

setup_file() {
    find_device
}

setup() {
    need_device
}

teardown() {
    stop_run
}

# ended_as NAME COUNT...: so many evaluations of the profile ended so, and no others.
ended_as() {
    local name
    local -A expected=([correct]=0 [compile]=0 [launch]=0 [timeout]=0 [crash]=0 [wrong]=0 [oom]=0)
    while (($# > 0)); do
        expected[$1]=$2
        shift 2
    done
    for name in "${!expected[@]}"; do
        [ "$(figure "$name")" -eq "${expected[$name]}" ] || {
            echo "$name: expected ${expected[$name]}"
            sed -n '/evaluations:/,/wrong:/p' best.yaml
            return 1
        }
    done
}

# tune_faults ARGUMENT...: the configs of the family fault alone.
tune_faults() {
    run --separate-stderr tune --quiet --family fault --problem 96x64:f32 --timeout 1 --jobs 2 \
        --out best.yaml "$@"
}

@test "every way to fail is survived, and told from the others" {
    tune_faults --space "$faults"
    echo "$stderr"
    [ "$status" -eq 0 ]
    ended_as correct 1 timeout 1 crash 3 wrong 5 compile 2 launch 2
    [ "$(figure complete)" -eq 1 ]
    grep -q 'FAULT: 0' best.yaml
    # Two configs do not compile; that is worth one warning.
    [ "$(grep -c 'fault does not compile: ' <<<"$stderr")" -eq 1 ]
    run -0 "$AUTOTUNE" check --space "$faults" best.yaml
}

@test "explain has the measured time beside the predicted one" {
    run -0 "$AUTOTUNE" explain tile --gpu 0 --problem 1024x1024:f32
    [[ $output == *'  measured '*' us, spread '* ]]
    [[ $output == *'  predicted '*'(a prediction, not a measurement'* ||
        $output == *'  no time is predicted'* ]]
    [[ ${lines[1]} != *emulated* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain fault FAULT=5 --space "$faults" --gpu 0 \
        --problem 96x64:f32
    [[ $stderr == *'fault: wrong: '* ]]
}

@test "the journal tells what became of each config, and why" {
    need_sqlite
    tune_faults --space "$faults"
    [ "$status" -eq 0 ]
    query best.yaml.journal "SELECT config, outcome FROM measurements WHERE family = 'fault'
        AND problem = '96x64:f32' ORDER BY CAST(substr(config, 7) AS INTEGER)" >outcomes
    diff outcomes - <<'END'
FAULT=0|correct
FAULT=1|timeout
FAULT=2|crash
FAULT=3|crash
FAULT=4|crash
FAULT=5|wrong
FAULT=6|wrong
FAULT=7|compile
FAULT=8|compile
FAULT=9|wrong
FAULT=10|wrong
FAULT=11|wrong
FAULT=12|launch
FAULT=13|launch
END
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements
        WHERE outcome <> 'correct' AND trim(message) = ''")" -eq 0 ]
    # 'oom', and the constraints, never get this far.
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements
        WHERE outcome NOT IN ('correct', 'timeout', 'crash', 'wrong', 'compile', 'launch')")" -eq 0 ]
}

@test "beside faults, the tool's own kernels stay correct" {
    run --separate-stderr -0 tune --quiet --family naive --family fault --space "$faults" \
        --problem 96x64:f32 --timeout 1 --out best.yaml
    ended_as correct "$(($(figure space) - 13))" timeout 1 crash 3 wrong 5 compile 2 launch 2
}

@test "a kernel that spoils its source spoils nobody else's" {
    variant '9, 0' "$twice"
    tune_faults --space fault.yaml --jobs 1 # in this order
    echo "$stderr"
    [ "$status" -eq 0 ]
    ended_as correct 2 wrong 2
}

@test "a kernel that writes outside its destination does no harm to others" {
    variant '6, 11, 0' "$twice"
    tune_faults --space fault.yaml --jobs 1
    [ "$status" -eq 0 ]
    ended_as correct 2 wrong 4
}

@test "a compile failure is told once, with its line in the template" {
    variant '7, 0' "$twice"
    tune_faults --space fault.yaml
    [ "$status" -eq 0 ]
    ended_as correct 2 compile 2
    line=$(grep -n '^#error' "${faults%.yaml}.cu" | cut -d: -f1)
    [ "$(grep -c 'does not compile' <<<"$stderr")" -eq 1 ]
    [[ $stderr == *"fault does not compile: fault.cu($line): "*'a fault on purpose'* ]]
}

@test "a kernel that is wrong one time in fifty does not win" {
    variant '0, 14'
    tune_faults --space fault.yaml
    [ "$status" -eq 0 ]
    grep -q 'FAULT: 0' best.yaml
    run ! grep -q 'FAULT: 14' best.yaml
}

@test "a second run on the device is refused, or waits" {
    start_long_run
    wait_for_measurements
    run --separate-stderr -3 tune --quiet --family naive --problem 96x64:f32
    [[ $stderr == *"is in use by another run of autotune, process $driver: wait for its end with --wait"* ]]
    tune --family naive --problem 96x64:f32 --wait >waited 2>notes 3>&- &
    second=$!
    for ((i = 0; i < 100; i++)); do
        ! grep -q "waiting for .* which process $driver uses" notes || break
        sleep 0.1
    done
    ((i < 100))
    kill -KILL "$driver"
    wait "$second"
    grep -q '96x64:f32 *naive' waited
}

@test "without a correct config there is no profile" {
    variant 5
    tune_faults --space fault.yaml
    [ "$status" -eq 1 ]
    [[ $stderr == *'1 wrong'* ]]
    [[ ${stderr_lines[-1]} == 'autotune: 1 of 1 problems have no valid config' ]]
    [ ! -e best.yaml ]
}

@test "other policies, element sizes, padding and batches" {
    run --separate-stderr -0 tune --quiet --family naive --policy warm --problem 17x19:c128 \
        --problem 33x65:b1,ld_src=70,batch=3 --problem 1x1:f16 --problem 31x1:f64 --out best.yaml
    [ -z "$stderr" ]
    [ "$(grep -c ' problem: ' best.yaml)" -eq 4 ]
    [ "$(grep -E ' (compile|launch|timeout|crash|wrong|oom): ' best.yaml | grep -cv ': 0$')" -eq 0 ]
    run -0 "$AUTOTUNE" check best.yaml
}

@test "the profile on standard output is the one that goes to a file" {
    run --separate-stderr -0 tune --quiet --family naive --problem 96x64:f32 --out -
    [ -z "$stderr" ]
    printf '%s\n' "$output" >best.yaml
    run -0 "$AUTOTUNE" show best.yaml
    [[ $output == *96x64:f32* ]]
    [ -z "$(find . -name '*.journal*')" ]
}

@test "a budget of configs, and a seed" {
    need_sqlite
    for try in 1:7 2:7 3:8; do
        seed=${try#*:}
        run --separate-stderr -0 tune --quiet --family tile --problem 96x64:f32 --search random \
            --seed "$seed" --budget 6 --out best.yaml --journal "$seed.journal"
        [ "$(figure complete)" -eq 0 ]
        [ "$(figure seed)" -eq "$seed" ]
        [ "$(figure correct)" -eq 6 ]
        query "$seed.journal" "SELECT config FROM measurements WHERE family = 'tile'
            AND run = (SELECT max(id) FROM runs) ORDER BY config" >"$try"
    done
    diff 1:7 2:7
    run ! cmp -s 1:7 3:8
}

@test "a larger problem than there is memory for" {
    run --separate-stderr -2 tune --problem 96x64:f32 --problem 4000000x1000000:f32 --out best.yaml
    [[ $stderr =~ 4000000x1000000:f32\ needs\ [0-9.]+\ GiB.*\ [0-9.]+\ GiB\ of\ [0-9.]+\ GiB\ are\ free ]]
    [ ! -e best.yaml ]
}

@test "devices that are not there" {
    for name in 99 4294967296 GPU-ffffffff-dead-beef 0000:ff:1f.7 x -1 0,99; do
        run --separate-stderr -3 tune --gpu=$name --problem 96x64:f32 --out best.yaml
        [[ $stderr == *"there is no device \"${name#0,}\""* ]]
    done
    for name in '' ',' '0,' ',0'; do
        run --separate-stderr -2 tune --gpu=$name --problem 96x64:f32
    done
    [ ! -e best.yaml ] && [ ! -e best.yaml.journal ]
}

@test "a device by each of its names" {
    run -0 "$AUTOTUNE" list --format json
    uuid=$(sed -n 's/.*"uuid": "\(.*\)".*/\1/p' <<<"$output" | head -n 1)
    bus=$(sed -n 's/.*"pci_bus_id": "\(.*\)".*/\1/p' <<<"$output" | head -n 1)
    [ -n "$uuid" ] && [ -n "$bus" ]
    for name in 0 auto 0,0 "$uuid" "${uuid:0:12}" "$bus" "0,$uuid"; do
        run -0 tune --dry-run --gpu "$name" --problem 96x64:f32
        [ "$(grep -c 96x64:f32 <<<"$output")" -eq 1 ]
    done
}

@test "a journal that is none is left alone" {
    echo "a letter" >letter
    cp letter copy
    run --separate-stderr -2 tune --problem 96x64:f32 --journal letter
    [[ $stderr == *'letter is not a journal'* ]]
    cmp letter copy
}

@test "killed in mid-run, nothing is left behind or lost, and nothing is measured twice" {
    need_sqlite
    start_long_run
    wait_for_measurements
    mapfile -t workers < <(pgrep -P "$driver")
    [ "${#workers[@]}" -ge 2 ]
    # There is time, then, to see that nobody else may use the device, nor the journal on another one.
    kill -STOP "$driver"
    run --separate-stderr -3 tune --problem 96x64:f32 --journal best.yaml.journal
    [[ $stderr == *"is in use by another run of autotune, process $driver"* ]]
    run --separate-stderr -2 tune --gpu emu --problem 96x64:f32 --journal best.yaml.journal
    [[ $stderr == *'in use by another process'* ]]

    kill -KILL "$driver"
    waited 137
    ended "${workers[@]}"
    [ ! -e best.yaml ]
    measured=$(query best.yaml.journal "SELECT count(*) FROM measurements")
    [ "$measured" -gt 20 ]

    start_long_run --resume
    waited 0
    [ "$(query best.yaml.journal "SELECT count(*) FROM runs")" -eq 1 ]
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements")" -gt "$measured" ]
    [ -z "$(query best.yaml.journal "SELECT problem, family, config, count(*) FROM measurements
        GROUP BY problem, family, family_hash, config HAVING count(*) > 1")" ]
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE family = 'tile'")" -eq 400 ]
    [ "$(figure correct)" -eq 400 ]

    # Once more, and there is nothing left to measure.
    start_long_run --resume
    waited 0
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE family = 'tile'")" -eq 400 ]
}

@test "interrupted, the best so far is written" {
    start_long_run
    wait_for_measurements
    mapfile -t workers < <(pgrep -P "$driver")
    kill -INT "$driver"
    waited 130
    [ "$(<errors)" = 'autotune: interrupted; the best so far is in best.yaml' ]
    ended "${workers[@]}"
    [ "$(figure complete)" -eq 0 ]
    [ "$(figure correct)" -lt 400 ]
    run -0 "$AUTOTUNE" check best.yaml
}

@test "interrupted twice, it ends at once" {
    start_long_run
    wait_for_measurements
    mapfile -t workers < <(pgrep -P "$driver")
    kill -INT "$driver"
    sleep 0.01 # the first is taken, or is still pending: the second ends the run either way
    kill -TERM "$driver"
    waited 130
    ended "${workers[@]}"
}

@test "a GPU worker that is killed is replaced" {
    start_long_run
    wait_for_measurements
    worker=$(pgrep -P "$driver" -x gpu)
    kill -KILL "$worker"
    ended "$worker"
    waited 0
    # At most the config that it had in hand is lost.
    [ "$(figure crash)" -le 1 ]
    [ "$(($(figure crash) + $(figure correct)))" -eq 400 ]
    run -0 "$AUTOTUNE" check best.yaml
}

@test "a compile worker that is killed is replaced" {
    start_long_run
    wait_for_measurements
    kill -KILL "$(pgrep -P "$driver" -x compile | head -n 1)"
    waited 0
    [ "$(figure correct)" -eq 400 ]
}

@test "bench shows the textbook beside the tuned kernel" {
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

@test "bench takes the tuned kernel from a profile, and asks for the device's own" {
    run -0 tune --quiet --family naive --problem 256x256:f32 --out best.yaml
    run -0 "$AUTOTUNE" bench --quiet --profile best.yaml --problem 256x256:f32
    grep -q '^  tuned is naive ' <<<"$output"
    run --separate-stderr -4 "$AUTOTUNE" bench --quiet --profile best.yaml --problem 256x257:f32
    [[ $stderr == *'has no 256x257:f32 for this device'* ]]
    run --separate-stderr -4 "$AUTOTUNE" bench --quiet --problem 256x256:f32 \
        --profile "$srcdir/tests/golden/check/sound.yaml"
}
