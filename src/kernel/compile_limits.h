/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a compile worker. A template is not trusted: recursive templates or unrolled loops can
 * keep the compiler busy for ever and fill any memory. */
#ifndef AT_KERNEL_COMPILE_LIMITS_H
#define AT_KERNEL_COMPILE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Off with AddressSanitizer and ThreadSanitizer: their shadow would count as memory, and their
 * reports may go to a file. */
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

/* Limit this process for good: 2 GiB of memory, 64 MiB of stack, no writing of files, and a lower
 * priority. */
void at_compile_limit_process(void);

/* Let this process open no more files for reading for good, but for those in these folders or
 * below, and the system's libraries. False: this system cannot do it (Linux before 5.13, some
 * containers).
 */
bool at_compile_limit_files(const char *const *folders, size_t count);

/* Limit the processor time from now on; the process then dies of SIGXCPU. */
void at_compile_limit_time(int64_t seconds);

#endif
