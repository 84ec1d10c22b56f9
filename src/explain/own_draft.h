/* SPDX-License-Identifier: Apache-2.0 */
/* A transpose in a CUDA file of the user, read so that it can be tuned: its macros, which become
 * parameters of a space, its kernel, and what the kernel's parameters mean. */
#ifndef AT_EXPLAIN_OWN_DRAFT_H
#define AT_EXPLAIN_OWN_DRAFT_H

#include "kernel/compile_source.h"

#include <stdbool.h>

enum { AT_DRAFT_MACROS = 24, AT_DRAFT_ARGUMENTS = 32, AT_DRAFT_VALUES = 8 };

/* What a parameter does to the launch. */
enum at_draft_role {
    AT_DRAFT_NO_ROLE,
    AT_DRAFT_THREADS, /* of a block, along an axis */
    AT_DRAFT_FACTOR,  /* elements of a thread, along an axis */
    AT_DRAFT_TILE,    /* elements of a block, along both axes; without THREADS its threads, too */
    AT_DRAFT_ROWS,    /* threads of a block along a column, beside TILE */
};

/* What a macro's name says. */
struct at_draft_convention {
    const char *part; /* of the name, in lower case */
    enum at_draft_role role;
    const char *summary;
    int values[AT_DRAFT_VALUES]; /* 0 ends them, but for the first */
};

struct at_draft_macro {
    char *name;  /* in the file */
    char *param; /* in the space file: in capitals */
    int64_t value;
    const struct at_draft_convention *convention;
    const int *values; /* to try, as in the convention */
    char axis;         /* 'x', 'y' or 'z' */
};

/* A parameter of the kernel. */
struct at_draft_argument {
    char *name, *type; /* without const and the like */
    bool pointer, constant;
    const char *meaning; /* borrowed: "dst", "src", "rows", ..., or a number */
};

struct at_draft {
    char *text; /* of the file, without host code and without what becomes parameters */
    struct at_draft_macro macros[AT_DRAFT_MACROS];
    size_t macro_count;
    int looked_for; /* names whose use was looked for */
    char *kernel;
    struct at_draft_argument arguments[AT_DRAFT_ARGUMENTS];
    size_t argument_count;
    int64_t element_bytes;
    bool plane;     /* the kernel has a y axis */
    bool guarded;   /* it has conditions, so that a part of a tile may be empty */
    char *steps[2]; /* of a block along x and y, as the code has them, with @x for the threads of
                     * the block along x; NULL: they are not plain */
};

/* A file, and what is wanted of it. All is borrowed, and outlives the draft. */
struct at_draft_request {
    const char *path;
    const char *entry; /* the kernel; NULL: the file's only one */
    /* What the kernel's parameters get, in their order: dst, src, rows, cols, ld_src, ld_dst,
     * batch, or a number; none: what their names say. */
    const char *const *arguments;
    size_t argument_count;
    struct at_source_options source;
};

/* Read the zeroed draft, which the caller clears. AT_USAGE: the file cannot be read, or the kernel
 * or its arguments are not understood. AT_FAILED: it does not compile. */
enum at_status at_draft_read(struct at_draft *draft, const struct at_draft_request *request,
                             int64_t compute_capability, struct at_error *err);
void at_draft_clear(struct at_draft *draft);

#endif
