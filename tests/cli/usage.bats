#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command line: requested output goes to stdout, with exit code 0. Errors go to stderr, with exit
# code 2, before the program looks for or measures anything.

bats_require_minimum_version 1.5.0

load helpers

# A run says how long it will take, as earlier ones took: those of other files must not change that.
setup() {
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

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

@test "without a command, a problem or an option of tune, help is printed and nothing runs" {
    help=$("$AUTOTUNE" --help)
    for words in '' -v -q '--quiet --verbose' -h '-v -h' help; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr -0 "$AUTOTUNE" $words
        [ "$output" = "$help" ]
        [ -z "$stderr" ]
    done
    for command in "${commands[@]}"; do
        diff <("$AUTOTUNE" "$command" -h) <("$AUTOTUNE" "$command" --help)
    done
}

@test "--quiet and --verbose may come before the command" {
    profile=$srcdir/tests/golden/check/sound.yaml
    diff <("$AUTOTUNE" -q show "$profile") <("$AUTOTUNE" show "$profile")
    run --separate-stderr -0 "$AUTOTUNE" --quiet -v show "$profile"
    [ "$stderr" = "autotune: read $profile" ]
    run --separate-stderr -0 "$AUTOTUNE" -q --gpu emu --dry-run 64x64:f32
    [ -z "$stderr" ]
}

@test "all options of a command may come before its name" {
    profile=$srcdir/tests/golden/check/sound.yaml
    diff <("$AUTOTUNE" --format json show "$profile") <("$AUTOTUNE" show "$profile" --format json)
    diff <("$AUTOTUNE" --device=h200 -f json lookup 64x64:f32) <("$AUTOTUNE" lookup -d h200 -f json 64x64:f32)
    diff <("$AUTOTUNE" -q --families list) <("$AUTOTUNE" list --families)
    # The value of an option is no command, and an option of another command belongs to none.
    diff <("$AUTOTUNE" -q --gpu emu --dry-run --out list 64x64:f32) \
        <("$AUTOTUNE" tune -q --gpu emu --dry-run 64x64:f32)
    refused "'--devise'; did you mean" --devise h200 lookup 64x64:f32
    refused 'did you mean lookup?' --gpu emu lokup 64x64:f32
}

@test "a run that keeps no profile says so first, and another what it has written" {
    run --separate-stderr "$AUTOTUNE" --gpu emu:none 64x64:f32
    [[ ${stderr_lines[0]} == *'no profile is kept: --out FILE keeps it' ]]
    run --separate-stderr "$AUTOTUNE" --gpu emu:none --out "$BATS_TEST_TMPDIR/best.yaml" 64x64:f32
    [[ $stderr != *'no profile is kept'* ]]
}

# Data: what is typed, and what must be in the message.
@test "a mistyped word is answered with the nearest one" {
    while IFS='|' read -r arguments words; do
        read -ra arguments <<<"$arguments"
        refused "$words" "${arguments[@]}"
    done <<'END'
--bugdet 4|unrecognized option '--bugdet'; did you mean --budget
tune --bugdet=4|did you mean --budget
--out x --bugdet 4|did you mean --budget
show -f csv --cofnigs x|did you mean --configs
--family tiel --gpu emu|"tiel" (did you mean tile
--search giuded|(did you mean guided
lookup --device h20 64x64:f32|"h20" (did you mean h200
64x64:bf15|did you mean bf16
list --gpu emu|unrecognized option '--gpu'; commands that have it: tune, check,
--gpu=emu list|unrecognized option '--gpu'; commands that have it: tune, check,
lookup --budget 4|unrecognized option '--budget'; commands that have it: tune, replay
lookup --tier 3|unrecognized option '--tier'; did you mean
END
    run --separate-stderr -3 "$AUTOTUNE" --gpu emu:h20 64x64:f32
    [[ $stderr == *'"emu:h20" (did you mean emu:h200'* ]]
    # The value of an option is no option.
    refused 'cannot write' --out --bugdet/best.yaml 64x64:f32
}

@test "an abbreviation means the option that begins all those that it fits" {
    dry=(--dry-run --quiet --gpu emu)
    spaces=$("$AUTOTUNE" "${dry[@]}" 64x64:f32)
    [ "$("$AUTOTUNE" "${dry[@]}" --prob 64x64:f32)" = "$spaces" ]
    [ "$("$AUTOTUNE" "${dry[@]}" --prob=64x64:f32)" = "$spaces" ]
    refused "option '--s' is ambiguous" --s 1
}

@test "a device is named as people spell it" {
    "$AUTOTUNE" --dry-run --gpu emu:h200 64x64:f32 >"$BATS_TEST_TMPDIR/spaces"
    for name in H200 'NVIDIA H200' nvidia-h200; do
        "$AUTOTUNE" --dry-run --gpu "emu:$name" 64x64:f32 | diff "$BATS_TEST_TMPDIR/spaces" -
    done
}

@test "times have the units ms, s, m and h in every option" {
    dry=(--dry-run --quiet --gpu emu 64x64:f32)
    for time in 500ms 30s 5m 1h; do
        "$AUTOTUNE" "${dry[@]}" --budget "$time" --timeout "$time" >"$BATS_TEST_TMPDIR/spaces"
        run -2 --separate-stderr "$AUTOTUNE" lookup --measure "$time" --device h200 64x64:f32
        [[ $stderr == *'--measure runs kernels'* ]] # the time is not what it refuses
    done
    "$AUTOTUNE" "${dry[@]}" --timeout 2
    refused '--timeout takes up to an hour, not "2h"' --timeout 2h
}

@test "--out - leaves standard output to the profile" {
    refused '--out - and --format both print to standard output' --out - --format json --gpu emu
}

@test "a problem in another form is named by its own, once" {
    dry=(tune --dry-run --gpu emu)
    run --separate-stderr -0 "$AUTOTUNE" "${dry[@]}" 8x32x64:Half,perm=0,2,1
    [[ $output == *' 32x64:f16,batch=8 '* ]]
    [ "$(grep -cF '8x32x64:Half,perm=0,2,1 is called 32x64:f16,batch=8' <<<"$stderr")" -eq 1 ]
    run --separate-stderr -0 "$AUTOTUNE" "${dry[@]}" 32x64:f16,batch=8
    [[ $stderr != *'is called'* ]]
    # The list of autotune is in that form.
    run --separate-stderr -0 "$AUTOTUNE" "${dry[@]}" --problems "$srcdir/tuning/problems.yaml"
    [[ $stderr != *'is called'* ]]
}

@test "lookup, export and explain take problems without --problem" {
    profile=$srcdir/results/nvidia-h200.yaml
    for command in 'lookup --device h200' 'export --as json --device h200' 'explain --params tile' \
        "explain --profile $profile PAD=0"; do
        # shellcheck disable=SC2086 # words
        diff <("$AUTOTUNE" $command -p 8192x8192:f32 2>&1) <("$AUTOTUNE" $command 8192x8192:f32 2>&1)
    done
    diff <("$AUTOTUNE" lookup -d h200 -p 64x64:f32 -p 64x96:f32 "$profile") \
        <("$AUTOTUNE" lookup -d h200 64x64:f32 "$profile" 64x96:f32)
    cd "$BATS_TEST_TMPDIR"
    cp "$profile" 8192x8192:f32 # a file of that name has a path
    "$AUTOTUNE" lookup -d h200 8192x8192:f32 ./8192x8192:f32 | grep -q 'tier  *1 of 6'
    refused 'expected ROWSxCOLS:TYPE' lookup -d h200 64:f32
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
    export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache # how long earlier runs took changes with each
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
    for value in '' 0 -1 3d 1001h s 1e3 99999999999999999999; do
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
    AUTOTUNE_DATADIR=$BATS_TEST_TMPDIR refused "$BATS_TEST_TMPDIR/tuning/problems.yaml" tune
}

@test "colours are on a terminal, or where --color or CLICOLOR_FORCE wants them" {
    unset NO_COLOR CLICOLOR_FORCE
    coloured() {
        [[ $("$@") == *$'\e['* ]]
    }
    show=("$AUTOTUNE" show "$srcdir/tests/golden/check/sound.yaml")
    run ! coloured "${show[@]}"
    coloured "${show[@]}" --color=always
    coloured "${show[@]}" --color always
    coloured env CLICOLOR_FORCE=1 "${show[@]}"
    coloured env NO_COLOR=1 "${show[@]}" --color=always
    run ! coloured env CLICOLOR_FORCE=0 "${show[@]}"
    run ! coloured env CLICOLOR_FORCE=1 "${show[@]}" --color=never
    run ! coloured env NO_COLOR=1 CLICOLOR_FORCE=1 "${show[@]}"
    refused 'known are auto, always, never' show --color=yes x
}
