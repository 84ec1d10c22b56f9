# SPDX-License-Identifier: Apache-2.0
# Shared by several Bats files.

# All commands, as --help lists them.
# shellcheck disable=SC2034 # used in the Bats files
mapfile -t commands < <("$AUTOTUNE" --help | sed -n 's/^  autotune \([a-z]*\) .*/\1/p')

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

# Find out whether there is an NVRTC. Call it in setup_file.
find_nvrtc() {
    if "$AUTOTUNE" explain copy 2>&1 | grep -q 'no NVRTC'; then
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
    mkdir -p "$AUTOTUNE_DATADIR/tuning"
    ln -s "$srcdir/templates" "$AUTOTUNE_DATADIR"
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
