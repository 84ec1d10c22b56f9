#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command line: requested output goes to stdout, with exit code 0. Errors go to stderr, with exit
# code 2, before the program looks for or measures anything.

bats_require_minimum_version 1.5.0

load helpers

@test "--version prints the version" {
    run --separate-stderr -0 "$AUTOTUNE" --version
    [[ $output =~ ^autotune\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
    [ -z "$stderr" ]
}

@test "--help names every command" {
    run --separate-stderr -0 "$AUTOTUNE" --help
    for command in "${commands[@]}"; do
        [[ $output == *"autotune $command "* ]]
    done
    [ -z "$stderr" ]
}

@test "every command has --help" {
    for command in "${commands[@]}"; do
        run --separate-stderr -0 "$AUTOTUNE" "$command" --help
        [[ ${lines[0]} == "Usage: autotune $command "* ]]
        [ -z "$stderr" ]
    done
}

@test "the manual page names every option" {
    for command in "${commands[@]}"; do
        for option in $("$AUTOTUNE" "$command" --help | grep -oE '^ +(-., )?--[a-z-]+' |
            grep -oE -e '--[a-z-]+'); do
            grep -qF -e "*$option*" "$srcdir/doc/autotune.1.scd" || {
                echo "doc/autotune.1.scd lacks $option of autotune $command"
                return 1
            }
        done
    done
}

@test "an unknown command is answered with the nearest one" {
    refused 'did you mean show?' shwo
}

@test "an unknown option is refused" {
    for command in "${commands[@]}"; do
        refused "'--nonsense'" "$command" --nonsense
    done
    refused "'--nonsense'" --nonsense
}

@test "a stray argument is refused" {
    refused 'unexpected argument' list 0
    refused 'one profile at a time' check a b
}

# Data: what is typed, and what must be in the message.
@test "messages name what would work" {
    while IFS='|' read -r arguments words; do
        read -ra arguments <<<"$arguments"
        refused "$words" "${arguments[@]}"
    done <<END
tune 64x64|for instance 10007x10009:f16
64x64|for instance 10007x10009:f16
nonsense.yaml|autotune show nonsense.yaml prints a profile
sho|did you mean show
explain tlie|did you mean tile
show $srcdir/README.md|README.md is no profile
show $srcdir/tuning/problems.yaml|problems.yaml is no profile
END
    run --separate-stderr -4 "$AUTOTUNE" check --gpu emu "$srcdir/results/nvidia-h200.yaml"
    [[ $stderr == *'has no entry for an emulated NVIDIA H200' ]]
}

@test "without its data each command names AUTOTUNE_DATADIR" {
    export AUTOTUNE_DATADIR=/nonexistent
    refused AUTOTUNE_DATADIR explain tile
    refused AUTOTUNE_DATADIR study
    refused AUTOTUNE_DATADIR study shared
    refused AUTOTUNE_DATADIR tune --gpu emu
    refused AUTOTUNE_DATADIR list --emulated
    refused AUTOTUNE_DATADIR list --families
    refused AUTOTUNE_DATADIR lookup --device h200 --problem 64x64:f32
}

@test "help is --help" {
    diff <("$AUTOTUNE" help) <("$AUTOTUNE" --help)
    diff <("$AUTOTUNE" help show) <("$AUTOTUNE" show --help)
}

@test "problems are taken without --problem, with and without tune" {
    run --separate-stderr -0 "$AUTOTUNE" tune --dry-run --gpu emu -p 64x64:f32 -p 64x96:f32
    spaces=$output
    run --separate-stderr -0 "$AUTOTUNE" 64x64:f32 --dry-run --gpu emu 64x96:f32
    [ "$output" = "$spaces" ]
    run --separate-stderr -0 "$AUTOTUNE" tune 64x64:f32 -p 64x96:f32 --dry-run --gpu emu
    [ "$output" = "$spaces" ]
}

@test "--dry-run prints in each format" {
    dry=(--dry-run --quiet --gpu emu 64x64:f32 64x96:f32)
    run --separate-stderr -0 "$AUTOTUNE" "${dry[@]}"
    count=$(awk '$1 == "64x96:f32" {print $2}' <<<"$output")
    run -0 "$AUTOTUNE" "${dry[@]}" --format json
    [[ $output == *'"problem": "64x96:f32",'*'"configs": '"$count,"* ]]
    run -0 "$AUTOTUNE" "${dry[@]}" --format csv
    [[ ${lines[2]} == "NVIDIA H200,64x96:f32,$count,"* ]]
    run -0 "$AUTOTUNE" "${dry[@]}" --format markdown
    [[ ${lines[3]} == "| NVIDIA H200 | 64x96:f32 | $count |"* ]]
}

@test "a missing argument is refused" {
    refused 'which profile?' show
    refused 'which profile?' check
    refused 'requires an argument' --out
}

@test "a problem is refused with the reason" {
    refused 'expected ROWSxCOLS:TYPE' --problem 64
    refused 'ld_src=2 is less than the 3 elements of a row' --problem 3x3:f32,ld_src=2
    refused '"64x64:f33"' --problem 64x64:f33
    refused '"0x64:f32"' bench --problem 0x64:f32
}

@test "a bad value of an option is refused" {
    for value in '' 0 -1 3h s 1e3 99999999999999999999; do
        refused "\"$value\"" --budget="$value"
    done
    for value in '' -1 x 99999999999999999999; do
        refused "\"$value\"" --seed="$value"
    done
    for value in '' 0 -1 x 65; do
        refused "\"$value\"" --jobs="$value"
    done
    for value in '' 0 1.5 3601; do
        refused "\"$value\"" --timeout="$value"
    done
    refused 'known are guided, exhaustive, random' --search=tabu
    refused 'known are cold, warm' --policy=tepid
    refused 'known are table, json' --format=xml
    refused 'known are table, json' list --format=xml
    refused 'known are table, json' show --format=xml
}

@test "--resume without a journal is refused" {
    refused '--resume needs --journal' --resume
    refused '--resume needs --journal' --resume --out -
}

@test "a profile that cannot be written is refused before the work" {
    refused "$BATS_TEST_TMPDIR/none/best.yaml" --out "$BATS_TEST_TMPDIR/none/best.yaml"
    refused "$BATS_TEST_TMPDIR" --out "$BATS_TEST_TMPDIR"
}

@test "a wrong space file is refused with the place of the error" {
    refused 'none.yaml' --space "$BATS_TEST_TMPDIR/none.yaml"
    printf 'schema: 1\nfamilly: x\n' >"$BATS_TEST_TMPDIR/bad.yaml"
    refused 'bad.yaml:2:1: unknown key "familly"' --space "$BATS_TEST_TMPDIR/bad.yaml"
}

@test "missing data are named" {
    mkdir "$BATS_TEST_TMPDIR/tuning"
    AUTOTUNE_DATADIR=$BATS_TEST_TMPDIR refused "$BATS_TEST_TMPDIR/tuning/problems.yaml"
}
