/* SPDX-License-Identifier: Apache-2.0 */
/* How far a problem is from one that was tuned: how little the winner there says about the winner
 * here. A sum of terms, each a difference that is counted in doublings (or 1 for one that is or is
 * not there) times its weight; the tables in distance.c have them. doc/downstream.md tells how well
 * it chooses. */
#ifndef AT_LOOKUP_DISTANCE_H
#define AT_LOOKUP_DISTANCE_H

#include "device/info.h"
#include "space/family.h"

/* What is compared of problems. All but the last are logarithms to base 2. */
enum at_coordinate {
    AT_ELEMENT,      /* its bytes */
    AT_ROWS,         /* up to where a matrix is no longer narrow */
    AT_COLS,         /* likewise */
    AT_SOURCE_ROW,   /* its bytes, up to where a tile takes only a part of it */
    AT_DEST_ROW,     /* the same of the destination */
    AT_ASPECT,       /* rows over columns */
    AT_SIZE,         /* the bytes moved, up to where more changes little */
    AT_LARGE,        /* the same from there on */
    AT_SOURCE_ALIGN, /* the bytes that every row begins at a multiple of, up to 128 */
    AT_DEST_ALIGN,   /* the same of the destination */
    AT_DEST_PITCH,   /* the bytes from a row of the destination to the next, from 32 KiB on */
    AT_BATCHED,      /* 1: more than one matrix */
    AT_COORDINATES,
};

/* From where to where the coordinates of several problems reach, or those of a single one. They are
 * stored times what they weigh: `low` for a problem that lies below, and `high` for one above; so a
 * difference to them is a distance. */
struct at_extent {
    float low[AT_COORDINATES], high[AT_COORDINATES];
};

/* Of a problem on a device, and, once at_traits_launch has set it, of a config's launch for it. */
struct at_traits {
    struct at_extent at;
    double elements;      /* log2 of the problem's */
    double enough;        /* log2 of the blocks that give each multiprocessor something to do */
    double blocks;        /* log2 of the launch's */
    double thread_excess; /* log2 of the threads an element */
};

enum { AT_DISTANCE_TERMS = 10 };

struct at_distance {
    double total;
    double terms[AT_DISTANCE_TERMS]; /* weighted, in the order of the table */
};

/* An entry that is farther away from a problem says less than the default config. Default configs
 * have tiles, so for a narrow matrix any entry says more. */
double at_distance_max(const struct at_traits *to);

/* What a term is called: "waste", "element", ... */
const char *at_distance_name(int term);

/* Without the launch. */
struct at_traits at_traits_of(const struct at_problem *problem,
                              const struct at_device_info *device);
void at_traits_launch(struct at_traits *traits, const struct at_launch *launch);

/* A lower bound of the distance, whatever the launch at `to` is. */
double at_distance_bound(const struct at_traits *from, const struct at_traits *to);

/* From a tuned problem `from` to another, `to`; and only the total of it, which takes less time. */
struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to);
double at_distance_total(const struct at_traits *from, const struct at_traits *to);

#endif
