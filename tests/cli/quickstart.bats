#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# quickstart on simulated machines, whose tools are all the script stand-in. It is killed and run
# again; it lacks programs, libraries or the right to install them.

bats_require_minimum_version 1.5.0
load helpers

# The real programs that it uses; all others are stand-ins.
system=(awk basename bash cat chmod cmp cp cut dirname env find flock getconf grep head id ln mkdir mktemp mv nproc
    paste readlink rm sed setsid sh sleep sort tail touch true wc)

setup() {
    command -v flock >/dev/null || skip "no flock"
    place=$(mktemp -d) # other users cannot enter Bats' folder
    chmod 755 "$place"
    export WORLD=$place/world CUDA_HOME=$place/cuda
    unset CC CFLAGS CUDA_PATH QUICKSTART_CONFIGURE_FLAGS MAKEFLAGS MAKELEVEL
    mkdir -p "$CUDA_HOME/include"
    touch "$CUDA_HOME"/include/{cuda,nvrtc}.h
    new_world
}

# as_other COMMAND...: run it with the stand-ins, as another user than root.
as_other() {
    local -a other=()
    [ "$(id -u)" -ne 0 ] || other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    env "${other[@]}" env PATH="$WORLD/bin" "$@"
}

teardown() {
    [ -z "${place:-}" ] || rm -rf "$place"
}

# Make a machine without packages, and a source tree without a build.
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
    cp "$srcdir/build-aux/"{cuda-packages.txt,test-totals} "$place/tree/build-aux"
    sed "s,/usr/local/cuda,$place/usual," "$srcdir/build-aux/find-cuda" >"$place/tree/build-aux/find-cuda"
    chmod +x "$place/tree/build-aux/find-cuda"
    touch -d '2000-01-01' "$place"/tree/{configure.ac,Makefile.am,m4/macros.m4}
}

# quickstart ARGUMENT...: run it in a process group of its own.
quickstart() {
    env PATH="$WORLD/bin" setsid --wait "$place/tree/quickstart" "$@" 3>&-
}

# assert_ends_well ARGUMENT...: it ends with the line $said, and leaves no cut-off file. The script itself
# must not have the stand-ins' word for one.
assert_ends_well() {
    run quickstart "$@"
    if [ "$status" -ne 0 ] || grep -rl half "$place/tree" --exclude=quickstart.log; then
        printf '%s\n' "$output"
        cat "$place/tree/build/quickstart.log"
        return 1
    fi
    [[ ${lines[-1]} == "$said" ]]
}

# survives ARGUMENT...: killed at any moment, it ends well when it is run again.
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

# waits_for MOMENT ARGUMENT...: quickstart is killed at that moment, but not the command that it runs.
# The next quickstart waits until that command ends.
waits_for() {
    local at
    assert_ends_well "${@:2}"
    at=$(grep -n "$1" "$WORLD/moments" | cut -d : -f 1)
    new_world
    # The shell writes down its process id before it becomes quickstart.
    # shellcheck disable=SC2016 # for the other shell
    KILL=quickstart KILL_AT=$at run env PATH="$WORLD/bin" bash -c 'echo $$ >"$WORLD/quickstart"
        exec "$0" "$@" >/dev/null 2>&1' "$place/tree/quickstart" "${@:2}" 3>&-
    [ "$status" -eq 137 ]
    assert_ends_well "${@:2}"
    [[ $output == *"waiting for another quickstart"* ]]
}

# refuses WORDS: it ends with these words before it installs or makes anything.
refuses() {
    run quickstart
    [ "$status" -eq 2 ]
    [[ $output == *"$1"* ]]
    [ -z "$(ls -A "$WORLD/packages")" ]
    [ ! -e "$place/tree/configure" ]
}

@test "quickstart killed at any moment ends well the next time" {
    is_long
    unset CUDA_HOME # so that it fetches, too
    said=tuned survives --out best.yaml
}

@test "quickstart check killed at any moment ends well the next time" {
    is_long
    said='1 passed, 0 failed, 0 skipped' survives check
}

@test "without a toolkit, NVIDIA's packages are fetched once" {
    unset CUDA_HOME
    said=tuned assert_ends_well
    [[ $output =~ 'quickstart: building took '[0-9]+' s' ]]
    [[ $output == *"fetching NVIDIA's packages (100 MB from PyPI; licence: https://"*"to $place/tree/build/cuda"* ]]
    : >"$WORLD/moments"
    said=tuned assert_ends_well --no-fetch # what is there already serves
    [ "$output" = tuned ]
    [ ! -s "$WORLD/moments" ]
    echo '# another version' >>"$place/tree/build-aux/cuda-packages.txt"
    said='1 passed, 0 failed, 0 skipped' assert_ends_well check
    grep -q cuda.part "$WORLD/moments"
    mkdir -p "$place/usual/include" # a toolkit that is installed later counts more
    touch "$place"/usual/include/{cuda,nvrtc}.h
    : >"$place/tree/build/cuda/cuda-packages.txt"
    said=tuned assert_ends_well --no-fetch
}

# names_remedies MESSAGE: it has the commands for what would do.
names_remedies() {
    [[ $1 == *"python3 -m pip install --target=DIR -r $place/tree/build-aux/cuda-packages.txt"* ]]
    [[ $1 == *"apt-get install cuda-cudart-dev-13-0 cuda-nvrtc-dev-13-0"* ]]
}

@test "without a toolkit and network, or with --no-fetch, it says what would do" {
    unset CUDA_HOME
    touch "$WORLD/offline"
    run -2 quickstart
    [[ $output == *"fetching failed"*"pip: no network"* ]]
    names_remedies "$output"
    [ ! -e "$place/tree/build/cuda" ]
    new_world
    run -2 quickstart --no-fetch check
    names_remedies "$output"
    [ -z "$(ls -A "$WORLD/packages")" ]
}

@test "a command that a killed quickstart left running is waited for" {
    is_long
    said=tuned waits_for 'Makefile.in half' --out best.yaml
    [ "$(grep -c 'Makefile.in$' "$WORLD/moments")" -eq 2 ] # the two did not overlap
    new_world
    said='1 passed, 0 failed, 0 skipped' waits_for testing check # its results are not counted twice
}

@test "a second quickstart does no work again" {
    said=tuned
    assert_ends_well
    : >"$WORLD/moments"
    assert_ends_well
    [ "$output" = tuned ]
    [ ! -s "$WORLD/moments" ]
}

# on_terminal ARGUMENT...: run quickstart on a terminal.
on_terminal() {
    run -0 env PATH="$WORLD/bin" "$(type -P script)" -qec "$place/tree/quickstart $*" /dev/null 3>&-
}

@test "a terminal shows how far it is, and about how long it still takes" {
    command -v script >/dev/null || skip "no script"
    local seconds='[0-9]+ (s|min) left'
    touch "$WORLD/slow"
    mkdir -p "$place"/tree/tests/{cli,unit}
    printf '@test "a"\n' | tee "$place/tree/tests/cli/"{1..60}.bats >/dev/null
    printf 'int main(void)\n' | tee "$place/tree/tests/unit/test_"{1..40}.c >/dev/null
    on_terminal check
    [[ $output =~ 'quickstart: making configure, '[0-9]+' s, about '[0-9]+' s left' ]]
    [[ $output =~ 'quickstart: building, '[0-9]+' s, 1 of about 100 commands have ended, about '$seconds ]]
    [[ $output =~ 'quickstart: testing, '[0-9]+' s, 1 of about 100 tests have ended, about '$seconds ]]
    grep -q '^[0-9]* testing$' "$place/tree/build/times"
    echo '6000 testing' >>"$place/tree/build/times" # an earlier run counts more than what has ended
    on_terminal check
    [[ $output =~ 'quickstart: testing, '[0-9]+' s, 1 of about 100 tests have ended, about 100 min left' ]]
}

@test "what no package can repair is reported before any is installed" {
    CUDA_HOME=$place refuses "CUDA_HOME=$place holds no include/cuda.h"
    QUICKSTART_CONFIGURE_FLAGS=--with-cuda=/nowhere refuses "--with-cuda=/nowhere holds no"
    ln -sf "$(type -P false)" "$WORLD/bin/getconf" # musl's knows no GNU_LIBC_VERSION
    refuses "not glibc"
}

@test "a compiler that is named and not there is refused; gcc, in any words, is installed" {
    local compiler
    for compiler in nosuch 'ccache gcc' 'gcc-99 -m64'; do
        CC=$compiler refuses "CC names ${compiler%% *}, which is not there"
    done
    QUICKSTART_CONFIGURE_FLAGS='CC=nosuch' refuses "CC names nosuch"
    ln -s stand-in "$WORLD/bin/ccache"
    CC='ccache gcc -m64' said=tuned assert_ends_well
    [ -e "$WORLD/packages/gcc" ]
}

@test "what the caller exports and how it is called make no difference" {
    local name
    mkdir "$place/elsewhere"
    ln -s "$place/tree/quickstart" "$place/elsewhere/link"
    cd "$place"
    export CDPATH=.:$place
    for name in tree/quickstart elsewhere/link; do
        run -0 env PATH="$WORLD/bin" "$name"
        [ "${lines[-1]}" = tuned ]
        run -0 env PATH="$WORLD/bin" SHELLOPTS=noclobber "$name"
        [ "$output" = tuned ]
        rm -r "$place/tree/build"
    done
    [ "$(ls "$place/elsewhere")" = link ]
}

@test "a folder that cannot be written is refused" {
    chmod -R a+rX "$place"
    chmod a-w "$place/tree" # the other user is the same one, unless it is root that tests
    run -2 as_other "$place/tree/quickstart"
    [[ $output == "quickstart: cannot write to $place/tree/build: make it writable"* ]]
    chmod u+w "$place/tree"
    mkdir -m 777 "$place/tree/build"
    chmod a-w "$place/tree"
    run -2 as_other "$place/tree/quickstart"
    [[ $output == "quickstart: cannot write to $place/tree: make it writable"* ]]
    chmod u+w "$place/tree"
    rm -r "$place/tree/build"
    ln -s nowhere/build "$place/tree/build"
    refuses "cannot write to $place/tree/build"
}

@test "a path that make cannot take is refused" {
    local c
    for c in ' ' '"' '#' '$' '&' "'" '(' ')' ',' ':' ';' '<' '>' "\\" '`' '|'; do
        mv "$place/tree" "$place/a${c}b"
        run env PATH="$WORLD/bin" "$place/a${c}b/quickstart"
        [ "$status" -eq 2 ]
        [[ $output == *"take no blank"*"a${c}b" ]]
        mv "$place/a${c}b" "$place/tree"
    done
}

@test "configure refuses the same paths, before it makes anything" {
    local c
    [ -x "$srcdir/configure" ] || skip "no configure"
    sample 4 0 ' ' '"' '#' '$' '&' "'" '(' ')' ',' ':' ';' '<' '>' "\\" '`' '|' >"$BATS_TEST_TMPDIR/characters"
    while IFS= read -r c; do
        mkdir "$place/a${c}b"
        cd "$place/a${c}b"
        run -1 "$srcdir/configure"
        [[ $output == *"take no blank"*"a${c}b" ]]
        [ "$(ls)" = config.log ]
    done <"$BATS_TEST_TMPDIR/characters"
}

@test "without the right to install, it prints the command for root" {
    rm "$WORLD/bin/sudo"
    chmod -R a+rwX "$place"
    run as_other "$place/tree/quickstart" check
    [ "$status" -eq 2 ]
    [[ ${lines[-2]} == *"as root:" ]]
    [[ ${lines[-1]} == "apt-get update && apt-get install -y --no-install-recommends gcc "*" zsh" ]]
    run -0 env PATH="$WORLD/bin" bash -c "${lines[-1]}"
    chmod -R a+rwX "$WORLD"
    run as_other "$place/tree/quickstart" check
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = '1 passed, 0 failed, 0 skipped' ]
}
