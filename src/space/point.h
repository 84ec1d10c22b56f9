/* SPDX-License-Identifier: Apache-2.0 */
/* What the names in a family's expressions stand for. doc/space-format.md lists them for users. */
#ifndef AT_SPACE_POINT_H
#define AT_SPACE_POINT_H

#include "device/info.h"
#include "problem/problem.h"
#include "space/family.h"

enum { AT_NAMES_GIVEN = 20, AT_NAMES_MAX = AT_PARAMS_MAX + AT_NAMES_GIVEN };

/* What has a name, in this order: the problem, the device, the parameters. */
enum {
    AT_NAME_ELEM_SIZE,
    AT_NAME_SHAPE_FIRST,
    AT_NAME_DEVICE_FIRST = 10,
    AT_NAME_PARAM_FIRST = AT_NAMES_GIVEN,
};

/* The names of the problem and the device, then the parameters'. Returns how many. */
size_t at_point_names(const char *names[AT_NAMES_MAX], const struct at_param *params,
                      size_t param_count);

/* A point of a space: parameters that have values so far, a problem, and a device. */
struct at_point {
    const struct at_family *family;
    const struct at_device_info *device;
    int64_t in_place;             /* the problem's */
    int64_t values[AT_NAMES_MAX]; /* of the names, in their order */
};

/* All parameters are 0 until the caller sets values[AT_NAME_PARAM_FIRST + i] for
 * family->params[i]. */
struct at_point at_point_make(const struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device);

/* Moves the point to the config of any family. */
void at_point_move(struct at_point *point, const struct at_config *config);

#endif
