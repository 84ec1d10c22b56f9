/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of verify-families share. */
#ifndef AT_TESTS_GPU_VERIFY_FAMILIES_H
#define AT_TESTS_GPU_VERIFY_FAMILIES_H

#include "kernel/builder.h"
#include "measure/bench.h"
#include "space/space.h"

/* A problem, with buffers of its own for it and its awkward cases. */
struct place {
    struct at_problem problem;
    struct at_bench bench;
    struct at_gpu_case cases[AT_CASES_MAX];
    size_t case_count;
};

/* A config that was drawn for the problem of a place, and what became of it. */
struct drawn {
    struct at_config config;
    struct place *place;
    struct at_built built;
};

struct sample {
    struct drawn *items;
    size_t count, capacity;
    size_t verified, wrong; /* fewer are verified where a kernel takes the device down */
};

/* Ends the program where something fails that is no fault of a kernel. */
void require(enum at_status status, const struct at_error *err);

/* Draws configs of the families for the place, each family in its turn. Fewer than `most` are drawn
 * only where all spaces have no more. */
void draw_configs(struct sample *sample, struct at_family *const *families, size_t family_count,
                  struct place *place, const struct at_device_info *device, size_t most);

/* How many families the sample has configs of. */
size_t drawn_families(const struct sample *sample);

/* Has the sample compiled; each config's failure is kept with it. */
void compile_sample(struct at_builder *builder, struct sample *sample);

/* Verifies the sample on the places, each of which has its buffers, and prints what is wrong. */
void verify_sample(struct sample *sample, struct place *places, size_t place_count);

#endif
