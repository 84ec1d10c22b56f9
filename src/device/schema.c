/* SPDX-License-Identifier: Apache-2.0 */
#include "device/schema.h"

#include "device/info.h"
#include "schema/table.h"

/* Optional fields may be unknown: they are then 0 or empty, and not in the file. */
#define WORD .word = true
static const struct at_field device_fields[] = {
    AT_CHARS(at_device_info, name),
    AT_CHARS(at_device_info, kind, WORD),
    AT_CHARS(at_device_info, predictions, AT_OPTIONAL),
    AT_CHARS(at_device_info, uuid, AT_OPTIONAL),
    AT_INT(at_device_info, ordinal, 0, 65535),
    AT_CHARS(at_device_info, pci_bus_id, AT_OPTIONAL),
    AT_HEX(at_device_info, pci_device_id, UINT32_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, compute_capability, 10, 999),
    AT_INT(at_device_info, multiprocessors, 1, 65536),
    AT_INT(at_device_info, memory_bytes, 1, AT_DEVICE_BYTES_MAX),
    AT_INT(at_device_info, memory_clock_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, memory_bus_bits, 0, 1 << 20, AT_OPTIONAL),
    AT_INT(at_device_info, peak_bandwidth_MB_per_s, 0, AT_DEVICE_BANDWIDTH_MB_PER_S_MAX,
           AT_OPTIONAL),
    AT_INT(at_device_info, l2_bytes, 0, AT_DEVICE_BYTES_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, warp_size, 1, 1024),
    AT_INT(at_device_info, max_threads_per_block, 1, 65536),
    AT_INT(at_device_info, max_threads_per_multiprocessor, 1, 65536),
    AT_INT(at_device_info, registers_per_multiprocessor, 1, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_block, 0, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_block_optin, 0, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_multiprocessor, 0, 1 << 24),
};
const struct at_schema at_device_schema = AT_SCHEMA("a device", at_device_info, device_fields);
