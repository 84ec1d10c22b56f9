/* SPDX-License-Identifier: Apache-2.0 */
/* The space: all legal configs of the families for a problem on a device. */
#ifndef AT_SPACE_SPACE_H
#define AT_SPACE_SPACE_H

#include "space/family.h"

/* So many points or more count as so many. The points of all problems of a profile can be added up,
 * and every reader of JSON has each number exactly. */
#define AT_RAW_MAX INT64_C(1000000000000000)

struct at_space {
    struct at_config *configs; /* family by family, each in the order of its parameters' values */
    size_t count;
    int64_t raw; /* points before constraints and needs, over all families; AT_RAW_MAX at most */
};

/* Enumerates with each rule applied as soon as the parameters it uses have values, so that whole
 * subspaces fall at once. More than max_configs legal configs is AT_USAGE. */
enum at_status at_space_build(struct at_space *space, struct at_family *const *families,
                              size_t family_count, const struct at_problem *problem,
                              const struct at_device_info *device, size_t max_configs,
                              struct at_error *err);
void at_space_clear(struct at_space *space);

/* Reads every NAME.yaml of tuning_dir that has a NAME.cu in template_dir, sorted by NAME. The
 * caller frees the families and their array. None at all, or two of one name, is AT_USAGE. */
enum at_status at_families_read(struct at_family ***families, size_t *count, const char *tuning_dir,
                                const char *template_dir, struct at_error *err);

/* Two families of one name are AT_USAGE: profiles and journals know configs by it. */
enum at_status at_families_check_unique(struct at_family *const *families, size_t count,
                                        struct at_error *err);

/* The default config of a problem: that of the legal default with the lowest preference.
 * AT_FAILED if no family's default is legal. */
enum at_status at_space_default(struct at_config *config, struct at_family *const *families,
                                size_t family_count, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_error *err);

#endif
