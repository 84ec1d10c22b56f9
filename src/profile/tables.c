/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of each record of a profile, in alphabetical order, with the bounds of each number.
 * Bounds refuse nonsense before anything computes with it. check.c checks the numbers against each
 * other.
 */
#include "device/schema.h"
#include "measure/limits.h"
#include "profile/internal.h"
#include "schema/table.h"
#include "space/space.h"

#define COUNT_MAX    INT64_C(1000000000000)
#define PERMILLE_MAX INT64_C(1000000)

enum { DEVICES_MAX = 64, PARAMETERS_MAX = 24 };

enum at_status at_profile_check_counts(const struct at_profile *profile, struct at_error *err)
{
    const struct at_device_record *records = profile->devices.items;

    if (profile->devices.count < 1)
        return at_fail(err, AT_USAGE, "it is empty: a profile has at least one device");
    if (profile->devices.count > DEVICES_MAX)
        return at_fail(err, AT_USAGE, "%zu devices are more than the %d that a profile may have",
                       profile->devices.count, DEVICES_MAX);
    for (size_t i = 0; i < profile->devices.count; i++)
        if (records[i].problems.count > AT_PROFILE_PROBLEMS_MAX)
            return at_fail(err, AT_USAGE,
                           "%zu problems are more than the %d that a device may have",
                           records[i].problems.count, AT_PROFILE_PROBLEMS_MAX);
    return AT_OK;
}

/* Unknown values are 0 or "", and not in the file: such fields are optional. */
#define WORD .word = true

static const struct at_field environment_fields[] = {
    AT_CHARS(at_environment, autotune),
    AT_CHARS(at_environment, cuda_driver, AT_OPTIONAL),
    AT_CHARS(at_environment, driver, AT_OPTIONAL),
    AT_CHARS(at_environment, nvrtc, AT_OPTIONAL),
    AT_CHARS(at_environment, nvrtc_identity, AT_OPTIONAL),
    AT_CHARS(at_environment, templates, AT_OPTIONAL),
};
static const struct at_schema environment_schema =
    AT_SCHEMA("an environment", at_environment, environment_fields);

static const struct at_field policy_fields[] = {
    AT_INT(at_policy_record, buffer_bytes, 0, AT_DEVICE_BYTES_MAX),
    AT_CHARS(at_policy_record, name, WORD),
    AT_INT(at_policy_record, search_samples, 1, 1000000),
    AT_INT(at_policy_record, shootout_samples, 1, 1000000),
    AT_INT(at_policy_record, train_ns, 0, AT_TIME_NS_MAX),
};
static const struct at_schema policy_schema =
    AT_SCHEMA("a measurement policy", at_policy_record, policy_fields);

static const struct at_field conditions_fields[] = {
    AT_INT(at_conditions, capped_ms, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_memory_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_sm_max_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_sm_min_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, discarded_samples, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, drifts, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, other_processes, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, power_max_mw, 0, 100000000, AT_OPTIONAL),
    AT_INT(at_conditions, remeasured, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, slowed_ms, 0, INT64_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, temperature_max_c, 0, 1000, AT_OPTIONAL),
    AT_CHARS(at_conditions, throttle, AT_OPTIONAL),
};
static const struct at_schema conditions_schema =
    AT_SCHEMA("measurement conditions", at_conditions, conditions_fields);

static const struct at_field result_fields[] = {
    AT_INT(at_result_record, bandwidth_mbps, 0, AT_DEVICE_BANDWIDTH_MBPS_MAX),
    AT_LIST(at_result_record, block, AT_FIELD_INTS, 3, 3),
    AT_INT(at_result_record, clock_sm_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_CHARS(at_result_record, family, WORD),
    AT_LIST(at_result_record, grid, AT_FIELD_INTS, 3, 3),
    AT_INT(at_result_record, of_copy_permille, 0, PERMILLE_MAX),
    AT_LIST(at_result_record, parameters, AT_FIELD_NAMED_INTS, 0, PARAMETERS_MAX),
    AT_INT(at_result_record, registers, 0, AT_REGISTERS_MAX),
    AT_INT(at_result_record, samples, 1, 1000000),
    AT_INT(at_result_record, shared_bytes, 0, AT_SHARED_BYTES_MAX),
    AT_INT(at_result_record, spill_bytes, 0, AT_SPILL_BYTES_MAX),
    AT_INT(at_result_record, spread_permille, 0, PERMILLE_MAX),
    AT_INT(at_result_record, time_high_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_INT(at_result_record, time_low_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_INT(at_result_record, time_ns, 1, AT_TIME_NS_MAX),
};
static const struct at_schema result_schema =
    AT_SCHEMA("a result", at_result_record, result_fields);

static const struct at_field copy_fields[] = {
    AT_INT(at_copy_record, bandwidth_mbps, 0, AT_DEVICE_BANDWIDTH_MBPS_MAX),
    AT_INT(at_copy_record, memcpy_ns, 0, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_CHARS(at_copy_record, method),
    AT_INT(at_copy_record, time_ns, 1, AT_TIME_NS_MAX),
};
static const struct at_schema copy_schema = AT_SCHEMA("a copy limit", at_copy_record, copy_fields);

#define OUTCOME(name, outcome)                                                                     \
    AT_FIELD(at_evaluations, name, counts[outcome], .kind = AT_FIELD_INT, .max = COUNT_MAX)

static const struct at_field evaluations_fields[] = {
    OUTCOME("compile", AT_COMPILE),
    OUTCOME("correct", AT_CORRECT),
    OUTCOME("crash", AT_CRASH),
    OUTCOME("launch", AT_LAUNCH),
    OUTCOME("oom", AT_OOM),
    AT_INT(at_evaluations, raw, 0, AT_RAW_MAX),
    AT_INT(at_evaluations, space, 0, COUNT_MAX),
    OUTCOME("timeout", AT_TIMEOUT),
    OUTCOME("wrong", AT_WRONG),
};
static const struct at_schema evaluations_schema =
    AT_SCHEMA("evaluation counts", at_evaluations, evaluations_fields);

static const struct at_field entry_fields[] = {
    AT_INT(at_entry, complete, 0, 1),
    AT_OBJECT(at_entry, "copy", copy, copy_schema),
    AT_OBJECT(at_entry, "default", fallback, result_schema, AT_OPTIONAL),
    AT_OBJECT(at_entry, "evaluations", evaluations, evaluations_schema),
    AT_INT(at_entry, from_l2, 0, 1),
    AT_CHARS(at_entry, problem),
    AT_CHARS(at_entry, search, WORD),
    AT_INT(at_entry, seed, 0, INT64_MAX),
    AT_INT(at_entry, settled, 0, 1, AT_OPTIONAL),
    AT_OBJECT(at_entry, "winner", winner, result_schema),
};
const struct at_schema at_entry_schema = AT_SCHEMA("a problem", at_entry, entry_fields);

static const struct at_field device_record_fields[] = {
    AT_OBJECT(at_device_record, "conditions", conditions, conditions_schema),
    AT_OBJECT(at_device_record, "device", device, at_device_schema),
    AT_OBJECT(at_device_record, "environment", environment, environment_schema),
    AT_OBJECT(at_device_record, "policy", policy, policy_schema),
    AT_LIST(at_device_record, problems, AT_FIELD_OBJECTS, 0, AT_PROFILE_PROBLEMS_MAX,
            .object = &at_entry_schema),
};
static const struct at_schema device_record_schema =
    AT_SCHEMA("a tuned device", at_device_record, device_record_fields);

static const struct at_field profile_fields[] = {
    AT_LIST(at_profile, devices, AT_FIELD_OBJECTS, 1, DEVICES_MAX, .object = &device_record_schema),
    AT_INT(at_profile, schema, AT_PROFILE_SCHEMA, AT_PROFILE_SCHEMA),
};
const struct at_schema at_profile_schema = AT_SCHEMA("a profile", at_profile, profile_fields);
