# SPDX-License-Identifier: Apache-2.0
# Functions and values for several Bats files.

# shellcheck disable=SC2034 # used by the Bats files
commands=(tune list show check lookup export merge diff bench explain study replay convert cache)

# The cases of tests/golden/refused.txt, as files.
# shellcheck disable=SC2034 # used there
refused_profiles=${AUTOTUNE%/*}/tests/golden/refused

# refused WORDS ARGUMENT...: the arguments are a usage error, said on stderr in these words; nothing
# goes to stdout.
refused() {
    local words=$1
    shift
    run --separate-stderr -2 "$AUTOTUNE" "$@"
    if [ -n "$output" ] || [[ $stderr != *"$words"* ]]; then
        printf '%s\n' "arguments: $*" "expected:  $words" "got:       $stderr" "on stdout: $output"
        return 1
    fi
}

# assert_transcript FILE: each command of the file, a line "$ autotune ...", still prints the lines that
# follow it there. Paths are relative to the tree. AUTOTUNE_UPDATE_GOLDEN=1 rewrites the file.
assert_transcript() {
    local line arguments new=$BATS_TEST_TMPDIR/transcript
    while IFS= read -r line; do
        [[ $line == '$ autotune '* ]] || continue
        read -ra arguments <<<"${line#* autotune }"
        printf '%s\n' "$line"
        (cd "$srcdir" && "$AUTOTUNE" "${arguments[@]}" 2>&1) || echo "ends with $?"
    done <"$1" >"$new"
    [ -s "$new" ]
    [ -z "${AUTOTUNE_UPDATE_GOLDEN-}" ] || cp "$new" "$1"
    diff "$1" "$new"
}

# To be called by setup_file: asks the program once whether there is an NVRTC.
find_nvrtc() {
    if "$AUTOTUNE" explain copy 2>&1 | grep -q 'no NVRTC'; then
        export NO_NVRTC=1
    fi
}

# Skip the test if there is no NVRTC. For setup.
need_nvrtc() {
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
}

# make_data FAMILY...: make and use a data folder with these families alone. For setup_file.
# Without the family copy, a run on the emulated device does not search for copies first.
make_data() {
    local family
    export AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data
    mkdir -p "$AUTOTUNE_DATADIR/tuning"
    ln -s "$srcdir/templates" "$AUTOTUNE_DATADIR"
    ln -s "$srcdir/tuning/devices" "$srcdir/tuning/textbook.yaml" "$AUTOTUNE_DATADIR/tuning"
    for family; do
        ln -s "$srcdir/tuning/$family.yaml" "$AUTOTUNE_DATADIR/tuning"
    done
}

# narrowed FAMILY PARAMETER=VALUES...: prints its space file, with these values of the parameters.
narrowed() {
    local family=$1 pair script=
    shift
    for pair; do
        script+="/name: ${pair%%=*}\$/,/values:/s/values:.*/values: [${pair#*=}]/;"
    done
    sed "$script" "$srcdir/tuning/$family.yaml"
}
