/* SPDX-License-Identifier: Apache-2.0 */
/* The constraint language: a small total language of 64-bit integers.
 *
 * Integers (decimal), names, parentheses, calls of min(a, b), max(a, b), ceil_div(a, b), and, from
 * the loosest binding to the tightest, as in C:
 *   ?:   ||   &&   == !=   < <= > >=   << >>   + -   * / %   ! - (unary)
 * && || ?: evaluate only the side they need. There are no loops and no assignment, so every
 * evaluation ends. Overflow, division by zero and a shift outside 0..62 are errors that name file,
 * line and column. */
#ifndef AT_SPACE_EXPR_H
#define AT_SPACE_EXPR_H

#include "base/error.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_expr;

/* Compiles text (at most 4096 characters, 64 levels deep), all lines of which begin in the column
 * of source; source.file is borrowed for as long as the expression lives. names[i] is what the
 * value i of an evaluation is called; an unknown name is AT_USAGE and the message lists the nearest
 * ones known. */
enum at_status at_expr_parse(struct at_expr **expr, const char *text, struct at_source source,
                             const char *const *names, size_t name_count, struct at_error *err);
void at_expr_free(struct at_expr *expr);

/* The expression as it was written, on one line. */
const char *at_expr_text(const struct at_expr *expr);

/* Does it use the name with this index? */
bool at_expr_uses(const struct at_expr *expr, size_t name);

/* Is it "name == something", in which the name does not occur again? */
bool at_expr_equates(const struct at_expr *expr, size_t name);

enum at_status at_expr_eval(const struct at_expr *expr, const int64_t *values, int64_t *result,
                            struct at_error *err);

/* The something of such an expression. */
enum at_status at_expr_eval_equated(const struct at_expr *expr, const int64_t *values,
                                    int64_t *result);

#endif
