/* SPDX-License-Identifier: Apache-2.0 */
/* What a compile worker may take. A template can make the compiler compute for ever and fill any
 * memory (recursive templates, unrolled loops), and is nobody's trusted code. */
#ifndef AT_KERNEL_COMPILE_LIMITS_H
#define AT_KERNEL_COMPILE_LIMITS_H

#include <stdint.h>

/* Not with AddressSanitizer: its shadow would count as memory, and its reports may go to a file. */
#if defined __SANITIZE_ADDRESS__
#define AT_COMPILE_LIMITS 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define AT_COMPILE_LIMITS 0
#endif
#endif
#ifndef AT_COMPILE_LIMITS
#define AT_COMPILE_LIMITS 1
#endif

/* For good: 2 GiB of memory, 64 MiB of stack, no file may be written, and others go before it. */
void at_compile_limit_process(void);

/* From now on the process may compute so long; then it dies of SIGXCPU. */
void at_compile_limit_time(int64_t seconds);

#endif
