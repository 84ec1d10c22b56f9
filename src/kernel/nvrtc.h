/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, NVIDIA's run-time compiler, opened at run time. It needs no GPU and no driver. */
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

bool at_nvrtc_is_searching(const struct at_nvrtc *nvrtc); /* in such folders */

/* Has any part of the process loaded NVRTC? */
bool at_nvrtc_is_loaded(void);

/* Return the file that NVRTC was loaded from, as the loader names it. */
const char *at_nvrtc_path(void);

/* Find what at_nvrtc_open would determine for such a device and machine code, as the cache knows it
 * from another process. Loading NVRTC only to ask takes 8 ms, longer than the rest of loading a
 * cached kernel. False if NVRTC's file, or anything that leads the loader to it, has changed. Call
 * it only while no NVRTC is loaded: the loaded one may differ from the one that the loader would
 * find. cache == NULL finds nothing. */
struct at_cubin_cache;
bool at_nvrtc_recall(struct at_compiler *compiler, int64_t compute_capability,
                     struct at_cubin_cache *cache);

/* Keep what NVRTC says of itself in the cache. */
void at_nvrtc_remember(const struct at_nvrtc *nvrtc, int64_t compute_capability,
                       struct at_cubin_cache *cache);

/* List the compute capabilities it compiles for, ascending. The caller frees the array. */
enum at_status at_nvrtc_architectures(int **architectures, size_t *count, struct at_error *err);

/* Does compiling in several threads at once save time? (NVRTC User Guide, "Multithreading": since
 * 12.3 they run the optimizer at once.) */
bool at_nvrtc_is_concurrent(const struct at_nvrtc *nvrtc);

/* Compile source, which may include header under the name AT_TEMPLATE_HEADER, CUDA's headers, and
 * stand-ins for those of the C library. *log (never NULL) is
 * the compiler's log, with each kernel's resources if `report`. *image is NULL if NVRTC refused the
 * source. The caller frees both. With a report, errors of ptxas are missing from the log (NVRTC
 * 13.0). Several threads may compile with one NVRTC. */
enum at_status at_nvrtc_compile(struct at_nvrtc *nvrtc, const char *source, const char *header,
                                bool report, void **image, size_t *size, char **log,
                                struct at_error *err);

#endif
