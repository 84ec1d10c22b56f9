/* SPDX-License-Identifier: Apache-2.0 */
/* What the atomic operations of a launch wait for in L2, by a sample of its blocks.
 *
 * The model is of measurements on an H200 (doc/emulation.md). A slice of L2 does the operations of
 * one address one after the other, and so those of its sectors. A compiler that knows that all
 * lanes have one address joins their integers. */
#ifndef AT_EMULATED_TIME_ATOMICS_H
#define AT_EMULATED_TIME_ATOMICS_H

#include "emulated/machine/machine.h"

enum at_atomic_kind { AT_ATOMIC_INTEGER, AT_ATOMIC_FLOAT, AT_ATOMIC_KINDS };

/* Of the whole launch. */
struct at_atomics {
    double operations[AT_ATOMIC_KINDS]; /* at the busiest address */
    double steps;                       /* of the busiest slice; in a step it serves a sector */
};

struct at_atomics_seen;

/* Of a kernel; the caller frees it. */
struct at_atomics_seen *at_atomics_new(const struct at_ptx_kernel *kernel);
void at_atomics_free(struct at_atomics_seen *seen);

/* Count an atomic access of global memory. */
void at_atomics_see(struct at_atomics_seen *seen, uint64_t block,
                    const struct at_emu_access *access);

/* Extrapolate from `sampled` blocks to `blocks`. An address that several of these use is taken for
 * one that all blocks use. */
struct at_atomics at_atomics_of(const struct at_atomics_seen *seen, double sampled, double blocks);

/* Wavefronts of shared memory that a step of an atomic operation there takes. */
int at_atomic_wavefronts(const char *text);

#endif
