/* SPDX-License-Identifier: Apache-2.0 */
/* An answer as a record of plain data, which at_answer_schema writes as JSON. */
#ifndef AT_LOOKUP_ANSWER_H
#define AT_LOOKUP_ANSWER_H

#include "lookup/facts.h"

struct at_answer_record {
    char *device, *family, *note, *policy, *problem, *tier, *tuned_device, *tuned_path,
        *tuned_policy, *tuned_problem;
    bool predicted, uncertain;
    int64_t carveout_percent, distance_thousandths, expected_of_copy_permille, shared_bytes;
    int64_t measured_configs, measured_looked_up_ns, measured_ns, predicted_of;
    struct at_list block, grid; /* of int64_t */
    struct at_list facts;       /* of struct at_fact */
    struct at_list parameters, terms;
};

extern const struct at_schema at_answer_schema; /* for writing only */

/* Make the record, which the caller frees with at_schema_clear(&at_answer_schema, &record). */
struct at_answer_record at_answer_record(const struct at_answer *answer,
                                         const struct at_query *query);

#endif
