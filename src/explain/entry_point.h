/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a PTX text, with their parameters. Unlike emulated/ptx/ptx.h, this also lists
 * kernels that the emulated device cannot run. */
#ifndef AT_EXPLAIN_ENTRY_POINT_H
#define AT_EXPLAIN_ENTRY_POINT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Read a mangled name (Itanium C++ ABI, "Mangling"): "scale", "ns::scale", "scale<float, 32>",
 * without the function's parameters. Template arguments may be built-in and named types and
 * integers; others are "...". A name that is not mangled is its own. The caller frees it. */
char *at_plain_name(const char *mangled);

struct at_entry_parameter {
    int64_t bytes;
    bool is_float; /* float or double */
    bool is_block; /* a struct, a vector or a half: the PTX has only its bytes */
};

struct at_entry_point {
    char *name;  /* in the PTX */
    char *plain; /* in the source, without parameters: at_plain_name */
    struct at_entry_parameter *parameters;
    size_t count, capacity;
};

struct at_entry_points {
    struct at_entry_point *items;
    size_t count, capacity;
};

/* List the kernels, in the order of the text. The caller clears the list. */
void at_entry_points_read(struct at_entry_points *points, const char *ptx, size_t size);
void at_entry_points_clear(struct at_entry_points *points);

/* Find a kernel by its name in the PTX, its plain name, or the last part of this without namespaces
 * and template arguments; without a name the only one. AT_USAGE: there is none, or there are
 * several. file is for messages. */
enum at_status at_entry_points_find(const struct at_entry_points *points, const char *file,
                                    const char *name, const struct at_entry_point **found,
                                    struct at_error *err);

/* Is this its name, as C++ has it, with any blanks? Unless exactly, template arguments may differ:
 * a constant is a name there, and a number in the PTX. */
bool at_entry_point_is_called(const struct at_entry_point *point, const char *name, bool exactly);

/* "scale(float, int, 8 bytes)"; the caller frees it. */
char *at_entry_point_format(const struct at_entry_point *point);

/* The possible types of a parameter: "int", "buffer or long", "16 bytes". */
enum { AT_PARAMETER_WORDS = 32 };
void at_entry_parameter_words(char words[AT_PARAMETER_WORDS],
                              const struct at_entry_parameter *parameter);

#endif
