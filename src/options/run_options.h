/* SPDX-License-Identifier: Apache-2.0 */
/* The options that all commands which run kernels share. */
#ifndef AT_OPTIONS_RUN_OPTIONS_H
#define AT_OPTIONS_RUN_OPTIONS_H

#include "pipeline/session.h"

#include <argp.h>

struct at_run_options {
    const char *gpu;          /* selector */
    int64_t problem_configs;  /* configs that a search of one problem tries; 0: no limit */
    bool jobs_given;          /* the user has chosen the number of compile workers */
    bool search_given;        /* the user has chosen a strategy or a budget */
    const char *problem_list; /* file; NULL: none */
    /* Arguments of repeated options: owned arrays of borrowed text. */
    const char **problems, **spaces, **names;
    size_t problem_count, problem_capacity, space_count, space_capacity, name_count, name_capacity;
    struct at_family **families, **tuned;
    struct at_session_options session;
    struct at_progress progress; /* set up by at_command_line */
};

/* A child of a command's argp. Its input is a struct at_run_options. */
extern const struct argp at_run_argp;

/* The defaults. The session reports to options->progress. */
void at_run_options_init(struct at_run_options *options);
void at_run_options_clear(struct at_run_options *options);

/* Parse the argument of --timeout, seconds or a time of up to an hour; return nanoseconds. For
 * commands that do not use at_run_argp. */
int64_t at_parse_timeout(struct argp_state *state, const char *text);

/* Read autotune's own families and the user's, and choose those to search: all, or those of
 * --family. They are freed with the options. */
enum at_status at_run_families(struct at_run_options *options, struct at_error *err);

/* Find one of the families by name. AT_USAGE suggests others. */
enum at_status at_run_family(const struct at_family **family,
                             const struct at_session_options *known, const char *name,
                             struct at_error *err);

/* The default number of compile workers of each device, or of each of its tuners. */
int at_default_jobs(size_t devices, size_t tuners);

/* Find the devices of --gpu, and choose the number of compile workers unless the user has. An
 * emulated device takes a second for what a GPU does in a millisecond: print a note, and limit the
 * search unless search_given. The caller frees. */
enum at_status at_run_devices(struct at_run_options *options, struct at_device_info **devices,
                              size_t *count, struct at_error *err);

#endif
