#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The screen of a real terminal (tmux), 80 and 120 columns wide, with and without colours, and as a dumb one.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_nvrtc
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

setup() {
    command -v tmux >/dev/null || skip "no tmux"
    export LC_ALL=C.UTF-8 TMUX_TMPDIR=$BATS_TEST_TMPDIR
    unset TMUX NO_COLOR
}

teardown() {
    tmux -L autotune kill-server 2>/dev/null || true
}

# in_terminal COLUMNS TERM COMMAND...: run it there to its end. $raw has all that it wrote to the terminal,
# escapes too, and $screen what is left to be seen.
in_terminal() {
    local columns=$1 term=$2 log=$BATS_TEST_TMPDIR/raw
    shift 2
    : >"$log"
    for _ in $(seq 20); do # the server of the test before may still be ending
        ! tmux -L autotune -f /dev/null new-session -d -x "$columns" -y 60 \
            "sleep 0.5; export TERM=$term; $(printf '%q ' "$@"); echo the end; sleep 600" || break
        sleep 0.2
    done
    tmux -L autotune pipe-pane -o "cat >>$(printf %q "$log")"
    for _ in $(seq 600); do
        screen=$(tmux -L autotune capture-pane -p)
        [[ $screen != *'the end'* ]] || break
        sleep 0.1
    done
    [[ $screen == *'the end'* ]]
    until grep -q 'the end' "$log"; do sleep 0.1; done
    raw=$(tr -d '\r' <"$log")
}

profile=tests/golden/profile/two-devices.yaml

@test "a table keeps its lines at 80 and 120 columns, in bold" {
    cd "$srcdir"
    plain=$("$AUTOTUNE" show "$profile" | sed '/^$/d')
    for columns in 80 120; do
        in_terminal "$columns" xterm-256color "$AUTOTUNE" show "$profile"
        [[ $raw == *$'\e[1mproblem'* ]]
        diff <(sed '/^$/d; /^the end$/d' <<<"$screen") <(cat <<<"$plain")
        tmux -L autotune kill-server
    done
}

@test "NO_COLOR and dumb terminals get no escapes" {
    cd "$srcdir"
    in_terminal 80 dumb "$AUTOTUNE" show "$profile"
    [[ $raw != *$'\e'* && $raw == *'the end'* ]]
    tmux -L autotune kill-server
    export NO_COLOR=1
    in_terminal 80 xterm-256color env NO_COLOR=1 "$AUTOTUNE" show "$profile"
    [[ $raw != *$'\e'* ]]
}

@test "the progress line is redrawn, and fits" {
    is_long
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
    for columns in 80 120; do
        in_terminal "$columns" xterm-256color "$AUTOTUNE" tune --gpu emu --no-cache --budget 8 \
            257x383:f32,ld_src=390,offset_src=1,offset_dst=3 64x64:f32
        # Each drawing begins with an erased line; none is as wide as the terminal.
        grep -o $'\e\[K\[[12]/2\][^\e]*' <<<"$raw" >"$BATS_TEST_TMPDIR/drawn"
        grep -q 'left' "$BATS_TEST_TMPDIR/drawn"
        [ -z "$(sed 's/^...//' "$BATS_TEST_TMPDIR/drawn" | awk -v most="$columns" 'length($0) >= most')" ]
        run ! grep -F '[1/2]' <<<"$screen"
        # The driver's copy counts in both: the last share is that of the table, but for its last digit.
        [ "$columns" -eq 80 ] || awk -F '[(%]' '/% of copy[)]/ { drawn = $2 } /^64x64:f32 / { split($0, column, " ") }
            END { exit !(drawn > 1 && drawn - column[5] < 0.3 && column[5] - drawn < 0.3) }' \
            "$BATS_TEST_TMPDIR/drawn" - <<<"$screen"
        tmux -L autotune kill-server
    done
}

@test "replay shows how far it is, and nothing of it with --quiet or without a terminal" {
    is_long
    one=$(find "$srcdir/tests/recordings" -name '*.recording' | sort | head -n 1)
    two=$(find "$srcdir/tests/recordings" -name '*.recording' | sort | sed -n 2p)
    args=(replay "$one" "$two" "--search=random,local" --runs 2000)
    in_terminal 80 xterm-256color "$AUTOTUNE" "${args[@]}"
    grep -o $'\e\[K\[[12]/2\][^\e]*' <<<"$raw" >"$BATS_TEST_TMPDIR/drawn"
    grep -qE ': (random|local)  [0-9]+ of 4000  .* left' "$BATS_TEST_TMPDIR/drawn"
    [ -z "$(sed 's/^...//' "$BATS_TEST_TMPDIR/drawn" | awk 'length($0) >= 80')" ]
    run ! grep -F ' of 4000 ' <<<"$screen" # the last is erased
    tmux -L autotune kill-server
    in_terminal 80 xterm-256color "$AUTOTUNE" "${args[@]}" --quiet
    [[ $raw != *' of 4000 '* ]]
    run --separate-stderr -0 "$AUTOTUNE" "${args[@]}"
    [ -z "$stderr" ]
}

@test "commands that take seconds tell how far they are, unless --quiet" {
    is_long
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
    "$AUTOTUNE" tune --quiet --gpu emu --budget 4 --out "$BATS_TEST_TMPDIR/p.yaml" --replace 64x64:f32 64x96:f32 \
        >/dev/null
    while read -r words; do
        read -ra command <<<"${words//PROFILE/$BATS_TEST_TMPDIR/p.yaml}"
        in_terminal 80 xterm-256color "$AUTOTUNE" "${command[@]}"
        grep -qE $'\e\\[K\\[1/[0-9]+\\] ' <<<"$raw"
        grep -qE $'\e\\[K\\[[0-9]+/[0-9]+\\] .* left' <<<"$raw"
        run ! grep -E '^\[[0-9]+/[0-9]+\] ' <<<"$screen" # the last is erased
        tmux -L autotune kill-server
        in_terminal 80 xterm-256color "$AUTOTUNE" "${command[@]}" --quiet
        [[ $raw != *$'\e[K['* ]]
        tmux -L autotune kill-server
    done <<END
study layout --gpu emu
lookup --gpu emu:a100 --measure 3s 640x64:f32
check --gpu emu PROFILE
bench --gpu emu --profile PROFILE 64x64:f32 64x96:f32
cache --fill $srcdir/results/nvidia-h200.yaml --device l40s 8192x8192:f32 8200x8200:f64 100x3001:b1 3x2097152:f64
explain tile 8192x8192:f32
doctor
report --explain 2 --out $BATS_TEST_TMPDIR/page.html PROFILE
export --as cubin --out $BATS_TEST_TMPDIR/cubins $srcdir/results/nvidia-h200.yaml
END
}

@test "messages are broken between words" {
    in_terminal 80 xterm-256color "$AUTOTUNE" --gpu emu --quiet --dry-run 64x64:f33
    [ "$(sed '/^the end$/d' <<<"$screen" | xargs -n 1 echo)" = \
        "$("$AUTOTUNE" --gpu emu --quiet --dry-run 64x64:f33 2>&1 | xargs -n 1 echo)" ]
    [ "$(sed '/^the end$/d; /^$/d' <<<"$screen" | wc -l)" -gt 1 ]
}

@test "lists, studies and explanations keep within 80 columns; wider terminals and files get them as they are" {
    is_long
    cd "$srcdir"
    commands=("list --emulated" "list --families" study "explain tile --params")
    [ -n "${NO_NVRTC:-}" ] || commands+=("explain tile" "explain packed" "explain tile --source" "explain tile 64x64:f32 --draw 167" "study coalescing --gpu emu -q")
    for command in "${commands[@]}"; do
        read -ra words <<<"$command"
        in_terminal 80 dumb "$AUTOTUNE" "${words[@]}"
        [ -z "$(awk 'length($0) > 80' <<<"$raw")" ]
        tmux -L autotune kill-server
        in_terminal 200 dumb "$AUTOTUNE" "${words[@]}"
        diff <(sed '/^the end$/d' <<<"$raw" | grep -v '^autotune: ') <("$AUTOTUNE" "${words[@]}" 2>/dev/null)
        tmux -L autotune kill-server
    done
    # Nothing is lost: the words are the same.
    in_terminal 80 dumb "$AUTOTUNE" list --emulated
    [ "$(sed '/^the end$/d' <<<"$raw" | xargs -n 1 | sort)" = "$("$AUTOTUNE" list --emulated | xargs -n 1 | sort)" ]
}

@test "a dumb terminal gets whole lines only" {
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
    in_terminal 80 dumb "$AUTOTUNE" tune --gpu emu --budget 4 64x64:f32
    [[ $raw != *$'\e'* && $raw != *'[1/1]'* ]]
    [[ $screen == *'tuned in'* ]]
}
