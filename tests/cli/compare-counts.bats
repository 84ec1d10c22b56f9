#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# tests/gpu/compare-counts, with a stand-in for Nsight Compute: what it makes of the counters. It needs
# NVRTC and Python, but no GPU.

bats_require_minimum_version 1.5.0
load helpers

setup() {
    export XDG_CACHE_HOME=$BATS_FILE_TMPDIR/cache
    command -v python3 >/dev/null || skip "no python3"
    mkdir "$BATS_TEST_TMPDIR/bin"
    export PATH=$BATS_TEST_TMPDIR/bin:$PATH
    # ncu prints the counters of both copies of CONFIGS; the grid tells which is which.
    cat >"$BATS_TEST_TMPDIR/bin/ncu" <<'END_OF_NCU'
#!/usr/bin/env bash
echo '==PROF== Connected to process 7'
echo '"ID","Process ID","Kernel Name","Grid Size","Section Name","Metric Name","Metric Unit","Metric Value"'
while read -r metric small large; do
    echo "\"0\",\"7\",\"k_0\",\"(391, 1, 1)\",\"\",\"$metric\",\"\",\"$small\""
    echo "\"1\",\"7\",\"k_0\",\"(977, 1, 1)\",\"\",\"$metric\",\"\",\"$large\""
done <<'END_OF_COUNTERS'
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum 3,126 7,814
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 50,002 125,001
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum 3,126 7,814
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum 50,002 125,001
memory_l1_wavefronts_shared 25,013 0
memory_l1_wavefronts_shared_ideal 25,013 0
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum 12 0
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum 0 0
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 0 0
l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum 0 0
l1tex__t_sector_hit_rate.pct 0 0
l1tex__m_xbar2l1tex_read_sectors.sum 50,002 125,001
l1tex__m_l1tex2xbar_write_sectors.sum 50,002 125,001
lts__t_sectors_srcunit_tex_lookup_hit.sum 50,002 125,001
lts__t_sectors_srcunit_tex_lookup_miss.sum 50,002 125,001
lts__t_sector_hit_rate.pct 51.25 50.5
dram__bytes_read.sum 1,610,112 4,004,096
dram__bytes_write.sum 2,048 4,096
END_OF_COUNTERS
END_OF_NCU
    chmod +x "$BATS_TEST_TMPDIR/bin/ncu"
}

# Nsight Compute dies the first $1 times.
die_first() {
    mv "$BATS_TEST_TMPDIR/bin/ncu" "$BATS_TEST_TMPDIR/bin/ncu-that-lives"
    cat >"$BATS_TEST_TMPDIR/bin/ncu" <<END_OF_NCU
#!/usr/bin/env bash
echo >>"$BATS_TEST_TMPDIR/tries"
[ "\$(wc -l <"$BATS_TEST_TMPDIR/tries")" -gt $1 ] || kill -SEGV \$\$
exec ncu-that-lives
END_OF_NCU
    chmod +x "$BATS_TEST_TMPDIR/bin/ncu"
}

compare() {
    run --separate-stderr "$srcdir/tests/gpu/compare-counts" "$@" -- "$AUTOTUNE" copy
    [[ $stderr != *'no NVRTC'* ]] || skip "no NVRTC"
}

@test "counters that agree are saved, and compared again from the file" {
    saved=$BATS_TEST_TMPDIR/counters.csv
    compare --save "$saved"
    echo "$output$stderr"
    [ "$status" -eq 0 ]
    [[ $output == *'0 of 10 figures do not agree'*'0 of 12 figures do not agree'* ]]
    [[ $output == *'| copy 1x100003:c128 VEC=16 SHARED=1 | 3126 | 50002 | 3126 | 50002 | 0 | 12 | 0 |'* ]]
    [[ $output == *'| 0.0 | 50.0 | 4.00 MB | 4.00 MB | 4.00 MB | 0.00 MB | 0.0 | 50.5 |'* ]]
    [ "$(wc -l <"$saved")" -eq 37 ]
    mv "$BATS_TEST_TMPDIR/bin/ncu" "$BATS_TEST_TMPDIR/bin/no-ncu"
    before=$output
    compare --read "$saved"
    [ "$status" -eq 0 ]
    [ "$output" = "$before" ]
}

@test "figures out of bounds are marked" {
    is_long
    while read -r metric value shown; do
        cp "$BATS_TEST_TMPDIR/bin/ncu" "$BATS_TEST_TMPDIR/ncu"
        sed -i "s/^\($metric [0-9,]*\) .*/\1 $value/" "$BATS_TEST_TMPDIR/bin/ncu"
        compare
        mv "$BATS_TEST_TMPDIR/ncu" "$BATS_TEST_TMPDIR/bin/ncu"
        [ "$status" -eq 1 ]
        [[ $output == *"**$shown**"* ]] || {
            echo "$metric: $output"
            return 1
        }
    done <<'END_OF_TABLE'
dram__bytes_read.sum 4,400,000 4.00 MB / 4.40 MB
dram__bytes_write.sum 300,000 0.00 MB / 0.30 MB
l1tex__m_xbar2l1tex_read_sectors.sum 150,001 4.00 MB / 4.80 MB
l1tex__m_l1tex2xbar_write_sectors.sum 150,001 4.00 MB / 4.80 MB
lts__t_sectors_srcunit_tex_lookup_miss.sum 100,001 50.0 / 55.6
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 5,000 0.0 / 4.0
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 125,002 125001 / 125002
END_OF_TABLE
}

@test "a config is tried again if Nsight Compute dies, but not for ever" {
    is_long
    die_first 2
    compare
    [ "$status" -eq 0 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/tries")" -eq 4 ] # three for one config, one for the next
    mv "$BATS_TEST_TMPDIR/bin/ncu-that-lives" "$BATS_TEST_TMPDIR/bin/ncu"
    rm "$BATS_TEST_TMPDIR/tries"
    die_first 6
    compare
    [ "$status" -eq 1 ]
    [ "$(wc -l <"$BATS_TEST_TMPDIR/tries")" -eq 6 ]
    [[ $output == *'125001, not measured'* ]]
}

# These take little time, and have what is special: partial sectors, halves of L2, bulk copies, stores
# that merge.
@test "the counters of an H200 agree" {
    saved=$BATS_TEST_TMPDIR/counters.csv
    grep -E '^(config|naive 1001x1003:b1|micro 1004x1020:b1|tma 1024x1024:f16|odd 1001x1003:b1|skew 1001x1003:f16)' \
        "$srcdir/results/nvidia-h200-counts.csv" >"$saved"
    run --separate-stderr "$srcdir/tests/gpu/compare-counts" --read "$saved" -- "$AUTOTUNE"
    [[ $stderr != *'no NVRTC'* ]] || skip "no NVRTC"
    echo "$output$stderr"
    [ "$status" -eq 0 ]
    [[ $output == *'0 of 25 figures do not agree'*'0 of 30 figures do not agree'* ]]
}
