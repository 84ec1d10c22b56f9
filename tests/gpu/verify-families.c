/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies a sample of the families' kernels in this process, without timing them. It is for
 * compute-sanitizer, which makes each launch slow (tests/gpu/sanitizer.bats). */
#include "verify-families.h"
#include "measure/gpu_worker.h"

#include "base/integer.h"
#include "base/memory.h"
#include "pipeline/cases.h"
#include "pipeline/session.h"
#include "roles.h"
#include "system/cpus.h"
#include "system/paths.h"
#include "tune/tune.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: verify-families KIND CONFIGS [OPTION]... --problem SPEC...\n"
    "Verifies CONFIGS configs, divided among the problems, on these problems and on the cases\n"
    "that a search verifies on. The configs are drawn at random, but the same each time.\n"
    "  KIND            cuda or emulated\n"
    "  --copies N      also N configs of the family copy for each problem\n"
    "  --family NAME   only configs of this family; may be repeated\n"
    "  --ordinal N     the device with this number (default: 0)\n"
    "  --problem SPEC  a problem; may be repeated\n"
    "  --space FILE    a family besides the program's own; may be repeated\n"
    "Exit: 0 all are right, 1 a config is wrong, 2 nothing could be verified.\n";

enum { PROBLEMS_MAX = 16, NAMES_MAX = 16 };

static struct {
    const char *kind;
    int64_t configs, copies, ordinal;
    const char *names[NAMES_MAX];
    size_t name_count;
    struct at_problem problems[PROBLEMS_MAX];
    size_t problem_count;
} options;

static struct at_family **families; /* all that are known */
static size_t family_count, family_capacity;

static struct place places[2 * PROBLEMS_MAX]; /* for the problems, then for their copies */
static size_t place_count;

static _Noreturn void end_with(const char *text)
{
    fprintf(stderr, "%s", text);
    exit(2);
}

void require(enum at_status status, const struct at_error *err)
{
    if (status == AT_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(2);
}

/* ---- options ---- */

static int64_t number(const char *text)
{
    int64_t value;

    if (!at_integer_parse(text, strlen(text), &value) || value < 0)
        end_with(usage);
    return value;
}

static void read_own_families(void)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    struct at_error err;

    require(at_families_read(&families, &family_count, tuning, templates, &err), &err);
    family_capacity = family_count;
    free(templates);
    free(tuning);
}

static void add_family(const char *path)
{
    struct at_family *family;
    struct at_error err;

    require(at_family_read(&family, path, NULL, &err), &err);
    AT_PUSH(families, family_count, family_capacity, family);
}

static void add_problem(const char *spec)
{
    struct at_error err;

    if (options.problem_count == PROBLEMS_MAX)
        end_with(usage);
    require(at_problem_parse(&options.problems[options.problem_count++], spec, &err), &err);
}

static void add_name(const char *name)
{
    if (options.name_count == NAMES_MAX)
        end_with(usage);
    options.names[options.name_count++] = name;
}

static void read_options(int argc, char **argv)
{
    static const struct option table[] = {
        {"copies", required_argument, NULL, 'c'},  {"family", required_argument, NULL, 'f'},
        {"ordinal", required_argument, NULL, 'o'}, {"problem", required_argument, NULL, 'p'},
        {"space", required_argument, NULL, 's'},   {0},
    };
    int key;

    while ((key = getopt_long(argc, argv, "", table, NULL)) != -1)
        switch (key) {
        case 'c':
            options.copies = number(optarg);
            break;
        case 'f':
            add_name(optarg);
            break;
        case 'o':
            options.ordinal = number(optarg);
            break;
        case 'p':
            add_problem(optarg);
            break;
        case 's':
            add_family(optarg);
            break;
        default:
            end_with(usage);
        }
    if (argc - optind != 2 || options.problem_count == 0)
        end_with(usage);
    options.kind = argv[optind];
    options.configs = number(argv[optind + 1]);
}

/* ---- the device ---- */

static const struct at_device_ops *find_kind(void)
{
    const struct at_device_ops *const *kind = at_device_kinds;

    while (*kind && strcmp((*kind)->kind, options.kind) != 0)
        kind++;
    if (!*kind)
        end_with(usage);
    return *kind;
}

static struct at_device_info find_device(const struct at_device_ops *ops)
{
    struct at_device_info *infos, info;
    size_t count;
    struct at_error err;

    require(ops->list(&infos, &count, &err), &err);
    if ((uint64_t)options.ordinal >= count)
        end_with("there is no device with this number\n");
    info = infos[options.ordinal];
    free(infos);
    return info;
}

/* Processor time that compiling a program may take. Generous: a slow machine is no fault. */
enum { CPU_LIMIT_S = 300 };

static struct at_builder *open_builder(const struct at_device_info *info, const char *header)
{
    const struct at_builder_options builder_options = {
        .compute_capability = info->compute_capability,
        .image = at_device_kind(info)->runs_ptx ? AT_IMAGE_PTX : AT_IMAGE_CUBIN,
        .workers = at_usable_cpus(),
        .cpu_limit_s = CPU_LIMIT_S,
        .header = header,
        .use_cache = true,
    };
    struct at_builder *builder;
    struct at_error err;

    require(at_builder_open(&builder, &builder_options, NULL, 0, &err), &err);
    return builder;
}

static void require_correct(enum at_outcome outcome, const struct at_error *err)
{
    require(outcome == AT_CORRECT ? AT_OK : AT_FAILED, err);
}

/* Open the device and load the harness. Each place has a copy of this bench. */
static struct at_bench open_bench(const struct at_device_ops *ops, struct at_builder *builder)
{
    struct at_family harness = {.name = (char[]){"harness"},
                                .template_path = (char[]){"harness.cu"}};
    const struct at_config config = {.family = &harness};
    struct at_bench bench = {.ops = ops};
    struct at_built built;
    struct at_error err;

    require(at_template_read(&harness.source, "harness.cu", &err), &err);
    at_builder_add(builder, &config, (struct at_problem_kind){1, 1, 1, {0}, AT_NO_GROUPS}, NULL);
    require(at_builder_start_workers(builder, &err),
            &err); /* it is compiled while the device opens */
    require(at_device_open(ops, &bench.device, options.ordinal, &err), &err);
    require(at_builder_wait(builder, &built, &err), &err);
    if (built.outcome != AT_CORRECT)
        end_with(built.message);
    require_correct(at_bench_harness(&bench, built.program->image, built.program->size, &err),
                    &err);
    at_program_release(built.program);
    free(harness.source);
    return bench;
}

/* ---- places and their samples ---- */

static struct place *add_place(const struct at_problem *problem, const struct at_bench *bench)
{
    const struct at_device_info *info = &((const struct at_device_base *)bench->device)->info;
    struct place *place = &places[place_count++];
    const struct at_policy *warm;
    struct at_error err;

    require(at_policy_find(&warm, "warm", &err), &err); /* one set of buffers */
    place->problem = *problem;
    place->bench = *bench;
    place->case_count = at_cases_for(problem, warm, info, place->cases);
    require_correct(at_bench_prepare(&place->bench, place->cases, place->case_count, &err), &err);
    return place;
}

static struct at_family *find_family(const char *name)
{
    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    fprintf(stderr, "there is no family \"%s\"\n", name);
    exit(2);
}

/* Choose the named families, or all. Return their number. */
static size_t chosen_families(struct at_family **chosen)
{
    if (options.name_count == 0) {
        memcpy(chosen, families, family_count * sizeof *chosen);
        return family_count;
    }
    for (size_t i = 0; i < options.name_count; i++)
        chosen[i] = find_family(options.names[i]);
    return options.name_count;
}

static void draw_sample(struct sample *sample, const struct at_bench *bench)
{
    const struct at_device_info *info = &((const struct at_device_base *)bench->device)->info;
    struct at_family **chosen = at_alloc_array(family_count + NAMES_MAX, sizeof *chosen);
    size_t chosen_count = chosen_families(chosen);

    for (size_t i = 0; i < options.problem_count; i++) {
        size_t left = (size_t)options.configs - sample->count;

        draw_configs(sample, chosen, chosen_count, add_place(&options.problems[i], bench), info,
                     left / (options.problem_count - i));
    }
    free(chosen);
    for (size_t i = 0; i < options.problem_count && options.copies > 0; i++) {
        const struct at_problem copy = at_problem_copy_of(&options.problems[i]);
        struct at_family *family = find_family(at_copy_family);

        draw_configs(sample, &family, 1, add_place(&copy, bench), info, (size_t)options.copies);
    }
}

/* ---- main ---- */

/* Return the exit code. */
static int verify_families(void)
{
    const struct at_device_ops *ops = find_kind();
    const struct at_device_info info = find_device(ops);
    struct sample sample = {0};
    struct at_builder *builder;
    struct at_bench bench;
    struct at_error err;
    char *header;

    require(at_template_header_read(&header, &err), &err);
    builder = open_builder(&info, header);
    bench = open_bench(ops, builder);
    draw_sample(&sample, &bench);
    compile_sample(builder, &sample);
    verify_sample(&sample, places, place_count);
    printf("verified %zu configs of %zu families on %zu problems: %zu wrong\n", sample.verified,
           drawn_families(&sample), options.problem_count, sample.wrong);
    for (size_t i = 0; i < sample.count; i++)
        at_program_release(sample.items[i].built.program);
    at_builder_close(builder);
    free(sample.items);
    free(header);
    return sample.verified == 0 ? 2 : sample.wrong > 0;
}

int main(int argc, char **argv)
{
    int exit_code;

    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    read_own_families();
    read_options(argc, argv);
    exit_code = verify_families();
    while (family_count > 0)
        at_family_free(families[--family_count]);
    free(families);
    return exit_code;
}
