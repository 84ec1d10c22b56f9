/* SPDX-License-Identifier: Apache-2.0 */
/* The options of every command that runs kernels. */
#ifndef AT_OPTIONS_RUN_OPTIONS_H
#define AT_OPTIONS_RUN_OPTIONS_H

#include "pipeline/session.h"

#include <argp.h>

struct at_run_options {
    const char *gpu;          /* selector */
    int64_t problem_configs;  /* how many a search of one problem tries; 0: no limit */
    bool search_given;        /* the user has said what to search */
    const char *problem_list; /* file; NULL: none */
    /* As given: owned arrays of borrowed text. */
    const char **problems, **spaces, **names;
    size_t problem_count, problem_capacity, space_count, space_capacity, name_count, name_capacity;
    struct at_family **families, **tuned;
    struct at_session_options session;
    struct at_progress progress;
    bool quiet;
};

/* To be named in the children of a command's argp; its input is a struct at_run_options. */
extern const struct argp at_run_argp;

void at_run_options_init(struct at_run_options *options);
void at_run_options_clear(struct at_run_options *options);

/* The argument of --timeout, in nanoseconds, for commands with options of their own. */
int64_t at_parse_timeout(struct argp_state *state, const char *text);

/* After parsing: settles what depends on several options. */
void at_run_options_finish(struct at_run_options *options);

/* Reads the tool's families and the user's, and settles which are to be searched: all, or those
 * named. They are freed with the options. */
enum at_status at_run_families(struct at_run_options *options, struct at_error *err);

/* The devices that are meant. For an emulated one, which takes a second for what a GPU does in a
 * millisecond, it says so and settles a short search, unless search_given. The caller frees. */
enum at_status at_run_devices(struct at_run_options *options, struct at_device_info **devices,
                              size_t *count, struct at_error *err);

#endif
