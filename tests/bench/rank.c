/* SPDX-License-Identifier: Apache-2.0 */
/* How well the time model orders configs: predicts all those of each recording, and holds the order
 * against the one that was measured.
 *
 *     rank [--list] RECORDING...
 *
 * A recording is text: comments (#), then "device NAME" and "problem SPEC", then a line for each
 * config, "FAMILY PARAM=VALUE... NANOSECONDS", fastest first, with one tab before the last word of
 * every line. Parameters that are not given have their default. --list prints every config. */
#include "base/file.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/paths.h"
#include "kernel/builder.h"
#include "model/description.h"
#include "model/predict.h"
#include "space/space.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDING_BYTES_MAX = 1 << 20, HEADER_BYTES_MAX = 1 << 18 };
enum { BEST_PERCENT = 5, NEAR_PERCENT = 2 };

static struct at_family **families;
static size_t family_count;
static char *header;

struct entry {
    char *text; /* within the recording's */
    struct at_config config;
    double measured_ns;
    struct at_prediction prediction;
};

struct recording {
    char *text;
    struct at_device_info device;
    struct at_rates rates;
    struct at_problem problem;
    struct entry *entries;
    size_t count, capacity;
};

struct score {
    double spearman;
    bool hit; /* a good one is among the best predicted */
};

/* ---- reading ---- */

static enum at_status set_param(struct at_config *config, const char *word, size_t length,
                                struct at_error *err)
{
    const char *equals = memchr(word, '=', length);
    size_t name = equals ? (size_t)(equals - word) : length;
    int64_t value;

    for (size_t i = 0; equals && i < config->family->param_count; i++) {
        const struct at_param *param = &config->family->params[i];

        if (strlen(param->name) == name && memcmp(param->name, word, name) == 0 &&
            at_integer_parse(equals + 1, length - name - 1, &value) &&
            at_param_has_value(param, value)) {
            config->values[i] = (int32_t)value;
            return AT_OK;
        }
    }
    return at_fail(err, AT_USAGE, "\"%.*s\" is no parameter of %s", (int)length, word,
                   config->family->name);
}

static enum at_status parse_config(struct at_config *config, const char *text, struct at_error *err)
{
    size_t length = strcspn(text, " ");
    enum at_status status = AT_OK;

    config->family = NULL;
    for (size_t i = 0; i < family_count; i++)
        if (strlen(families[i]->name) == length && memcmp(families[i]->name, text, length) == 0)
            *config = at_family_default(families[i]);
    if (!config->family)
        return at_fail(err, AT_USAGE, "there is no family \"%.*s\"", (int)length, text);
    while (status == AT_OK && text[length] == ' ') {
        text += length + 1;
        length = strcspn(text, " ");
        status = set_param(config, text, length, err);
    }
    return status;
}

static enum at_status parse_entry(struct recording *recording, char *config, const char *ns,
                                  struct at_error *err)
{
    const struct entry *last = recording->count ? &recording->entries[recording->count - 1] : NULL;
    struct entry entry = {.text = config};
    int64_t measured;
    bool legal;
    enum at_status status = parse_config(&entry.config, config, err);

    if (status == AT_OK)
        status = at_config_legal(&entry.config, &recording->problem, &recording->device, &legal,
                                 NULL, err);
    if (status != AT_OK)
        return status;
    if (!legal)
        return at_fail(err, AT_USAGE, "this config is not legal for the problem");
    if (!at_integer_parse(ns, strlen(ns), &measured) || measured < 1)
        return at_fail(err, AT_USAGE, "\"%s\" is not a time", ns);
    if (last && (double)measured < last->measured_ns)
        return at_fail(err, AT_USAGE, "faster than the config before it");
    entry.measured_ns = (double)measured;
    AT_PUSH(recording->entries, recording->count, recording->capacity, entry);
    return AT_OK;
}

/* Number `index` of the lines that are not comments. */
static enum at_status parse_line(struct recording *recording, int index, char *line,
                                 struct at_error *err)
{
    static const char *const keys[] = {"device", "problem"};
    char *tab = strchr(line, '\t');

    if (!tab || strchr(tab + 1, '\t'))
        return at_fail(err, AT_USAGE, "one tab was expected");
    *tab = '\0';
    if (index < 2 && strcmp(line, keys[index]) != 0)
        return at_fail(err, AT_USAGE, "the %s was expected", keys[index]);
    if (index == 0)
        return at_description_read(&recording->device, &recording->rates, tab + 1, err);
    if (index == 1)
        return at_problem_parse(&recording->problem, tab + 1, err);
    return parse_entry(recording, line, tab + 1, err);
}

static enum at_status read_recording(struct recording *recording, const char *path,
                                     struct at_error *err)
{
    size_t size;
    int line = 1, index = 0;
    struct at_error why = {AT_OK, ""};
    enum at_status status = at_file_read(&recording->text, &size, path, RECORDING_BYTES_MAX, err);

    if (status == AT_OK && strlen(recording->text) != size)
        status = at_fail(err, AT_USAGE, "%s: this is no text", path);
    if (status != AT_OK)
        return status;
    for (char *at = recording->text, *end; status == AT_OK && *at; at = end + 1, line++) {
        end = strchr(at, '\n');
        if (!end)
            return at_fail(err, AT_USAGE, "%s:%d: the line does not end", path, line);
        *end = '\0';
        if (index > 0 || *at != '#')
            status = parse_line(recording, index++, at, &why);
    }
    return status == AT_OK ? AT_OK : at_fail(err, status, "%s:%d: %s", path, line - 1, why.message);
}

/* ---- predicting ---- */

static enum at_status predict(const struct recording *recording, struct entry *entry,
                              const struct at_built *built, struct at_emu_memory *memory,
                              const uint64_t *args, size_t arg_count, struct at_error *err)
{
    struct at_emu_launch emu = {
        .args = args, .arg_count = arg_count, .instruction_limit = 100000000, .threads = 1};
    struct at_ptx_module *module = NULL;
    struct at_launch launch;
    enum at_status status =
        at_config_launch(&entry->config, &recording->problem, &recording->device, &launch, err);

    if (status == AT_OK && built->outcome != AT_CORRECT)
        status = at_fail(err, AT_FAILED, "%s: %s", entry->text, built->message);
    if (status == AT_OK)
        status = at_ptx_read(&module, built->program->image, built->program->size - 1, err);
    if (status == AT_OK)
        status = at_ptx_find(module, built->entry, &emu.kernel, err);
    if (status == AT_OK) {
        for (int i = 0; i < 3; i++) {
            emu.grid[i] = (uint32_t)launch.field[AT_GRID_X + i];
            emu.block[i] = (uint32_t)launch.field[AT_BLOCK_X + i];
        }
        emu.dynamic_shared_bytes = launch.field[AT_SHARED_BYTES];
        status = at_predict_launch(&recording->device, &recording->rates, memory, &emu,
                                   built->resources.registers, built->resources.shared_bytes, true,
                                   &entry->prediction, err);
    }
    at_ptx_free(module);
    return status;
}

static enum at_status predict_all(struct recording *recording, struct at_error *err)
{
    const struct at_problem *problem = &recording->problem;
    const struct at_builder_options options = {
        .compute_capability = recording->device.compute_capability,
        .image = AT_IMAGE_PTX,
        .workers = 2,
        .header = header,
        .use_cache = true,
    };
    struct at_emu_memory *memory = at_emu_memory_new();
    uint64_t src =
        at_emu_memory_allocate(memory, at_problem_src_extent(problem) * problem->elem_size);
    uint64_t dst =
        at_emu_memory_allocate(memory, at_problem_dst_extent(problem) * problem->elem_size);
    const uint64_t args[] = {dst,
                             src,
                             (uint64_t)problem->rows,
                             (uint64_t)problem->cols,
                             (uint64_t)problem->ld_src,
                             (uint64_t)problem->ld_dst,
                             (uint64_t)problem->batch,
                             (uint64_t)problem->stride_src,
                             (uint64_t)problem->stride_dst};
    struct at_builder *builder = NULL;
    enum at_status status = at_builder_open(&builder, &options, NULL, 0, err);

    if (status == AT_OK && (!src || !dst))
        status = at_fail(err, AT_FAILED, "this machine has not so much memory for the problem");
    for (size_t i = 0; i < recording->count && status == AT_OK; i++)
        at_builder_add(builder, &recording->entries[i].config, problem->elem_size,
                       &recording->entries[i]);
    for (size_t i = 0; i < recording->count && status == AT_OK; i++) {
        struct at_built built = {0};

        status = at_builder_wait(builder, &built, err);
        if (status == AT_OK)
            status = predict(recording, built.owner, &built, memory, args, AT_COUNT(args), err);
        at_program_release(built.program);
    }
    at_builder_close(builder);
    at_emu_memory_free(memory);
    return status;
}

/* ---- judging ---- */

static int by_prediction(const void *left, const void *right)
{
    double a = (*(const struct entry *const *)left)->prediction.ns;
    double b = (*(const struct entry *const *)right)->prediction.ns;

    return (a > b) - (a < b);
}

static double measured_of(const struct entry *entry)
{
    return entry->measured_ns;
}

static double predicted_of(const struct entry *entry)
{
    return entry->prediction.ns;
}

/* Ranks of sorted entries, those that tie all at the mean of their places. */
static void give_ranks(struct entry *const *sorted, size_t count,
                       double (*value)(const struct entry *), const struct entry *first,
                       double *ranks)
{
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && value(sorted[end]) == value(sorted[i]);)
            end++;
        for (size_t j = i; j < end; j++)
            ranks[sorted[j] - first] = (double)(i + end - 1) / 2;
    }
}

static double correlation(const double *a, const double *b, size_t count)
{
    double mean = (double)(count - 1) / 2, ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < count; i++) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    return aa > 0 && bb > 0 ? ab / __builtin_sqrt(aa * bb) : 0;
}

static struct score judge(struct recording *recording)
{
    size_t count = recording->count, best = count * BEST_PERCENT / 100;
    struct entry **sorted = at_alloc_array(count, sizeof *sorted);
    double *measured = at_alloc_array(count, sizeof *measured);
    double *predicted = at_alloc_array(count, sizeof *predicted);
    struct score score = {0};

    for (size_t i = 0; i < count; i++)
        sorted[i] = &recording->entries[i];
    give_ranks(sorted, count, measured_of, recording->entries, measured);
    qsort(sorted, count, sizeof *sorted, by_prediction);
    give_ranks(sorted, count, predicted_of, recording->entries, predicted);
    score.spearman = correlation(measured, predicted, count);
    for (size_t i = 0; i < best; i++)
        score.hit |= sorted[i]->measured_ns * 100 <=
                     recording->entries[0].measured_ns * (100 + NEAR_PERCENT);
    free(predicted);
    free(measured);
    free(sorted);
    return score;
}

/* ---- the whole ---- */

static enum at_status read_families(struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    char *path = at_path_data_file("templates/" AT_TEMPLATE_HEADER);
    size_t size;
    enum at_status status = at_file_read(&header, &size, path, HEADER_BYTES_MAX, err);

    if (status == AT_OK)
        status = at_families_read(&families, &family_count, tuning, templates, err);
    free(path);
    free(templates);
    free(tuning);
    return status;
}

static enum at_status rank(const char *path, bool list, struct score *score, struct at_error *err)
{
    struct recording recording = {0};
    enum at_status status = read_recording(&recording, path, err);

    if (status == AT_OK && recording.count < 100 / BEST_PERCENT)
        status = at_fail(err, AT_USAGE, "%s: too few configs", path);
    if (status == AT_OK)
        status = predict_all(&recording, err);
    if (status == AT_OK) {
        char *problem = at_problem_format(&recording.problem);

        *score = judge(&recording);
        for (size_t i = 0; list && i < recording.count; i++)
            printf("%s\t%s\t%.0f\t%.0f\t%s\n", problem, recording.entries[i].text,
                   recording.entries[i].measured_ns, recording.entries[i].prediction.ns,
                   at_bound_names[recording.entries[i].prediction.bound]);
        printf("%-40s %8zu %9.3f  %s\n", problem, recording.count, score->spearman,
               score->hit ? "yes" : "no");
        fflush(stdout);
        free(problem);
    }
    free(recording.entries);
    free(recording.text);
    return status;
}

int main(int argc, char **argv)
{
    bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    struct at_error err = {AT_OK, ""};
    int first = list ? 2 : 1, hits = 0, exit_code;
    double least = 1;
    enum at_status status;

    /* The workers that the builder starts are this program. */
    if (at_worker_serve(argc, argv, &exit_code))
        return exit_code;
    if (argc <= first) {
        fprintf(stderr, "usage: rank [--list] RECORDING...\n");
        return 2;
    }
    status = read_families(&err);
    printf("%-40s %8s %9s  %s\n", "problem", "configs", "Spearman",
           "best 5 % hold one within 2 % of the best");
    for (int i = first; i < argc && status == AT_OK; i++) {
        struct score score;

        status = rank(argv[i], list, &score, &err);
        if (status != AT_OK)
            break;
        hits += score.hit;
        least = score.spearman < least ? score.spearman : least;
    }
    if (status == AT_OK)
        printf("%-40s %8d %9.3f  %d\n", "recordings, least, how many", argc - first, least, hits);
    else
        fprintf(stderr, "%s\n", err.message);
    for (size_t i = 0; i < family_count; i++)
        at_family_free(families[i]);
    free(families);
    free(header);
    return status == AT_OK ? 0 : 1;
}
