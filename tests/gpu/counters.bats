#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# autotune explain --counters: the GPU's own counters are those that the emulated device counts.

bats_require_minimum_version 1.5.0
load helpers

setup_file() {
    find_device
}

setup() {
    command -v python3 >/dev/null || skip "no python3"
    need_device
}

# count FAMILY ARGUMENT...: write what the whole grid costs as JSON to ./counted.json. Skips the test
# where counters may not be read.
count() {
    local status=0
    timeout --kill-after=5 300 "$AUTOTUNE" explain --blocks 1000000 "$@" --gpu 0 --counters \
        --format json >counted.json 2>errors || status=$?
    if ((status == 3)) && grep -q 'no CUPTI\|lets only root\|host forbids\|no counters' errors; then
        skip "$(<errors)"
    fi
    ((status == 0)) || {
        cat errors
        return 1
    }
}

# agree [NAME=FROM..TO]...: requests and sectors are the model's, if it has counted all blocks. Further
# figures lie between two bounds.
agree() {
    python3 - "$@" <<'END'
import json
import sys

with open("counted.json") as file:
    explanation = json.load(file)
gpu = explanation["counters"]
model = dict.fromkeys(["load_requests", "load_sectors", "store_requests", "store_sectors"], 0)
for line in explanation["lines"]:
    way, space = line["access"].split()
    if space == "global":
        model[way + "_requests"] += line["requests"]
        model[way + "_sectors"] += line["tag_sectors"]
bad = [f"{name}: {value} in the model, {gpu[name]} on the GPU"
       for name, value in model.items()
       if value != gpu[name] and explanation["blocks_counted"] == explanation["blocks"]]
for bound in sys.argv[1:]:
    name, values = bound.split("=")
    least, most = map(float, values.split(".."))
    if not least <= gpu[name] <= most:
        bad.append(f"{name}: {gpu[name]}, not within {values}")
print(*bad, json.dumps(gpu), sep="\n")
sys.exit(bool(bad))
END
}

# Every byte comes from DRAM once, so the caches were empty; the results fit L2 and mostly stay there.
@test "a copy: requests, sectors, and all its bytes from DRAM" {
    count copy --problem 1x1000003:f32 VEC=16 THREADS=256 ITEMS=1
    agree l1_hits=0..0 l2_to_l1_sectors=125001..126000 l1_to_l2_sectors=125001..126000 \
        dram_to_l2_bytes=3900000..5000000 l2_to_dram_bytes=0..1500000 launches=2..256 \
        duration_ns=1000..1000000
}

@test "naive, both ways" {
    count naive --problem 1024x1024:f32 DIRECTION=0
    agree dram_to_l2_bytes=4100000..5500000
    count naive --problem 1024x1024:f32 DIRECTION=1
    agree
    count naive --problem 1001x1003:b1 DIRECTION=1 BLOCK_X=64 BLOCK_Y=4
    agree
}

@test "a tile without padding has its bank conflicts, one with padding next to none" {
    count tile --problem 1024x1024:f32 PAD=0
    agree load_conflicts=1000000..1040000
    count tile --problem 1024x1024:f32 PAD=1
    agree load_conflicts=0..20000
}

@test "wide accesses, odd sizes, a matrix in place" {
    count micro --problem 1024x1024:f32
    agree
    count odd --problem 1001x1003:f16
    agree
    count inplace --problem 1001x1001:f64,inplace=1
    agree
}

@test "a problem larger than L2: what is written goes to DRAM" {
    count tile --problem 8192x8192:f32 --blocks 256
    agree dram_to_l2_bytes=260000000..290000000 l2_to_dram_bytes=180000000..290000000
}

@test "the table shows both" {
    count tile --problem 1024x1024:f32
    timeout --kill-after=5 300 "$AUTOTUNE" explain tile --problem 1024x1024:f32 --gpu 0 --counters |
        tee table
    grep -Eq '^  global loads: sectors +131072 +131072$' table
    grep -Eq '^  duration +[0-9.]+ us +[0-9.]+ us$' table
}
