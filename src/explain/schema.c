/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation as JSON. */
#include "explain/explain.h"

#include "schema/table.h"

static const struct at_field line_fields[] = {
    AT_CHARS(at_explained_line, access),
    AT_COUNTER(at_explained_line, bytes),
    AT_CHARS(at_explained_line, file),
    AT_COUNTER(at_explained_line, l1_hits),
    AT_COUNTER(at_explained_line, l1_sectors),
    AT_COUNTER(at_explained_line, l2_hits),
    AT_COUNTER(at_explained_line, l2_sectors),
    AT_COUNTER(at_explained_line, least_sectors),
    AT_COUNTER(at_explained_line, least_wavefronts),
    AT_COUNTER(at_explained_line, line),
    AT_COUNTER(at_explained_line, requests),
    AT_COUNTER(at_explained_line, sectors),
    AT_INT(at_explained_line, share_permille, -1, 1000),
    AT_COUNTER(at_explained_line, tag_sectors),
    AT_COUNTER(at_explained_line, wanted_bytes),
    AT_COUNTER(at_explained_line, wavefronts),
};
static const struct at_schema line_schema = AT_SCHEMA("a line", at_explained_line, line_fields);

static const struct at_field advice_fields[] = {
    AT_CHARS(at_advice, file, AT_OPTIONAL),
    AT_COUNTER(at_advice, line, AT_OPTIONAL),
    AT_COUNTER(at_advice, predicted_ns),
    AT_CHARS(at_advice, repair),
    AT_CHARS(at_advice, text),
};
static const struct at_schema advice_schema = AT_SCHEMA("an advice", at_advice, advice_fields);

static const struct at_field launch_fields[] = {
    AT_COUNTER(at_explained_launch, bytes_read),
    AT_COUNTER(at_explained_launch, bytes_written),
};
static const struct at_schema launch_schema =
    AT_SCHEMA("a launch", at_explained_launch, launch_fields);

static const struct at_field cache_fields[] = {
    AT_COUNTER(at_explained_caches, blocks),
    AT_COUNTER(at_explained_caches, carveout_bytes),
    AT_INT(at_explained_caches, dram_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, dram_to_l2_bytes),
    AT_COUNTER(at_explained_caches, l1_bytes),
    AT_COUNTER(at_explained_caches, l1_hits),
    AT_INT(at_explained_caches, l1_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, l1_sectors),
    AT_COUNTER(at_explained_caches, l1_to_l2_bytes),
    AT_COUNTER(at_explained_caches, l2_bytes),
    AT_COUNTER(at_explained_caches, l2_hits),
    AT_INT(at_explained_caches, l2_peak_permille, -1, INT64_MAX),
    AT_COUNTER(at_explained_caches, l2_sectors),
    AT_COUNTER(at_explained_caches, l2_to_dram_bytes),
    AT_COUNTER(at_explained_caches, l2_to_l1_bytes),
    AT_COUNTER(at_explained_caches, left_in_l2_bytes),
    AT_INT(at_explained_caches, warm_dram_to_l2_bytes, -1, INT64_MAX),
};
const struct at_schema at_explained_caches_schema =
    AT_SCHEMA("caches", at_explained_caches, cache_fields);

static const struct at_field counter_fields[] = {
    AT_COUNTER(at_counters, achieved_percent), AT_COUNTER(at_counters, dram_to_l2_bytes),
    AT_COUNTER(at_counters, duration_ns),      AT_COUNTER(at_counters, l1_hits),
    AT_COUNTER(at_counters, l1_to_l2_sectors), AT_COUNTER(at_counters, l2_hits),
    AT_COUNTER(at_counters, l2_misses),        AT_COUNTER(at_counters, l2_to_dram_bytes),
    AT_COUNTER(at_counters, l2_to_l1_sectors), AT_COUNTER(at_counters, launches),
    AT_COUNTER(at_counters, load_conflicts),   AT_COUNTER(at_counters, load_requests),
    AT_COUNTER(at_counters, load_sectors),     AT_COUNTER(at_counters, store_conflicts),
    AT_COUNTER(at_counters, store_requests),   AT_COUNTER(at_counters, store_sectors),
};
static const struct at_schema counters_schema = AT_SCHEMA("counters", at_counters, counter_fields);

static const struct at_field fields[] = {
    AT_COUNTER(at_explanation, achieved_percent, AT_OPTIONAL),
    AT_OBJECTS(at_explanation, advice, 0, AT_ADVICE_MAX, advice_schema, AT_OPTIONAL),
    AT_COUNTER(at_explanation, blocks),
    AT_COUNTER(at_explanation, blocks_counted),
    AT_CHARS(at_explanation, bound, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_needed, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_read),
    AT_COUNTER(at_explanation, bytes_written),
    AT_OBJECT(at_explanation, "caches", caches, at_explained_caches_schema),
    AT_CHARS(at_explanation, config, AT_OPTIONAL),
    AT_OBJECT(at_explanation, "counters", counters, counters_schema, AT_OPTIONAL),
    AT_CHARS(at_explanation, device),
    AT_COUNTER(at_explanation, dynamic_shared_bytes),
    AT_CHARS(at_explanation, entry, AT_OPTIONAL),
    AT_CHARS(at_explanation, family, AT_OPTIONAL),
    AT_CHARS(at_explanation, file, AT_OPTIONAL),
    AT_CHARS(at_explanation, kind),
    AT_CHARS(at_explanation, launch, AT_OPTIONAL),
    AT_OBJECTS(at_explanation, launches, 0, AT_LAUNCHES_MAX, launch_schema, AT_OPTIONAL),
    AT_OBJECTS(at_explanation, lines, 0, 1000000, line_schema),
    AT_COUNTER(at_explanation, local_requests, AT_OPTIONAL),
    AT_COUNTER(at_explanation, local_sectors, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_ns, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_spread_permille, AT_OPTIONAL),
    AT_COUNTER(at_explanation, occupancy_blocks),
    AT_CHARS(at_explanation, occupancy_limiter),
    AT_COUNTER(at_explanation, occupancy_percent),
    AT_COUNTER(at_explanation, predicted_ns, AT_OPTIONAL),
    AT_COUNTER(at_explanation, predicted_within_percent, AT_OPTIONAL),
    AT_CHARS(at_explanation, predictions, AT_OPTIONAL),
    AT_CHARS(at_explanation, problem, AT_OPTIONAL),
    AT_COUNTER(at_explanation, registers),
    AT_COUNTER(at_explanation, result_bytes_needed, AT_OPTIONAL),
    AT_COUNTER(at_explanation, spill_bytes),
    AT_COUNTER(at_explanation, static_shared_bytes),
    AT_COUNTER(at_explanation, tail_blocks),
    AT_COUNTER(at_explanation, threads),
    AT_COUNTER(at_explanation, wave_blocks),
};
const struct at_schema at_explanation_schema = AT_SCHEMA("an explanation", at_explanation, fields);
