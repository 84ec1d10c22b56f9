/* SPDX-License-Identifier: Apache-2.0 */
/* The schema of a device in files, and the bounds of its figures. */
#ifndef AT_DEVICE_SCHEMA_H
#define AT_DEVICE_SCHEMA_H

#include "schema/schema.h"

#define AT_DEVICE_BYTES_MAX              ((int64_t)1 << 50)
#define AT_DEVICE_BANDWIDTH_MB_PER_S_MAX INT64_C(1000000000)
#define AT_DEVICE_CLOCK_KHZ_MAX          INT64_C(100000000)

extern const struct at_schema at_device_schema; /* of struct at_device_info */

#endif
