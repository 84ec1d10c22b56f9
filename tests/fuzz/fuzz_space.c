/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a space file: refused with a message, or a family whose space is enumerated for
 * small problems, with each config's launch, and whose other configs are judged. Templates are
 * those of the source tree. */
#include "fuzz_file.h"
#include "space/space.h"
#include "system/paths.h"

#include "../unit/hopper.h"

enum { CONFIGS_MAX = 100, RAW_MAX = 10000 };

static const struct at_device_info device = {
    .kind = "cuda",
    .multiprocessors = 132,
    HOPPER,
};

/* Enumerating everything can take long, as it may: that is bounded by the caller's patience. */
static bool is_small(const struct at_family *family)
{
    size_t points = 1;

    for (size_t i = 0; i < family->param_count && points <= RAW_MAX; i++)
        points *= family->params[i].value_count;
    return points <= RAW_MAX;
}

static void enumerate(struct at_family *family, const struct at_problem *problem)
{
    struct at_space space = {0};
    struct at_error err;

    if (at_space_build(&space, &family, 1, problem, &device, CONFIGS_MAX, &err) == AT_OK)
        for (size_t i = 0; i < space.count; i++) {
            struct at_launch launch;

            at_config_launch(&space.configs[i], problem, &device, &launch, &err);
            free(at_config_format(&space.configs[i]));
        }
    at_space_clear(&space);
}

/* Configs that are not enumerated: the default with each value of each parameter, legal or not. */
static void judge(const struct at_family *family, const struct at_problem *problem)
{
    const struct at_config first = at_family_default(family);
    struct at_error err;

    for (size_t i = 0; i < family->param_count; i++)
        for (size_t j = 0; j < family->params[i].value_count; j++) {
            struct at_config config = first;
            char *why = NULL;
            bool legal;

            config.values[i] = (int32_t)family->params[i].values[j];
            at_config_legal(&config, problem, &device, &legal, &why, &err);
            free(why);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *templates = at_path_data_file("templates");
    static const char *const specs[] = {"33x65:f32,ld_src=70,batch=3", "64x64:f32,inplace=1"};
    struct at_family *family;
    struct at_problem problem;
    struct at_error err;

    if (at_family_read(&family, fuzz_file(data, size), templates, &err) == AT_OK) {
        for (size_t i = 0; i < AT_COUNT(specs) && is_small(family); i++) {
            at_problem_parse(&problem, specs[i], NULL);
            enumerate(family, &problem);
            judge(family, &problem);
        }
        at_family_free(family);
    }
    free(templates);
    return 0;
}
