/* SPDX-License-Identifier: Apache-2.0 */
/* A family: a kernel template with its parameter space, read from tuning/NAME.yaml and
 * templates/NAME.cu. doc/space-format.md describes the file. */
#ifndef AT_SPACE_FAMILY_H
#define AT_SPACE_FAMILY_H

#include "base/error.h"
#include "device/info.h"
#include "device/launch.h"
#include "problem/problem.h"
#include "schema/schema.h"
#include "space/expr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AT_PARAMS_MAX = 24, AT_PARAM_VALUES_MAX = 64 };

/* The macros that a template gets besides its parameters, from the problem: no parameter has their
 * names. */
enum { AT_TEMPLATE_MACROS = 18 };
extern const char *const at_template_macros[AT_TEMPLATE_MACROS];

struct at_param {
    char *name;      /* an identifier in capitals; a macro (-D) of the template */
    char *summary;   /* one sentence for users */
    int64_t *values; /* in the order of the file; 32 bits each, without duplicates */
    size_t value_count;
    int64_t default_value; /* one of values */
    /* Files mean this value where they do not name the parameter, and leave it out where it has
     * this value. So files of before the parameter was added keep their meaning, and their configs
     * have the same text as new ones. */
    bool has_neutral;
    int64_t neutral; /* one of values; fixed for ever */
    bool host;       /* only the host uses it: configs that differ in it alone share a kernel */
    bool yields;     /* where the default config is not legal, the next value is taken */
};

enum at_rule_kind {
    AT_RULE_IN_PLACE, /* family and problem are both in place, or both not */
    AT_RULE_STEP,     /* the family takes steps, if the problem has one */
    AT_RULE_GROUPS,   /* the family takes groups, if the problem is one */
    AT_RULE_VIEWS,    /* the family takes views, if the problem is one */
    AT_RULE_TENSORS,  /* the family takes batches of as many axes */
    AT_RULE_CONSTRAINT,
    AT_RULE_NEED,
    AT_RULE_LAUNCH,  /* a launch field is within its bounds */
    AT_RULE_THREADS, /* the block has at most max_threads_per_block threads */
    AT_RULE_SCRATCH, /* a config takes no more scratch memory than its problem may */
};

struct at_rule {
    enum at_rule_kind kind;
    const struct at_expr *expr; /* CONSTRAINT, NEED */
    enum at_launch_field field; /* LAUNCH */
    uint32_t params_used;       /* the parameters that it uses, as bits */
    size_t params_needed;       /* it can be evaluated once this many parameters have values */
    size_t determines; /* 1 + the parameter in "parameter == VALUE of the problem"; 0: none */
    bool inherent;     /* a config that is legal anywhere keeps it wherever it is adapted to, for
                          elements of the same size: beside that it uses parameters alone, none of
                          which the problem determines */
};

/* Which tensors a family takes: matrices and plain batches only; batches of any axes; or all axes,
 * from which the host makes the sides of tiles (problem/arguments.h). */
enum at_tensors { AT_TENSORS_NONE, AT_TENSORS_BATCH, AT_TENSORS_PACKED };

struct at_family {
    char *name; /* an identifier: letters, digits, '_', '-' */
    char *path; /* of the space file */
    char *summary;
    int64_t preference; /* a problem's default config is of the family with the lowest one */
    int64_t in_place;   /* 1: for problems in place only; 0: for others only */
    int64_t scales;     /* 1: takes problems with blocks, and no others */
    int64_t steps;      /* 1: takes steps; 2: also those whose results need their place;
                         * 3: and those with more outputs */
    int64_t groups;     /* 1: takes many matrices in one launch, too */
    int64_t views;      /* 1: takes any strides of the source, too (at_problem.is_view) */
    int64_t tall_rows;  /* from as many rows on, the template is compiled with TALL; 0: never */
    enum at_tensors tensors;
    char *template_path;
    char *source; /* the template's text */
    struct at_param *params;
    size_t param_count;
    struct at_expr **constraints; /* among parameters */
    size_t constraint_count;
    struct at_expr **needs; /* on the problem and the device */
    size_t need_count;
    struct at_expr *launch[AT_LAUNCH_FIELDS]; /* NULL: the default */
    struct at_expr *block_elements; /* of all tiles of a block, if none is cut; NULL: unknown */
    struct at_expr *run_bytes[2]; /* adjacent bytes that a warp reads, and writes; NULL: unknown */
    struct at_rule *rules;        /* for a legal config, in the order of evaluation */
    size_t rule_count;
    const struct at_rule **adapting; /* those of them that at_config_adapt evaluates */
    size_t adapting_count;
};

/* Does a packed launch need the field to be cut into tiles? */
static inline bool at_launch_decides_tiles(enum at_launch_field field)
{
    return field == AT_BLOCK_X || (field >= AT_SIDE_SRC && field <= AT_WORD_BYTES);
}

/* One value for each parameter, in the order of family->params. */
struct at_config {
    const struct at_family *family; /* borrowed */
    int32_t values[AT_PARAMS_MAX];
};

extern const struct at_schema at_family_schema; /* of a space file */

/* Read a space file and its template. The template is looked for in the folder of the space file,
 * then in template_dir (may be NULL). */
enum at_status at_family_read(struct at_family **family, const char *path, const char *template_dir,
                              struct at_error *err);
void at_family_free(struct at_family *family);

/* Read every NAME.yaml in tuning_dir that has a NAME.cu in template_dir, sorted by NAME. The caller
 * frees the families and their array. AT_USAGE if there are none, or two with the same name. */
enum at_status at_families_read(struct at_family ***families, size_t *count, const char *tuning_dir,
                                const char *template_dir, struct at_error *err);

/* AT_USAGE if two families have the same name: profiles and journals refer to families by name. */
enum at_status at_families_check_unique(struct at_family *const *families, size_t count,
                                        struct at_error *err);

/* Return the family of this name; NULL: there is none. */
struct at_family *at_family_find(struct at_family *const *families, size_t count, const char *name);

/* The index of value in param->values; value_count if it is not there. */
size_t at_param_level(const struct at_param *param, int64_t value);
bool at_param_has_value(const struct at_param *param, int64_t value);

/* Do files name the parameter where it has this value? */
bool at_param_is_written(const struct at_param *param, int64_t value);

/* Does a text name it that may become a command? Of what a command lacks it takes the default. */
bool at_param_is_told(const struct at_param *param, int64_t value);

/* Are family and values the same? */
bool at_config_equal(const struct at_config *a, const struct at_config *b);

/* "BLOCK_ROWS=8 PAD=1 TILE=32", sorted by name; the caller frees it. */
char *at_config_format(const struct at_config *config);

struct at_config at_family_default(const struct at_family *family);

/* Is this config legal for the problem on the device?
 * - The family is for problems in place if this is one, and for others if not; for a problem with
 *   a step it takes steps, and for a view views.
 * - Each value is in its parameter's list; all constraints and needs hold.
 * - The block has 1 to max_threads_per_block threads, at most 1024 by 1024 by 64. The grid has at
 *   least 1 block, at most 2^31-1 by 65535 by 65535.
 * - Dynamic shared memory is at most shared_bytes_per_block_optin, less what amax needs.
 * If not, *why (may be NULL) is the rule that failed; the caller frees it. An expression that
 * cannot be evaluated is an error. */
enum at_status at_config_legal(const struct at_config *config, const struct at_problem *problem,
                               const struct at_device_info *device, bool *legal, char **why,
                               struct at_error *err);

/* Fail with AT_FAILED if the config is not legal: the message is `refusal` (may be NULL) and the
 * rule that failed. */
enum at_status at_config_require(const struct at_config *config, const struct at_problem *problem,
                                 const struct at_device_info *device, const char *refusal,
                                 struct at_error *err);

/* The launch of a legal config. */
enum at_status at_config_launch(const struct at_config *config, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_launch *launch,
                                struct at_error *err);

/* Fail unless the rules hold that only the sizes of elements have a say in: neither the problem's
 * shape nor the device. */
enum at_status at_config_require_inherent(const struct at_config *config,
                                          const struct at_problem *problem, struct at_error *err);

#endif
