/* SPDX-License-Identifier: Apache-2.0 */
/* The #include directives of a CUDA source, except that of AT_TEMPLATE_HEADER, which every program
 * has. A directive within a comment counts too: then a program only gets more than it needs. */
#ifndef AT_KERNEL_INCLUDES_H
#define AT_KERNEL_INCLUDES_H

#include <stdbool.h>
#include <stddef.h>

/* One directive: a line of the text, not terminated. */
struct at_include {
    const char *text;
    size_t size;
    int line; /* from 1 */
};

/* Find the next directive at or after `from`, which is the beginning of line `line`, outside of
 * #if: which of those inside count, only the compiler knows. False: there is none. */
bool at_include_find(struct at_include *include, const char *from, int line);

/* Does the source include anything, be it inside of #if? */
bool at_source_includes(const char *source);

#endif
