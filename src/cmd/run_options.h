/* SPDX-License-Identifier: Apache-2.0 */
/* The options that name problems, families and devices, and what they name. */
#ifndef AT_CMD_RUN_OPTIONS_H
#define AT_CMD_RUN_OPTIONS_H

#include "cmd/command_line.h"
#include "lookup/lookup.h"
#include "pipeline/session.h"
#include "profile/profile.h"

struct at_run_options {
    struct at_progress progress; /* the first member, as of all options of a command */
    const char *gpu;             /* selector; NULL: auto */
    int jobs;                    /* compile workers of a device or tuner; 0: not given */
    bool no_cache;
    bool search_given;        /* the user has chosen a strategy or a budget */
    int64_t problem_configs;  /* configs that a search of one problem tries; 0: no limit */
    const char *problem_list; /* file; NULL: none */
    bool repeats;             /* a problem may be named twice */
    struct at_texts problems, spaces, names;
    struct at_family **families, **tuned;
    struct at_session_options session;
};

/* The time limit of a config unless --timeout gives one. */
extern const int64_t at_timeout_ns;

/* The options of commands that run kernels; the groups of --help are open to their own. */
extern const struct at_option at_run_table[];

/* Of a command whose options begin with struct at_run_options: set the defaults of its session,
 * which reports to its progress; free the families. */
void at_run_options_init(void *options);
void at_run_options_clear(void *options);

/* Read autotune's own families and the user's, and choose those to search: all, or those of
 * --family. They are freed with the options. */
enum at_status at_run_families(struct at_run_options *options, struct at_error *err);

/* Find one of the families by name. AT_USAGE suggests others. */
enum at_status at_run_family(const struct at_family **family,
                             const struct at_session_options *known, const char *name,
                             struct at_error *err);

/* Print a family's parameters (list.c): for people, or as a record. Fails as at_print does. */
enum at_status at_print_params(const struct at_family *family, enum at_output_format format,
                               struct at_error *err);

/* The default number of compile workers of each device, or of each of its tuners. */
int at_default_jobs(size_t devices, size_t tuners);

/* Find the devices of --gpu, and choose the number of compile workers unless the user has. An
 * emulated device takes a second for what a GPU does in a millisecond: print a note, and limit the
 * search unless search_given. The caller frees. */
enum at_status at_run_devices(struct at_run_options *options, struct at_device_info **devices,
                              size_t *count, struct at_error *err);

/* The same for a command that takes one device. AT_USAGE: --gpu means several. */
enum at_status at_run_device(struct at_run_options *options, struct at_device_info *device,
                             struct at_error *err);

/* Find the only device that a selector means, without notes. AT_USAGE: it means several. */
enum at_status at_one_device(struct at_device_info *device, const char *selector,
                             struct at_error *err);

/* Read a problem that the user has spelt, and tell its name if that is another. */
enum at_status at_run_problem(struct at_problem *problem, const char *spec,
                              struct at_progress *progress, struct at_error *err);

/* Did the user name problems? */
bool at_run_problems_given(const struct at_run_options *options);

/* Read the problems of --problem, then those of --problems. Without both, read autotune's list
 * `fallback` ("tuning/problems.yaml"), which may be NULL if the user named problems. The caller
 * frees *problems. */
enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err);

struct at_lookup_options {
    struct at_run_options run;
    struct at_texts devices; /* names of descriptions; none: use run.gpu */
    const char *file;        /* the only profile to search; NULL: those on the search path */
};

/* The options of commands that look kernels up, with their arguments: problems and a profile. */
extern const struct at_option at_lookup_table[];

/* Check that only one option names the device, and only one device unless it may be `several`. */
enum at_status at_lookup_options_check(const struct at_lookup_options *options, bool several,
                                       struct at_error *err);

/* Find the versions of a device's software that can be found without a kernel. Others are "". */
struct at_environment at_environment_here(const struct at_device_info *device);

/* Find the devices that the options name, at least one. Warn if `auto` found no GPU. The caller
 * frees. */
enum at_status at_targets_find(struct at_target **targets, size_t *count,
                               struct at_lookup_options *options, struct at_error *err);

/* The same if they name one. */
enum at_status at_target_find(struct at_target *target, struct at_lookup_options *options,
                              struct at_error *err);

#endif
