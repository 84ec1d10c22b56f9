/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a study as JSON. */
#include "schema/table.h"
#include "study/study_run.h"

static const struct at_field global_fields[] = {
    AT_COUNTER(at_study_global, requests),
    AT_COUNTER(at_study_global, sectors),
    AT_COUNTER(at_study_global, wanted_bytes),
};
static const struct at_schema global_schema = AT_SCHEMA("accesses", at_study_global, global_fields);
static const struct at_field shared_fields[] = {
    AT_COUNTER(at_study_shared, least_wavefronts),
    AT_COUNTER(at_study_shared, requests),
    AT_COUNTER(at_study_shared, wavefronts),
};
static const struct at_schema shared_schema = AT_SCHEMA("accesses", at_study_shared, shared_fields);

static const struct at_field line_fields[] = {
    AT_COUNTER(at_study_line, bandwidth_MB_per_s),
    AT_COUNTER(at_study_line, blocks),
    AT_COUNTER(at_study_line, blocks_counted),
    AT_OBJECT(at_study_line, "caches", caches, at_explained_caches_schema),
    AT_CHARS(at_study_line, config),
    AT_CHARS(at_study_line, family, AT_OPTIONAL),
    AT_CHARS(at_study_line, label),
    AT_OBJECT(at_study_line, "load", load, global_schema),
    AT_COUNTER(at_study_line, occupancy_percent),
    AT_CHARS(at_study_line, problem),
    AT_OBJECT(at_study_line, "shared_load", shared_load, shared_schema),
    AT_OBJECT(at_study_line, "shared_store", shared_store, shared_schema),
    AT_OBJECT(at_study_line, "store", store, global_schema),
    AT_COUNTER(at_study_line, time_ns),
};
static const struct at_schema line_schema = AT_SCHEMA("a line", at_study_line, line_fields);

static const struct at_field fields[] = {
    AT_CHARS(at_study_result, device),
    AT_OBJECTS(at_study_result, lines, 0, AT_STUDY_ROWS_MAX, line_schema),
    AT_CHARS(at_study_result, note),
    AT_TEXT(at_study_result, reading, INT32_MAX),
    AT_CHARS(at_study_result, study),
    AT_CHARS(at_study_result, times),
    AT_CHARS(at_study_result, title),
};
const struct at_schema at_study_result_schema =
    AT_SCHEMA("the figures of a study", at_study_result, fields);
