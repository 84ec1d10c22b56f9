/* SPDX-License-Identifier: Apache-2.0 */
/* A family: a kernel template with its parameter space, read from tuning/NAME.yaml and
 * templates/NAME.cu. doc/space-format.md describes the file. */
#ifndef AT_SPACE_FAMILY_H
#define AT_SPACE_FAMILY_H

#include "base/error.h"
#include "device/info.h"
#include "device/launch.h"
#include "problem/problem.h"
#include "space/expr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AT_PARAMS_MAX = 24, AT_PARAM_VALUES_MAX = 64 };

struct at_param {
    char *name;      /* an identifier in capitals: becomes a -D of the template */
    char *summary;   /* what it does, for people */
    int64_t *values; /* in the order of the file, each within 32 bits, no two alike */
    size_t value_count;
    int64_t default_value; /* one of values */
};

struct at_rule; /* space/rules.h */

struct at_family {
    char *name; /* an identifier: letters, digits, '_', '-' */
    char *path; /* of the space file */
    char *summary;
    int64_t preference; /* whose default config is the default of a problem: lowest legal first */
    int64_t in_place;   /* 1: takes problems in place and no others; 0: the others */
    char *template_path;
    char *source; /* the template's text */
    struct at_param *params;
    size_t param_count;
    struct at_expr **constraints; /* among parameters: what makes sense at all */
    size_t constraint_count;
    struct at_expr **needs; /* of the problem and the device */
    size_t need_count;
    struct at_expr *launch[AT_LAUNCH_FIELDS]; /* NULL: the default */
    struct at_rule *rules; /* all that makes a config legal, in the order of evaluation */
    size_t rule_count;
};

/* One value for each parameter, in the order of family->params. */
struct at_config {
    const struct at_family *family; /* borrowed */
    int32_t values[AT_PARAMS_MAX];
};

/* Reads a space file and its template, which is looked for beside the space file and then in
 * template_dir (may be NULL). */
enum at_status at_family_read(struct at_family **family, const char *path, const char *template_dir,
                              struct at_error *err);
void at_family_free(struct at_family *family);

/* Is it one of the parameter's values? */
bool at_param_has_value(const struct at_param *param, int64_t value);

/* "BLOCK_ROWS=8 PAD=1 TILE=32", sorted by name; the caller frees it. */
char *at_config_format(const struct at_config *config);

struct at_config at_family_default(const struct at_family *family);

/* Is this config legal for the problem on the device: the family takes problems in place if this is
 * one, and only then; the config's values are among those of the family, all
 * constraints and needs hold, the block has at most max_threads_per_block threads, 1024 by 1024 by
 * 64, the grid at most 2^31-1 by 65535 by 65535 blocks, none of them fewer than 1, and the dynamic
 * shared memory fits shared_bytes_per_block_optin? If not, *why (may be NULL) gets the rule that
 * failed, owned by the caller. An expression that cannot be evaluated is an error. */
enum at_status at_config_legal(const struct at_config *config, const struct at_problem *problem,
                               const struct at_device_info *device, bool *legal, char **why,
                               struct at_error *err);

/* The same as an error: if the config is not legal, AT_FAILED with the rule that failed, after the
 * words of `refusal` (NULL: none). */
enum at_status at_config_require(const struct at_config *config, const struct at_problem *problem,
                                 const struct at_device_info *device, const char *refusal,
                                 struct at_error *err);

/* The launch of a legal config. */
enum at_status at_config_launch(const struct at_config *config, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_launch *launch,
                                struct at_error *err);

/* Fit a config, with values of its family, to another problem: parameters that the problem alone
 * determines ("K == min(rows, cols)") get the values that it gives them. False if the config is not
 * legal then; else *launch is its launch. */
bool at_config_adapt(struct at_config *config, const struct at_problem *problem,
                     const struct at_device_info *device, struct at_launch *launch);

#endif
