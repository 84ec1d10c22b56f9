#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Several devices tune one list, on emulated devices.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

# A run has a cache of its own, so that what is compiled first differs from run to run.
setup() {
    need_nvrtc
    need_sqlite
    cd "$BATS_TEST_TMPDIR" || return 1
    export XDG_CACHE_HOME=$PWD/cache
    printf '%s\n' 'schema: 1' 'problems:' '  - '{8x8,16x8,9x17,32x32,5x64}':f32' '  - 16x16:f16' >list.yaml
}

list=(--quiet --problems list.yaml --budget 24)

# tune_on DEVICES ARGUMENT...: the profile is DEVICES.yaml.
tune_on() {
    "$AUTOTUNE" tune "${list[@]}" --gpu "$1" --out "$1.yaml" "${@:2}" >table
}

# The run of one device, emu:h200.yaml and its journal, is made once for all tests.
tune_on_one() {
    local kept=$BATS_FILE_TMPDIR/one
    if [ ! -d "$kept" ]; then
        tune_on emu:h200
        mkdir "$kept"
        cp emu:h200.yaml* "$kept"
    fi
    cp "$kept"/* .
}

# start_on DEVICES ARGUMENT...: start a run in the background; $main is its process.
start_on() {
    "$AUTOTUNE" tune "${list[@]}" --gpu "$1" --out two.yaml "${@:2}" >table 2>errors 3>&- &
    main=$!
}

# start_fleet and start_tuners ARGUMENT...: on two devices; on one that tunes two problems at a time.
start_fleet() {
    start_on emu:h200,emu:h200 "$@"
}

start_tuners() {
    start_on emu:h200 --tuners 2 "$@"
}

# wait_for_both JOURNAL: until both tuners have filed some, the second one in this journal.
wait_for_both() {
    until grep -qaE 'x[0-9]+:f' two.yaml.journal-wal && grep -qaE 'x[0-9]+:f' "$1-wal"; do
        running
        sleep 0.05
    done 2>/dev/null
}

# assert_loss_costs_nothing WHO KIND: one of both tuners is killed. WHO is lost, its problem waits for another
# KIND, and the profile is that of one device.
assert_loss_costs_nothing() {
    kill -KILL "$(children "$main" tuner | head -n 1)"
    waited 0
    [[ "$(<errors)" == *"$1 (emu:h200) is lost: signal 9 (Killed)"*" waits for another $2"* ]]
    cmp emu:h200.yaml two.yaml
}

# measured JOURNAL: what it has measured.
measured() {
    query "$1" "SELECT problem, family, config FROM measurements UNION ALL SELECT problem, family, config
        FROM finals" | sort
}

# assert_once JOURNAL...: no config of a problem is measured twice, whichever of the journals it is in.
assert_once() {
    local journal
    for journal; do
        query "$journal" "SELECT problem, family, config FROM measurements WHERE NOT again"
    done | sort >measured
    [ -z "$(uniq -d measured)" ]
}

# assert_resumed JOURNAL...: the resumed run has tuned everything, and measured nothing twice.
assert_resumed() {
    [ "$(grep -c 'problem: ' two.yaml)" -eq 6 ]
    assert_once "$@"
    [ "$(wc -l <measured)" -ge 24 ]
}

# resumed_amid_copies COMMAND JOURNAL...: a run of this command is resumed, as if it had been killed before it filed
# the first config of any problem.
resumed_amid_copies() {
    local journal
    rm -f two.yaml*
    "$1"
    waited 0
    for journal in "${@:2}"; do
        query "$journal" "DELETE FROM measurements WHERE family <> 'copy'"
    done
    "$1" --resume
    waited 0
    assert_once "${@:2}"
}

@test "two devices come to the profile of one, byte for byte" {
    is_long
    tune_on_one
    tune_on emu:h200,emu:h200
    cmp emu:h200.yaml emu:h200,emu:h200.yaml
    [ -s emu:h200,emu:h200.yaml.journal.1 ]
}

@test "each model has the list of its own" {
    is_long
    list+=(--budget 12)
    tune_on emu:h200
    tune_on emu:a100
    list+=(--budget 24)
    tune_on emu:h200,emu:a100,emu:h200
    "$AUTOTUNE" merge emu:a100.yaml emu:h200.yaml --out merged.yaml
    sed -i '/options:/s/--budget 24/--budget 12/' emu:h200,emu:a100,emu:h200.yaml
    cmp merged.yaml emu:h200,emu:a100,emu:h200.yaml
}

@test "a device that is lost costs no result" {
    is_long
    tune_on_one
    start_fleet
    wait_for_both two.yaml.journal.1
    assert_loss_costs_nothing "NVIDIA H200" device
}

@test "all devices are lost: the run ends with what it has, and --resume goes on" {
    is_long
    start_fleet
    wait_for_both two.yaml.journal.1
    children "$main" tuner | xargs kill -KILL
    waited 5
    [[ "$(<errors)" == *"autotune: no NVIDIA H200 is left: signal 9 (Killed)" ]]
    start_fleet --resume
    waited 0
    assert_resumed two.yaml.journal two.yaml.journal.1
}

@test "an interrupt ends all devices, and --resume knows all journals" {
    is_long
    start_fleet
    wait_for_both two.yaml.journal.1
    kill -TERM "$main"
    waited 130
    [ -z "$(children "$main")" ]
    start_fleet --resume
    waited 0
    assert_resumed two.yaml.journal two.yaml.journal.1
}

@test "the driver is killed: nothing stays, and --resume goes on" {
    is_long
    start_fleet
    wait_for_both two.yaml.journal.1
    kill -KILL "$main"
    wait "$main" || true
    start_fleet --resume --wait
    waited 0
    assert_resumed two.yaml.journal two.yaml.journal.1
}

@test "what one device has measured, --resume with several does not measure again" {
    is_long
    tune_on_one
    mv emu:h200.yaml.journal two.yaml.journal
    measured two.yaml.journal | uniq >before
    for devices in emu:h200,emu:h200,emu:h200 emu:h200; do
        start_on "$devices" --resume
        waited 0
        cmp emu:h200.yaml two.yaml
        diff <(measured two.yaml.journal | uniq) before
        [ "$(query two.yaml.journal.1 'SELECT count(*) FROM measurements')" -eq 0 ]
    done
    grep -q 'warning: two.yaml.journal.2 is not resumed: this run has fewer devices' errors
}

@test "a run that was stopped amid the copies does not measure them again" {
    is_long
    unset AUTOTUNE_DATADIR # so that there is the family copy
    list=(--quiet --problem 8x8:f32 --problem 9x17:f32 --family tile --budget 2)
    resumed_amid_copies start_fleet two.yaml.journal two.yaml.journal.1
    resumed_amid_copies start_tuners two.yaml.journal
}

@test "a device that cannot be opened ends the run before anything is measured" {
    mkdir two.yaml.journal.1
    start_fleet
    waited 2
    [[ "$(<errors)" == *two.yaml.journal.1* ]]
    [ ! -e two.yaml ]
}

@test "GPUs and emulated devices do not go together" {
    refused 'measured and predicted times do not go together' tune --problem 8x8:f32 --gpu 0,emu
}

# ---- several tuners of one device ----

@test "several problems at a time come to the profile of one, byte for byte, with one journal" {
    tune_on_one
    mv emu:h200.yaml one.yaml
    mv emu:h200.yaml.journal one.yaml.journal
    tune_on emu:h200 --tuners 3
    cmp emu:h200.yaml one.yaml
    diff <(measured emu:h200.yaml.journal) <(measured one.yaml.journal)
    [ -z "$(find . -name '*.tuner*')" ]
    [ -n "${AUTOTUNE_TEST_WHOLE-}" ] || return 0
    tune_on emu:h200,emu:h200 --tuners 2
    cmp emu:h200,emu:h200.yaml one.yaml
}

@test "a tuner that is killed costs no result" {
    is_long
    tune_on_one
    start_tuners
    wait_for_both two.yaml.journal.tuner1
    assert_loss_costs_nothing "a tuner of NVIDIA H200" tuner
    assert_once two.yaml.journal
}

@test "the driver of several tuners is killed: --resume measures nothing twice, whatever their number" {
    is_long
    for tuners in 2 1; do
        rm -f two.yaml*
        start_tuners
        wait_for_both two.yaml.journal.tuner1
        kill -KILL "$main"
        wait "$main" || true
        [ -s two.yaml.journal.tuner1 ]
        start_tuners --resume --wait --tuners $tuners
        waited 0
        [ ! -e two.yaml.journal.tuner1 ]
        assert_resumed two.yaml.journal
    done
}

@test "what one tuner has measured, --resume with several does not measure again" {
    is_long
    count='SELECT count(*) FROM measurements'
    tune_on_one
    before=$(query emu:h200.yaml.journal "$count")
    tune_on emu:h200 --resume --tuners 3
    [ "$(query emu:h200.yaml.journal "$count")" -eq "$before" ]
}

@test "a recording is made of one problem at a time" {
    refused 'a recording holds how long each evaluation takes' tune --problem 8x8:f32 --problem 9x9:f32 \
        --gpu emu --search exhaustive --record recordings --tuners 2
}
