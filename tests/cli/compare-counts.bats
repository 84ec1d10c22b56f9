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
lts__t_sectors_srcunit_tex_op_read.sum 50,002 125,001
lts__t_sectors_srcunit_tex_op_write.sum 50,002 125,001
lts__t_sectors_srcunit_tex_lookup_hit.sum 50,002 125,001
lts__t_sectors_srcunit_tex_lookup_miss.sum 50,002 125,001
lts__t_sector_hit_rate.pct 51.25 50.5
dram__bytes_read.sum 1,610,112 4,004,096
dram__bytes_write.sum 2,048 4,096
END_OF_COUNTERS
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
lts__t_sectors_srcunit_tex_op_read.sum 150,001 4.00 MB / 4.80 MB
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum 5,000 0.0 / 4.0
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum 125,002 125001 / 125002
END_OF_TABLE
}
