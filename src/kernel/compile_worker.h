/* SPDX-License-Identifier: Apache-2.0 */
/* The compile worker: NVRTC in a process of its own, one program at a time. Processes, because
 * threads of one process stop helping at about four: NVRTC shares locks and its allocator. */
#ifndef AT_KERNEL_COMPILE_WORKER_H
#define AT_KERNEL_COMPILE_WORKER_H

#include "base/error.h"
#include "worker/worker.h"

#include <stdbool.h>
#include <stddef.h>

/* Requests, each answered by a frame of the same type. */
enum at_compile_request {
    /* int compute_capability, int enum at_image, int seconds of processor time per program, text
     * header, text version of the program -> int status, then struct at_compiler or text message */
    AT_COMPILE_HELLO = 1,
    /* text source, count of entries, text each -> int status (AT_OK, AT_FAILED: refused, AT_DEVICE:
     * a part of NVRTC is missing), then
     * struct at_kernel_resources for each entry and bytes image, or text message */
    AT_COMPILE_PROGRAM,
    /* text source, text folder of what it includes -> int status (AT_OK, AT_FAILED: refused), then
     * bytes image and text log, or text message */
    AT_COMPILE_SOURCE,
    /* -> text NVRTC's file, int 1: its built-in declarations are there, text folder of CUDA's
     * headers
     * ("": none), int version of these */
    AT_COMPILE_PARTS,
};

#define AT_COMPILE_ROLE "compile"
extern const struct at_worker_role at_compile_worker;

/* A worker limits itself: to 2 GiB of memory, 64 MiB of stack, its folders, a time per program, and
 * no writing of files. A template is not trusted: recursive templates or unrolled loops can keep
 * the compiler busy for ever and fill any memory.
 *
 * No limits with AddressSanitizer and ThreadSanitizer: their shadow would count as memory, and
 * their reports may go to a file. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define AT_COMPILE_LIMITS 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define AT_COMPILE_LIMITS 0
#endif
#endif
#ifndef AT_COMPILE_LIMITS
#define AT_COMPILE_LIMITS 1
#endif

/* What a user's file may include lies in these folders or below. It may come from a stranger, and a
 * compiler's message or the kernel itself could show what other files hold. All is borrowed. */
struct at_include_folders {
    const char *const *own; /* absolute: the file's, then those of --include-dir */
    size_t own_count;
    const char *const *cuda; /* of CUDA's headers */
    size_t cuda_count;
};

/* Look at all #include directives of a text, and of the files in its own folders that these name,
 * be they in #if or in a comment. Each file is only opened if it is a regular one. `alone`: no
 * other guard keeps the compiler from files outside of the folders, so directives that name one are
 * refused, and so are directives with a macro, since its value is not known here. AT_FAILED: a
 * directive is refused; the message has the file, called `name` if it is the text, and the line. */
enum at_status at_included_files_check(const char *name, const char *text,
                                       const struct at_include_folders *folders, bool alone,
                                       struct at_error *err);

#endif
