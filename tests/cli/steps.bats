#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Arithmetic on the way: kernels of problems with a step are verified bit for bit against the definition.

bats_require_minimum_version 1.5.0
load helpers

# The families without copies, so that no copy limit is searched.
setup_file() {
    find_nvrtc
    make_data naive tile micro skew odd narrow rows quantise
    unset AUTOTUNE_DATADIR
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return
}

# FAMILY PROBLEM. The second half is for .ci/run.
cases=(
    'tile 64x96:bf16:e4m3,scale'
    'micro 136x133:bf16:e4m3,ld_src=136,scale,both,amax,sums'
    'naive 33x17:f32:u8,affine'
    'skew 99x77:f32:bf16,both=e4m3,amax=nan'
    'quantise 70x165:bf16:e4m3,batch=2,both,blocks=1x32,scales=floor,layout=swizzled'
    'micro 128x136:f32:bf16'
    'micro 64x72:f32,alpha,beta'
    'naive 33x17:f64:e5m2'
    'skew 99x77:bf16:e4m3,scale'
    'narrow 301x3:u8:f16,scale'
    'narrow 4x16x11x3:u8:f16,perm=0312,affine'
    'odd 67x83:f32:bf16,scale'
    'narrow 3x301:f32:u8'
    'rows 6x5x24:f32:bf16,perm=102'
    'tile 4x9x11x3:u8:f16,perm=0312,scale'
    'micro 72x64:c64,conj'
    'micro 66x64:f64:f32,scale'
    'naive 33x17:bf16:f32'
    'tile 40x72:f16:f64,batch=2'
    'micro 128x128:bf16:e4m3,divide'
    'micro 64x64:f16:f32'
    'tile 40x80:i32:f32,scale'
    'tile 64x64:f64:f32,ld_src=72,ld_dst=66,scale'
    'naive 20x30:c128:c64,conj,scale'
    'micro 136x128:bf16:e4m3,scale,both,amax'
    'micro 64x96:e4m3:bf16,scale'
    'tile 32x48:f32:i8,scale'
    'tile 16x5x4x20:e5m2:f16,perm=3210'
    'skew 67x83:f64:bf16,scale'
    'skew 61x98:u8:f32'
    'skew 50x41:c128:c64,conj'
    'odd 99x77:u8:f16'
    'odd 121x57:bf16:e4m3,divide'
    'odd 51x67:f64:f32,batch=2'
    'narrow 301x7:f32:e4m3,scale'
    'narrow 4x2000:u8:f32'
    'narrow 2x3x512:bf16:f64,perm=021'
    'narrow 300x8:c128:c64,conj'
    'rows 5x7x20:u8:f32,perm=102,scale'
    'rows 7x9x11:c64,perm=102,conj'
    'tile 40x33:c64,conj,alpha,beta'
    'micro 64x96:bf16:e4m3,scale,nosat'
    'tile 40x33:f64:e5m2,nosat'
    'naive 33x20:f32:e4m3,alpha,beta,nosat'
    'naive 20x30:f64,alpha,beta,ld_dst=24,offset_dst=1'
    'micro 64x64:bf16:f32,beta'
    'micro 64x128:f32:e4m3,scale,beta'
    'tile 16x3x20:f16,perm=210,alpha,beta'
    'tile 40x40:u8:i32,alpha,beta'
    'naive 33x20:f16:e5m2,nosat,both=f32,amax'
    'naive 7x5x6:f32,perm=210,both,amax=nan'
    'micro 64x72:f32,both'
    'micro 64x64:e4m3:bf16,scale,both=f16,amax'
    'micro 66x64:f64:f32,scale,both=bf16'
    'micro 72x64:c64,conj,both,batch=2'
    'micro 128x64:bf16,amax=nan'
    'naive 200x96:f16,amax'
    'naive 33x20:f64:f32,both'
    'micro 64x96:e4m3,both'
    'naive 300x20:f32:bf16,batch=3,sums'
    'naive 1x70:bf16,sums'
    'naive 33x17:e5m2,both,sums'
    'micro 400x72:f32,sums'
    'micro 1100x72:bf16,sums'
    'micro 66x133:f16:e5m2,ld_src=136,ld_dst=72,batch=2,sums'
    'micro 64x96:e4m3:bf16,scale,both=f16,amax=nan,sums'
    'skew 45x77:e5m2,both=e4m3,amax'
    'skew 67x83:bf16:e4m3,divide,both,amax'
    'skew 61x98:u8:f32,both=u8'
    'skew 99x77:c64,conj,both'
    'skew 50x41:f16,amax'
    'skew 70x99:e4m3:bf16,both,amax'
    'skew 77x51:u8:f64,both'
    'skew 133x67:bf16:e4m3,scale,amax,batch=3'
    'micro 64x64:c128,alpha,beta'
    'tile 40x33:f32:e4m3,scale,affine,beta,nosat'
    'tile 16x5x4x20:f32:f16,perm=3210,affine=1'
    'micro 64x96:u8:f32,affine'
    'micro 64x64:f16:u8,batch=3,affine=batch'
    'micro 128x64:f32:bf16,affine=rows'
    'naive 33x20:f64:f32,ld_dst=40,offset_dst=1,divide,affine'
    'naive 7x5x6:u8:f16,perm=210,strides_dst=70x9x1,affine=1'
    'narrow 301x3:u8:f32,affine'
    'narrow 1000x4:u8:f16,ld_dst=1003,affine,beta'
    'narrow 3x301:f32:u8,affine=rows'
    'narrow 4x1000:f16,affine'
    'narrow 1001x3:u8:f32,beta'
    'narrow 4x1000:f16,alpha,beta'
    'narrow 300x8:c64,beta'
    'odd 67x83:f32,affine'
    'odd 99x77:f16,alpha,beta'
    'odd 121x57:u8:e4m3,affine=rows'
    'rows 6x5x24:f32:bf16,perm=102,affine'
    'rows 5x7x20:f16,perm=102,beta'
    'skew 99x77:bf16:e4m3,scale,affine'
    'skew 67x83:f64:u8,affine=rows'
    'skew 61x98:u8:f32,beta'
    'skew 99x77:c64,conj,beta'
    'quantise 160x144:bf16:e4m3,blocks=1x128'
    'quantise 150x136:bf16:e4m3,both,blocks=1x128,scales=te-pow2,layout=aligned'
    'quantise 200x136:bf16:e4m3,ld_dst=216,both=e5m2,blocks=128x128,scales=torchao'
    'quantise 133x261:f32:e4m3,both,blocks=1x128,scales=torchao,layout=transposed'
    'quantise 97x71:f16:e5m2,blocks=1x32,scales=ceil,layout=swizzled'
    'quantise 136x96:bf16:e5m2,both=e4m3,blocks=1x32,scales=even'
    'quantise 72x200:f16:e4m3,both,blocks=32x1,scales=rceil,layout=transposed'
    'quantise 140x75:f32:e4m3,ld_src=80,ld_dst=144,both,blocks=1x32,scales=te-rceil,layout=aligned'
    'quantise 66x131:f16:e5m2,ld_src=133,ld_dst=71,offset_src=3,offset_dst=5,batch=2,both,blocks=64x32,scales=te'
    'quantise 99x78:bf16:e2m1,ld_dst=100,blocks=1x16,scales=nvfp4'
    'quantise 98x130:f16:e2m1,both,blocks=1x16,scales=te-nvfp4,layout=swizzled'
    'quantise 65x66:f32:e2m1,ld_dst=66,batch=2,both=e5m2,blocks=1x32,scales=floor'
    'quantise 61x35:bf16:e2m1,ld_src=36,ld_dst=62,both,blocks=1x16,scales=nvfp4'
    'quantise 300x136:bf16:e4m3,both,blocks=1x128,sums'
    'quantise 150x77:f32:e4m3,batch=2,blocks=1x32,scales=floor,sums'
    'quantise 1x300:bf16:e4m3,both,blocks=1x128'
    'quantise 300x1:f32:e4m3,both,blocks=1x32,scales=floor'
    'quantise 140x72:bf16:e4m3,batch=3,both,blocks=16x16,scales=te-pow2'
)

# measured FAMILY PROBLEM CONFIGS: as many configs of the family are measured, and all are correct.
# The compiler takes several seconds for some, and its limit follows from --timeout.
measured() {
    local AUTOTUNE_DATADIR=$BATS_FILE_TMPDIR/data
    export AUTOTUNE_DATADIR
    run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --family "$1" --search random --budget "$3" --timeout 60 \
        --out best.yaml "$2"
    [[ $stderr != *' wrong'* ]]
    [[ $output =~ evaluations\ \ ([0-9]+)\ of\ [0-9]+\ legal\ configs:\ ([0-9]+)\ correct && ${BASH_REMATCH[1]} -eq ${BASH_REMATCH[2]} ]]
    rm best.yaml*
}

@test "kernels compute what the definition says" {
    local count=6 configs=2 case
    need_nvrtc
    if [ -n "${AUTOTUNE_TEST_WHOLE-}" ]; then
        count=${#cases[@]} configs=8
    fi
    # A loop that counts with i would go wrong: run of Bats 1.8 sets it.
    for case in "${cases[@]:0:count}"; do
        # shellcheck disable=SC2086 # two words
        measured $case "$configs"
    done
}

# FAMILY FILE PROBLEM REPLACEMENT: with it, the template computes something else.
mistakes=(
    'naive numbers.cuh 33x17:bf16:e4m3,scale s/__fmul_rn(x, y)/__fadd_rn(x, y)/'
    # A channel's numbers are found by the place of a result, in the whole grid.
    'naive step_numbers.cuh 33x17:u8:f32,affine s/found = within \/ places.run/found = within \/ places.run \/ 2/'
    'naive outputs.cuh 33x17:bf16:e4m3,both s/(from - first)/(from - first) \/ 2 * 2/'
    'naive outputs.cuh 33x17:f32,amax s/largest.template take<count>(whole)/(void)whole/'
    'naive outputs.cuh 33x17:f32,amax s/return outputs.skip \&\&/return \&outputs == nullptr \&\&/'
    'naive largest.cuh 33x17:f32,amax s/unsigned long long \*>(scratch) = 0/unsigned *>(scratch) = 0/'
    'skew outputs.cuh 67x83:f32,amax s/largest.template take<1>((element)from\[i\])/(void)from/'
    'skew kept.cuh 67x83:bf16:e4m3,both s/col + unit <= tile.cols/col + 2 * unit <= tile.cols/'
    # Sums: another row, another order, no rows at an edge, or what others add to left there.
    'naive sums.cuh 33x17:f32,sums s/value, first + count/value, first/'
    'naive sums.cuh 300x17:f32,sums s/staged(part, col); })/staged(part % 2 * (parts \/ 2) + part \/ 2, col); })/'
    'naive sums.cuh 300x17:f32,sums s/first\[k \* pitch\] = 0/first[0] = 0/'
    'naive sums.cuh 300x17:f32,sums s/\*ticket = 0/(void)ticket/'
    'micro micro.cu 36x72:bf16,ld_dst=40,sums s/k < rows ? step::float_of/k + 1 < rows ? step::float_of/'
    'skew skew.cu 67x83:bf16,sums s/own + layout.offset(halo_rows + row)/own + layout.offset(halo_rows + row \/ 2)/'
    'skew skew.cu 67x83:bf16,sums s/tile.first_row < rows/tile.first_row <= rows/'
    'quantise quantise.cu 33x17:bf16:e4m3,blocks=1x32,sums s/return own.value(i, k)/return own.value(0, k)/'
    # Blocks: a scale, a factor, padding, a block whose last row is left out, the scale of the last one.
    'quantise scales.cuh 33x17:bf16:e4m3,blocks=1x32 s/{__float_as_uint(__fdiv_rn(1, scale)), scale}/{__float_as_uint(scale), scale}/'
    'quantise scales.cuh 33x17:bf16:e4m3,blocks=1x32,scales=floor s/(254 - byte) << 23/(253 - byte) << 23/'
    'quantise scales.cuh 33x17:bf16:e4m3,both,blocks=1x32,scales=floor,layout=swizzled s/row >= down - first_row || col >= across/row >= down - first_row \&\& col >= across/'
    'quantise quantise.cu 33x17:bf16:e4m3,blocks=1x32 s/y < blocks::own_height/y < blocks::own_height - 1/'
    'quantise unaligned.cuh 150x75:bf16:e4m3,blocks=1x32 s/(skip + i \* step)/skip/'
    'quantise staged.cuh 33x17:bf16:e4m3,both,blocks=1x32 s/number < ends/number + 1 < ends/'
    'quantise scales.cuh 33x17:bf16:e4m3,blocks=1x32,layout=transposed s/row < down - first_row \&\&/row + 1 < down - first_row \&\&/'
)

@test "a kernel that computes something else is wrong" {
    local mistake family file problem
    need_nvrtc
    for mistake in "${mistakes[@]}"; do
        read -r family file problem mistake <<<"$mistake"
        rm -rf wrong
        cp -r "$BATS_FILE_TMPDIR/data" wrong
        rm wrong/templates
        cp -r "$srcdir/templates" wrong
        sed -i "$mistake" "wrong/templates/$file"
        ! cmp -s "$srcdir/templates/$file" "wrong/templates/$file" || false
        AUTOTUNE_DATADIR=$PWD/wrong run --separate-stderr "$AUTOTUNE" tune --gpu emu --family "$family" --search random --budget 2 --out best.yaml \
            "$problem"
        [ "$status" -ne 0 ]
        [[ $stderr == *'no correct config among the 2 measured'*'(2 wrong)'* ]]
    done
}

@test "a problem with a step is looked up, and named as a guess, by the move of the same elements" {
    run --separate-stderr -0 "$AUTOTUNE" lookup --device h200 8192x8192:bf16:e4m3,scale
    [[ ${lines[0]} == '8192x8192:bf16:e4m3,scale on NVIDIA H200, cold' ]]
    [[ $output == *'tier       2 of 6, shape'* ]]
    [[ $output =~ 'config     '(tile|micro|naive)' ' ]]
}

@test "explain counts the bytes of both types" {
    need_nvrtc
    run --separate-stderr -0 "$AUTOTUNE" explain tile 256x256:bf16:e4m3,scale
    [[ $output == *'times the 0.13 MB needed; writes 0.07 MB, 1.00 times the 0.07 MB needed'* ]]
}

@test "what does not compute refuses steps" {
    run --separate-stderr -1 "$AUTOTUNE" explain strip 64x64:f32:bf16
    [[ $stderr == *'the family moves elements as they are'* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain tile 64x64:bf16:e4m3,blocks=1x32
    [[ $stderr == *'the family has no block scales'* ]]
    run --separate-stderr -1 "$AUTOTUNE" explain quantise 64x64:bf16:e4m3,scale
    [[ $stderr == *'the family is for problems with blocks'* ]]
}

@test "a problem with blocks is looked up, and its family is that of blocks" {
    run --separate-stderr -0 "$AUTOTUNE" lookup --device h200 4097x2881:bf16:e5m2,both=e4m3,blocks=1x32,scales=floor,layout=swizzled
    [[ $output =~ 'config     quantise ' ]]
}

# The copy has no scales, so it moves fewer bytes than the problem does.
@test "a profile of a problem with blocks is sound, its copy limit included" {
    need_nvrtc
    cp -r "$BATS_FILE_TMPDIR/data" data
    narrowed copy VEC=16 SHARED=0 LOAD=0 PREFETCH=0 STORE=0 THREADS=256 ITEMS='1, 4' >data/tuning/copy.yaml
    AUTOTUNE_DATADIR=$PWD/data run --separate-stderr -0 "$AUTOTUNE" tune --gpu emu --family quantise --search random --budget 1 \
        --out best.yaml 96x64:bf16:e4m3,both,blocks=1x32,scales=te-rceil
    AUTOTUNE_DATADIR=$PWD/data run -0 "$AUTOTUNE" check best.yaml
    [ "$output" = 'best.yaml: sound: 1 problem on 1 device' ]
}

# casts: of the table of doc/arithmetic.md, a line for each cast: the problem, and why it is refused.
casts() {
    awk -F ' [|] |^[|] | [|]$' '
        /^[|] from [|] to / { on = 1; next }
        on && !/^[|]/ { exit }
        on && !/^[|]-/ {
            count = split($2, from, ", ")
            split($3 == "each of these" ? $2 : $3, to, ", ")
            why = sub(/^refused: /, "", $4) ? $4 : ""
            for (i = 1; i <= count; i++)
                for (k in to)
                    if (from[i] != to[k])
                        print "8x8:" from[i] ":" to[k] "\t" why
        }' "$srcdir/doc/arithmetic.md"
}

@test "casts are possible, or refused for the reason, that the document says" {
    local problem why
    local -a possible=()
    while IFS=$'\t' read -r problem why; do
        if [ -z "$why" ]; then
            possible+=("$problem")
            continue
        fi
        run -2 "$AUTOTUNE" lookup --device h200 "$problem"
        [[ $output == *"$why"* ]] || { echo "$problem: $output" && false; }
    done < <(casts)
    run -0 "$AUTOTUNE" lookup -q --device h200 "${possible[@]}"
    [ "$(grep -c '^8x8:' <<<"$output")" -eq "${#possible[@]}" ]
    [ "${#possible[@]}" -eq 134 ]
}
