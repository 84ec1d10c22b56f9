/* SPDX-License-Identifier: Apache-2.0 */
/* From configs to source text. Several configs share one program, because half of NVRTC's time is a
 * cost per program. Each config is its family's template in a namespace of its own, with the
 * config's macros and the entry point renamed. */
#ifndef AT_KERNEL_RENDER_H
#define AT_KERNEL_RENDER_H

#include "base/hash.h"
#include "space/family.h"

#include <stddef.h>

/* The header that templates share; a program's first line includes it. It includes its parts. */
#define AT_TEMPLATE_HEADER "transpose.cuh"

enum { AT_ENTRY_NAME_CHARS = 32 };

struct at_rendering {
    const struct at_config *config;  /* borrowed */
    struct at_problem_kind kind;     /* of the problems that it is for */
    char entry[AT_ENTRY_NAME_CHARS]; /* the kernel's name in the program */
};

/* Write the macros of a config, one per line; they distinguish two configs of a family. Every value
 * is an integer that the space declares, so no text but the template becomes code. The caller frees
 * it. */
char *at_render_macros(const struct at_config *config, struct at_problem_kind kind);

/* Write the same macros as options of a compiler: "-DELEM_SIZE=4 -DTILE_COLS=64". The caller frees
 * them. */
char *at_render_options(const struct at_config *config, struct at_problem_kind kind);

/* Hash what a family's kernels depend on besides a config's macros: the template, the header and
 * the launch. Comments do not count. */
void at_family_hash(char hash[AT_HASH_CHARS], const struct at_family *family, const char *header);

/* Hash what a config's time depends on besides device, software and problem: its family's hash and
 * its macros. */
void at_kernel_hash(char hash[AT_SHORT_HASH_CHARS], const char *family_hash,
                    const struct at_config *config, struct at_problem_kind kind);

/* Hash everything that a compiled kernel depends on: the cache's key of it. */
struct at_compiler;
void at_kernel_key(char key[AT_HASH_CHARS], const struct at_compiler *compiler, const char *header,
                   const struct at_config *config, struct at_problem_kind kind);

/* Write the program of count configs; the caller frees it. */
char *at_render_program(const struct at_rendering *renderings, size_t count);

/* Return a source without its comments, indentation and empty lines. The caller frees it. */
char *at_source_code(const char *source);

/* Do kernels of this kind move the elements of one problem, as they are? A program of such kernels
 * needs less of the header. */
bool at_kind_only_moves(struct at_problem_kind kind);

/* Does the source include anything but AT_TEMPLATE_HEADER, which every program has? A directive
 * within #if or a comment counts too: then a program only gets more than it needs. */
bool at_source_includes(const char *source);

/* Read templates/NAME, which the caller frees. */
enum at_status at_template_read(char **text, const char *name, struct at_error *err);

/* Read AT_TEMPLATE_HEADER, with its parts in place of the directives that include them. The caller
 * frees it. */
enum at_status at_template_header_read(char **text, struct at_error *err);

/* Is this the name of the header that was read, or of one of its parts? */
bool at_template_header_has(const char *header, const char *file);

#endif
