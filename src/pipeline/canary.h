/* SPDX-License-Identifier: Apache-2.0 */
/* The canary: one kernel that is timed repeatedly during a search. If its time changes,
 * something other than the config has changed. Measurements since its last unchanged time may
 * then be wrong. */
#ifndef AT_PIPELINE_CANARY_H
#define AT_PIPELINE_CANARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_canary {
    double reference_ns; /* its time; 0: unknown */
    size_t *touched;     /* configs measured since then */
    size_t count, capacity;
};

/* Note that a config was measured. */
void at_canary_touch(struct at_canary *canary, size_t index);

/* Compare the canary's time with the time before. True: they differ by more than 3 %, and the
 * touched configs must be measured again; the caller takes their list, *touched, and frees it. The
 * new time is the reference from now on, so a lasting change is reported once. */
bool at_canary_drifted(struct at_canary *canary, double now_ns, size_t **touched, size_t *count);

void at_canary_clear(struct at_canary *canary);

/* Is a time too good to be believed? It is if it would be the best one (best_ns: the best of the
 * others; 0: none) and is more than 5 % below the copy limit (copy_ns; 0: unknown), where no
 * transpose of data from DRAM should be, or more than 20 % below best_ns. */
bool at_is_suspicious(double time_ns, double copy_ns, double best_ns);

#endif
