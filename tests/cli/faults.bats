#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Faults of a run besides kills (kills.bats): compilers that never end or crash, signals, full
# disks, journals of other runs. On the emulated device; doc/robustness.md has the full list.

bats_require_minimum_version 1.5.0
load helpers
load ../gpu/helpers
load helpers-faults

# ---- compiling ----

# heavy WEIGHTS: make the family heavy here, with these weights alone and with its parentheses. All its
# configs but WEIGHT=0 are too much for the compiler; heavy.cu says why.
heavy() {
    local open close
    cat >heavy.yaml <<END
schema: 1
family: heavy
summary: one element per thread, in a text that takes the compiler long, much memory or down
template: heavy.cu
preference: 1000
parameters:
  - name: WEIGHT
    summary: 0 is light
    values: [$1]
    default: ${1%%,*}
launch:
  grid_x: ceil_div(rows * cols * batch, 256)
  block_x: 256
END
    open=$(printf '%50000s' '' | tr ' ' '(')
    close=$(printf '%50000s' '' | tr ' ' ')')
    printf 's|row; // NESTED|%srow%s;|\n' "$open" "$close" |
        sed -f - "$srcdir/tests/data/heavy.cu" >heavy.cu
}

# tune_heavy ARGUMENT...
tune_heavy() {
    run --separate-stderr tune --quiet --gpu emu --jobs 2 --family heavy --space heavy.yaml \
        --search exhaustive --problem 8x8:f32 --out best.yaml "$@"
}

# AddressSanitizer catches the signal of a crash, and needs more memory than the limits allow.
skip_with_sanitizer() {
    if grep -q __asan_init "$AUTOTUNE"; then
        skip "built for AddressSanitizer"
    fi
}

outcome() {
    query best.yaml.journal "SELECT outcome || ': ' || message FROM measurements
        WHERE config = 'WEIGHT=$1'"
}

# The next tests limit processor time and bytes, or expect signals: a busy machine changes nothing.
@test "a compiler that computes for ever is stopped" {
    is_long
    heavy '0, 1'
    tune_heavy --timeout 1
    [ "$status" -eq 0 ]
    [ "$(figure correct)" -eq 1 ]
    [ "$(figure compile)" -eq 1 ]
    [ "$(outcome 1)" = 'compile: the compiler took more than 3 s of processor time' ]
    assert_nothing_left
}

# The compiler's stack is limited even if the shell sets no limit.
@test "a compiler that crashes fails its config alone" {
    skip_with_sanitizer
    heavy '0, 2'
    ulimit -s unlimited 2>/dev/null || true
    tune_heavy --timeout 60
    [ "$status" -eq 0 ]
    [ "$(figure correct)" -eq 1 ]
    [ "$(figure compile)" -eq 1 ]
    [[ "$(outcome 2)" == "compile: the compiler's process ended with signal 11"* ]]
    assert_nothing_left
}

@test "a compiler that gets no more memory fails its config alone" {
    is_long
    skip_with_sanitizer
    heavy '0, 3'
    ulimit -d 300000
    tune_heavy --timeout 60
    [ "$status" -eq 0 ]
    [ "$(figure correct)" -eq 1 ]
    [[ "$(outcome 3)" == 'compile: '*'out of memory'* ]]
}

# Its folder here has no sound library of built-in declarations, and the search stops at the one that is none.
@test "an NVRTC without its built-in declarations ends a command with exit code 3" {
    local library file command
    library=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p | sed -n 's|.*libnvrtc\.so\.[0-9]* .* => ||p' | head -n 1)
    [ -n "$library" ] || skip "the loader's cache has no NVRTC"
    mkdir part
    ln -s "$library" part/
    for file in "${library%/*}"/libnvrtc-builtins.so.*; do
        : >"part/${file##*/}"
    done
    # shellcheck disable=SC2030 # each test has a shell of its own
    export LD_LIBRARY_PATH=$PWD/part AUTOTUNE_NVRTC=$PWD/part/${library##*/} XDG_CACHE_HOME=$PWD/cache
    echo '__global__ void k(float *x) { *x = 1; }' >k.cu
    for command in "tune ${short[*]} --budget 2" 'explain naive --problem 8x8:f32' \
        'explain k.cu --grid 1 --block 1 --arg float[1]' 'study k.cu --grid 1 --block 1 --arg float[1]'; do
        # shellcheck disable=SC2086 # several words
        run --separate-stderr -3 "$AUTOTUNE" $command
        [[ $stderr == *'libnvrtc-builtins'*'install NVRTC anew'* ]]
    done
}

@test "a template cannot show the machine's files" {
    heavy '0, 4'
    printf '#if WEIGHT == 4\n#include "/etc/passwd"\n#endif\n' | cat - heavy.cu >reads.cu
    mv reads.cu heavy.cu
    tune_heavy
    [ "$(figure compile)" -eq 1 ]
    [[ "$stderr$(<best.yaml.journal)" != *root:* ]]
    # Where the system can keep the compiler from opening a file, it does so for templates, too.
    printf '#define FILE "/etc/passwd"\n#include FILE\n' >own.cu
    run --separate-stderr -1 "$AUTOTUNE" explain own.cu --grid 1 --block 1
    [[ $stderr == *'#include of a macro'* || "$(outcome 4)" == 'compile: '*'cannot open source file "/etc/passwd"'* ]]
}

# ---- signals ----

@test "a signal that ends a run: the best so far is written; --resume measures nothing twice" {
    is_long
    for signal in INT TERM HUP QUIT USR1 USR2 ALRM XCPU; do
        start_run --budget 200
        wait_for_progress
        kill -$signal "$main"
        waited 130
        [ "$(<errors)" = 'autotune: interrupted; the best so far is in best.yaml; --resume continues' ]
        correct=$(figure correct)
        ((correct < 200))
        assert_correct "$correct"
        assert_nothing_left
        run -0 "$AUTOTUNE" tune "${short[@]}" --budget $((correct + 3)) --resume
        assert_correct $((correct + 3))
        assert_measured_once $((correct + 3))
        rm best.yaml*
    done
}

# A resumed strategy gets all known results before its first choice. Their order may differ from the
# first run's; it must choose the same configs, of the copies and of the family.
@test "resuming a complete run measures nothing" {
    is_long
    unset AUTOTUNE_DATADIR # so that there is the family copy
    run -0 "$AUTOTUNE" tune "${short[@]}" --search guided --problem 96x64:f32 --budget 16
    [ "$(query best.yaml.journal "SELECT count(*) FROM measurements WHERE family = 'copy'")" -gt 0 ]
    query best.yaml.journal 'SELECT * FROM measurements' >before
    run -0 "$AUTOTUNE" tune "${short[@]}" --search guided --problem 96x64:f32 --budget 16 --resume
    query best.yaml.journal 'SELECT * FROM measurements' | cmp before -
}

@test "a second signal of either kind ends the run at once" {
    is_long
    start_run --budget 200
    assert_ends_at_second_signal
}

# ---- too little memory ----

# The middle one of three problems has failed, the others have not.
assert_middle_failed() {
    [ "$(grep -c ' problem: ' best.yaml)" -eq 2 ]
    run ! grep -q 4096x4096:f32 best.yaml
    [ -z "$(query best.yaml.journal "SELECT 1 FROM measurements WHERE outcome <> 'correct'")" ]
    [[ "$(<errors)" == *'warning: 4096x4096:f32: allocating '*'autotune: 1 of 3 problems has no entry: 4096x4096:f32; no correct config was found' ]]
    "$AUTOTUNE" check best.yaml
    assert_nothing_left
}

# status_of PID KEY: print the number that the system has for this.
status_of() {
    awk -v key="$2:" '$1 == key { print $2 }' "/proc/$1/status"
}

@test "too little memory before the run fails the largest problem alone" {
    skip_with_sanitizer
    (
        ulimit -d 100000
        start_run --problem 4096x4096:f32 --problem 16x8:f32 --budget 6
        waited 7
    )
    assert_middle_failed
}

@test "too little memory during the run fails the largest problem alone" {
    is_long
    skip_with_sanitizer
    start_stopped 45 --problem 4096x4096:f32 --problem 16x8:f32
    worker=$(children "$main" gpu)
    until [ "$(state "$worker") $(status_of "$worker" Threads)" = 'S 1' ]; do
        sleep 0.02 # it finishes its kernel, and waits for the main process
    done
    # Small problems fit into this, and one of the two large matrices, but not both.
    prlimit --pid "$worker" --data=$((($(status_of "$worker" VmData) + 100000) * 1024))
    kill -CONT "$main"
    waited 7
    assert_middle_failed
    run -0 "$AUTOTUNE" tune "${short[@]}" --problem 16x8:f32 --budget 50 --resume
    [ -z "$(query best.yaml.journal 'SELECT 1 FROM measurements
        GROUP BY problem, family, config HAVING count(*) > 1')" ]
}

# ---- limits of the shell ----

# limited OPTION LIMIT ARGUMENT...: run the program under this ulimit, without the descriptors that
# Bats and make have open.
limited() (
    exec 3>&- 4>&- 5>&- 6>&- 7>&-
    ulimit "$1" "$2" && shift 2 && exec "$AUTOTUNE" "$@"
)

@test "too few descriptors are reported" {
    is_long
    local few
    skip_with_sanitizer
    for ((few = 5; few < 32; few++)); do
        run --separate-stderr limited -n "$few" tune "${short[@]}" --budget 2
        echo "$few: $status $stderr"
        assert_nothing_left
        [ "$status" -ne 0 ] || break
        [[ $stderr == *'Too many open files'* ]]
    done
    assert_correct 2
}

@test "too little memory for the compiler or a recording is reported" {
    is_long
    skip_with_sanitizer
    run --separate-stderr -3 limited -v 100000 tune "${short[@]}" --budget 2
    echo "$stderr"
    # The loader names the library with its path if that is not on its search path.
    [[ $stderr == *'cannot load '*libnvrtc*': too little memory (ulimit -v)'* ]]
    {
        printf '{"cache": {'
        seq -f '"%.0f": 1,' 1000000
        printf '"": 1}}'
    } >large.json
    run --separate-stderr -5 limited -v 100000 replay large.json
    [ "$stderr" = 'autotune: large.json: out of memory' ]
    refused 'large.json: kernel_name' replay large.json
}

# ---- full and unwritable places ----

# A limit on the size of files acts like a full disk, for root too.
@test "a journal that cannot grow: the run goes on; --resume measures the rest" {
    run --separate-stderr tune_limited 100 --budget 20
    [ "$status" -eq 0 ]
    [[ $stderr == *'warning: journal '*'; the run goes on, and --resume'* ]]
    [ "${#stderr_lines[@]}" -eq 1 ]
    assert_correct 20
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements')" -lt 20 ]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 20 --resume
    assert_measured_once 20
}

@test "a profile that does not fit is printed, and the old one stays" {
    echo old >best.yaml
    run --separate-stderr tune_limited 1 --replace --budget 2 --journal :memory:
    [ "$status" -eq 2 ]
    [[ $stderr == *'cannot write best.yaml: File too large' ]]
    [[ $output == *8x8:f32* ]]
    [ "$(<best.yaml)" = old ]
    assert_nothing_left
}

@test "a full or unwritable cache: everything is compiled" {
    # shellcheck disable=SC2031
    export XDG_CACHE_HOME=$PWD/cache
    run --separate-stderr tune_limited 2 --budget 2 --journal :memory: --out -
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    [ -z "$(find cache -name '*.program' -o -name '*.aside')" ]
    export XDG_CACHE_HOME=/proc/none
    run --separate-stderr -0 "$AUTOTUNE" tune "${short[@]}" --budget 2 --journal :memory:
    [[ $stderr == *'compiled kernels are not kept: cannot make /proc/none'* ]]
}

@test "a journal that cannot be created is refused before the run" {
    run --separate-stderr -2 "$AUTOTUNE" tune "${short[@]}" --budget 2 --journal /proc/none
    [[ $stderr == *'cannot open journal: cannot write "/proc/none"'* ]]
    run --separate-stderr tune_limited 1
    [ "$status" -ne 0 ]
    [[ $stderr == *'journal best.yaml.journal'* || $stderr == *'journal ./best.yaml.journal'* ]]
}

# ---- journals ----

@test "of a journal with a torn end, the whole measurements are used" {
    is_long
    start_run --budget 30
    wait_for_progress
    wait_for_progress
    kill -KILL "$main"
    wait "$main" || true
    size=$(stat -c %s best.yaml.journal-wal)
    truncate -s $((size - 100)) best.yaml.journal-wal
    mkdir copy
    cp best.yaml.journal* copy
    [ "$(query copy/best.yaml.journal 'SELECT count(*) FROM measurements')" -ge 1 ]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 30 --resume
    assert_measured_once 30
}

@test "a journal of another setting is refused: which setting, and how to start anew" {
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 2
    run --separate-stderr -2 "$AUTOTUNE" tune "${short[@]}" --budget 2 --resume --policy warm
    [[ $stderr == *'--resume cannot continue journal '*'(policy cold '*', now policy warm '*'without --resume this run starts anew, and the journal keeps its contents' ]]
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 2 --policy warm
    [ "$(query best.yaml.journal 'SELECT count(*) FROM runs')" -eq 2 ]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements')" -eq 4 ]
}

@test "a changed journal is refused, the change named and the file left as it is" {
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 2
    cp best.yaml.journal sound
    while IFS='|' read -r sql words; do
        cp sound best.yaml.journal
        query best.yaml.journal "$sql"
        cp best.yaml.journal before
        run --separate-stderr -2 "$AUTOTUNE" tune "${short[@]}" --budget 4 --resume
        [[ $stderr == *"$words"*': name another file' ]]
        cmp before best.yaml.journal
    done <<'END'
UPDATE measurements SET registers = -9223372036854775808 WHERE id = 2|measurement 2: registers is -9223372036854775808, not from 0 to 1024
UPDATE measurements SET samples_ns = '[1e308]'|measurement 1: samples_ns has 1e+308
CREATE TRIGGER swallow BEFORE INSERT ON measurements BEGIN SELECT RAISE(IGNORE); END|has what no journal has: trigger swallow
END
}

@test "a journal of another template: a warning, and new measurements" {
    cp -r "$AUTOTUNE_DATADIR/" data
    rm data/templates
    cp -r "$srcdir/templates" data
    chmod -R u+w data
    run -0 "$AUTOTUNE" tune "${short[@]}" --budget 2
    echo 'typedef int changed;' >>data/templates/tile.cu
    AUTOTUNE_DATADIR=$PWD/data run --separate-stderr -0 "$AUTOTUNE" tune "${short[@]}" --budget 2 \
        --resume
    [[ $stderr == *'the template or launch of tile has changed: its 2 measurements'*'are kept but not used' ]]
    [ "$(query best.yaml.journal 'SELECT count(*) FROM measurements')" -eq 4 ]
}
