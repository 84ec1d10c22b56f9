/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tune_run.h"
#include "options/print_profile.h"
#include "system/interrupt.h"

#include <stdio.h>
#include <string.h>

/* ---- the result ---- */

/* Write the file, and print the profile even if that failed. */
static enum at_status deliver(struct at_tune_run *run, struct at_error *err)
{
    const struct at_tune_options *options = run->options;
    enum at_status status = AT_OK, printed;

    if (options->out)
        status = at_profile_write(&run->profile, run->output, err);
    if (options->out && status == AT_OK)
        at_detail(options->run.session.progress, "wrote %s", options->out);
    if (options->out && strcmp(options->out, "-") == 0)
        return status;
    if (status != AT_OK)
        err = NULL; /* which has the first failure */
    printed = at_print_profile(&run->profile, options->format, options->configs, err);
    return status == AT_OK ? printed : status;
}

/* Return how a run without errors ended. */
static enum at_status judge(const struct at_tune_run *run, bool delivered, struct at_error *err)
{
    const struct at_fleet_result *result = &run->result;
    const char *out = run->options->out;

    if (at_interrupt_seen())
        return at_fail(err, AT_INTERRUPTED, "interrupted; %s%s",
                       !delivered                      ? "nothing was measured"
                       : !out || strcmp(out, "-") == 0 ? "the best so far is printed"
                                                       : "the best so far is in ",
                       delivered && out && strcmp(out, "-") != 0 ? out : "");
    if (result->failed > 0)
        return at_fail(err, AT_FAILED, "%zu of %zu problems have no correct config", result->failed,
                       result->of);
    if (result->skipped == result->of)
        return at_fail(err, AT_FAILED, "the budget was spent before a config was measured");
    if (result->skipped > 0)
        at_warn(run->options->run.session.progress,
                "the budget was spent before %zu of %zu problems were searched", result->skipped,
                result->of);
    return AT_OK;
}

static enum at_status conclude(struct at_tune_run *run, enum at_status status, struct at_error *err)
{
    struct at_error delivery;
    bool delivered = false;

    if (run->profile.devices.count > 0) {
        delivered = deliver(run, &delivery) == AT_OK;
        if (!delivered && status != AT_OK)
            at_warn(run->options->run.session.progress, "%s", delivery.message);
        else if (!delivered)
            status = at_fail(err, delivery.status, "%s", delivery.message);
    }
    return status == AT_OK ? judge(run, delivered, err) : status;
}

enum at_status at_tune_run_all(struct at_tune_run *run, struct at_error *err)
{
    const struct at_tune_options *options = run->options;
    const struct at_fleet_options fleet = {
        .session = &options->run.session,
        .problems = run->problems,
        .problem_count = run->problem_count,
        .devices = run->devices,
        .device_count = run->device_count,
        .tuners = run->tuners,
        .budget = options->budget,
        .replaced = options->out,
        .fresh = options->fresh,
    };
    enum at_status status;

    at_interrupt_catch();
    status = at_fleet_run(&fleet, &run->result, err);
    run->profile = (struct at_profile){.schema = AT_PROFILE_SCHEMA, .devices = run->result.records};
    status = conclude(run, status, err);
    at_profile_clear(&run->profile);
    return status;
}
