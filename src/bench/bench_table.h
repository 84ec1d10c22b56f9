/* SPDX-License-Identifier: Apache-2.0 */
/* `autotune bench` for one problem: time kernels against each other and against copies. */
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
    const struct at_contestant *contestant; /* NULL: illegal for this problem */
};

struct at_bench_table {
    struct at_problem problem;
    struct at_bench_line lines[AT_BENCH_LINES_MAX]; /* the last is the tuned kernel */
    size_t line_count;
    struct at_copies copies;
    /* First the lines' contestants; from copies_first on the copies that give the copy limit, with
     * the driver's copy last. */
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t contestant_count, copies_first;
};

/* Add a line. The table starts zeroed, with its problem set. */
enum at_status at_bench_table_add(struct at_bench_table *table, struct at_session *session,
                                  const char *label, const struct at_config *config,
                                  struct at_error *err);

/* Add the copies. Call it after the last line. */
enum at_status at_bench_table_add_copies(struct at_bench_table *table, struct at_session *session,
                                         const struct at_progress_state *progress,
                                         struct at_error *err);

/* Verify each kernel on its problem, then time all. Release with at_shootout_end. */
enum at_status at_bench_table_time(struct at_bench_table *table, struct at_session *session,
                                   struct at_error *err);

/* Make the report of a timed table. Release it with at_bench_report_clear. */
void at_bench_table_report(const struct at_bench_table *table, const struct at_session *session,
                           struct at_bench_report *report);

#endif
