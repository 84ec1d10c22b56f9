/* SPDX-License-Identifier: Apache-2.0 */
/* Predicted times of many configs of a problem, for benchmarks that compare them with measured
 * ones. */
#ifndef AT_TESTS_BENCH_PREDICTING_H
#define AT_TESTS_BENCH_PREDICTING_H

#include "base/error.h"
#include "device/info.h"
#include "emulated/time/predict.h"
#include "space/config.h"

/* The families of this tree, and the header of their templates. */
struct tree {
    struct at_family **families;
    size_t family_count;
    char *header;
};

enum at_status read_tree(struct tree *tree, struct at_error *err);
void clear_tree(struct tree *tree);

struct predicting {
    const struct at_device_info *device;
    const struct at_rates *rates;
    const char *header; /* of all templates */
};

struct predicted {
    struct at_config config; /* legal for the problem */
    struct at_prediction prediction;
    struct at_error error; /* why there is no prediction; else AT_OK */
};

/* Compile the configs and predict their times with cold caches. */
enum at_status predict_configs(const struct predicting *by, const struct at_problem *problem,
                               struct predicted *configs, size_t count, struct at_error *err);

#endif
