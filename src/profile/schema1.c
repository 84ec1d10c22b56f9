/* SPDX-License-Identifier: Apache-2.0 */
/* Reads schema 1 of profiles for `autotune convert`. What later schemas share with it, bounds
 * included, is in tables.c. */
#include "base/memory.h"
#include "device/schema.h"
#include "measure/limits.h"
#include "profile/internal.h"
#include "schema/table.h"
#include "space/space.h"

/* An entry, with what schema 1 says otherwise. */
struct entry1 {
    struct at_entry entry;
    int64_t complete, settled, from_l2;
};

#define RENAMED(record, name, member, high, ...)                                                   \
    AT_FIELD(record, name, member, .kind = AT_FIELD_INT, .max = (high), __VA_ARGS__)

static const struct at_field device_fields[] = {
    AT_INT(at_device_info, compute_capability, 10, 999),
    AT_CHARS(at_device_info, kind, .word = true),
    AT_INT(at_device_info, l2_bytes, 0, AT_DEVICE_BYTES_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, max_threads_per_block, 1, 65536),
    AT_INT(at_device_info, max_threads_per_multiprocessor, 1, 65536),
    AT_INT(at_device_info, memory_bus_bits, 0, 1 << 20, AT_OPTIONAL),
    AT_INT(at_device_info, memory_bytes, 1, AT_DEVICE_BYTES_MAX),
    AT_INT(at_device_info, memory_clock_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, multiprocessors, 1, 65536),
    AT_CHARS(at_device_info, name),
    AT_INT(at_device_info, ordinal, 0, 65535),
    AT_CHARS(at_device_info, pci_bus_id, AT_OPTIONAL),
    AT_INT(at_device_info, pci_device_id, 0, UINT32_MAX, AT_OPTIONAL),
    RENAMED(at_device_info, "peak_bandwidth_mbps", peak_bandwidth_MB_per_s,
            AT_DEVICE_BANDWIDTH_MB_PER_S_MAX, AT_OPTIONAL),
    AT_CHARS(at_device_info, predictions, AT_OPTIONAL),
    AT_INT(at_device_info, registers_per_multiprocessor, 1, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_block, 0, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_block_optin, 0, 1 << 24),
    AT_INT(at_device_info, shared_bytes_per_multiprocessor, 0, 1 << 24),
    AT_CHARS(at_device_info, uuid, AT_OPTIONAL),
    AT_INT(at_device_info, warp_size, 1, 1024),
};
static const struct at_schema device_schema = AT_SCHEMA("a device", at_device_info, device_fields);

static const struct at_field conditions_fields[] = {
    AT_COUNTER(at_conditions, capped_ms, AT_OPTIONAL),
    AT_INT(at_conditions, clock_memory_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_sm_max_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_sm_min_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_COUNTER(at_conditions, discarded_samples, AT_OPTIONAL),
    AT_COUNTER(at_conditions, drifts, AT_OPTIONAL),
    AT_COUNTER(at_conditions, other_processes, AT_OPTIONAL),
    RENAMED(at_conditions, "power_max_mw", power_max_mW, AT_POWER_MW_MAX, AT_OPTIONAL),
    AT_COUNTER(at_conditions, remeasured, AT_OPTIONAL),
    AT_COUNTER(at_conditions, slowed_ms, AT_OPTIONAL),
    AT_INT(at_conditions, temperature_max_c, 0, AT_TEMPERATURE_C_MAX, AT_OPTIONAL),
    AT_CHARS(at_conditions, throttle, AT_OPTIONAL),
};
static const struct at_schema conditions_schema =
    AT_SCHEMA("measurement conditions", at_conditions, conditions_fields);

static const struct at_field result_fields[] = {
    RENAMED(at_result_record, "bandwidth_mbps", bandwidth_MB_per_s,
            AT_DEVICE_BANDWIDTH_MB_PER_S_MAX),
    AT_LIST(at_result_record, block, AT_FIELD_INTS, 3, 3),
    AT_INT(at_result_record, clock_sm_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_CHARS(at_result_record, family, .word = true),
    AT_LIST(at_result_record, grid, AT_FIELD_INTS, 3, 3),
    AT_INT(at_result_record, of_copy_permille, 0, AT_PERMILLE_MAX),
    AT_LIST(at_result_record, parameters, AT_FIELD_NAMED_INTS, 0, AT_PARAMETERS_MAX),
    AT_INT(at_result_record, registers, 0, AT_REGISTERS_MAX),
    AT_INT(at_result_record, samples, 1, 1000000),
    AT_INT(at_result_record, shared_bytes, 0, AT_SHARED_BYTES_MAX),
    AT_INT(at_result_record, spill_bytes, 0, AT_SPILL_BYTES_MAX),
    AT_INT(at_result_record, spread_permille, 0, AT_PERMILLE_MAX),
    AT_INT(at_result_record, time_high_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_INT(at_result_record, time_low_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_INT(at_result_record, time_ns, 1, AT_TIME_NS_MAX),
};
static const struct at_schema result_schema =
    AT_SCHEMA("a result", at_result_record, result_fields);

static const struct at_field copy_fields[] = {
    RENAMED(at_copy_record, "bandwidth_mbps", bandwidth_MB_per_s, AT_DEVICE_BANDWIDTH_MB_PER_S_MAX),
    AT_INT(at_copy_record, memcpy_ns, 0, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_CHARS(at_copy_record, method),
    AT_INT(at_copy_record, time_ns, 1, AT_TIME_NS_MAX),
};
static const struct at_schema copy_schema = AT_SCHEMA("a copy limit", at_copy_record, copy_fields);

#define OUTCOME(name, outcome) RENAMED(at_evaluations, name, counts[outcome], AT_CONFIGS_MAX)

static const struct at_field evaluations_fields[] = {
    OUTCOME("compile", AT_COMPILE),
    OUTCOME("correct", AT_CORRECT),
    OUTCOME("crash", AT_CRASH),
    OUTCOME("launch", AT_LAUNCH),
    OUTCOME("oom", AT_OOM),
    RENAMED(at_evaluations, "raw", points, AT_RAW_MAX),
    RENAMED(at_evaluations, "space", configs, AT_CONFIGS_MAX),
    OUTCOME("timeout", AT_TIMEOUT),
    OUTCOME("wrong", AT_WRONG),
};
static const struct at_schema evaluations_schema =
    AT_SCHEMA("evaluation counts", at_evaluations, evaluations_fields);

static const struct at_field entry_fields[] = {
    AT_INT(entry1, complete, 0, 1),
    AT_OBJECT(entry1, "copy", entry.copy, copy_schema),
    AT_OBJECT(entry1, "default", entry.fallback, result_schema, AT_OPTIONAL),
    AT_OBJECT(entry1, "evaluations", entry.evaluations, evaluations_schema),
    AT_INT(entry1, from_l2, 0, 1),
    AT_FIELD(entry1, "problem", entry.problem, .kind = AT_FIELD_TEXT, .max = 159),
    AT_FIELD(entry1, "search", entry.search, .kind = AT_FIELD_CHARS, .max = 32, .word = true),
    RENAMED(entry1, "seed", entry.seed, INT64_MAX),
    AT_INT(entry1, settled, 0, 1, AT_OPTIONAL),
    AT_OBJECT(entry1, "winner", entry.winner, result_schema),
};
static const struct at_schema entry_schema = AT_SCHEMA("a problem", entry1, entry_fields);

static const struct at_field device_record_fields[] = {
    AT_OBJECT(at_device_record, "conditions", conditions, conditions_schema),
    AT_OBJECT(at_device_record, "device", device, device_schema),
    AT_OBJECT(at_device_record, "environment", environment, at_environment_schema),
    AT_OBJECT(at_device_record, "policy", policy, at_policy_schema),
    AT_OBJECTS(at_device_record, problems, 0, AT_PROFILE_PROBLEMS_MAX, entry_schema),
};
static const struct at_schema device_record_schema =
    AT_SCHEMA("a tuned device", at_device_record, device_record_fields);

static const struct at_field profile_fields[] = {
    AT_OBJECTS(at_profile, devices, 1, AT_DEVICES_MAX, device_record_schema),
    AT_INT(at_profile, schema, 1, 1),
};
static const struct at_schema profile_schema = AT_SCHEMA("a profile", at_profile, profile_fields);

/* Schema 1 does not tell a budget from an interruption. */
static struct at_entry entry_of(const struct entry1 *old)
{
    struct at_entry entry = old->entry;

    entry.from_l2 = old->from_l2;
    entry.ended = old->complete  ? AT_ENDED_EXHAUSTED
                  : old->settled ? AT_ENDED_SETTLED
                                 : AT_ENDED_UNKNOWN;
    return entry;
}

static struct at_list entries_of(struct at_list *list)
{
    const struct entry1 *old = list->items;
    struct at_entry *entries = list->count ? at_alloc_array(list->count, sizeof *entries) : NULL;

    for (size_t i = 0; i < list->count; i++)
        entries[i] = entry_of(&old[i]);
    at_free(list->items);
    return (struct at_list){entries, list->count};
}

enum at_status at_profile_parse_schema1(struct at_profile *profile, const char *name,
                                        const char *text, size_t size, struct at_error *err)
{
    enum at_status status = at_schema_read(&profile_schema, profile, name, text, size, err);
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; status == AT_OK && i < profile->devices.count; i++)
        records[i].problems = entries_of(&records[i].problems);
    profile->schema = AT_PROFILE_SCHEMA;
    return status;
}
