/* SPDX-License-Identifier: Apache-2.0 */
/* The work of `autotune bench`: kernels of one problem, timed against each other and the copies. */
#ifndef AT_BENCH_BENCH_TABLE_H
#define AT_BENCH_BENCH_TABLE_H

#include "bench/bench_report.h"
#include "pipeline/shootout.h"
#include "study/textbook.h"
#include "tune/copy_limit.h"

enum { AT_BENCH_LINES_MAX = AT_TEXTBOOK_ROWS_MAX + 3 };

struct at_bench_line {
    const char *label; /* borrowed */
    struct at_config config;
    const struct at_contestant *contestant; /* NULL: not legal on this problem */
};

struct at_bench_table {
    struct at_problem problem;
    struct at_bench_line lines[AT_BENCH_LINES_MAX]; /* the last is the tuned kernel */
    size_t line_count;
    struct at_copies copies;
    /* The lines' contestants, then from copies_first on those that make the copy limit, the
     * driver's copy last. */
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t contestant_count, copies_first;
};

/* Adds a line to the zeroed table, whose problem is set. */
enum at_status at_bench_table_add(struct at_bench_table *table, struct at_session *session,
                                  const char *label, const struct at_config *config,
                                  struct at_error *err);

/* Adds the copies, after the last line. */
enum at_status at_bench_table_add_copies(struct at_bench_table *table, struct at_session *session,
                                         const struct at_progress_state *progress,
                                         struct at_error *err);

/* Verifies each kernel on its own problem, then times all. at_shootout_end releases. */
enum at_status at_bench_table_time(struct at_bench_table *table, struct at_session *session,
                                   struct at_error *err);

/* What the table says, once it is timed; at_bench_report_clear releases. */
void at_bench_table_report(const struct at_bench_table *table, const struct at_session *session,
                           struct at_bench_report *report);

#endif
