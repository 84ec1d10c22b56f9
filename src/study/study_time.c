/* SPDX-License-Identifier: Apache-2.0 */
/* The times of a study on a GPU: one shoot-out per problem. */
#include "study/study_run.h"

#include "base/memory.h"
#include "pipeline/shootout.h"
#include "system/interrupt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)AT_STUDY_ROWS_MAX <= (int)AT_CONTESTANTS_MAX, "all rows fit one shoot-out");

/* Time the lines with this problem; which[i] is the line of contestant i. */
static enum at_status time_problem(struct at_session *session, struct at_contestant *contestants,
                                   const size_t *which, size_t count, struct at_study_line *lines,
                                   struct at_error *err)
{
    const struct at_problem *problem = &contestants[0].problem;
    enum at_status status = at_session_check_memory(session, problem, 1, err);

    if (status == AT_OK)
        status = at_shootout_build(session, contestants, count, err);
    if (status == AT_OK)
        status = at_shootout_prepare(session, problem, err);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = at_interrupt_seen()
                     ? at_fail(err, AT_INTERRUPTED, "interrupted")
                     : at_shootout_require(session, &contestants[i], lines[which[i]].label, err);
    if (status == AT_OK)
        status = at_shootout_time(session, contestants, count, err);
    for (size_t i = 0; i < count && status == AT_OK; i++)
        lines[which[i]].time_ns = llround(contestants[i].time_ns);
    at_shootout_end(contestants, count);
    return status;
}

static enum at_status time_all(struct at_session *session, const struct at_study_case *cases,
                               struct at_study_line *lines, size_t count, struct at_error *err)
{
    struct at_contestant *contestants = at_alloc_array(count, sizeof *contestants);
    size_t *which = at_alloc_array(count, sizeof *which);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        size_t found = 0;

        if (lines[i].time_ns > 0)
            continue; /* timed together with an earlier one */
        for (size_t j = i; j < count; j++) {
            if (strcmp(lines[i].problem, lines[j].problem) != 0)
                continue;
            which[found] = j;
            contestants[found++] =
                (struct at_contestant){.config = &cases[j].config, .problem = cases[j].problem};
        }
        status = time_problem(session, contestants, which, found, lines, err);
    }
    free(which);
    free(contestants);
    return status;
}

enum at_status at_study_time(const struct at_study_case *cases, struct at_study_line *lines,
                             size_t count, const struct at_device_info *device,
                             const struct at_session_options *options, struct at_error *err)
{
    struct at_session *session = NULL;
    enum at_status status = at_session_open(&session, device, options, err);

    if (status == AT_OK)
        status = time_all(session, cases, lines, count, err);
    at_session_close(session);
    return status;
}
