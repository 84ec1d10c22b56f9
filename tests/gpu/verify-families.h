/* SPDX-License-Identifier: Apache-2.0 */
/* Types and functions shared by the files of verify-families. */
#ifndef AT_TESTS_GPU_VERIFY_FAMILIES_H
#define AT_TESTS_GPU_VERIFY_FAMILIES_H

#include "kernel/builder.h"
#include "measure/bench.h"
#include "space/space.h"

/* A problem and its verification cases, with their own buffers. */
struct place {
    struct at_problem problem;
    struct at_bench bench;
    struct at_gpu_case cases[AT_CASES_MAX];
    size_t case_count;
};

/* A config that was drawn for a place, and its compiled kernel. */
struct drawn {
    struct at_config config;
    struct place *place;
    struct at_built built;
};

struct sample {
    struct drawn *items;
    size_t count, capacity;
    size_t verified, wrong; /* verified < count if a kernel crashes the device */
};

/* Exit with 2 on a failure that is no fault of a kernel. */
void require(enum at_status status, const struct at_error *err);

/* Draw `most` configs for the place, from each family in turn; fewer if the spaces have no more. */
void draw_configs(struct sample *sample, struct at_family *const *families, size_t family_count,
                  struct place *place, const struct at_device_info *device, size_t most);

/* Return the number of families in the sample. */
size_t drawn_families(const struct sample *sample);

/* Compile the sample. A config that fails keeps its outcome and message. */
void compile_sample(struct at_builder *builder, struct sample *sample);

/* Verify the sample on the places and print the wrong configs. */
void verify_sample(struct sample *sample, struct place *places, size_t place_count);

#endif
