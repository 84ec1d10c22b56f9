/* SPDX-License-Identifier: Apache-2.0 */
/* The host's part of a CUDA file. NVRTC compiles kernels only, so functions of the host are left
 * out; but they tell how the kernels are launched. doc/own-kernels.md says what is understood. */
#ifndef AT_EXPLAIN_HOST_CODE_H
#define AT_EXPLAIN_HOST_CODE_H

#include "explain/entry_point.h"

/* Blank the functions of the host in the text: what is outside all classes and has no word such as
 * __device__. Lines stay where they are. False: there are none. */
bool at_host_functions_blank(char *text);

/* Blank what is declared at a line, if it is not for the device: a class, a variable, an #include.
 * False: nothing is. */
bool at_host_line_blank(char *text, int64_t line);

/* Blank the last #include. False: there is none. */
bool at_host_include_blank(char *text);

/* An argument of a launch. */
struct at_host_argument {
    char *text;    /* in the source */
    char *number;  /* its value: "1024", "0.5"; NULL: it is not plain */
    char *element; /* of a buffer: its type; else NULL */
    int64_t bytes; /* of a buffer */
};

/* kernel<<<grid, block, shared>>>(arguments), as options of the command line. */
struct at_host_launch {
    int64_t line;
    char *kernel;                 /* "turn<8, float>" */
    bool is_instance;             /* of a template, whose arguments mean the same everywhere */
    char *grid, *block;           /* "32,8"; NULL: it is not plain */
    char *grid_text, *block_text; /* in the source */
    char *shared;                 /* bytes; NULL: none */
    struct at_host_argument *arguments;
    size_t count, capacity;
};

struct at_host_launches {
    struct at_host_launch *items;
    size_t count, capacity;
};

/* List the launches in the text, in their order, with the values that variables and macros have
 * there. The caller clears the list. */
void at_host_launches_read(struct at_host_launches *launches, const char *text);
void at_host_launches_clear(struct at_host_launches *launches);

/* Find the first launch of a kernel; NULL: there is none. */
const struct at_host_launch *at_host_launch_find(const struct at_host_launches *launches,
                                                 const struct at_entry_point *entry);

/* Write the argument as --arg has it, for this parameter; the caller frees it. NULL: the source
 * does not tell it plainly. */
char *at_host_argument_format(const struct at_host_argument *argument,
                              const struct at_entry_parameter *parameter);

#endif
