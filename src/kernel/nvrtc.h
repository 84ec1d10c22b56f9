/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, NVIDIA's run-time compiler, opened at run time. It needs no GPU and no driver. Compiles
 * one program, and reads the compiler's log: resources and errors. */
#ifndef AT_KERNEL_NVRTC_H
#define AT_KERNEL_NVRTC_H

#include "base/error.h"
#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_nvrtc;

/* What a compilation makes. */
enum at_image {
    AT_IMAGE_CUBIN,     /* machine code; or PTX if the device is newer than this NVRTC */
    AT_IMAGE_PTX,       /* what the emulated device runs */
    AT_IMAGE_PTX_ALONE, /* PTX only, faster: no machine code, so no report */
};

/* What a compilation's result depends on besides the source. */
struct at_compiler {
    char version[16];            /* "13.0" */
    char identity[48];           /* the library's build id, or its version if it has none */
    char options[256];           /* separated by spaces */
    char headers[AT_HASH_CHARS]; /* of a source that includes any: at_cuda_headers_identify */
    bool ptx;                    /* the image is PTX */
};

/* Open NVRTC and choose the options for a device of this compute capability (90 for 9.0). AT_DEVICE
 * if there is no NVRTC, or none for such a device. */
enum at_status at_nvrtc_open(struct at_nvrtc **nvrtc, int64_t compute_capability,
                             enum at_image image, struct at_error *err);
void at_nvrtc_close(struct at_nvrtc *nvrtc);

const struct at_compiler *at_nvrtc_compiler(const struct at_nvrtc *nvrtc);

/* 100 * major + minor. */
int at_nvrtc_version(const struct at_nvrtc *nvrtc);

/* The folder of CUDA's headers that sources can include; NULL: none was found. */
const char *at_nvrtc_headers(const struct at_nvrtc *nvrtc);

/* List the folders of CUDA's headers: these, and libcu++ where it lies elsewhere. Borrowed; returns
 * how many. */
enum { AT_HEADER_FOLDERS_MAX = 2 };
size_t at_nvrtc_header_folders(const struct at_nvrtc *nvrtc,
                               const char *folders[AT_HEADER_FOLDERS_MAX]);

/* Compile a user's file as it stands: what it includes is looked for in these folders too, before
 * CUDA's, and all that NVRTC declares is there. The first is the file's. They are borrowed. */
void at_nvrtc_search(struct at_nvrtc *nvrtc, const char *const *folders, size_t count);

/* Make these instances of the templates of a user's file, such as "scale<float>". Borrowed. */
void at_nvrtc_instantiate(struct at_nvrtc *nvrtc, const char *const *names, size_t count);

/* Name the NVRTC for this process and its workers, a file or a name for the loader, in place of
 * what AUTOTUNE_NVRTC names. AT_USAGE if NVRTC is open already, or another name was given before.
 */
enum at_status at_nvrtc_name(const char *name, struct at_error *err);

/* Has any part of the process loaded NVRTC? */
bool at_nvrtc_is_loaded(void);

/* What determines which NVRTC is loaded and how it is called: names, folder and options. The caller
 * frees it. */
char *at_nvrtc_request(void);

/* Return the file that NVRTC was loaded from, as the loader names it. */
const char *at_nvrtc_path(void);

/* List the compute capabilities it compiles for, ascending. The caller frees the array. */
enum at_status at_nvrtc_architectures(int **architectures, size_t *count, struct at_error *err);

/* Does compiling in several threads at once save time? (NVRTC User Guide, "Multithreading": since
 * 12.3 they run the optimizer at once.) */
static inline bool at_nvrtc_is_concurrent(const struct at_nvrtc *nvrtc)
{
    return at_nvrtc_version(nvrtc) >= 1203;
}

/* What ptxas reports of a kernel. */
struct at_kernel_resources {
    int64_t registers;    /* per thread */
    int64_t spill_bytes;  /* stores and loads per thread */
    int64_t shared_bytes; /* static, per block */
};

/* Read the report on one entry from a log of `ptxas -v`. Zeroes if there is none. */
struct at_kernel_resources at_ptxas_resources(const char *log, const char *entry);

/* Copy the first error of a log, on one line, cut to capacity. If it has no error: false, and the
 * log's first line. If the log is empty: false, and a text that says so. */
bool at_compile_first_error(const char *log, char *text, size_t capacity);

/* What a message says of a file that may not be included. */
#define AT_INCLUDE_FOLDERS                                                                         \
    "a file includes what lies in its own folder, in those of --include-dir, and CUDA's headers"

/* A compiled program; the caller frees image and log. */
struct at_compilation {
    void *image; /* NULL: NVRTC refused the source */
    size_t size;
    char *log; /* the compiler's, never NULL */
};

/* Compile source, which may include header under the name AT_TEMPLATE_HEADER, CUDA's headers, and
 * stand-ins for those of the C library. The log has each kernel's resources if `report`. Then
 * errors of ptxas are missing from it (NVRTC 13.0). Several threads may compile with one NVRTC. */
enum at_status at_nvrtc_compile(struct at_compilation *compiled, const struct at_nvrtc *nvrtc,
                                const char *source, const char *header, bool report,
                                struct at_error *err);

/* The same with a report. AT_FAILED: NVRTC refuses the source; the message is its first error, with
 * advice, in fewer than message_chars bytes. */
enum at_status at_compile(struct at_compilation *compiled, const struct at_nvrtc *nvrtc,
                          const char *source, const char *header, size_t message_chars,
                          struct at_error *err);

#endif
