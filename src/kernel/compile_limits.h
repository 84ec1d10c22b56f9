/* SPDX-License-Identifier: Apache-2.0 */
/* What a compile worker may take. A template can make the compiler compute for ever and fill any
 * memory (recursive templates, unrolled loops), and is nobody's trusted code. */
#ifndef AT_KERNEL_COMPILE_LIMITS_H
#define AT_KERNEL_COMPILE_LIMITS_H

#include <stdint.h>

/* For good: 2 GiB of memory, and no file may be written. */
void at_compile_limit_process(void);

/* From now on the process may compute so long; then it dies of SIGXCPU. */
void at_compile_limit_time(int64_t seconds);

#endif
