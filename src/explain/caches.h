/* SPDX-License-Identifier: Apache-2.0 */
/* The caches' part of an explanation. */
#ifndef AT_EXPLAIN_CACHES_H
#define AT_EXPLAIN_CACHES_H

#include "cache/count.h"
#include "explain/explain.h"

/* Counts what flows between the caches of the device, for a launch whose resources and occupancy
 * the explanation has, and fills its `caches` but for the shares of peak. The whole grid if it has
 * at most max_blocks blocks. If a wave makes more requests than can be kept, all figures are 0,
 * and the second launch's unknown. The caller frees *hits, one per instruction. AT_FAILED: a fault.
 */
enum at_status at_explain_caches(struct at_explanation *explanation, struct at_cache_hits **hits,
                                 const struct at_device_info *device, struct at_emu_memory *memory,
                                 const struct at_emu_launch *launch, int64_t max_blocks,
                                 struct at_error *err);

/* Sets the shares of peak for the predicted time; -1 without one, and where the caches were not
 * counted. rates may be NULL. */
void at_explain_peaks(struct at_explanation *explanation, const struct at_device_info *device,
                      const struct at_rates *rates);

#endif
