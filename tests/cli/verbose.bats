#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Every command takes --verbose and --quiet, which change standard error only. tune's are in emulated.bats.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    command -v python3 >/dev/null || return 0
    cd "$BATS_FILE_TMPDIR" || return
    cp "$srcdir/tests/data/h200-profile.yaml" best.yaml
    cp "$srcdir/tests/data/h200-profile.yaml" old.yaml
    "$srcdir/tests/cli/make-journal" best.yaml best.yaml.journal 3
    cp "$srcdir/tests/recordings/h200-10007x10009-b1.recording" some.recording
    export XDG_CACHE_HOME=$PWD/cache AUTOTUNE_PROFILE_PATH=best.yaml
}

setup() {
    command -v python3 >/dev/null || skip "no python3"
    cd "$BATS_FILE_TMPDIR" || return
}

# Arguments, and after "|" what --verbose adds to standard error.
cases() {
    cat <<'END'
list --emulated|read .*results/nvidia-h200.yaml
list --families|read [0-9]+ families in .*tuning and .*templates
show best.yaml|read best.yaml
show --top 2 best.yaml|read best.yaml.journal
report --out page.html best.yaml|read best.yaml
report --out page.html best.yaml|wrote page.html
report --out page.html --baseline old.yaml best.yaml|read old.yaml
report --out page.html --journal best.yaml.journal best.yaml|read best.yaml.journal
check best.yaml|read best.yaml
lookup --device h200 --problem 64x64:f32|read best.yaml
lookup --device h200 --problem 64x64:f32 best.yaml|read best.yaml
export --as json --device h200 --problem 64x64:f32 best.yaml|read best.yaml
export --as json --out best.json --device h200 --problem 64x64:f32 best.yaml|wrote best.json
merge best.yaml old.yaml|read old.yaml
merge --out both.yaml best.yaml old.yaml|wrote both.yaml
diff old.yaml best.yaml|read old.yaml
diff old.yaml best.yaml|read best.yaml
explain --params tile|read [0-9]+ families in .*
study|read .*tuning/study/offset.yaml
replay --search random --runs 2 some.recording|read some.recording
convert --to kernel-tuner some.recording|read some.recording
convert --to kernel-tuner --out cache.json some.recording|wrote cache.json
cache --clear|removed [0-9]+ kernels in [0-9]+ programs
END
}

@test "--verbose tells what is read and written, --quiet does not; standard output stays the same" {
    is_long
    while IFS='|' read -r line added; do
        read -ra arguments <<<"$line"
        echo "case: $line"
        run --separate-stderr -0 "$AUTOTUNE" "${arguments[@]}"
        plain=$output
        run --separate-stderr -0 "$AUTOTUNE" "${arguments[@]}" --verbose
        grep -qxE "autotune: $added" <<<"$stderr"
        [ "$output" = "$plain" ]
        run --separate-stderr -0 "$AUTOTUNE" "${arguments[@]}" -v -q
        [ -z "$stderr" ]
        [ "$output" = "$plain" ]
    done < <(cases)
}

# tune and bench share their options. What doctor prints varies with the disk, and complete only prints words.
@test "the cases have every command but four" {
    for command in "${commands[@]}"; do
        [[ " tune bench doctor complete " == *" $command "* ]] || cases | grep -q "^$command"
    done
}
