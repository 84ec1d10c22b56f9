# SPDX-License-Identifier: Apache-2.0
# What several Bats files need.

# shellcheck disable=SC2034 # used there
commands=(tune list show check lookup export merge diff bench explain study replay convert cache)

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
