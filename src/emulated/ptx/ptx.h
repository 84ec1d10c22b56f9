/* SPDX-License-Identifier: Apache-2.0 */
/* Reads PTX into kernels that emulated/machine/machine.h runs: the text that NVRTC makes of the
 * templates, as the PTX ISA (version 9.0 for CUDA 13) defines it. Unknown text is an error that
 * names it, never a guess. Malformed or hostile text is an error, never a crash. */
#ifndef AT_EMULATED_PTX_PTX_H
#define AT_EMULATED_PTX_PTX_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct at_ptx_module;
struct at_ptx_kernel; /* emulated/machine/op.h */

/* Reads a module of at most 64 MiB, which the caller frees. AT_USAGE names the line and the error.
 * An unknown instruction is an error of its kernel, reported by at_ptx_find, so the other kernels
 * of the module can run. */
enum at_status at_ptx_read(struct at_ptx_module **module, const char *text, size_t size,
                           struct at_error *err);
void at_ptx_free(struct at_ptx_module *module);

/* Finds the kernel of this name, which belongs to the module. AT_USAGE if there is none, or it has
 * an unknown instruction: the message names the instruction and its line. */
enum at_status at_ptx_find(const struct at_ptx_module *module, const char *name,
                           const struct at_ptx_kernel **kernel, struct at_error *err);

/* A line of the source, if the compiler ran with -lineinfo; else "" and 0. */
struct at_ptx_source {
    const char *file; /* the name given to the compiler; belongs to the module */
    int line;
};

/* The source of instruction `index`, and the place where it was inlined; without inlining, both are
 * the same. */
void at_ptx_instruction_source(const struct at_ptx_kernel *kernel, size_t index,
                               struct at_ptx_source *here, struct at_ptx_source *caller);

#endif
