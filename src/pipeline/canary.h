/* SPDX-License-Identifier: Apache-2.0 */
/* The canary: one kernel that is timed again and again while a search goes on. If its time changes,
 * something else has changed than the configs, and what was measured since it was seen unchanged
 * may be off. */
#ifndef AT_PIPELINE_CANARY_H
#define AT_PIPELINE_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_canary {
    double reference_ns; /* what it takes; 0: nobody knows yet */
    size_t *touched;     /* configs measured since it was */
    size_t count, capacity;
};

/* A config was measured. */
void at_canary_touch(struct at_canary *canary, size_t index);

/* The canary took so long now. True: more than 3 % off what it took before, so that the touched are
 * to be measured again; the caller takes their list, *touched, and frees it. From now on this is
 * its time, so what stays as it has become is found once. */
bool at_canary_drifted(struct at_canary *canary, double now_ns, size_t **touched, size_t *count);

void at_canary_clear(struct at_canary *canary);

/* Is a time too good to be believed at once? It is if it would be the best one (best_ns is that of
 * the others; 0: there is none) and is more than 5 % below the copy limit (copy_ns; 0: unknown),
 * where no transpose of data from DRAM should be, or more than 20 % below the others. */
bool at_is_suspicious(double time_ns, double copy_ns, double best_ns);

#endif
