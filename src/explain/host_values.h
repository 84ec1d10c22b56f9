/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a CUDA file's host code that have a value, and the values of expressions with them.
 */
#ifndef AT_EXPLAIN_HOST_VALUES_H
#define AT_EXPLAIN_HOST_VALUES_H

#include "explain/host_tokens.h"
#include "explain/kernel_argument.h"

enum { AT_HOST_EXTENTS = 3, AT_HOST_PARAMETERS = 8 };

/* What a name of the file stands for. */
struct at_host_name {
    char *text;
    size_t size;
    char *body;                           /* of a macro or a function that returns an expression */
    char *parameters[AT_HOST_PARAMETERS]; /* of one that is called */
    size_t parameter_count;
    bool is_called;
    bool is_parameter;              /* of a template: outside, it means nothing */
    char *value;                    /* of a variable: a number; NULL: not known */
    char *extents[AT_HOST_EXTENTS]; /* of a dim3; [0] NULL: it is none */
    char *element;                  /* of a pointer: its type */
    int64_t bytes;                  /* of its memory; 0: not known */
};

struct at_host_names {
    struct at_host_name *items;
    size_t count, capacity;
    int *expanded; /* tokens of the expression in hand */
};

/* A piece of the source. */
struct at_host_piece {
    const char *begin, *end;
};

/* Find the name; NULL: there is none. */
struct at_host_name *at_host_name_find(const struct at_host_names *names, const char *text,
                                       size_t size);

/* Find or make the name. */
struct at_host_name *at_host_name_of(struct at_host_names *names,
                                     const struct at_host_token *token);

/* Forget all but the name itself. */
void at_host_name_clear(struct at_host_name *name);
void at_host_names_clear(struct at_host_names *names);

/* The part up to a comma or the end, outside brackets; move behind the comma. */
struct at_host_piece at_host_next_part(const char **at, const char *end);

/* Which extent of a dim3 is it, in x, y, z? *at moves behind it. -1: none. */
int at_host_member_of(const struct at_host_token *dot, const char **at);

/* The value of a piece of the source as "1024"; NULL: it is not plain. The caller frees it. */
char *at_host_evaluate(const struct at_host_names *names, struct at_host_piece piece);

/* The same, or a real number that is written out. */
char *at_host_evaluate_number(const struct at_host_names *names, struct at_host_piece piece);

/* Up to three extents, by commas. False: one of them is not plain. */
bool at_host_evaluate_extents(const struct at_host_names *names, struct at_host_piece piece,
                              char *extents[AT_HOST_EXTENTS]);

#endif
