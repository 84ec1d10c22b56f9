/* SPDX-License-Identifier: Apache-2.0 */
/* From configs to source text. Several configs share one program, because half of what NVRTC costs
 * is a price per program: each is its family's template in a namespace of its own, under the
 * config's macros, with the entry point renamed. */
#ifndef AT_KERNEL_RENDER_H
#define AT_KERNEL_RENDER_H

#include "space/family.h"

#include <stddef.h>

/* The name of the header that templates share; a program's first line includes it. */
#define AT_TEMPLATE_HEADER "transpose.cuh"

enum { AT_ENTRY_NAME_CHARS = 32 };

struct at_rendering {
    const struct at_config *config;  /* borrowed */
    int64_t elem_size;               /* bytes */
    char entry[AT_ENTRY_NAME_CHARS]; /* what the kernel is called in the program */
};

/* The macros of a config, a line each: what tells two configs of a family apart. Every value is an
 * integer that the space declares; no text of a file becomes code but the template itself. The
 * caller frees it. */
char *at_render_macros(const struct at_config *config, int64_t elem_size);

/* The program of count configs; the caller frees it. */
char *at_render_program(const struct at_rendering *renderings, size_t count);

/* Reads a text of the tool's own, templates/NAME, which the caller frees. */
enum at_status at_template_read(char **text, const char *name, struct at_error *err);

#endif
