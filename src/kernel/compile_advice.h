/* SPDX-License-Identifier: Apache-2.0 */
/* What to do about an error of the compiler, where its own words do not say. */
#ifndef AT_KERNEL_COMPILE_ADVICE_H
#define AT_KERNEL_COMPILE_ADVICE_H

#include "kernel/nvrtc.h"

/* Add advice to an error as at_compile_first_error gives it, in place. */
void at_compile_advise(const struct at_nvrtc *nvrtc, char *text, size_t capacity);

#endif
