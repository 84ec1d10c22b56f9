/* SPDX-License-Identifier: Apache-2.0 */
/* The constraint language: a small total language of 64-bit integers.
 *
 * Decimal integers, names, parentheses, calls of min(a, b), max(a, b), ceil_div(a, b), gcd(a, b),
 * and the operators of C, from the loosest binding to the tightest:
 *   ?:   ||   &&   == !=   < <= > >=   << >>   + -   * / %   ! - (unary)
 * && || ?: evaluate only the side they need. There are no loops and no assignments, so every
 * evaluation ends. Overflow, division by zero and a shift outside 0..62 are errors; the message
 * names file, line and column. */
#ifndef AT_SPACE_EXPR_H
#define AT_SPACE_EXPR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_expr;

/* Compile text: at most 4096 characters and 64 levels. All its lines begin in source.column;
 * source.file is borrowed until at_expr_free. names[i] is the name of values[i] in an evaluation.
 * An unknown name is AT_USAGE, and the message lists similar names. */
enum at_status at_expr_parse(struct at_expr **expr, const char *text, struct at_source source,
                             const char *const *names, size_t name_count, struct at_error *err);

void at_expr_free(struct at_expr *expr);

/* The source text, on one line. */
const char *at_expr_text(const struct at_expr *expr);

/* Does it use one of the names from first to end - 1? */
bool at_expr_uses(const struct at_expr *expr, size_t first, size_t end);

/* Is it "name == VALUE", with a VALUE that does not use the name? */
bool at_expr_equates(const struct at_expr *expr, size_t name);

enum at_status at_expr_eval(const struct at_expr *expr, const int64_t *values, int64_t *result,
                            struct at_error *err);

/* Evaluate the VALUE of "name == VALUE" (at_expr_equates). */
enum at_status at_expr_eval_equated(const struct at_expr *expr, const int64_t *values,
                                    int64_t *result);

#endif
