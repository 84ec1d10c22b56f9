/* SPDX-License-Identifier: Apache-2.0 */
/* A driver with one H200 that runs nothing, in the place of libcuda in the program that it is
 * linked into. Its context is always current. */
#ifndef AT_TESTS_UNIT_FAKE_CUDA_H
#define AT_TESTS_UNIT_FAKE_CUDA_H

#include <stdbool.h>

/* Is there a driver? From the first call that finds it, it stays. */
extern bool fake_cuda_is_there;

/* Modules that are loaded, and launches that were asked for. */
extern int fake_cuda_modules, fake_cuda_launches;

#endif
