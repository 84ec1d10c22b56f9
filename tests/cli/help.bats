#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# --help is complete, goes to stdout, and succeeds.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    run_options="--family --gpu --jobs --no-cache --policy --problem --problems --space --timeout --wait"
}

# knows COMMAND OPTION...: do --help and --usage of the command name exactly these options and the
# common ones?
knows() {
    local command=$1 way
    shift
    for way in --help --usage; do
        run --separate-stderr -0 "$AUTOTUNE" "$command" "$way"
        [ -z "$stderr" ]
        diff <(printf '%s\n' "$@" --color --help --quiet --usage --verbose --version | sort) \
            <(grep -oE -e '(^ +|, |\[)--[a-z-]+' <<<"$output" | grep -oE -e '--[a-z-]+' | sort)
    done
}

@test "tune names its options" {
    # shellcheck disable=SC2086 # a list
    knows tune --budget --budget-per-problem --configs --dry-run --format --fresh --journal --out --record --replace --resume --search --seed --shard --stale --tuners $run_options
}

@test "list, show, check and cache name their options" {
    knows list --emulated --families --format
    knows show --configs --format --top
    knows check --format --gpu --out --space --stale
    knows cache --clear --device --fill --format --gpu --policy --problem --space
}

@test "report names its options" {
    knows report --baseline --explain --figure --format --journal --out --space
}

@test "export names its options" {
    knows export --any-address --as --device --gpu --out --policy --prefix --problem --space --strict
}

@test "merge and diff name their options" {
    knows merge --answers --out --problems --replace
    knows diff --across --format --threshold
}

@test "lookup names its options" {
    knows lookup --device --format --gpu --measure --policy --problem --problems --profile --space --strict
}

@test "bench names its options" {
    # shellcheck disable=SC2086 # a list
    knows bench --format --lookup --out --peers --profile $run_options
}

@test "replay names its options" {
    knows replay --ahead --budget --curve --format --jobs --numbers --out --runs --search --seed --winners
}

@test "convert names its options" {
    knows convert --family --out --to
}

@test "doctor names its options" {
    knows doctor --format
}

@test "explain names its options" {
    knows explain --arg --block --blocks --check --counters --define --draw --entry --format --gpu --grid --include-dir --ncu --params --problem --profile --shared --source \
        --space --timeout --with
}

@test "space names its options" {
    knows space --arg --define --entry --family --gpu --out
}

@test "study names its options" {
    knows study --arg --block --check --define --entry --format --gpu --grid --include-dir --out --shared --space --timeout
}

@test "the main commands have an example that they take, and those with many options groups" {
    for command in tune bench show report check explain lookup export list study replay; do
        run -0 "$AUTOTUNE" "$command" --help
        example=$(grep -A1 '^Example:$' <<<"$output" | tail -n 1)
        [[ $example == '  autotune '* ]]
        # Each option of the example is one of the command.
        while read -r option; do
            grep -qE -e "^ +(-[a-z], )?$option([ =[]|\$)" <<<"$output"
        done < <(grep -oE -e '--[a-z]+' <<<"$example")
    done
    for line in 'tune What to run:' 'tune How:' 'tune What to write and print:' 'bench What to run:' \
        'explain What to explain:' 'lookup From where:'; do
        "$AUTOTUNE" "${line%% *}" --help | grep -qxE " *${line#* }"
    done
    # A group has its own: the profile's file is written, the seed is not.
    "$AUTOTUNE" tune --help | sed -n '/^ *How:$/,/^ *What to write/p' | grep -q -e '--seed'
    "$AUTOTUNE" tune --help | sed -n '/^ *What to write/,$p' | grep -q -e '--out'
}

@test "every command prints the version" {
    run -0 "$AUTOTUNE" --version
    version=$output
    for command in "${commands[@]}"; do
        for option in --version -V; do
            run --separate-stderr -0 "$AUTOTUNE" "$command" "$option"
            [ "$output" = "$version" ]
            [ -z "$stderr" ]
        done
    done
}

@test "help names the exit codes and the default command" {
    run -0 "$AUTOTUNE" --help
    [[ $output == *'(the default)'* ]]
    for code in 0 1 2 3 4 5 130; do
        [[ $output =~ (^|[^0-9])$code\ [a-z] ]]
    done
}

@test "help needs no data, no home and no device" {
    for command in "${commands[@]}"; do
        run -0 env -i LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" AUTOTUNE_DATADIR=/nonexistent "$AUTOTUNE" "$command" --help
    done
    run -0 env -i LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}" AUTOTUNE_DATADIR=/nonexistent "$AUTOTUNE" --help
}

@test "complete has no options of its own" {
    knows complete
}
