/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of each record of a profile, in the order in which a person reads them, with the bounds
 * of each number. Bounds refuse nonsense before anything computes with it. check.c checks the
 * numbers against each other. */
#include "device/schema.h"
#include "measure/measurement.h"
#include "profile/internal.h"
#include "schema/table.h"
#include "space/space.h"

/* Unknown values are 0 or "", and not in the file: such fields are optional. */
#define WORD .word = true

static const struct at_field environment_fields[] = {
    AT_CHARS(at_environment, autotune),
    AT_CHARS(at_environment, nvrtc, AT_OPTIONAL),
    AT_CHARS(at_environment, nvrtc_identity, AT_OPTIONAL),
    AT_CHARS(at_environment, driver, AT_OPTIONAL),
    AT_CHARS(at_environment, cuda_driver, AT_OPTIONAL),
};
static const struct at_schema environment_schema =
    AT_SCHEMA("an environment", at_environment, environment_fields);

static const struct at_field policy_fields[] = {
    AT_CHARS(at_policy_record, name, WORD),
    AT_INT(at_policy_record, buffer_bytes, 0, AT_DEVICE_BYTES_MAX),
    AT_INT(at_policy_record, train_ns, 0, AT_TIME_NS_MAX),
    AT_INT(at_policy_record, search_samples, 1, 1000000),
    AT_INT(at_policy_record, shootout_samples, 1, 1000000),
};
static const struct at_schema policy_schema =
    AT_SCHEMA("a measurement policy", at_policy_record, policy_fields);

static const struct at_field conditions_fields[] = {
    AT_INT(at_conditions, clock_sm_min_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_sm_max_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, clock_memory_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, power_max_mW, 0, AT_POWER_MW_MAX, AT_OPTIONAL),
    AT_INT(at_conditions, temperature_max_c, 0, AT_TEMPERATURE_C_MAX, AT_OPTIONAL),
    AT_CHARS(at_conditions, throttle, AT_OPTIONAL),
    AT_COUNTER(at_conditions, capped_ms, AT_OPTIONAL),
    AT_COUNTER(at_conditions, slowed_ms, AT_OPTIONAL),
    AT_COUNTER(at_conditions, other_processes, AT_OPTIONAL),
    AT_COUNTER(at_conditions, discarded_samples, AT_OPTIONAL),
    AT_COUNTER(at_conditions, drifts, AT_OPTIONAL),
    AT_COUNTER(at_conditions, remeasured, AT_OPTIONAL),
};
static const struct at_schema conditions_schema =
    AT_SCHEMA("measurement conditions", at_conditions, conditions_fields);

static const struct at_field further_fields[] = {
    AT_CHARS(at_further_launch, family, WORD),
    AT_LIST(at_further_launch, parameters, AT_FIELD_NAMED_INTS, 0, AT_PARAMETERS_MAX),
    AT_LIST(at_further_launch, grid, AT_FIELD_INTS, 3, 3),
    AT_LIST(at_further_launch, block, AT_FIELD_INTS, 3, 3),
    AT_INT(at_further_launch, registers, 0, AT_REGISTERS_MAX),
    AT_INT(at_further_launch, shared_bytes, 0, AT_SHARED_BYTES_MAX),
    AT_INT(at_further_launch, spill_bytes, 0, AT_SPILL_BYTES_MAX),
    AT_CHARS(at_further_launch, kernel, WORD, AT_OPTIONAL),
};
static const struct at_schema further_schema =
    AT_SCHEMA("a further launch", at_further_launch, further_fields);

/* The config, its time and what that means, and the launches. */
#define RESULT_FIELDS(...)                                                                         \
    AT_CHARS(at_result_record, family, WORD),                                                      \
        AT_LIST(at_result_record, parameters, AT_FIELD_NAMED_INTS, 0, AT_PARAMETERS_MAX,           \
                __VA_ARGS__),                                                                      \
        AT_INT(at_result_record, time_ns, 1, AT_TIME_NS_MAX),                                      \
        AT_INT(at_result_record, of_copy_permille, 0, AT_PERMILLE_MAX),                            \
        AT_INT(at_result_record, bandwidth_MB_per_s, 0, AT_DEVICE_BANDWIDTH_MB_PER_S_MAX),         \
        AT_INT(at_result_record, time_low_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),                     \
        AT_INT(at_result_record, time_high_ns, 1, AT_TIME_NS_MAX, AT_OPTIONAL),                    \
        AT_INT(at_result_record, spread_permille, 0, AT_PERMILLE_MAX),                             \
        AT_INT(at_result_record, samples, 1, 1000000),                                             \
        AT_INT(at_result_record, clock_sm_khz, 0, AT_DEVICE_CLOCK_KHZ_MAX, AT_OPTIONAL),           \
        AT_LIST(at_result_record, grid, AT_FIELD_INTS, 3, 3),                                      \
        AT_LIST(at_result_record, block, AT_FIELD_INTS, 3, 3),                                     \
        AT_INT(at_result_record, registers, 0, AT_REGISTERS_MAX),                                  \
        AT_INT(at_result_record, shared_bytes, 0, AT_SHARED_BYTES_MAX),                            \
        AT_INT(at_result_record, spill_bytes, 0, AT_SPILL_BYTES_MAX),                              \
        AT_CHARS(at_result_record, kernel, WORD, AT_OPTIONAL),                                     \
        AT_OBJECTS(at_result_record, further_launches, 0, AT_FURTHER_LAUNCHES_MAX, further_schema, \
                   AT_OPTIONAL),                                                                   \
        AT_INT(at_result_record, scratch_bytes, 0, AT_DEVICE_BYTES_MAX, AT_OPTIONAL)

static const struct at_field winner_fields[] = {RESULT_FIELDS()};
static const struct at_schema winner_schema =
    AT_SCHEMA("a result", at_result_record, winner_fields);

/* The device's defaults usually have the parameters. */
static const struct at_field fallback_fields[] = {RESULT_FIELDS(AT_OPTIONAL)};
static const struct at_schema fallback_schema =
    AT_SCHEMA("a result", at_result_record, fallback_fields);

static const struct at_field default_fields[] = {
    AT_CHARS(at_default_record, family, WORD),
    AT_LIST(at_default_record, parameters, AT_FIELD_NAMED_INTS, 1, AT_PARAMETERS_MAX),
};
static const struct at_schema default_schema =
    AT_SCHEMA("a default config", at_default_record, default_fields);

static const struct at_field copy_fields[] = {
    AT_CHARS(at_copy_record, method),
    AT_INT(at_copy_record, time_ns, 1, AT_TIME_NS_MAX),
    AT_INT(at_copy_record, bandwidth_MB_per_s, 0, AT_DEVICE_BANDWIDTH_MB_PER_S_MAX),
    AT_INT(at_copy_record, memcpy_ns, 0, AT_TIME_NS_MAX, AT_OPTIONAL),
    AT_CHARS(at_copy_record, kernel, WORD, AT_OPTIONAL),
};
static const struct at_schema copy_schema = AT_SCHEMA("a copy limit", at_copy_record, copy_fields);

#define OUTCOME(name, outcome)                                                                     \
    AT_FIELD(at_evaluations, name, counts[outcome], .kind = AT_FIELD_INT, .max = AT_CONFIGS_MAX)

static const struct at_field evaluations_fields[] = {
    AT_INT(at_evaluations, points, 0, AT_RAW_MAX),
    AT_INT(at_evaluations, configs, 0, AT_CONFIGS_MAX),
    OUTCOME("correct", AT_CORRECT),
    OUTCOME("compile", AT_COMPILE),
    OUTCOME("launch", AT_LAUNCH),
    OUTCOME("timeout", AT_TIMEOUT),
    OUTCOME("crash", AT_CRASH),
    OUTCOME("wrong", AT_WRONG),
    OUTCOME("oom", AT_OOM),
};
static const struct at_schema evaluations_schema =
    AT_SCHEMA("evaluation counts", at_evaluations, evaluations_fields);

static const char *const ended_names[] = {
    [AT_ENDED_SETTLED] = "settled",
    [AT_ENDED_BUDGET] = "budget",
    [AT_ENDED_INTERRUPTED] = "interrupted",
    [AT_ENDED_EXHAUSTED] = "exhausted",
};

/* AT_ORIGIN_MEASURED is not written. */
static const char *const origin_names[] = {
    [AT_ORIGIN_ELSEWHERE] = "elsewhere",
    [AT_ORIGIN_PREDICTED] = "predicted",
    [AT_ORIGIN_ADAPTED] = "adapted",
};
enum { ORIGIN_BYTES_MAX = 1023, OPTIONS_BYTES_MAX = 1023 };
#define ORIGIN(record)                                                                             \
    AT_CHOICE(record, origin, origin_names, AT_OPTIONAL),                                          \
        AT_TEXT(record, origin_of, ORIGIN_BYTES_MAX, AT_OPTIONAL)

static const struct at_field entry_fields[] = {
    AT_TEXT(at_entry, problem, AT_PROBLEM_BYTES_MAX),
    AT_OBJECT(at_entry, "winner", winner, winner_schema),
    AT_OBJECT(at_entry, "copy", copy, copy_schema),
    AT_FLAG(at_entry, from_l2),
    AT_OBJECT(at_entry, "default", fallback, fallback_schema, AT_OPTIONAL),
    AT_CHOICE(at_entry, ended, ended_names, AT_OPTIONAL),
    AT_CHARS(at_entry, search, WORD),
    AT_COUNTER(at_entry, seed),
    AT_TEXT(at_entry, options, OPTIONS_BYTES_MAX, AT_OPTIONAL),
    AT_OBJECT(at_entry, "evaluations", evaluations, evaluations_schema),
    AT_CHARS(at_entry, gpu, AT_OPTIONAL),
    ORIGIN(at_entry),
};
const struct at_schema at_entry_schema = AT_SCHEMA("a problem", at_entry, entry_fields);

static const struct at_field answers_fields[] = {
    AT_FIELD(at_answers_record, "config", config, .kind = AT_FIELD_LOCATED),
    ORIGIN(at_answers_record),
    AT_LIST(at_answers_record, problems, AT_FIELD_LOCATEDS, 1, AT_PROFILE_ANSWERS_MAX),
};
const struct at_schema at_answers_schema =
    AT_SCHEMA("an answer", at_answers_record, answers_fields);

/* The name, and what at_device_relation compares. */
static const struct at_field model_fields[] = {
    AT_CHARS(at_device_info, name),
    AT_HEX(at_device_info, pci_device_id, UINT32_MAX, AT_OPTIONAL),
    AT_INT(at_device_info, compute_capability, 10, 999),
    AT_INT(at_device_info, multiprocessors, 1, 65536),
    AT_INT(at_device_info, memory_bytes, 1, AT_DEVICE_BYTES_MAX),
};
static const struct at_schema model_schema =
    AT_SCHEMA("a model of device", at_device_info, model_fields);

static const struct at_field device_record_fields[] = {
    AT_OBJECT(at_device_record, "environment", environment, environment_schema),
    AT_OBJECT(at_device_record, "device", device, at_device_schema),
    AT_OBJECT(at_device_record, "policy", policy, policy_schema),
    AT_OBJECT(at_device_record, "conditions", conditions, conditions_schema),
    AT_OBJECTS(at_device_record, also_correct_on, 0, AT_DEVICES_MAX, model_schema, AT_OPTIONAL),
    AT_OBJECTS(at_device_record, defaults, 0, AT_DEFAULTS_MAX, default_schema, AT_OPTIONAL),
    AT_OBJECTS(at_device_record, answers, 0, AT_PROFILE_ANSWERS_MAX, at_answers_schema,
               AT_OPTIONAL),
    AT_OBJECTS(at_device_record, problems, 0, AT_PROFILE_PROBLEMS_MAX, at_entry_schema),
};
static const struct at_schema device_record_schema =
    AT_SCHEMA("a tuned device", at_device_record, device_record_fields);

/* The last line of a file. One without it was cut off. */
static const char *const end_names[] = {"profile"};

static const struct at_field profile_fields[] = {
    AT_INT(at_profile, schema, AT_PROFILE_SCHEMA, AT_PROFILE_SCHEMA),
    AT_OBJECTS(at_profile, devices, 1, AT_DEVICES_MAX, device_record_schema),
    AT_CHOICE(at_profile, end, end_names),
};
const struct at_schema at_profile_schema = AT_SCHEMA("a profile", at_profile, profile_fields);
