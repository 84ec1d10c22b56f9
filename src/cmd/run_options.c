/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_options.h"

#include "base/memory.h"
#include "base/suggest.h"
#include "cmd/command_line.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/select.h"
#include "model/description.h"
#include "profile/entry.h"
#include "schema/schema.h"
#include "system/cpus.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 64, TIMEOUT_S_MAX = 3600 };

enum {
    KEY_NO_CACHE = 0x100,
    KEY_PROBLEMS,
    KEY_SPACE,
    KEY_FAMILY,
    KEY_POLICY,
    KEY_TIMEOUT,
    KEY_WAIT
};

/* Groups of --help, which the commands' own options join. */
static const struct argp_option options_table[] = {
    {NULL, 0, NULL, 0, "What to run:", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {NULL, 0, NULL, 0, "What to write and print:", 3},
    {"gpu", 'g', "SEL", 0,
     "Device: an index, the beginning of a UUID, a PCI bus id, emu or emu:NAME for an emulated "
     "one, "
     "several of these (0,2), all, or auto (the default): the first GPU, else an emulated one",
     1},
    {"problem", 'p', "SPEC", 0,
     "Problem, also without this option, as "
     "ROWSxCOLS:TYPE[,ld_src=N][,ld_dst=N][,batch=N][,stride_src=N][,stride_dst=N]"
     "[,offset_src=N][,offset_dst=N][,inplace=1], or for a tensor NxN...:TYPE,perm=AXES; may be "
     "repeated",
     1},
    {"problems", KEY_PROBLEMS, "FILE", 0, "Take all problems of a list like tuning/problems.yaml",
     1},
    {"space", KEY_SPACE, "FILE", 0,
     "Add a family of your own: a space file with its template beside it; may be repeated", 1},
    {"family", KEY_FAMILY, "NAME", 0, "Search only this family; may be repeated", 1},
    {"policy", KEY_POLICY, "NAME", 0, "How times are taken; the first is the default {policies}",
     2},
    {"jobs", 'j', "N", 0,
     "Number of compile workers of each device, or of each of its --tuners (default: one per CPU, "
     "at most 16; of several tuners a quarter more together)",
     2},
    {"timeout", KEY_TIMEOUT, "TIME", 0,
     "Time limit of one config, plus an allowance for the problem's size (default: 2s)", 2},
    {"no-cache", KEY_NO_CACHE, NULL, 0, "Compile all kernels anew and keep none", 2},
    {"wait", KEY_WAIT, NULL, 0, "Wait until no other run uses the device or the same --out", 2},
    {0},
};

int64_t at_parse_timeout(struct argp_state *state, const char *text)
{
    static const int64_t second_ns = 1000000000;
    struct at_amount amount = at_parse_amount(state, "timeout", text, TIMEOUT_S_MAX);
    int64_t ns = amount.count * second_ns + amount.ns;

    if (ns > TIMEOUT_S_MAX * second_ns)
        argp_error(state, "--timeout takes up to an hour, not \"%s\"", text);
    return ns;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct at_run_options *options = state->input;
    struct at_error err;

    switch (key) {
    case 'g':
        options->gpu = arg;
        return 0;
    case ARGP_KEY_ARG:
    case 'p':
        AT_PUSH(options->problems, options->problem_count, options->problem_capacity, arg);
        return 0;
    case KEY_PROBLEMS:
        options->problem_list = arg;
        return 0;
    case KEY_SPACE:
        AT_PUSH(options->spaces, options->space_count, options->space_capacity, arg);
        return 0;
    case KEY_FAMILY:
        AT_PUSH(options->names, options->name_count, options->name_capacity, arg);
        return 0;
    case KEY_POLICY:
        if (at_policy_find(&options->session.policy, arg, &err) != AT_OK)
            argp_error(state, "%s", err.message);
        return 0;
    case 'j':
        options->session.jobs = (int)at_parse_integer(state, "jobs", arg, 1, JOBS_MAX);
        options->jobs_given = true;
        return 0;
    case KEY_TIMEOUT:
        options->session.timeout_ns = at_parse_timeout(state, arg);
        return 0;
    case KEY_NO_CACHE:
        options->session.use_cache = false;
        return 0;
    case KEY_WAIT:
        options->session.wait = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp at_run_argp = {
    .options = options_table, .parser = parse, .help_filter = at_help_filter};

static int divide_up(int number, size_t by)
{
    return (number + (int)by - 1) / (int)by;
}

/* More than 16 are no faster: the same kernels are then spread over more programs, which takes more
 * processor time. Several devices seldom all wait for their compilers, so together they have up to
 * two workers per CPU. The tuners of one device all wait more often. */
int at_default_jobs(size_t devices, size_t tuners)
{
    static const int most = 16;
    int cpus = at_usable_cpus(), share = divide_up(2 * cpus, devices);
    int jobs = share < cpus ? share : cpus;

    jobs = jobs < most ? jobs : most;
    return tuners > 1 ? divide_up(5 * jobs / 4, tuners) : jobs;
}

void at_run_options_init(struct at_run_options *options)
{
    *options = (struct at_run_options){
        .gpu = "auto",
        .session = {.policy = &at_policies[0],
                    .strategy = at_strategies[0],
                    .seed = 1,
                    .timeout_ns = INT64_C(2000000000),
                    .jobs = at_default_jobs(1, 1),
                    .use_cache = true,
                    .progress = &options->progress},
    };
}

void at_run_options_clear(struct at_run_options *options)
{
    for (size_t i = 0; i < options->session.family_count; i++)
        at_family_free(options->families[i]);
    free(options->families);
    free(options->tuned);
    free(options->problems);
    free(options->spaces);
    free(options->names);
}

/* Read autotune's own families, then the user's. */
static enum at_status read_families(struct at_run_options *options, size_t *count,
                                    struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    size_t capacity;
    enum at_status status = at_path_require_data(err);

    if (status == AT_OK)
        status = at_families_read(&options->families, count, tuning, templates, err);
    if (status == AT_OK)
        at_detail(&options->progress, "read %zu families in %s and %s", *count, tuning, templates);
    capacity = options->session.own_first = *count;
    for (size_t i = 0; i < options->space_count && status == AT_OK; i++) {
        struct at_family *family;

        status = at_family_read(&family, options->spaces[i], NULL, err);
        if (status == AT_OK)
            AT_PUSH(options->families, *count, capacity, family);
        if (status == AT_OK)
            at_detail(&options->progress, "read %s and %s", family->path, family->template_path);
    }
    free(tuning);
    free(templates);
    return status;
}

static bool is_named(const struct at_run_options *options, const struct at_family *family)
{
    for (size_t i = 0; i < options->name_count; i++)
        if (strcmp(options->names[i], family->name) == 0)
            return true;
    return options->name_count == 0;
}

enum at_status at_run_family(const struct at_family **family,
                             const struct at_session_options *known, const char *name,
                             struct at_error *err)
{
    const char **names = at_alloc_array(known->family_count, sizeof *names);

    *family = NULL;
    for (size_t i = 0; i < known->family_count; i++) {
        names[i] = known->families[i]->name;
        if (strcmp(names[i], name) == 0)
            *family = known->families[i];
    }
    if (!*family)
        at_fail_unknown(err, AT_USAGE, "there is no family", name, names, known->family_count);
    free(names);
    return *family ? AT_OK : AT_USAGE;
}

enum at_status at_run_families(struct at_run_options *options, struct at_error *err)
{
    struct at_session_options *session = &options->session;
    enum at_status status = read_families(options, &session->family_count, err);

    if (status == AT_OK)
        status = at_families_check_unique(options->families, session->family_count, err);
    session->families = options->families;
    for (size_t i = 0; i < options->name_count && status == AT_OK; i++) {
        const struct at_family *named;

        status = at_run_family(&named, session, options->names[i], err);
    }
    if (status != AT_OK)
        return status;
    options->tuned = at_alloc_array(session->family_count, sizeof(struct at_family *));
    for (size_t i = 0; i < session->family_count; i++)
        if (is_named(options, options->families[i]))
            options->tuned[session->tuned_count++] = options->families[i];
    session->tuned = options->tuned;
    return AT_OK;
}

/* ---- devices ---- */

/* Configs to try per problem on an emulated device, unless the user names a search or budget. */
enum { EMULATED_CONFIGS = 24 };

static void note_emulated(struct at_run_options *options, const struct at_device_info *device)
{
    const char *times = at_emulated_times(device);

    if (strcmp(options->gpu, "auto") == 0)
        at_warn(&options->progress, "no usable GPU: this is an emulated %s; %s", device->name,
                times);
    else
        at_note(&options->progress, "this is an emulated %s; %s", device->name, times);
}

enum at_status at_run_devices(struct at_run_options *options, struct at_device_info **devices,
                              size_t *count, struct at_error *err)
{
    enum at_status status = at_select_devices(options->gpu, devices, count, err);

    if (status == AT_OK && !options->jobs_given)
        options->session.jobs = at_default_jobs(*count, 1);
    if (status != AT_OK || !at_device_is_emulated(&(*devices)[0]))
        return status;
    for (size_t i = 0; i < *count; i++)
        note_emulated(options, &(*devices)[i]);
    if (!options->search_given) {
        options->problem_configs = EMULATED_CONFIGS;
        at_note(&options->progress,
                "emulation is slow: a search tries %d configs per problem, unless tune has "
                "--search or --budget",
                EMULATED_CONFIGS);
    }
    return AT_OK;
}

/* ---- problems ---- */

struct problem_list {
    int64_t schema;
    struct at_list problems; /* of struct at_located */
};

static const struct at_field problem_list_fields[] = {
    {.key = "problems",
     .kind = AT_FIELD_LOCATEDS,
     .offset = offsetof(struct problem_list, problems),
     .min = 1,
     .max = AT_PROFILE_PROBLEMS_MAX},
    {.key = "schema",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct problem_list, schema),
     .min = 1,
     .max = 1},
};
static const struct at_schema problem_list_schema = {
    "a list of problems", sizeof(struct problem_list), problem_list_fields,
    AT_COUNT(problem_list_fields)};

struct problems {
    struct at_problem *items;
    size_t count, capacity;
};

enum at_status at_run_problem(struct at_problem *problem, const char *spec,
                              struct at_progress *progress, struct at_error *err)
{
    enum at_status status = at_problem_parse(problem, spec, err);
    char *name;

    if (status != AT_OK)
        return status;
    name = at_problem_format(problem);
    if (strcmp(name, spec) != 0)
        at_note(progress, "%s is called %s", spec, name);
    free(name);
    return AT_OK;
}

static enum at_status add(struct problems *problems, const char *spec, struct at_progress *progress,
                          struct at_error *err)
{
    struct at_problem problem;
    enum at_status status = at_run_problem(&problem, spec, progress, err);

    if (status == AT_OK)
        AT_PUSH(problems->items, problems->count, problems->capacity, problem);
    return status;
}

static enum at_status add_list(struct problems *problems, const char *path,
                               struct at_progress *progress, struct at_error *err)
{
    struct problem_list list = {0};
    enum at_status status =
        at_schema_read_file(&problem_list_schema, &list, at_given_file(path), err);
    const struct at_located *specs = list.problems.items;

    for (size_t i = 0; i < list.problems.count && status == AT_OK; i++)
        if (add(problems, specs[i].text, progress, err) != AT_OK)
            status = at_fail_within(err, "%s:%d:%d", path, specs[i].line, specs[i].column);
    at_schema_clear(&problem_list_schema, &list);
    return status;
}

/* Refuse two spellings of one problem: a profile has one entry per problem. */
static enum at_status check_unique(const struct problems *problems, struct at_error *err)
{
    char **names = at_alloc_array(problems->count, sizeof *names);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < problems->count; i++) {
        names[i] = at_problem_format(&problems->items[i]);
        for (size_t j = 0; j < i && status == AT_OK; j++)
            if (strcmp(names[i], names[j]) == 0)
                status = at_fail(err, AT_USAGE, "problem %s is named twice", names[i]);
    }
    for (size_t i = 0; i < problems->count; i++)
        free(names[i]);
    free(names);
    return status;
}

enum at_status at_problem_list_read(struct at_problem **problems, size_t *count, const char *path,
                                    struct at_progress *progress, struct at_error *err)
{
    struct problems found = {0};
    enum at_status status = add_list(&found, path, progress, err);

    if (status == AT_OK)
        status = check_unique(&found, err);
    if (status != AT_OK) {
        free(found.items);
        return status;
    }
    *problems = found.items;
    *count = found.count;
    return AT_OK;
}

bool at_run_problems_given(const struct at_run_options *options)
{
    return options->problem_count > 0 || options->problem_list;
}

enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err)
{
    char *own = at_run_problems_given(options) ? NULL : at_path_data_file(fallback);
    const char *list = own ? own : options->problem_list;
    struct at_progress *progress = options->session.progress;
    struct problems found = {0};
    enum at_status status = own ? at_path_require_data(err) : AT_OK;

    for (size_t i = 0; i < options->problem_count && status == AT_OK; i++)
        status = add(&found, options->problems[i], progress, err);
    if (status == AT_OK && list)
        status = add_list(&found, list, progress, err);
    if (status == AT_OK)
        status = check_unique(&found, err);
    free(own);
    if (status != AT_OK) {
        free(found.items);
        return status;
    }
    *problems = found.items;
    *count = found.count;
    return AT_OK;
}

/* ---- the device of a lookup ---- */

/* Groups of --help, which the commands' own options join. */
static const struct argp_option lookup_table[] = {
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

static error_t parse_lookup(int key, char *arg, struct argp_state *state)
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
    .options = lookup_table, .parser = parse_lookup, .help_filter = at_help_filter};

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
    const struct at_builder_options options = {
        .compute_capability = target->device.compute_capability,
        .image = AT_IMAGE_CUBIN,
        .workers = 1,
        .header = "",
    };
    struct at_builder *builder = NULL;
    struct at_gpu *gpu = NULL;

    at_gpu_open(&gpu, target->device.kind, target->device.ordinal, (struct at_turn){0}, NULL);
    at_builder_open(&builder, &options, NULL, 0, NULL);
    target->environment = at_environment_of(gpu ? at_gpu_driver_version(gpu) : "",
                                            gpu ? at_gpu_cuda_version(gpu) : "",
                                            builder ? at_builder_compiler(builder) : NULL, "");
    at_builder_close(builder);
    at_gpu_close(gpu);
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
    struct at_target found = {.environment = at_environment_of("", "", NULL, "")};
    enum at_status status;

    if (options->device)
        status = at_description_by_any_name(&found.device, options->device, err);
    else
        status = find_gpu(&found, options->gpu, &options->run.progress, err);
    if (status == AT_OK)
        *target = found;
    return status;
}
