#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# quickstart on machines of all kinds, which stand-ins make (see stand-in): killed and run again, without
# what it needs, and without the right to install it.

bats_require_minimum_version 1.5.0

# What it uses of a bare system; all else is a stand-in.
system=(awk basename bash cat chmod cut dirname env find flock getconf grep head id ln mkdir mktemp nproc
    readlink rm sed setsid sh sleep sort tail touch true wc)

setup() {
    command -v flock >/dev/null || skip "no flock"
    place=$(mktemp -d) # not in Bats' folder, which is closed to other users
    chmod 755 "$place"
    export WORLD=$place/world CUDA_HOME=$place/cuda
    unset CC CFLAGS CUDA_PATH QUICKSTART_CONFIGURE_FLAGS MAKEFLAGS MAKELEVEL
    mkdir -p "$CUDA_HOME/include"
    touch "$CUDA_HOME"/include/{cuda,nvrtc}.h
    new_world
}

teardown() {
    [ -z "${place:-}" ] || rm -rf "$place"
}

# A bare machine, on which nothing is built.
new_world() {
    local tool
    rm -rf "$WORLD" "$place/tree"
    mkdir -p "$WORLD/bin" "$WORLD/packages" "$place/tree/m4" "$place/tree/build-aux"
    cp "$srcdir/tests/cli/stand-in" "$WORLD/bin"
    for tool in "${system[@]}"; do
        ln -s "$(type -P "$tool")" "$WORLD/bin"
    done
    for tool in apt-get configure dpkg sudo; do
        ln -s stand-in "$WORLD/bin/$tool"
    done
    cp "$srcdir/quickstart" "$place/tree"
    cp "$srcdir/build-aux/"{find-cuda,test-totals} "$place/tree/build-aux"
    touch -d '2000-01-01' "$place"/tree/{configure.ac,Makefile.am,m4/macros.m4}
}

# quickstart ARGUMENT...: in a process group of its own.
quickstart() {
    env PATH="$WORLD/bin" setsid --wait "$place/tree/quickstart" "$@" 3>&-
}

# Ends well, with what is said of it on stdout, and nothing cut off.
assert_ends_well() {
    run quickstart "$@"
    if [ "$status" -ne 0 ] || grep -rl half "$place/tree" --exclude=quickstart.log; then
        printf '%s\n' "$output"
        cat "$place/tree/build/quickstart.log"
        return 1
    fi
    [[ ${lines[-1]} == "$said" ]]
}

# survives ARGUMENT...: being killed at any moment of its run.
survives() {
    local moments i
    assert_ends_well "$@"
    moments=$(wc -l <"$WORLD/moments")
    ((moments >= 10))
    for ((i = 1; i <= moments; i++)); do
        new_world
        KILL_AT=$i run quickstart "$@"
        [ "$status" -eq 137 ]
        assert_ends_well "$@" || {
            echo "killed at: $(sed -n "${i}p" "$WORLD/moments")"
            return 1
        }
    done
}

# waits_for MOMENT ARGUMENT...: where quickstart is killed at that and its command goes on, the next run
# waits for this to end.
waits_for() {
    local at
    assert_ends_well "${@:2}"
    at=$(grep -n "$1" "$WORLD/moments" | cut -d : -f 1)
    new_world
    # It tells its process before it becomes quickstart.
    # shellcheck disable=SC2016 # for the other shell
    KILL=quickstart KILL_AT=$at run env PATH="$WORLD/bin" bash -c 'echo $$ >"$WORLD/quickstart"
        exec "$0" "$@" >/dev/null 2>&1' "$place/tree/quickstart" "${@:2}" 3>&-
    [ "$status" -eq 137 ]
    assert_ends_well "${@:2}"
    [[ $output == *"waiting for another quickstart"* ]]
}

# refuses WORDS: before anything has been installed or made.
refuses() {
    run quickstart
    [ "$status" -eq 2 ]
    [[ $output == *"$1"* ]]
    [ -z "$(ls -A "$WORLD/packages")" ]
    [ ! -e "$place/tree/configure" ]
}

@test "killed at any moment, it ends well the next time" {
    said=tuned survives --out best.yaml
}

@test "so does check" {
    said='1 passed, 0 failed, 0 skipped' survives check
}

@test "what a killed one has left at work is waited for" {
    said=tuned waits_for 'Makefile.in half' --out best.yaml
    [ "$(grep -c 'Makefile.in$' "$WORLD/moments")" -eq 2 ] # one after the other
    new_world
    said='1 passed, 0 failed, 0 skipped' waits_for testing check # its results are not counted twice
}

@test "a second run has nothing to do" {
    said=tuned
    assert_ends_well
    : >"$WORLD/moments"
    assert_ends_well
    [ "$output" = tuned ]
    [ ! -s "$WORLD/moments" ]
}

@test "what no package mends is said before any is installed" {
    CUDA_HOME=$place refuses "CUDA_HOME=$place holds no include/cuda.h"
    QUICKSTART_CONFIGURE_FLAGS=--with-cuda=/nowhere refuses "--with-cuda=/nowhere holds no"
    ln -sf "$(type -P false)" "$WORLD/bin/getconf" # musl's knows no GNU_LIBC_VERSION
    refuses "not glibc"
}

@test "so is a path that make does not take" {
    local c
    for c in ' ' '"' '#' '$' '&' "'" '(' ')' ',' ':' ';' '<' '>' "\\" '`' '|'; do
        mv "$place/tree" "$place/a${c}b"
        run env PATH="$WORLD/bin" "$place/a${c}b/quickstart"
        [ "$status" -eq 2 ]
        [[ $output == *"take no blank"*"a${c}b" ]]
        mv "$place/a${c}b" "$place/tree"
    done
}

@test "who may not install is told what root has to run" {
    rm "$WORLD/bin/sudo"
    chmod -R a+rwX "$place"
    as_other=()
    [ "$(id -u)" -ne 0 ] || as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    run env "${as_other[@]}" env PATH="$WORLD/bin" "$place/tree/quickstart" check
    [ "$status" -eq 2 ]
    [[ ${lines[-2]} == *"as root:" ]]
    [[ ${lines[-1]} == "apt-get update && apt-get install -y --no-install-recommends gcc "*" zsh" ]]
    run -0 env PATH="$WORLD/bin" bash -c "${lines[-1]}"
    chmod -R a+rwX "$WORLD"
    run env "${as_other[@]}" env PATH="$WORLD/bin" "$place/tree/quickstart" check
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = '1 passed, 0 failed, 0 skipped' ]
}
