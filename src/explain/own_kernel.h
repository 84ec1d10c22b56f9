/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel in a CUDA file of the user: its launch and its arguments, as the options give them. It
 * is explained, and compared with another one. */
#ifndef AT_EXPLAIN_OWN_KERNEL_H
#define AT_EXPLAIN_OWN_KERNEL_H

#include "explain/entry_point.h"
#include "explain/explain.h"
#include "explain/host_code.h"
#include "kernel/compile_source.h"

/* A file, compiled for a device. */
struct at_own_file {
    char *path, *text;
    struct at_compiled_source compiled;
    struct at_entry_points entries;
    struct at_host_launches launches; /* in its host code */
};

/* The kernel and its launch, as the user wrote them. What is missing is as in the file's first
 * launch of this kernel. All is borrowed. */
struct at_own_launch {
    const char *entry;        /* NULL: the file's only kernel, or the only one that it launches */
    const char *grid, *block; /* "X", "X,Y" or "X,Y,Z", each an expression */
    const char *shared;       /* bytes of dynamic shared memory; NULL: 0 */
    const char
        *check; /* what the results are compared with: a kernel, or NUMBER@FILE; NULL: nothing */
    const char *const *arguments;
    size_t argument_count;
};

/* Read and compile the zeroed file, which the caller clears; host code is left out where it keeps
 * the file from compiling. AT_USAGE: it, or a folder, cannot be
 * read. AT_FAILED: it does not compile. */
enum at_status at_own_file_read(struct at_own_file *file, const char *path,
                                const struct at_source_options *options,
                                const struct at_device_info *device, struct at_error *err);

/* Compile the text of a file that has no functions of the host. What at_own_file_read leaves out is
 * then blanked in *text, which may be another array. Fails as that does. */
enum at_status at_own_text_compile(char **text, const char *path,
                                   const struct at_source_options *options,
                                   int64_t compute_capability, struct at_error *err);

void at_own_file_clear(struct at_own_file *file);

/* Run a kernel of the file as at_explain does; it names file, entry, launch and arguments in the
 * explanation. AT_USAGE: entry, launch or arguments are wrong; the message names the kernel's
 * parameters. */
enum at_status at_own_kernel_explain(const struct at_own_file *file,
                                     const struct at_own_launch *launch,
                                     const struct at_device_info *device,
                                     const struct at_rates *rates, int64_t max_blocks,
                                     struct at_progress *progress,
                                     struct at_explanation *explanation, struct at_error *err);

/* Run all blocks of a launch, which has a `check`, and compare its buffers, bit for bit: with those
 * of another kernel of the file, which starts with the same data, or the argument with this number,
 * from 1 on, with the bytes of a file. reference: the other kernel's launch; NULL: it is launched
 * as this one. AT_FAILED: they differ, and the message names the first element; or a kernel has a
 * fault. AT_USAGE: there is nothing to compare. */
enum at_status at_own_kernel_check(const struct at_own_file *file,
                                   const struct at_own_launch *launch,
                                   const struct at_own_launch *reference,
                                   const struct at_device_info *device, struct at_error *err);

#endif
