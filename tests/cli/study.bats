#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune study on the emulated device. It needs NVRTC, but no GPU.

bats_require_minimum_version 1.5.0
load helpers

studies=(carveout coalescing layout offset patterns policies residency shared transpose unroll)

# with_rows STUDY LABELS: print its file with these rows alone. A label is between two bars.
with_rows() {
    awk -v labels="$2" '
        /^rows:/ { in_rows = 1; print; next }
        /^reading:/ { in_rows = 0 }
        /^  - label: / { kept = index(labels, "|" substr($0, 12) "|") }
        !in_rows || kept' "$srcdir/tuning/study/$1.yaml"
}

# Sectors per request are the same in a matrix of any size: a small one is counted sooner. With AUTOTUNE_TEST_WHOLE all
# studies are as they are shipped.
setup_file() {
    local folder=$BATS_FILE_TMPDIR/data/tuning/study
    find_nvrtc
    [ -z "${AUTOTUNE_TEST_WHOLE-}" ] || return 0
    make_data tile # there must be a family
    mkdir "$folder"
    ln -s "$srcdir"/tuning/study/{layout,offset,patterns,policies,shared,transpose,unroll}.yaml "$folder"
    sed 's/1x67108864:/1x8192:/' "$srcdir/tuning/study/coalescing.yaml" >"$folder/coalescing.yaml"
    with_rows carveout '|no shared memory|24 KiB per block|56 KiB per block|' >"$folder/carveout.yaml"
    with_rows residency '|24 MiB in all|64 MiB in all|' >"$folder/residency.yaml"
}

setup() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
}

# study NAME ARGUMENT...: runs it on the emulated H200; skips the test if there is no NVRTC.
study() {
    need_nvrtc
    run --separate-stderr -0 "$AUTOTUNE" study --gpu emu "$@"
}

# row LABEL [PROBLEM]: prints the figures of the row with this label, on this problem, in one line.
row() {
    awk -v label="$1" -v problem="${2:-}" '/^[0-9]+x[0-9]+:/ { current = $1 }
        index($0, "  " label "  ") == 1 && (problem == "" || current == problem) {
            sub("^  " label " +", ""); gsub(/ +/, " "); print
        }' <<<"$output"
}

# shows LABEL FIGURES [PROBLEM]: the row begins with these figures.
shows() {
    [[ $(row "$1" "${3:-}") == "$2 "* ]] || {
        echo "$1: expected $2, found $(row "$1" "${3:-}")"
        return 1
    }
}

@test "coalescing: each pattern needs its expected number of sectors; a page has the same figures" {
    study coalescing --out "$BATS_TEST_TMPDIR/page.html"
    while read -r sectors used pattern; do
        shows "loads, $pattern" "$sectors $used 4.00 100.0"
        shows "stores, $pattern" "4.00 100.0 $sectors $used"
    done <<'END_OF_TABLE'
4.00 100.0 aligned
5.00 80.0 offset by one element
4.00 100.0 permuted within the warp
1.00 12.5 one address per warp
16.00 25.0 stride 4
END_OF_TABLE
    [[ $(row 'stores, stride 4') =~ ([0-9]+)$ ]]
    rate=${BASH_REMATCH[1]}
    grep -A1 -F 'stores, stride 4' "$BATS_TEST_TMPDIR/page.html" | grep -q ">$rate<"
    command -v python3 >/dev/null || skip "no python3 for the rest"
    "$srcdir/tests/cli/check-html" "$BATS_TEST_TMPDIR/page.html"
}

@test "without a name, all studies are listed" {
    run --separate-stderr -0 "$AUTOTUNE" study
    [ -z "$stderr" ]
    [[ "${lines[*]%% *}" == "${studies[*]}" ]]
}

@test "unknown studies and bad arguments are refused" {
    refused 'there is no study "coalesce" (did you mean coalescing?)' study coalesce
    refused 'known are carveout, coalescing, layout, offset, patterns, policies, residency, shared, transpose, unroll' study nothing
    refused 'there is no study "../study/shared"' study ../study/shared
    refused 'one study at a time' study shared offset
    refused 'known are table, json' study --format xml
    AUTOTUNE_DATADIR=$BATS_TEST_TMPDIR refused 'there is no study: expected' study
}

@test "a study of one's own is a file, with families of one's own; CSV and Markdown have the same lines" {
    cd "$BATS_TEST_TMPDIR"
    sed 's/^family: .*/family: mine/; s/^template: .*/template: mine.cu/' "$srcdir/tuning/tile.yaml" >mine.yaml
    cp "$srcdir/templates/tile.cu" mine.cu
    cat >padding.yaml <<'END'
schema: 1
title: what padding is worth
problem: 64x64:f32
columns: [shared_load]
rows:
  - {label: plain, family: tile, parameters: {PAD: 0}}
  - {label: padded, family: mine, parameters: {PAD: 1}}
reading: A column lies in one bank.
END
    study "$PWD/padding.yaml" --space mine.yaml
    [[ ${lines[0]} == 'padding.yaml: what padding is worth' ]]
    shows plain 32.0
    shows padded 1.0
    study "$PWD/padding.yaml" --space mine.yaml --quiet --format csv
    [ "$(sed 1d <<<"$output" | wc -l)" -eq 2 ]
    [[ ${lines[0]} == *',predicted us,rate GB/s' ]]
    study "$PWD/padding.yaml" --space mine.yaml --quiet --format markdown
    [ "$(grep -c '^| ' <<<"$output")" -eq 3 ]
    refused 'padding.yaml: padded: there is no family "mine"' study padding.yaml
    refused 'nothing.yaml' study nothing.yaml
    refused 'it is a space file: autotune tune and lookup take it with --space' study mine.yaml
}

@test "offset: accesses that do not begin at a sector need one more" {
    is_long
    study offset
    for loads in 'default loads' 'loads past L1' 'read-only loads'; do
        while read -r offset sectors used; do
            shows "reads at offset $offset, $loads" "$sectors $used 4.00 100.0"
            shows "writes at offset $offset, $loads" "4.00 100.0 $sectors $used"
        done <<'END_OF_TABLE'
0 4.00 100.0
11 5.00 80.0
128 4.00 100.0
END_OF_TABLE
    done
}

@test "layout: reading one field of a structure wastes half of each sector" {
    is_long
    study layout
    shows 'one field, read from arrays' '4.00 100.0 4.00 100.0'
    shows 'one field, read from structures' '8.00 50.0 4.00 100.0'
    shows 'one field, written to structures' '4.00 100.0 8.00 50.0'
    shows 'both fields, read from arrays' '4.00 100.0 4.00 100.0'
    shows 'both fields, read from structures' '8.00 50.0 4.00 100.0'
    shows 'both fields at once, read' '8.00 100.0 4.00 100.0'
    shows 'both fields, written to structures' '4.00 100.0 8.00 50.0'
    shows 'both fields at once, written' '4.00 100.0 8.00 100.0'
    # A structure written field by field takes little longer than at once.
    fields=$(row 'both fields, written to structures') whole=$(row 'both fields at once, written')
    [ "${fields##* }" -gt $((${whole##* } * 8 / 10)) ] # GB/s
}

@test "unroll: all twenty rows need four sectors per request" {
    is_long
    study unroll
    [ "$(grep -cE '^  [0-9]+ threads, [1248] elements? each +4\.00 ' <<<"$output")" -eq 20 ]
}

@test "patterns: L1 serves the warps of a block, L2 the blocks, DRAM each sector once" {
    is_long
    study patterns
    while read -r sectors used l1 l2 from_l2 from_dram pattern; do
        shows "$pattern" "$sectors $used $l1 $l2 $from_l2 $from_dram"
    done <<'END_OF_TABLE'
4.00 100.0 0.0 33.3 536.9 536.9 element i
4.50 88.9 5.6 35.8 570.4 536.9 the next element
4.00 100.0 0.0 33.3 536.9 536.9 the neighbour's element
2.50 82.5 10.0 51.3 302.0 276.8 one element per warp
10.00 40.0 0.0 16.7 1342.2 1342.2 every fourth element
18.00 22.2 0.0 10.0 2415.9 2415.9 every sixteenth element
2.50 82.5 20.0 50.0 268.4 268.4 element 0 for all
END_OF_TABLE
}

@test "policies: loads past L1 cost requests to L2, and nothing from DRAM" {
    is_long
    study policies
    for policy in 'through L1' read-only streaming; do
        shows "one per warp, $policy" '2.50 10.0 51.3 302.0 276.8'
    done
    for policy in 'no line in L1' 'past L1'; do
        shows "one per warp, $policy" '2.50 0.0 54.0 335.5 276.8'
    done
    shows 'the first for all, through L1' '2.50 20.0 50.0 268.4 268.4'
    shows 'the first for all, past L1' '2.50 0.0 55.6 335.5 268.4'
}

@test "carveout: shared memory takes room from L1, then from blocks" {
    is_long
    study carveout
    shows 'no shared memory' '100 248 50.0 268.6 268.4'
    shows '24 KiB per block' '100 28 0.0 536.9'
    shows '56 KiB per block' '50 28 0.0 536.9 268.4'
}

@test "residency: a copy that fits into L2 reads nothing from DRAM the second time" {
    is_long
    study residency
    shows '24 MiB in all' '50.0 12.6 0.0 0.0'
    shows '64 MiB in all' '50.0 33.6 11.6 32.8'
}

@test "shared: padding removes bank conflicts" {
    is_long
    study shared
    for type in f32 f64; do
        shows 'reversal, static' '1.0 1.0 0' "1x67108864:$type"
        shows 'reversal, dynamic' '1.0 1.0 0' "1x67108864:$type"
    done
    shows 'tile 16 wide' '1.0 8.0 56' 8192x8192:f32
    shows 'tile 16 wide, padded' '2.0 2.0 16' 8192x8192:f32
    shows 'tile 32 wide' '1.0 32.0 992' 8192x8192:f32
    shows 'tile 64 wide' '1.0 32.0 3968' 8192x8192:f32
    for width in 16 32 64; do
        shows "tile $width wide" '1.0 16.0' 8192x8192:f64
        shows "tile $width wide, padded" '1.0 1.0 0' 8192x8192:f64
        [ "$width" -eq 16 ] || shows "tile $width wide, padded" '1.0 1.0 0' 8192x8192:f32
    done
}

@test "transpose: naive kernels coalesce on one side, tiled ones on both" {
    is_long
    study transpose
    for how in '' ', read-only'; do
        shows "naive, reads coalesce$how" '4.00 100.0 32.00 12.5 -' 8192x8192:f32
        shows "naive, writes coalesce$how" '32.00 12.5 4.00 100.0 -' 8192x8192:f32
        shows "naive, reads coalesce$how" '8.00 100.0 32.00 25.0 -' 8192x8192:f64
    done
    shows 'shared' '4.00 100.0 4.00 100.0 32.0' 8192x8192:f32
    shows 'padded' '4.00 100.0 4.00 100.0 1.0' 8192x8192:f32
    shows 'several rows per thread' '8.00 100.0 8.00 100.0 1.0' 8192x8192:f64
    shows 'vectorised' '8.00 100.0 8.00 100.0' 8192x8192:f32
}

@test "a study's table fits 100 columns, ends in its reading and says predicted" {
    is_long
    for name in coalescing transpose; do
        study "$name"
        [[ $stderr == *'all times are predicted, none is measured; nine of ten are within 27 %'* ]]
        [[ ${lines[1]} == 'on NVIDIA H200 (emulated: all times are predicted, none is measured; nine of ten are within 27 %)' ]]
        [[ $output == *'  predicted  '* && $output != *measured,* ]]
        [ "$(awk 'length > 100 || / $/' <<<"$output" | wc -l)" -eq 0 ]
        reading=$(sed -n '/^reading:/,$p' "$srcdir/tuning/study/$name.yaml" | sed 1d | tr -s ' \n' '  ')
        [[ $(tr '\n' ' ' <<<"$output") == *"${reading# }"* ]]
    done
}

@test "--format json prints the same figures" {
    is_long
    study shared --quiet --format json
    [ -z "$stderr" ]
    [[ $output == *'"study": "shared"'* && $output == *'"times": "predicted"'* ]]
    [ "$(grep -c '"time_ns": [1-9]' <<<"$output")" -eq 16 ]
    [ "$(grep -c '"bandwidth_MB_per_s": [1-9]' <<<"$output")" -eq 16 ]
    [ "$(grep -c '"least_wavefronts": [1-9]' <<<"$output")" -eq 32 ]
}

@test "the list of studies honours --format" {
    run -0 "$AUTOTUNE" study --format csv
    [ "${lines[0]}" = study,title ]
    [ "$(sed '1d; s/,.*//' <<<"$output" | xargs)" = "${studies[*]}" ]
    run -0 "$AUTOTUNE" study --format json
    [ "$(grep -c '"title": "' <<<"$output")" -eq "${#studies[@]}" ]
    run -0 "$AUTOTUNE" study --format markdown
    [ "${lines[1]}" = '|---|---|' ]
}
