/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how well the time model orders configs: predicts the times of recorded configs and
 * compares their order with the measured one.
 *
 *     rank [--list] [--all] RECORDING...
 *
 * It takes 250 configs of each recording (doc/recording-format.md): the ten fastest and others
 * spread evenly over the ranks. --all takes all configs. Configs that this tree no longer has are
 * left out and counted. --list prints every config. */
#include "predicting.h"

#include "base/memory.h"
#include "emulated/time/description.h"
#include "recording/recording.h"
#include "roles.h"
#include "space/space.h"
#include "system/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 250, SAMPLE_FASTEST = 10 };
enum { BEST_PERCENT = 5, NEAR_PERCENT = 2 };

static struct tree tree;

struct entry {
    struct at_config config; /* of a family of this tree */
    double measured_ns;
    struct at_prediction prediction;
};

struct sample {
    struct at_device_info device;
    struct at_rates rates;
    struct at_problem problem;
    struct entry *entries; /* fastest first */
    size_t count, capacity;
    size_t left_out; /* recorded configs that this tree no longer has */
};

struct score {
    double spearman;
    bool hit; /* one of the best predicted configs is near the fastest */
};

/* ---- reading ---- */

/* Find the same config in this tree's families; false if it no longer exists. */
static bool adopt(struct at_config *config, const struct at_config *recorded)
{
    const struct at_family *from = recorded->family, *to = NULL;

    for (size_t i = 0; i < tree.family_count; i++)
        if (strcmp(tree.families[i]->name, from->name) == 0)
            to = tree.families[i];
    if (!to)
        return false;
    *config = at_family_default(to);
    for (size_t i = 0; i < from->param_count; i++) {
        size_t j = 0;

        while (j < to->param_count && strcmp(to->params[j].name, from->params[i].name) != 0)
            j++;
        if (j == to->param_count || !at_param_has_value(&to->params[j], recorded->values[i]))
            return false;
        config->values[j] = recorded->values[i];
    }
    return true;
}

/* Add a recorded config if this tree still has it. */
static enum at_status add_entry(struct sample *sample, const struct at_recording *recording,
                                size_t index, struct at_error *err)
{
    struct entry entry = {.measured_ns = recording->results[index].time_ns};
    bool legal = false;
    enum at_status status = AT_OK;

    if (adopt(&entry.config, &recording->space.configs[index]))
        status =
            at_config_legal(&entry.config, &sample->problem, &sample->device, &legal, NULL, err);
    if (status == AT_OK && legal)
        AT_PUSH(sample->entries, sample->count, sample->capacity, entry);
    sample->left_out += !legal;
    return status;
}

static const struct at_recorded *sorted_results;

static int by_time(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    double x = sorted_results[a].time_ns, y = sorted_results[b].time_ns;

    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

/* Return the rank, among `of` configs, of item i in a sample of `count`. */
static size_t rank_of(size_t i, size_t count, size_t of)
{
    if (i < SAMPLE_FASTEST || count == of)
        return i;
    return SAMPLE_FASTEST +
           (i - SAMPLE_FASTEST) * (of - 1 - SAMPLE_FASTEST) / (count - 1 - SAMPLE_FASTEST);
}

static enum at_status take_sample(struct sample *sample, const struct at_recording *recording,
                                  bool all, struct at_error *err)
{
    size_t *correct = at_alloc_array(recording->space.count, sizeof *correct), of = 0, count;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < recording->space.count; i++)
        if (recording->results[i].outcome == AT_CORRECT)
            correct[of++] = i;
    sorted_results = recording->results;
    qsort(correct, of, sizeof *correct, by_time);
    for (size_t i = 0; i < of && status == AT_OK; i++)
        status = add_entry(sample, recording, correct[i], err);
    of = sample->count;
    count = all || of < SAMPLE ? of : SAMPLE;
    for (size_t i = 0; i < count; i++)
        sample->entries[i] = sample->entries[rank_of(i, count, of)];
    sample->count = count;
    free(correct);
    return status;
}

/* A device's description is named after its model: h200 for "NVIDIA H200". */
static enum at_status read_description(struct sample *sample, const char *device,
                                       struct at_error *err)
{
    static const char maker[] = "NVIDIA ";
    bool has_maker = strncmp(device, maker, strlen(maker)) == 0;
    char *name = at_strdup(has_maker ? device + strlen(maker) : device);
    enum at_status status;

    for (char *c = name; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    status = at_description_read(&sample->device, &sample->rates, name, err);
    free(name);
    return status;
}

static enum at_status read_sample(struct sample *sample, const char *path, bool all,
                                  struct at_error *err)
{
    struct at_recording recording = {0};
    enum at_status status = at_recording_read(&recording, path, err);

    if (status != AT_OK)
        return status;
    sample->problem = recording.problem;
    status = read_description(sample, recording.device, err);
    if (status == AT_OK)
        status = take_sample(sample, &recording, all, err);
    at_recording_clear(&recording);
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", path);
}

/* ---- predicting ---- */

static enum at_status predict_all(struct sample *sample, struct at_error *err)
{
    const struct predicting by = {&sample->device, &sample->rates, tree.header};
    struct predicted *predicted = at_alloc_array(sample->count, sizeof *predicted);
    enum at_status status;

    for (size_t i = 0; i < sample->count; i++)
        predicted[i].config = sample->entries[i].config;
    status = predict_configs(&by, &sample->problem, predicted, sample->count, err);
    for (size_t i = 0; i < sample->count && status == AT_OK; i++)
        if (predicted[i].error.status == AT_OK)
            sample->entries[i].prediction = predicted[i].prediction;
        else
            status = at_fail(err, AT_FAILED, "%s", predicted[i].error.message);
    free(predicted);
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

/* Rank sorted entries; equal values share their mean rank. */
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

static struct score judge(struct sample *sample)
{
    size_t count = sample->count, best = count * BEST_PERCENT / 100;
    struct entry **sorted = at_alloc_array(count, sizeof *sorted);
    double *measured = at_alloc_array(count, sizeof *measured);
    double *predicted = at_alloc_array(count, sizeof *predicted);
    struct score score = {0};

    for (size_t i = 0; i < count; i++)
        sorted[i] = &sample->entries[i];
    give_ranks(sorted, count, measured_of, sample->entries, measured);
    qsort(sorted, count, sizeof *sorted, by_prediction);
    give_ranks(sorted, count, predicted_of, sample->entries, predicted);
    score.spearman = correlation(measured, predicted, count);
    for (size_t i = 0; i < best; i++)
        score.hit |=
            sorted[i]->measured_ns * 100 <= sample->entries[0].measured_ns * (100 + NEAR_PERCENT);
    free(predicted);
    free(measured);
    free(sorted);
    return score;
}

/* ---- main ---- */

static void list_entries(const struct sample *sample, const char *problem)
{
    for (size_t i = 0; i < sample->count; i++) {
        const struct entry *entry = &sample->entries[i];
        char *config = at_config_format(&entry->config);

        printf("%s\t%s %s\t%.0f\t%.0f\t%s\n", problem, entry->config.family->name, config,
               entry->measured_ns, entry->prediction.ns, at_bound_names[entry->prediction.bound]);
        free(config);
    }
}

static enum at_status rank(const char *path, bool list, bool all, struct score *score,
                           struct at_error *err)
{
    struct sample sample = {0};
    enum at_status status = read_sample(&sample, path, all, err);

    if (status == AT_OK && sample.count < 100 / BEST_PERCENT)
        status = at_fail(err, AT_USAGE, "%s: too few configs", path);
    if (status == AT_OK)
        status = predict_all(&sample, err);
    if (status == AT_OK) {
        char *problem = at_problem_format(&sample.problem);

        *score = judge(&sample);
        if (list)
            list_entries(&sample, problem);
        printf("%-40s %8zu %8zu %9.3f  %s\n", problem, sample.count, sample.left_out,
               score->spearman, score->hit ? "yes" : "no");
        fflush(stdout);
        free(problem);
    }
    free(sample.entries);
    return status;
}

int main(int argc, char **argv)
{
    bool list = false, all = false;
    struct at_error err = {AT_OK, ""};
    int first = 1, hits = 0, exit_code;
    double least = 1;
    enum at_status status;

    /* The builder starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    for (; first < argc && argv[first][0] == '-'; first++) {
        list |= strcmp(argv[first], "--list") == 0;
        all |= strcmp(argv[first], "--all") == 0;
    }
    if (argc <= first) {
        fprintf(stderr, "usage: rank [--list] [--all] RECORDING...\n");
        return 2;
    }
    status = read_tree(&tree, &err);
    printf("%-40s %8s %8s %9s  %s\n", "problem", "configs", "left out", "Spearman",
           "best 5 % hold one within 2 % of the best");
    for (int i = first; i < argc && status == AT_OK; i++) {
        struct score score;

        status = rank(argv[i], list, all, &score, &err);
        if (status != AT_OK)
            break;
        hits += score.hit;
        least = score.spearman < least ? score.spearman : least;
    }
    if (status == AT_OK)
        printf("%-40s %8d %8s %9.3f  %d\n", "recordings, lowest, hits", argc - first, "", least,
               hits);
    else
        fprintf(stderr, "%s\n", err.message);
    clear_tree(&tree);
    return status == AT_OK ? 0 : 1;
}
