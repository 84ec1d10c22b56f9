# SPDX-License-Identifier: Apache-2.0
# What several Bats files need.

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
