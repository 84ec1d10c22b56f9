/* SPDX-License-Identifier: Apache-2.0 */
/* The distance from a tuned problem to another: the larger, the less the winner of the one says
 * about the winner of the other. It is a sum of differences, counted in doublings (or 0 and 1) and
 * weighted; distance.c has the weights. doc/lookup.md tells how well it chooses.
 */
#ifndef AT_LOOKUP_DISTANCE_H
#define AT_LOOKUP_DISTANCE_H

#include "device/info.h"
#include "space/family.h"

/* What is compared. All but batched and runs are logarithms to base 2. */
enum at_coordinate {
    AT_ELEMENT,      /* bytes of an element, and a little of those of a result */
    AT_ROWS,         /* rows, up to 64: fewer are narrow */
    AT_COLS,         /* columns, up to 64 */
    AT_SOURCE_ROW,   /* bytes of a source row, up to 256: a tile takes no more */
    AT_DEST_ROW,     /* bytes of a destination row, up to 256 */
    AT_ASPECT,       /* rows over columns */
    AT_SIZE,         /* bytes moved, up to 256 MiB: more changes little */
    AT_LARGE,        /* bytes moved, from 256 MiB on */
    AT_SOURCE_ALIGN, /* every source row begins at a multiple of these bytes, up to 128 */
    AT_DEST_ALIGN,   /* the same for the destination */
    AT_DEST_PITCH,   /* bytes from a destination row to the next, from 32 KiB to 4 MiB */
    AT_BATCHED,      /* 1: more than one matrix */
    AT_RUNS,         /* 1: of a tensor's axes the fastest stays, so whole runs are moved */
    AT_RUN_ALIGN,    /* then all runs begin at multiples of these bytes, up to 16 */
    AT_OUTER, /* axes of the batch that a plain one has not, and 1; in a list, matrices of a batch
               */
    AT_STEP_ALIGN, /* all matrices begin at multiples of these bytes, up to 16 */
    AT_COORDINATES,
};

/* A config's launch for a problem, as logarithms to base 2. */
struct at_launch_traits {
    float blocks;
    float thread_excess; /* threads per element */
    float packed_run[2]; /* adjacent bytes in a row of a packed tile, by side, up to 128; else 0 */
};

/* A problem on a device, and a config's launch for it once at_traits_launch has set it. The members
 * but at[] and the key are logarithms to base 2. */
struct at_traits {
    /* The sum of the weighted coordinates: what two keys differ by is no more than the distance,
     * but for rounding. */
    float key;
    float at[AT_COORDINATES];
    float elements; /* of the problem */
    float enough;   /* blocks that occupy all multiprocessors */
    struct at_launch_traits launch;
};

enum { AT_DISTANCE_TERMS = 11 };

struct at_distance {
    float total;
    float terms[AT_DISTANCE_TERMS]; /* weighted, in the order of the table */
};

/* From this distance on an entry is far: its config says little about the problem. */
extern const float at_distance_far;

/* Return the logarithm of the power of two that divides a distance in elements, in bytes: at most
 * that of `most`, a power of two. Distances joined by | have what divides all of them. */
static inline float at_alignment(int64_t elements, int64_t elem_size, int64_t most)
{
    return (float)__builtin_ctzll((unsigned long long)(elements * elem_size | most));
}

/* Return the name of a term: "waste", "element", ... */
const char *at_distance_name(int term);

/* Make the traits without the launch, and add the launch. */
struct at_traits at_traits_of(const struct at_problem *problem,
                              const struct at_device_info *device);
void at_traits_launch(struct at_traits *traits, const struct at_problem *problem,
                      const struct at_launch *launch);

/* Return a lower bound of the distance, whatever the launch at `to` is. */
float at_distance_bound(const struct at_traits *from, const struct at_traits *to);

/* Return by how much farther an entry counts than it is, because its winner reached this share of
 * the copy limit: 0 if it reached all of it, or if the share is unknown (0). The distance that is
 * shown does not have it. */
float at_distance_of_share(int64_t of_copy_permille);

/* Return the distance from a tuned problem to another; and only its total, which is faster. */
struct at_distance at_distance_between(const struct at_traits *from, const struct at_traits *to);
float at_distance_total(const struct at_traits *from, const struct at_traits *to);

#endif
