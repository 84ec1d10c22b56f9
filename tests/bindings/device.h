/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU's memory, for the programs in several languages that transpose lists of problems. A CUDA
 * call that fails ends the program with code 3. */
#ifndef AT_TESTS_BINDINGS_DEVICE_H
#define AT_TESTS_BINDINGS_DEVICE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Make the primary context of the first GPU current. */
void device_open(void);

/* Allocate memory of the GPU and copy these bytes there. Returns the address. */
void *device_put(const void *bytes, size_t count);

/* Wait for all that was started, read the memory at this address, and free it. */
void device_take(void *bytes, void *address, size_t count);

#ifdef __cplusplus
}
#endif

#endif
