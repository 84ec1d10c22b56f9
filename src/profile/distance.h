/* SPDX-License-Identifier: Apache-2.0 */
/* How far a problem is from one that was tuned: how little the winner there says about the winner
 * here. A sum of terms, each a difference that is counted in doublings (or 1 for one that is or is
 * not there) times its weight; the table in distance.c has them. doc/downstream.md tells how well
 * it chooses. */
#ifndef AT_PROFILE_DISTANCE_H
#define AT_PROFILE_DISTANCE_H

#include "space/problem.h"

#include <stdbool.h>

/* What the terms compare: of a problem, on a device, under a config. */
struct at_traits {
    double element;       /* log2 of its bytes */
    double rows, cols;    /* log2, up to where a matrix is no longer narrow */
    double aspect;        /* log2 of rows over cols */
    double size;          /* log2 of the bytes moved, up to where more changes nothing */
    double source_align;  /* log2 of the bytes that every row begins at a multiple of, up to 16 */
    double dest_align;    /* the same of the destination */
    bool in_l2;           /* source and destination together fit */
    bool batched;         /* more than one matrix */
    double thread_excess; /* log2 of the config's threads an element; set by at_traits_launch */
};

enum { AT_DISTANCE_TERMS = 8 };

struct at_distance {
    double total;
    double terms[AT_DISTANCE_TERMS]; /* weighted, in the order of the table */
};

/* What a term is called: "waste", "element", ... */
const char *at_distance_name(int term);

/* Without the launch. l2_bytes: 0 where it is not known. */
struct at_traits at_traits_of(const struct at_problem *problem, int64_t l2_bytes);

/* The threads that a config launches for the problem, of which grid and block are given (x, y, z).
 */
void at_traits_launch(struct at_traits *traits, const struct at_problem *problem,
                      const int64_t grid[3], const int64_t block[3]);

/* From a tuned problem `from` to another, `to`. Without a launch in `to`, the waste counts 0, so
 * that the distance is a lower bound of that with it. */
struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to);

#endif
