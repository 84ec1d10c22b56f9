/* SPDX-License-Identifier: Apache-2.0 */
#include "options/lookup_options.h"

#include "base/memory.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/select.h"
#include "model/description.h"
#include "options/argument.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_POLICY = 0x300, KEY_SPACE };

/* Groups of --help, which the commands' own options join. */
static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "For which problem and device:", 1},
    {NULL, 0, NULL, 0, "From where:", 2},
    {"problem", 'p', "SPEC", 0,
     "A problem, tuned or not, also without this option; may be repeated", 1},
    {"gpu", 'g', "SEL", 0, "The device, as for tune (default: auto)", 1},
    {"device", 'd', "NAME", 0,
     "A device described in tuning/devices, like h200; it need not be present", 1},
    {"policy", KEY_POLICY, "NAME", 0, "Measurements to prefer; the first is the default {policies}",
     2},
    {"space", KEY_SPACE, "FILE", 0,
     "Add a family: a space file with its template beside it; may be repeated", 2},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct at_lookup_options *options = state->input;
    struct at_run_options *run = &options->run;
    struct at_error err;

    switch (key) {
    case 'p':
        AT_PUSH(run->problems, run->problem_count, run->problem_capacity, arg);
        return 0;
    case 'g':
        options->gpu = arg;
        return 0;
    case 'd':
        options->device = arg;
        return 0;
    case KEY_POLICY:
        if (at_policy_find(&options->policy, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        return 0;
    case KEY_SPACE:
        AT_PUSH(run->spaces, run->space_count, run->space_capacity, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (at_problem_is_spec(arg))
            AT_PUSH(run->problems, run->problem_count, run->problem_capacity, arg);
        else
            at_parse_only(state, &options->file, arg, "profile");
        return 0;
    case ARGP_KEY_END:
        if (options->gpu && options->device)
            argp_error(state, "--gpu and --device both name the device: give only one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp at_lookup_argp = {
    .options = options_table, .parser = parse, .help_filter = at_help_filter};

void at_lookup_options_init(struct at_lookup_options *options)
{
    *options = (struct at_lookup_options){.policy = &at_policies[0]};
    at_run_options_init(&options->run);
}

void at_lookup_options_clear(struct at_lookup_options *options)
{
    at_run_options_clear(&options->run);
}

/* Fill in the software versions that can be found without a kernel. The others stay unknown. */
static void find_environment(struct at_target *target)
{
    struct at_environment *environment = &target->environment;
    const struct at_builder_options options = {
        .compute_capability = target->device.compute_capability,
        .image = AT_IMAGE_CUBIN,
        .workers = 1,
        .header = "",
    };
    struct at_builder *builder;
    struct at_gpu *gpu;

    if (at_gpu_open(&gpu, target->device.kind, target->device.ordinal, (struct at_turn){0}, NULL) ==
        AT_OK) {
        snprintf(environment->driver, sizeof environment->driver, "%s", at_gpu_driver_version(gpu));
        snprintf(environment->cuda_driver, sizeof environment->cuda_driver, "%s",
                 at_gpu_cuda_version(gpu));
        at_gpu_close(gpu);
    }
    if (at_builder_open(&builder, &options, NULL, 0, NULL) == AT_OK) {
        const struct at_compiler *compiler = at_builder_compiler(builder);

        snprintf(environment->nvrtc, sizeof environment->nvrtc, "%s", compiler->version);
        snprintf(environment->nvrtc_identity, sizeof environment->nvrtc_identity, "%s",
                 compiler->identity);
        at_builder_close(builder);
    }
}

static enum at_status find_gpu(struct at_target *target, const char *selector,
                               struct at_progress *progress, struct at_error *err)
{
    struct at_device_info *infos;
    size_t count;
    enum at_status status = at_select_devices(selector ? selector : "auto", &infos, &count, err);

    if (status != AT_OK)
        return status;
    target->device = infos[0];
    free(infos);
    if (count > 1)
        return at_fail(err, AT_USAGE, "\"%s\" means %zu devices: name one", selector, count);
    if (!selector && at_device_is_emulated(&target->device))
        at_warn(progress, "no usable GPU: the answer is for an emulated %s; --device names another",
                target->device.name);
    find_environment(target);
    return AT_OK;
}

enum at_status at_target_find(struct at_target *target, struct at_lookup_options *options,
                              struct at_error *err)
{
    struct at_target found = {.environment = {.autotune = PACKAGE_VERSION}};
    enum at_status status;

    if (options->device)
        status = at_description_by_any_name(&found.device, options->device, err);
    else
        status = find_gpu(&found, options->gpu, &options->run.progress, err);
    if (status == AT_OK)
        *target = found;
    return status;
}
