/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of a session on the emulated device. To be included after cmocka.h. */
#ifndef AT_TESTS_UNIT_SESSION_H
#define AT_TESTS_UNIT_SESSION_H

#include "cmd/run_options.h"
#include "measure/select.h"
#include "roles.h"
#include "skipped.h"
#include "source_tree.h"

static struct at_run_options options;
static struct at_device_info *device;
static struct at_session *session;

/* What a command has before it reads its own options. */
static inline void begin_options(void)
{
    at_run_options_init(&options);
    options.progress.quiet = true;
}

/* Opens it with the options. A failure is written to stderr. */
static inline enum at_status open_session(void)
{
    struct at_error err = {AT_OK, ""};
    size_t count;
    enum at_status status = at_run_families(&options, &err);

    if (status == AT_OK)
        status = at_select_devices("emu", &device, &count, &err);
    if (status == AT_OK)
        status = at_session_open(&session, device, &options.session, &err);
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    return status;
}

/* A teardown. */
static inline int close_session(void **state)
{
    (void)state;
    at_session_close(session);
    free(device);
    at_run_options_clear(&options);
    return 0;
}

static inline struct at_family **find_family(const char *name)
{
    for (size_t i = 0; i < options.session.family_count; i++)
        if (strcmp(options.families[i]->name, name) == 0)
            return &options.families[i];
    fail_msg("there is no family %s", name);
    return NULL;
}

/* The beginning of main. The workers that the session starts are this program: for them, and where
 * there is no NVRTC, main ends with the exit code. */
static inline bool ends_before_tests(int argc, char **argv, int *exit_code)
{
    if (at_worker_serve(at_worker_roles, argc, argv, exit_code))
        return true;
    if (lacks_nvrtc()) {
        *exit_code = SKIPPED;
        return true;
    }
    use_source_tree();
    return false;
}

#endif
