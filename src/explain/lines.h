/* SPDX-License-Identifier: Apache-2.0 */
/* The memory accesses of a kernel by the lines of its source, made of the counts of its
 * instructions. */
#ifndef AT_EXPLAIN_LINES_H
#define AT_EXPLAIN_LINES_H

#include "emulated/caches/count.h"
#include "emulated/ptx/ptx.h"
#include "emulated/time/requests.h"
#include "explain/explain.h"
#include "explain/request.h"

/* What was counted of a kernel. All is borrowed; arrays have an item per instruction. */
struct at_counted {
    const struct at_ptx_kernel *kernel;
    const char *header; /* the templates', whose code counts for the lines that call it; or NULL */
    const struct at_counts *counts;
    const struct at_cache_hits *hits;
    const struct at_requests *requests;
};

/* Set file and line to those of an instruction. */
void at_line_set_place(struct at_explained_line *line, const struct at_counted *counted,
                       size_t instruction);

/* List the lines, as struct at_explained_line, in the order of the source. The caller frees the
 * list's items. */
struct at_list at_lines_collect(const struct at_counted *counted);

/* Set each line's share of the time that the accesses of all lines keep the memory system busy: of
 * an access, that of the unit which it keeps busy longest. -1 without rates. */
void at_lines_set_shares(struct at_list *lines, const struct at_device_info *device,
                         const struct at_rates *rates);

/* Is the line one of this source? Others are of a header. */
bool at_explained_is_of(const struct at_explained_text *source,
                        const struct at_explained_line *line);

/* The text of a line of the source, without indentation; "" for other files. The caller frees it.
 */
char *at_explained_source(const struct at_explained_text *source,
                          const struct at_explained_line *line);

#endif
