/* SPDX-License-Identifier: Apache-2.0 */
/* Deals a list of problems into even shares, for runs that share a list without talking. */
#ifndef AT_PROBLEM_SHARE_H
#define AT_PROBLEM_SHARE_H

#include "problem/problem.h"

#include <stddef.h>

/* The index-th of `of` shares, from 1; of = 0: the whole list. */
struct at_share {
    int64_t index, of;
};

enum { AT_SHARES_MAX = 1000000 };

/* Keep the share's problems, the largest first, and set *count to their number, which may be 0. The
 * order of the list makes no difference; no problem is in it twice. The whole list stays as it is.
 *
 * The problems are sorted by bytes. They go to the shares 1 to N, then N to 1, and so on. Searching
 * takes a time of its own per problem, and more for a larger one, but how much more differs by
 * device. This way no estimate of it is needed: shares have equally many problems, give or take
 * one, and a share that has the larger one of a round has the smaller one of the next. */
void at_share_deal(struct at_share share, struct at_problem *problems, size_t *count);

/* Read I/N or auto, which reads the environment. *launcher is the name of the launcher that said
 * it, NULL for I/N. AT_USAGE for another text; for auto also without a launcher, if a variable is
 * missing or makes no sense, and if both an array and a launcher within its task number the
 * processes. */
enum at_status at_share_parse(struct at_share *share, const char **launcher, const char *text,
                              struct at_error *err);

#endif
