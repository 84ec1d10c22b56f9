/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: bounds, tables, order and checks. */
#ifndef AT_PROFILE_INTERNAL_H
#define AT_PROFILE_INTERNAL_H

#include "problem/problem.h"
#include "profile/profile.h"

/* Bounds of lists, texts and numbers. */
enum {
    AT_DEFAULTS_MAX = 64, /* one per family */
    AT_PARAMETERS_MAX = 24,
    AT_PROBLEM_BYTES_MAX = AT_PROBLEM_CHARS - 1,
    AT_PERMILLE_MAX = 1000000,
    AT_FURTHER_LAUNCHES_MAX = 15,
};
#define AT_CONFIGS_MAX INT64_C(1000000000000)

extern const struct at_schema at_answers_schema;

/* Format the config as "tile PAD=1 TILE=32"; the caller frees it. */
char *at_config_text(const struct at_result_record *config);

/* Sort devices, problems and parameters into the order in which they are written. */
void at_profile_sort(struct at_profile *profile);

/* Compare models of devices; records by model and policy; software by its versions: above 0, a is
 * newer. Unknown software counts as oldest. */
int at_model_compare(const struct at_device_info *a, const struct at_device_info *b);
int at_place_compare(const struct at_device_record *a, const struct at_device_record *b);
int at_software_compare(const struct at_environment *a, const struct at_environment *b);

/* Sort a list of struct at_entry by problem. */
void at_entries_sort(struct at_list *entries);

/* Compare records by device name and UUID, policy, software, and the policy's numbers. If the
 * result is 0, their entries can be in one record. */
int at_device_record_compare(const struct at_device_record *a, const struct at_device_record *b);

/* The same without the device: by policy and software, and where else the answers were correct. */
int at_measured_compare(const struct at_device_record *a, const struct at_device_record *b);

/* Check that the numbers of a sorted profile agree with each other. AT_USAGE names the file and the
 * problem. */
enum at_status at_profile_check(const struct at_profile *profile, const char *name,
                                struct at_error *err);

/* Check that the profile has at least one device, and no more devices and problems than the reader
 * accepts. */
enum at_status at_profile_check_counts(const struct at_profile *profile, struct at_error *err);

#endif
