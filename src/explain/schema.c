/* SPDX-License-Identifier: Apache-2.0 */
/* An explanation as JSON. */
#include "explain/explain.h"
#include "schema/table.h"

static const struct at_field line_fields[] = {
    AT_CHARS(at_explained_line, access),
    AT_COUNTER(at_explained_line, bytes),
    AT_CHARS(at_explained_line, file),
    AT_COUNTER(at_explained_line, least_sectors),
    AT_COUNTER(at_explained_line, least_wavefronts),
    AT_COUNTER(at_explained_line, line),
    AT_COUNTER(at_explained_line, requests),
    AT_COUNTER(at_explained_line, sectors),
    AT_COUNTER(at_explained_line, tag_sectors),
    AT_COUNTER(at_explained_line, wanted_bytes),
    AT_COUNTER(at_explained_line, wavefronts),
};
static const struct at_schema line_schema = AT_SCHEMA("a line", at_explained_line, line_fields);

static const struct at_field fields[] = {
    AT_COUNTER(at_explanation, blocks),
    AT_COUNTER(at_explanation, blocks_counted),
    AT_CHARS(at_explanation, bound, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_needed, AT_OPTIONAL),
    AT_COUNTER(at_explanation, bytes_read),
    AT_COUNTER(at_explanation, bytes_written),
    AT_CHARS(at_explanation, config, AT_OPTIONAL),
    AT_CHARS(at_explanation, device),
    AT_COUNTER(at_explanation, dynamic_shared_bytes),
    AT_CHARS(at_explanation, entry, AT_OPTIONAL),
    AT_CHARS(at_explanation, family, AT_OPTIONAL),
    AT_CHARS(at_explanation, file, AT_OPTIONAL),
    AT_CHARS(at_explanation, kind),
    AT_CHARS(at_explanation, launch, AT_OPTIONAL),
    AT_OBJECTS(at_explanation, lines, 0, 1000000, line_schema),
    AT_COUNTER(at_explanation, local_requests, AT_OPTIONAL),
    AT_COUNTER(at_explanation, local_sectors, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_ns, AT_OPTIONAL),
    AT_COUNTER(at_explanation, measured_spread_permille, AT_OPTIONAL),
    AT_COUNTER(at_explanation, occupancy_blocks),
    AT_CHARS(at_explanation, occupancy_limiter),
    AT_COUNTER(at_explanation, occupancy_percent),
    AT_COUNTER(at_explanation, predicted_ns, AT_OPTIONAL),
    AT_CHARS(at_explanation, predictions, AT_OPTIONAL),
    AT_CHARS(at_explanation, problem, AT_OPTIONAL),
    AT_COUNTER(at_explanation, registers),
    AT_COUNTER(at_explanation, spill_bytes),
    AT_COUNTER(at_explanation, static_shared_bytes),
    AT_COUNTER(at_explanation, threads),
};
const struct at_schema at_explanation_schema = AT_SCHEMA("an explanation", at_explanation, fields);
