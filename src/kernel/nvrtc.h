/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC, NVIDIA's run-time compiler, opened at run time. It needs no GPU and no driver. */
#ifndef AT_KERNEL_NVRTC_H
#define AT_KERNEL_NVRTC_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_nvrtc;

/* What a compilation gives. */
enum at_image {
    AT_IMAGE_CUBIN,     /* machine code of the device, or PTX where it is newer than this NVRTC */
    AT_IMAGE_PTX,       /* what the emulated device runs */
    AT_IMAGE_PTX_ALONE, /* the same, sooner: no machine code is made, so there is no report */
};

/* What the meaning of a compilation depends on besides the source. */
struct at_compiler {
    char version[16];  /* "13.0" */
    char identity[48]; /* the library's build id, or its version where it has none */
    char options[256]; /* separated by spaces */
    bool ptx;          /* the image is PTX */
};

/* Opens NVRTC and settles the options for a device of this compute capability (90 for 9.0).
 * AT_DEVICE where there is no NVRTC or none for such a device. */
enum at_status at_nvrtc_open(struct at_nvrtc **nvrtc, int64_t compute_capability,
                             enum at_image image, struct at_error *err);
void at_nvrtc_close(struct at_nvrtc *nvrtc);

const struct at_compiler *at_nvrtc_compiler(const struct at_nvrtc *nvrtc);

/* Is one loaded into the process, by whomever? */
bool at_nvrtc_is_loaded(void);

/* The file that it was opened from, as the loader names it. */
const char *at_nvrtc_path(void);

/* What is asked of the loader and of the library, which decides what there is: names, folder and
 * options; the caller frees it. */
char *at_nvrtc_request(void);

/* The compute capabilities it compiles for, ascending; the caller frees the array. */
enum at_status at_nvrtc_architectures(int **architectures, size_t *count, struct at_error *err);

/* Do threads that compile at the same time get done sooner? (NVRTC User Guide, "Multithreading":
 * since 12.3 the optimizer runs in them at once.) */
bool at_nvrtc_is_concurrent(const struct at_nvrtc *nvrtc);

/* Compiles source, which may include header under the name AT_TEMPLATE_HEADER. *log (never NULL) is
 * the compiler's log, with each kernel's resources if `report`; *image is NULL if it refused the
 * source. The caller frees both. With a report, errors of ptxas are missing from the log (NVRTC
 * 13.0). Several threads may compile with one NVRTC. */
enum at_status at_nvrtc_compile(struct at_nvrtc *nvrtc, const char *source, const char *header,
                                bool report, void **image, size_t *size, char **log,
                                struct at_error *err);

#endif
