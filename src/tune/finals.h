/* SPDX-License-Identifier: Apache-2.0 */
/* Who meets in a problem's shoot-out. */
#ifndef AT_TUNE_FINALS_H
#define AT_TUNE_FINALS_H

#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"
#include "tune/copy_limit.h"

/* Finalists first, the default among them, then the copies, the driver's the last. */
struct at_line_up {
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t count, finalists;
    size_t fallback; /* the default config; SIZE_MAX: it has no time */
};

/* The fastest of a search, the default (its index in the space; SIZE_MAX: none) and the copies. */
void at_line_up_make(struct at_line_up *line_up, const struct at_search *search, size_t fallback,
                     const struct at_copies *copies);

/* Sends home who has no chance by what is known of their times: all finalists but the fastest few,
 * and the default, and the slower of the copies; the driver's stays. */
void at_line_up_keep(struct at_line_up *line_up);

/* Has all but the driver's copy, which are built, and whose buffers are prepared, timed side by
 * side for a moment, if there are many, and keeps those that have a chance. */
enum at_status at_line_up_thin(struct at_line_up *line_up, struct at_session *session,
                               struct at_error *err);

#endif
