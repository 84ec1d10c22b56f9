/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/run_options.h"

#include "base/choice.h"
#include "base/memory.h"
#include "cmd/files.h"
#include "cmd/guess.h"
#include "device/kind.h"
#include "emulated/time/description.h"
#include "journal/journal.h"
#include "kernel/builder.h"
#include "measure/gpu.h"
#include "measure/select.h"
#include "profile/entry.h"
#include "profile/newest.h"
#include "schema/table.h"
#include "system/cpus.h"
#include "system/paths.h"
#include "tune/tune.h"

#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 64 };

const int64_t at_timeout_ns = INT64_C(2000000000);

const struct at_option at_run_table[] = {
    AT_GROUP(1, "What to run:"),
    AT_GROUP(2, "How:"),
    AT_GROUP(3, "What to write and print:"),
    AT_GPU(
        1, at_run_options, gpu,
        "Device: an index, words of its name (h100), the beginning of a UUID, a PCI bus id, emu or "
        "emu:NAME for an emulated one, several of these (0,2), all, or auto (the default): the "
        "first GPU, else an emulated one"),
    {"problem", 'p', "SPEC", 1,
     "Problem, also without this option, as "
     "ROWSxCOLS:TYPE[,ld_src=N][,ld_dst=N][,batch=N][,stride_src=N][,stride_dst=N]"
     "[,offset_src=N][,offset_dst=N][,inplace=1], for a tensor NxN...:TYPE,perm=AXES, or for "
     "many matrices group=N,rows=N..N,cols=N..N:TYPE, where @FILE, a file of ROWSxCOLS on each "
     "line, may stand for N and sizes; may be repeated",
     AT_ADDS_TEXT(at_run_options, problems)},
    AT_ARGUMENT("problem", NULL, AT_ADDS_TEXT(at_run_options, problems)),
    AT_PROBLEMS(
        1, at_run_options, problem_list,
        "Take all problems of a list like tuning/problems.yaml, of a profile or of a journal"),
    AT_SPACE(1, at_run_options, spaces),
    {"family", 0, "NAME", 1, "Search only this family; may be repeated",
     AT_ADDS_TEXT(at_run_options, names)},
    {"policy", 0, "NAME", 2, "How times are taken; the first is the default",
     AT_SETS_ENTRY(at_run_options, session.policy, struct at_policy, at_policy_choice)},
    {"jobs", 'j', "N", 2,
     "Number of compile workers of each device, or of each of its --tuners (default: one per CPU, "
     "at most 16; of several tuners a quarter more together)",
     AT_SETS_INTEGER(at_run_options, jobs, int, 1, JOBS_MAX)},
    AT_TIMEOUT(2, at_run_options, session.timeout_ns,
               "Time limit of one config, plus an allowance for the problem's size (default: 2s)"),
    {"no-cache", 0, NULL, 2, "Compile all kernels anew and keep none",
     AT_SETS_FLAG(at_run_options, no_cache)},
    {"wait", 0, NULL, 2, "Wait until no other run uses the device or the same --out",
     AT_SETS_FLAG(at_run_options, session.wait)},
    {0},
};

static int divide_up(int number, size_t by)
{
    return (number + (int)by - 1) / (int)by;
}

/* More than 16 are no faster: the same kernels are then spread over more programs, which takes more
 * processor time. Single tuners of several devices seldom all wait for their compilers, so together
 * they have up to two workers per CPU. */
int at_default_jobs(size_t devices, size_t tuners)
{
    static const int most = 16;
    int cpus = at_usable_cpus(), share = divide_up(tuners > 1 ? cpus : 2 * cpus, devices);
    int jobs = share < cpus ? share : cpus;

    return divide_up(jobs < most ? jobs : most, tuners);
}

void at_run_options_init(void *options)
{
    struct at_run_options *run = options;

    run->session = (struct at_session_options){.policy = &at_policies[0],
                                               .strategy = at_strategies[0],
                                               .seed = 1,
                                               .timeout_ns = at_timeout_ns,
                                               .jobs = at_default_jobs(1, 1),
                                               .use_cache = true,
                                               .progress = &run->progress};
}

void at_run_options_clear(void *options)
{
    struct at_run_options *run = options;

    for (size_t i = 0; i < run->session.family_count; i++)
        at_family_free(run->families[i]);
    free(run->families);
    free(run->tuned);
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
    for (size_t i = 0; i < options->spaces.count && status == AT_OK; i++) {
        const char *file = at_given_file(options->spaces.items[i]);
        bool piped = strncmp(file, "/dev/", strlen("/dev/")) == 0; /* nothing is beside a pipe */
        struct at_family *family;

        status = at_family_read(&family, file, piped ? "." : NULL, err);
        if (status != AT_OK)
            at_advise_kind(err, options->spaces.items[i], AT_KIND_SPACE);
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
    for (size_t i = 0; i < options->names.count; i++)
        if (strcmp(options->names.items[i], family->name) == 0)
            return true;
    return options->names.count == 0;
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
    for (size_t i = 0; i < options->names.count && status == AT_OK; i++) {
        const struct at_family *named;

        status = at_run_family(&named, session, options->names.items[i], err);
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

static const char *selector_of(const struct at_run_options *options)
{
    return options->gpu ? options->gpu : "auto";
}

static void note_emulated(struct at_run_options *options, const struct at_device_info *device)
{
    const char *times = at_emulated_times(device);

    if (strcmp(selector_of(options), "auto") == 0)
        at_warn(&options->progress, "no usable GPU: this is an emulated %s; %s", device->name,
                times);
    else
        at_note(&options->progress, "this is an emulated %s; %s", device->name, times);
}

/* Choose what follows from the devices unless the user has, and tell of emulated ones. */
static void settle_devices(struct at_run_options *options, const struct at_device_info *devices,
                           size_t count)
{
    options->session.use_cache = !options->no_cache;
    options->session.jobs = options->jobs > 0 ? options->jobs : at_default_jobs(count, 1);
    if (!at_device_kind(devices)->slow)
        return;
    for (size_t i = 0; i < count; i++)
        note_emulated(options, &devices[i]);
    if (options->search_given)
        return;
    options->problem_configs = EMULATED_CONFIGS;
    at_note(&options->progress,
            "emulation is slow: a search tries %d configs per problem, unless tune has --search or "
            "a budget",
            EMULATED_CONFIGS);
}

enum at_status at_run_devices(struct at_run_options *options, struct at_device_info **devices,
                              size_t *count, struct at_error *err)
{
    enum at_status status = at_select_devices(selector_of(options), devices, count, err);

    if (status == AT_OK)
        settle_devices(options, *devices, *count);
    return status;
}

enum at_status at_one_device(struct at_device_info *device, const char *selector,
                             struct at_error *err)
{
    struct at_device_info *devices;
    size_t count;
    enum at_status status = at_select_devices(selector, &devices, &count, err);

    if (status != AT_OK)
        return status;
    *device = devices[0];
    free(devices);
    return count == 1
               ? AT_OK
               : at_fail(err, AT_USAGE, "\"%s\" means %zu devices: name one", selector, count);
}

enum at_status at_run_device(struct at_run_options *options, struct at_device_info *device,
                             struct at_error *err)
{
    enum at_status status = at_one_device(device, selector_of(options), err);

    if (status == AT_OK)
        settle_devices(options, device, 1);
    return status;
}

/* ---- problems ---- */

struct problem_list {
    int64_t schema;
    struct at_list problems; /* of struct at_located */
};

static const struct at_field problem_list_fields[] = {
    AT_LIST(problem_list, problems, AT_FIELD_LOCATEDS, 1, AT_PROFILE_PROBLEMS_MAX),
    AT_INT(problem_list, schema, 1, 1),
};
static const struct at_schema problem_list_schema =
    AT_SCHEMA("a list of problems", problem_list, problem_list_fields);

struct problems {
    struct at_problem *items;
    size_t count, capacity;
};

/* Tell of an option that stands in a problem: policy=warm. */
static void advise_option(struct at_error *err, const char *spec)
{
    for (const char *word = spec; (word = strchr(word, ',')) != NULL;) {
        size_t length = strcspn(++word, "=,");

        for (const struct at_option *o = at_run_table; o->kind != AT_OPTION_END; o++)
            if (word[length] == '=' && o->name && strlen(o->name) == length &&
                strncmp(o->name, word, length) == 0) {
                char *advice = at_format("it is an option: --%.*s", (int)strcspn(word, ","), word);

                at_advise(err, advice);
                free(advice);
            }
    }
}

enum at_status at_run_problem(struct at_problem *problem, const char *spec,
                              struct at_progress *progress, struct at_error *err)
{
    char *name, *whole;
    enum at_status status = at_problem_read_sizes(&whole, spec, err);

    if (status != AT_OK)
        return status;
    status = at_problem_parse(problem, whole, err);
    free(whole);
    if (status != AT_OK) {
        if (!strpbrk(spec, "x:*,."))
            at_advise(err, "a family stands behind --family, and a device behind --gpu");
        advise_option(err, spec);
        at_advise_kind(err, spec, AT_KIND_NONE);
        return at_guess_advise(err, at_guess_problem(spec));
    }
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

/* Add a problem of a profile or journal, which may have it several times. */
static void add_once(struct problems *problems, const char *name)
{
    struct at_problem problem;

    if (at_problem_parse(&problem, name, NULL) != AT_OK)
        return; /* a reader has checked those of profiles; a journal may have what it likes */
    for (size_t i = 0; i < problems->count; i++)
        if (at_problem_equal(&problems->items[i], &problem))
            return;
    AT_PUSH(problems->items, problems->count, problems->capacity, problem);
}

static enum at_status add_profile(struct problems *problems, const char *path,
                                  struct at_progress *progress, struct at_error *err)
{
    struct at_profile profile = {0};
    enum at_status status = at_read_profile(&profile, path, progress, err);

    for (struct at_placed_entry at = {0}; status == AT_OK && at_profile_next(&profile, &at);)
        add_once(problems, at.entry->problem);
    at_profile_clear(&profile);
    return status;
}

static void take_measurement(void *problems, const struct at_journal_entry *entry)
{
    if (strcmp(entry->key.family, at_copy_family) != 0) /* they give the copy limit */
        add_once(problems, entry->key.problem);
}

static enum at_status add_list(struct problems *problems, const char *path,
                               struct at_progress *progress, struct at_error *err)
{
    struct problem_list list = {0};
    enum at_status status =
        at_schema_read_file(&problem_list_schema, &list, at_given_file(path), err);
    const struct at_located *specs = list.problems.items;

    if (status != AT_OK)
        at_advise_kind(err, path, AT_KIND_PROBLEMS);
    if (status != AT_OK && at_file_is(path, AT_KIND_PROBLEMS))
        at_advise(err, "a list looks like {schema: 1, problems: [64x64:f32, 8192x8192:f16]}");
    for (size_t i = 0; i < list.problems.count && status == AT_OK; i++)
        if (add(problems, specs[i].text, progress, err) != AT_OK)
            status = at_fail_within(err, "%s:%d:%d", path, specs[i].line, specs[i].column);
    at_schema_clear(&problem_list_schema, &list);
    return status;
}

/* Refuse two spellings of one problem: a profile or a table has one entry per problem. */
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

bool at_run_problems_given(const struct at_run_options *options)
{
    return options->problems.count > 0 || options->problem_list;
}

enum at_status at_run_problems(const struct at_run_options *options, const char *fallback,
                               struct at_problem **problems, size_t *count, struct at_error *err)
{
    char *own = at_run_problems_given(options) ? NULL : at_path_data_file(fallback);
    const char *list = own ? own : options->problem_list;
    struct at_progress *progress = options->session.progress;
    struct problems found = {0};
    enum at_status status = own ? at_path_require_data(err) : AT_OK;

    for (size_t i = 0; i < options->problems.count && status == AT_OK; i++)
        status = add(&found, options->problems.items[i], progress, err);
    if (status == AT_OK && list && at_file_is(list, AT_KIND_PROFILE))
        status = add_profile(&found, list, progress, err);
    else if (status == AT_OK && list && at_file_is(list, AT_KIND_JOURNAL))
        status = at_journal_read(list, take_measurement, NULL, NULL, &found, err);
    else if (status == AT_OK && list)
        status = add_list(&found, list, progress, err);
    if (status == AT_OK && !options->repeats)
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

static enum at_status take_argument(void *to, const struct at_option *option, const char *text,
                                    struct at_error *err)
{
    struct at_lookup_options *options = to;

    if (at_guess_is_problem(text))
        at_texts_add(&options->run.problems, text);
    else if (options->file)
        return at_fail(err, AT_USAGE, "one %s at a time", option->argument);
    else
        options->file = text;
    return AT_OK;
}

const struct at_option at_lookup_table[] = {
    AT_GROUP(1, "For which problem and device:"),
    AT_GROUP(2, "From where:"),
    {"problem", 'p', "SPEC", 1,
     "A problem, tuned or not, also without this option; may be repeated",
     AT_ADDS_TEXT(at_lookup_options, run.problems)},
    AT_ARGUMENT("profile", NULL, AT_CALLS(take_argument)),
    AT_GPU(1, at_lookup_options, run.gpu, "The device, as for tune (default: auto)"),
    {"device", 'd', "NAME", 1,
     "A device described in tuning/devices, like h200; it need not be present. May be repeated "
     "for export",
     AT_ADDS_TEXT(at_lookup_options, devices)},
    {"policy", 0, "NAME", 2, "Measurements to prefer; the first is the default",
     AT_SETS_ENTRY(at_lookup_options, run.session.policy, struct at_policy, at_policy_choice)},
    AT_SPACE(2, at_lookup_options, run.spaces),
    {0},
};

enum at_status at_lookup_options_check(const struct at_lookup_options *options, bool several,
                                       struct at_error *err)
{
    if (options->run.gpu && options->devices.count > 0)
        return at_fail(err, AT_USAGE,
                       "--gpu and --device both name the device: give only one of them");
    return several || options->devices.count <= 1
               ? AT_OK
               : at_fail(err, AT_USAGE, "--device names %s and %s: this takes one device",
                         options->devices.items[0], options->devices.items[1]);
}

struct at_environment at_environment_here(const struct at_device_info *device)
{
    const struct at_builder_options options = {
        .compute_capability = device->compute_capability,
        .image = AT_IMAGE_CUBIN,
        .workers = 1,
        .header = "",
    };
    struct at_builder *builder = NULL;
    struct at_gpu *gpu = NULL;
    struct at_environment here;

    if (at_device_kind(device)->hardware)
        at_gpu_open(&gpu, device->kind, device->ordinal, (struct at_turn){0},
                    (struct at_meanwhile){0}, NULL);
    at_builder_open(&builder, &options, NULL, 0, NULL);
    here = at_environment_of(gpu ? gpu->driver : "", gpu ? gpu->cuda : "",
                             builder ? at_builder_compiler(builder) : NULL);
    at_builder_close(builder);
    at_gpu_close(gpu);
    return here;
}

static enum at_status find_gpu(struct at_target *target, struct at_run_options *options,
                               struct at_error *err)
{
    enum at_status status = at_one_device(&target->device, selector_of(options), err);

    if (status != AT_OK)
        return status;
    if (!options->gpu && !at_device_kind(&target->device)->hardware)
        at_warn(&options->progress,
                "no usable GPU: the answer is for an emulated %s; --device names another",
                target->device.name);
    target->environment = at_environment_here(&target->device);
    return AT_OK;
}

enum at_status at_targets_find(struct at_target **targets, size_t *count,
                               struct at_lookup_options *options, struct at_error *err)
{
    const struct at_texts *names = &options->devices;
    size_t found = names->count > 0 ? names->count : 1;
    struct at_target *all = at_alloc_array(found, sizeof *all);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < found; i++)
        all[i].environment = at_environment_of("", "", NULL);
    if (names->count == 0)
        status = find_gpu(all, &options->run, err);
    for (size_t i = 0; i < names->count && status == AT_OK; i++)
        if ((status = at_description_by_any_name(&all[i].device, names->items[i], err)) != AT_OK)
            at_advise(err, "autotune list --emulated describes them; --gpu names one that is here");
    if (status != AT_OK) {
        free(all);
        return status;
    }
    *targets = all;
    *count = found;
    return AT_OK;
}

enum at_status at_target_find(struct at_target *target, struct at_lookup_options *options,
                              struct at_error *err)
{
    struct at_target *found;
    size_t count;
    enum at_status status = at_targets_find(&found, &count, options, err);

    if (status == AT_OK) {
        *target = *found;
        free(found);
    }
    return status;
}
