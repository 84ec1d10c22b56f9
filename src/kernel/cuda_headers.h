/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA's headers, for kernels that include some (cuda_fp16.h, cooperative_groups.h, libcu++). NVRTC
 * has none of its own. */
#ifndef AT_KERNEL_CUDA_HEADERS_H
#define AT_KERNEL_CUDA_HEADERS_H

#include "base/hash.h"

/* Return the folder of CUDA's headers: the one that AUTOTUNE_CUDA_INCLUDE
 * names, else, of those with cuda_fp16.h, the first of NVRTC's version (100 * major + minor), else
 * the first. The order: near the NVRTC library at nvrtc_path, below CUDA_HOME and CUDA_PATH, near
 * configure's, in the system. NULL: there is none. The caller frees it. */
char *at_cuda_headers_find(const char *nvrtc_path, int version);

/* Return the version of the headers in a folder, 100 * major + minor; 0: its cuda.h says none. */
int at_cuda_headers_version(const char *folder);

/* Return the folder of libcu++ for headers in a folder, if it is another; otherwise NULL. The
 * caller frees it. */
char *at_cuda_headers_libcuxx(const char *folder);

/* Identify what a kernel gets by including: the headers of the folder (NULL: none) as they are now,
 * and the stand-ins. Where nothing is included it does not matter. */
void at_cuda_headers_identify(char identity[AT_HASH_CHARS], const char *folder);

/* Return the environment that the search depends on; the caller frees it. */
char *at_cuda_headers_request(void);

/* Stand-ins for the headers of the C and C++ libraries, which NVRTC does not have either. Most are
 * empty: NVRTC itself declares printf, assert and the mathematical functions. */
enum { AT_STANDARD_HEADERS_MAX = 160 };
extern const char *const at_standard_header_names[];
extern const char *const at_standard_header_texts[];
extern const int at_standard_headers;

#endif
