/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_SPACE_CONFIG_H
#define AT_SPACE_CONFIG_H

#include "device/info.h"
#include "problem/problem.h"
#include "space/family.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AT_NAMES_GIVEN = 41, AT_NAMES_MAX = AT_PARAMS_MAX + AT_NAMES_GIVEN };

/* Names are numbered: first the problem's, then the device's, then the parameters'. */
enum {
    AT_NAME_ELEM_SIZE,
    AT_NAME_RESULT_SIZE,
    AT_NAME_SHAPE_FIRST,
    AT_NAME_BATCH = 6,
    AT_NAME_STRIDE_SRC,
    AT_NAME_STRIDE_DST,
    AT_NAME_AXES = 11,
    AT_NAME_MOVED_SIZE,
    AT_NAME_KEPT_SIZE,
    AT_NAME_BLOCK_ROWS,
    AT_NAME_BLOCK_COLS,
    AT_NAME_KEPT_ROWS,
    AT_NAME_KEPT_COLS,
    AT_NAME_SAME_BLOCKS,
    AT_NAME_RESULT_BITS,
    AT_NAME_KEPT_BITS,
    AT_NAME_GROUPS,
    AT_NAME_SUMS,
    AT_NAME_SCRATCH_MOST,
    AT_NAME_WORD_BYTES,
    AT_NAME_RUN_ROWS,
    AT_NAME_RUN_COLS,
    AT_NAME_RUN_LD_SRC,
    AT_NAME_RUN_LD_DST,
    AT_NAME_RUN_STRIDE_SRC,
    AT_NAME_RUN_STRIDE_DST,
    AT_NAME_DEVICE_FIRST,
    AT_NAME_PARAM_FIRST = AT_NAMES_GIVEN,
};

/* Fill in all names, in the order of their numbers. Returns their count. */
size_t at_point_names(const char *names[AT_NAMES_MAX], const struct at_param *params,
                      size_t param_count);

/* A point of a space: a problem, a device, and the values of all or of the first parameters. */
struct at_point {
    const struct at_family *family;
    const struct at_device_info *device;
    const struct at_problem *problem; /* borrowed */
    int64_t values[AT_NAMES_MAX];     /* by the number of the name */
};

/* Make a point with all parameters 0. The caller sets values[AT_NAME_PARAM_FIRST + i] for
 * family->params[i]. */
struct at_point at_point_make(const struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device);

/* Move the point to a config, of any family. */
void at_point_move(struct at_point *point, const struct at_config *config);

/* Fit a config that satisfies at_config_require_inherent for the problem's elements to the point:
 * parameters that the problem alone determines ("K == min(rows, cols)") get the values that it
 * gives them. Return false if the config is not legal then; else *launch is its launch, and the
 * point is there. One point serves configs of all families. */
bool at_config_adapt(struct at_config *config, struct at_point *point, struct at_launch *launch);

#endif
