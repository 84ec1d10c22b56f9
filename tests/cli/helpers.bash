# SPDX-License-Identifier: Apache-2.0
# Shared by several Bats files.

# Set `commands` to all commands, as --help lists them.
find_commands() {
    # shellcheck disable=SC2034 # used in the Bats files
    mapfile -t commands < <("$AUTOTUNE" --help | sed -n 's/^  autotune \([a-z]*\) .*/\1/p')
}

# The cases of tests/golden/refused.txt, as files.
# shellcheck disable=SC2034 # used there
refused_profiles=${AUTOTUNE%/*}/tests/golden/refused

# is_long: a test that takes seconds, beside others like it, runs where AUTOTUNE_TEST_WHOLE is set.
is_long() {
    [ -n "${AUTOTUNE_TEST_WHOLE-}" ] || skip 'long: AUTOTUNE_TEST_WHOLE=1 runs it'
}

# sample N FIRST ITEM...: print every Nth item, from the one of this index on; with AUTOTUNE_TEST_WHOLE all of them.
sample() {
    local every=$1 i=$2
    shift 2
    [ -z "${AUTOTUNE_TEST_WHOLE-}" ] || every=1 i=0
    for ((; i < $#; i += every)); do
        printf '%s\n' "${@:i+1:1}"
    done
}

# sampled N FIRST: print the same sample of the lines on stdin.
sampled() {
    local lines
    mapfile -t lines
    sample "$1" "$2" "${lines[@]}"
}

# refused WORDS ARGUMENT...: does the program refuse these arguments with a usage error? These words
# must be on stderr, and nothing on stdout.
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

# Find out whether there is an NVRTC. Call it in setup_file.
find_nvrtc() {
    if "$AUTOTUNE" explain copy --blocks 1 2>&1 | grep -q 'no NVRTC'; then
        export NO_NVRTC=1
    fi
}

# Skip the test without an NVRTC. Call it in setup.
need_nvrtc() {
    [ -z "${NO_NVRTC:-}" ] || skip "no NVRTC"
}

# make_data FAMILY...: use a data directory that has only these families. Call it in setup_file.
# Without the copy family, a run on the emulated device does not search for copies first.
make_data() {
    local family
    export AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data
    mkdir -p "$AUTOTUNE_DATADIR/tuning" "$AUTOTUNE_DATADIR/results"
    ln -s "$srcdir/templates" "$AUTOTUNE_DATADIR"
    ln -s "$srcdir/results/networks.bin" "$AUTOTUNE_DATADIR/results"
    ln -s "$srcdir/tuning/devices" "$srcdir/tuning/textbook.yaml" "$AUTOTUNE_DATADIR/tuning"
    for family; do
        ln -s "$srcdir/tuning/$family.yaml" "$AUTOTUNE_DATADIR/tuning"
    done
}

# narrowed FAMILY PARAMETER=VALUES...: print its space file with only these values of the parameters.
narrowed() {
    local family=$1 pair script=
    shift
    for pair; do
        script+="/name: ${pair%%=*}\$/,/values:/s/values:.*/values: [${pair#*=}]/;"
    done
    sed "$script" "$srcdir/tuning/$family.yaml"
}

# driver OPTION...: make tests/cli/driver.c the machine's driver, in ./driver; the options set its macros.
driver() {
    local compiler
    compiler=$(command -v cc gcc clang | head -n 1)
    [ -n "$compiler" ] || skip "no C compiler"
    mkdir -p driver
    "$compiler" -shared -fPIC -w -pthread "$@" "$srcdir/tests/cli/driver.c" -o driver/libcuda.so.1
    : >driver/libnvidia-ml.so.1
    export LD_LIBRARY_PATH=$PWD/driver${usual_library_path:+:$usual_library_path}
}
