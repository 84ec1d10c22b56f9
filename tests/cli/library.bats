#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# contrib/library: problems that are drawn from a model, a library that is made of them on the emulated
# device, and what lookup is worth by its times.

bats_require_minimum_version 1.5.0
load helpers

library=$srcdir/contrib/library

setup_file() {
    find_nvrtc
    make_data naive inplace tile # which bench shows too
    narrowed copy VEC='1, 16' SHARED='0, 1' LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' \
        >"$AUTOTUNE_DATADIR/tuning/copy.yaml"
}

setup() {
    export AUTOTUNE
    python3 -c 'import yaml' 2>/dev/null || skip "no PyYAML"
    cd "$BATS_TEST_TMPDIR" || return
    cat >model.yaml <<'MODEL'
schema: 1
bytes: {from: 1024, to: 16384}
types: {b1: 1, f32: 1}
grain: {odd: 1, 8: 1}
classes:
- {name: square, share: 2, seen: chosen, rows: fill, cols: rows}
- {name: narrow, share: 1, seen: chosen, rows: {from: 2, to: 16}, cols: fill, turn: true}
- {name: batch, share: 1, seen: chosen, rows: [8, 12], cols: [4, 16], batch: fill}
MODEL
}

# drawn ARGUMENT...: print the problems alone.
drawn() {
    "$library/draw-problems" "$@" | sed -n 's/^  - \([^ ]*\) .*/\1/p'
}

# Each is spelled as the command line prints it, so none is twice there under another name.
@test "drawn problems are legal, different, and spelled as autotune does" {
    for model in model model-sides; do
        "$library/draw-problems" --model "$srcdir/tuning/$model.yaml" --count 1500 --seed 5 >list.yaml
        "$AUTOTUNE" lookup -d h200 --problems list.yaml -f json |
            sed -n 's/^  "problem": "\(.*\)",$/\1/p' >asked
        sed -n 's/^  - \([^ ]*\) .*/\1/p' list.yaml | diff - asked
        [ "$(wc -l <asked)" -eq 1500 ]
    done
}

@test "every class is drawn, with about its share" {
    "$library/draw-problems" --count 2000 --seed 5 | sed -n 's/^  - [^ ]* # //p' | sort | uniq -c >counts
    sed -n 's/^  - name: //p' "$srcdir/tuning/model.yaml" | sort | diff - <(sed 's/^ *[0-9]* //' counts)
    [ "$(awk '/ narrow$/ { print ($1 > 180 && $1 < 250) }' counts)" -eq 1 ] # 214
}

@test "the same seed gives the same problems, and fewer are the first of more" {
    diff <(drawn --count 50 --seed 3) <(drawn --count 80 --seed 3 | head -50)
    ! diff -q <(drawn --count 50 --seed 3) <(drawn --count 50 --seed 4) || return 1
    # A class that is left out changes nothing in the others.
    drawn --only pencils --count 20 --seed 3 | sort >alone
    drawn --without pencils --count 200 --seed 3 | sort | comm -12 - alone >both
    [ ! -s both ]
}

@test "bounds hold, and the problems of other lists are left out" {
    [ "$(drawn --only square --moved-max 1MiB --count 20 | awk -Fx '$1 > 1024' | wc -l)" -eq 0 ]
    diff <(drawn --count 40 --memory 64MiB) <(drawn --count 40 --moved-max 32MiB)
    "$library/draw-problems" --count 30 >first.yaml
    drawn --count 60 --apart first.yaml | sort >rest
    [ -z "$(sed -n 's/^  - \([^ ]*\) .*/\1/p' first.yaml | sort | comm -12 - rest)" ]
}

@test "the lists to judge by are as long as they should be, and of random sides the drawn ones" {
    [ "$(grep -c '^  - ' "$srcdir/tuning/problems-everyday.yaml")" -eq 100 ]
    diff <(drawn --model "$srcdir/tuning/model-sides.yaml" --count 100 --seed 20) \
        <(sed -n 's/^  - \([^ ]*\) .*/\1/p' "$srcdir/tuning/problems-sides.yaml")
}

@test "a model with a word that is unknown, or a class that is none, is refused" {
    run -1 "$library/draw-problems" --only nothing
    [[ $output == *"there is no class 'nothing'"* ]]
    sed 's/turn:/turns:/' model.yaml >wrong.yaml
    run -1 "$library/draw-problems" --model wrong.yaml
    [[ $output == *'class narrow: unknown: turns'* ]]
}

# make ARGUMENT...
make() {
    run --separate-stderr nice -n 5 "$library/make-library" folder --gpu emu --model model.yaml --chunk 3 \
        --out library.yaml "$@" -- --family naive --family inplace --budget 12
}

@test "a library is made in pieces, thinned, and as good as it promises" {
    is_long
    need_nvrtc
    make --count 6 --minutes 0.001
    [ "$status" -eq 3 ]
    [ ! -e library.yaml ]
    make --count 6
    [ "$status" -eq 1 ]
    [[ $stderr == *'--resume goes on with it'* ]]
    make --count 6 --resume --shard 2/2
    [[ $status -eq 1 && $stderr == *'1 of 2 chunks are for other shards'* ]]
    make --count 6 --resume
    [ "$status" -eq 0 ]
    [[ $output == *'tuning chunk 1 of 2'*'library.yaml: '*' of 6 problems with '* ]]
    [[ $output != *'tuning chunk 2 of 2'* ]]
    "$AUTOTUNE" check library.yaml

    # Nothing is left out that loses more than 1 %, but to naive, which has no entry where others come close.
    xz -dc library-times.tsv.xz >times.tsv
    sed -n 's/^  - \([^ ]*\) .*/\1/p' folder/problems.yaml >problems
    [ "$(wc -l <problems)" -eq 6 ]
    while read -r problem; do
        "$AUTOTUNE" lookup --gpu emu -p "$problem" -f json library.yaml >answer.json
        python3 - "$problem" <<'END'
import json, sys
answer, configs, times = json.load(open("answer.json")), {}, {}
for line in open("times.tsv"):
    word, *rest = line.rstrip("\n").split("\t")
    if word == "config":
        configs[rest[0]] = rest[1]
    elif word == "times" and rest[0] == sys.argv[1]:
        times = {configs[number]: int(ns) for number, ns in (item.split("=") for item in rest[1:])}
name = " ".join([answer["family"], *(f"{k}={v}" for k, v in sorted(answer["parameters"].items()))])
others = [ns for config, ns in times.items() if not config.startswith("naive ")]
close = others and min(others) <= 1.4 * min(times.values())
assert times[name] <= 1.01 * min(others if close else times.values()), (name, times)
END
    done <problems

    run -0 "$library/judge-lookup" library-times.tsv.xz --profile library.yaml
    [[ ${lines[-1]} == '| tenth | 6 |'* ]]

    # The same library without the device, and of what was measured before.
    run -0 "$library/make-library" folder --device h200 --out offline.yaml
    diff library.yaml offline.yaml
    run -0 "$library/make-library" other --device h200 --known folder/chunk-0001.yaml \
        --known library-times.tsv.xz --out known.yaml
    diff <(sed -n '/answers:/,$p' library.yaml) <(sed -n '/answers:/,$p' known.yaml)
    run -2 "$library/make-library" other --gpu emu
    [[ $output == *'how many problems? --count'* ]]

    # As a contribution it is predicted, and nothing else is wrong.
    run -0 "$library/check-contribution" --emulated --least 1 library.yaml
    [[ $output != *$'\nno'* && $output == *'| tenth | 6 |'* ]]
    run -1 "$library/check-contribution" --least 1 library.yaml
    [[ $output == *'no  its times are measured: they are predicted'* ]]
    # An answer that is slower than another, and one without times
    xz -dc library-times.tsv.xz | sed '/^times/s/=\([0-9]*\)/=1\1/' | xz >slow-times.tsv.xz
    cp library.yaml slow.yaml
    run -1 "$library/check-contribution" --emulated --least 1 slow.yaml
    [[ $output == *'no  each is within 2 % of its fastest config: not '* ]]
    xz -dc library-times.tsv.xz | grep -v ^times | xz >slow-times.tsv.xz
    run -1 "$library/check-contribution" --emulated --least 1 slow.yaml
    [[ $output == *'no  each answer was timed: not '* ]]
}

# stranger: what contribute writes for an emulated GPU, as if it were a real one.
stranger() {
    printf 'schema: 1\nproblems:\n  - 64x96:f32\n  - 65x33:f16\n' >tiny.yaml
    "$library/contribute" --gpu emu:rtx-3060 --problems tiny.yaml --minutes 1 >said
    grep -F 'Please attach nvidia-geforce-rtx-3060-contribution.yaml ' said
    sed 's/kind: emulated/kind: cuda/; /predictions: /d; s/^    nvrtc: /    driver: "580.159.04"\n&/' \
        nvidia-geforce-rtx-3060-contribution.yaml >sent.yaml
}

@test "a stranger's GPU is tuned by one command, and merged by one" {
    is_long
    need_nvrtc
    stranger
    # It does not tell which card it was, nor whose.
    run -1 grep -E 'uuid|pci_bus_id|/tmp|/home' nvidia-geforce-rtx-3060-contribution.yaml
    run -1 "$library/check-contribution" nvidia-geforce-rtx-3060-contribution.yaml
    [[ $output == *'no  its times are measured: they are predicted'* ]]

    mkdir into
    run -0 "$library/check-contribution" --least 2 --merge --into into sent.yaml
    [[ $output != *$'\nno'* ]]
    run -0 "$library/check-contribution" --least 2 --merge --into into sent.yaml
    run -0 "$AUTOTUNE" lookup --device "RTX 3060" --problem 64x96:f32 --format json into/nvidia-geforce-rtx-3060.yaml
    [[ $output == *'"tier": "exact"'* ]]
}

@test "hostile contributions are refused, and nothing is merged" {
    is_long
    need_nvrtc
    stranger
    mkdir into
    local -A hostile=(
        ['it does not tell which card']='s/^    ordinal: 0/    uuid: GPU-0\n&/'
        ['its device has a name that a file can have']='s|^    name: NVIDIA.*|    name: ../../../etc/passwd|'
        ["it agrees with the device's description"]='s/multiprocessors: 28/multiprocessors: 30/'
        ['no answer is far beyond the copy limit']="s/f32 9[0-9]*'/f32 9999'/"
        ['every config is legal']='s/BLOCK_X=256/BLOCK_X=255/'
        ['its times are measured']='s/kind: cuda/kind: emulated\n    predictions: uncalibrated/'
    )
    for what in "${!hostile[@]}"; do
        sed "${hostile[$what]}" sent.yaml >changed.yaml
        run -1 cmp -s sent.yaml changed.yaml
        run "$library/check-contribution" --least 2 --merge --into into changed.yaml
        echo "$what: $status $output"
        [ "$status" -eq 1 ]
        grep -q "^no  .*$what" <<<"$output"
    done
    # What only grows when it is read, what never ends, and what is too long
    printf 'a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b]\n' >bomb.yaml
    (cat sent.yaml && head -c 400000 /dev/zero | tr '\0' '#') >long.yaml
    printf '!!python/object/apply:os.system ["touch owned"]\n' >code.yaml
    for file in bomb.yaml long.yaml code.yaml; do
        run timeout 20 "$library/check-contribution" --least 2 --merge --into into "$file"
        [[ $status -eq 1 && $output == *$'no  '* ]]
    done
    [ ! -e owned ]
    [ -z "$(ls into)" ]
}

@test "lookup is judged by the times of an H200, as tests/unit/test_regret.c does" {
    unset AUTOTUNE_DATADIR
    run -0 "$library/judge-lookup" "$srcdir/tests/data/h200-lookup.tsv"
    [[ ${lines[-1]} == '| tenth | 500 | 63 | 41 | 0.3 | 1.7 | 5.2 | 7.1 | 30.6 | 8 |' ]]
}
