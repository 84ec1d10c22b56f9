/* SPDX-License-Identifier: Apache-2.0 */
/* A driver with one H200 that runs nothing. It replaces libcuda in the program that links it. Its
 * context is always current. */
#ifndef AT_TESTS_UNIT_FAKE_CUDA_H
#define AT_TESTS_UNIT_FAKE_CUDA_H

#include <stdbool.h>

/* Whether there is a driver. Once a call has found it, it stays. */
extern bool fake_cuda_is_there;

/* Counts of loaded modules and of launches. */
extern int fake_cuda_modules, fake_cuda_launches;

#endif
