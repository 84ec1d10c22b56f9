/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled programs in use. Each is freed when its last kernel is released. */
#include "base/memory.h"
#include "kernel/builder_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct at_program *at_program_find(struct at_builder *builder, const char *hash)
{
    struct at_program *program = builder->programs;

    while (program && strcmp(program->hash, hash) != 0)
        program = program->next;
    return program;
}

struct at_program *at_program_add(struct at_builder *builder, const char *hash, void *image,
                                  size_t size)
{
    struct at_program *program = at_alloc(sizeof *program);

    snprintf(program->hash, sizeof program->hash, "%s", hash);
    program->image = image;
    program->size = size;
    program->builder = builder;
    program->next = builder->programs;
    builder->programs = program;
    return program;
}

void at_program_release(struct at_program *program)
{
    struct at_program **link;

    if (!program || --program->users > 0)
        return;
    link = &program->builder->programs;
    while (*link != program)
        link = &(*link)->next;
    *link = program->next;
    free(program->image);
    free(program);
}
