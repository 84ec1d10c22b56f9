/* SPDX-License-Identifier: Apache-2.0 */
/* PTX, read into kernels that machine.h runs: the text that NVRTC makes of our templates, as the
 * PTX ISA (version 9.0 for CUDA 13) defines it. What it does not know is an error that names it,
 * never a guess; any text at all, malformed or hostile, is an error and never a crash. */
#ifndef AT_PTX_PTX_H
#define AT_PTX_PTX_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct at_ptx_module;
struct at_ptx_kernel;

/* Reads a module of at most 64 MiB. AT_USAGE names the line and what is wrong or not known there.
 * An instruction that is not known is an error of the kernel that has it, found by at_ptx_find, so
 * that the other kernels of a program can run. */
enum at_status at_ptx_read(struct at_ptx_module **module, const char *text, size_t size,
                           struct at_error *err);
void at_ptx_free(struct at_ptx_module *module);

/* The kernel of this name, borrowed from the module. AT_USAGE if there is none, or it holds an
 * instruction that is not known: the message names it and its line. */
enum at_status at_ptx_find(const struct at_ptx_module *module, const char *name,
                           const struct at_ptx_kernel **kernel, struct at_error *err);

const char *at_ptx_kernel_name(const struct at_ptx_kernel *kernel);
int64_t at_ptx_kernel_shared_bytes(const struct at_ptx_kernel *kernel); /* static, a block */
size_t at_ptx_kernel_instructions(const struct at_ptx_kernel *kernel);

/* Of instruction `index`: its line in the text (from 1), and the instruction as it stands there. */
int at_ptx_instruction_line(const struct at_ptx_kernel *kernel, size_t index);
const char *at_ptx_instruction_text(const struct at_ptx_kernel *kernel, size_t index);

/* A line of the source, if the compiler was asked to tell it (-lineinfo): else "" and 0. */
struct at_ptx_source {
    const char *file; /* as the compiler was told it; the module's */
    int line;
};

/* What instruction `index` was made from, and for what was inlined, the place that called it; else
 * the same. */
void at_ptx_instruction_source(const struct at_ptx_kernel *kernel, size_t index,
                               struct at_ptx_source *here, struct at_ptx_source *caller);

#endif
