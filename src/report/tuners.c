/* SPDX-License-Identifier: Apache-2.0 */
/* What the tuners of a run did: a picture with a bar for each phase, and how long the GPUs worked.
 */
#include "base/memory.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

/* In the order in which they are explained. */
static const struct {
    const char *class, *words;
} phases[AT_PHASES] = {
    [AT_PHASE_OPEN] = {"p0", "opens the device"},
    [AT_PHASE_COPIES] = {"p1", "searches copies"},
    [AT_PHASE_SEARCH] = {"p2", "searches"},
    [AT_PHASE_FINALS] = {"p3", "times and verifies the finalists"},
};

/* The phases of a device's newest run, and what else its GPUs did at that time: by tuner. */
struct run {
    const struct at_report_phase **phases;
    size_t count;
    int64_t first_ms, last_ms;
};

static int64_t ended_ms(const struct at_report_phase *phase)
{
    return phase->began_ms + phase->took_ms;
}

static bool is_on(const struct at_report_phase *phase, const struct at_report_device *device)
{
    bool found = false;

    for (size_t i = 0; i < device->count && !found; i++)
        found = strcmp(phase->gpu, at_report_gpu(&device->rows[i])) == 0;
    return found && strcmp(phase->policy, device->record->policy.name) == 0;
}

/* A GPU has a journal of its own. */
static bool same_gpu(const struct at_report_phase *a, const struct at_report_phase *b)
{
    return a->journal == b->journal && strcmp(a->gpu, b->gpu) == 0;
}

static bool same_tuner(const struct at_report_phase *a, const struct at_report_phase *b)
{
    return same_gpu(a, b) && a->tuner == b->tuner;
}

static int by_tuner(const void *a, const void *b)
{
    const struct at_report_phase *x = *(const struct at_report_phase *const *)a,
                                 *y = *(const struct at_report_phase *const *)b;
    int order = strcmp(x->gpu, y->gpu);

    if (x->journal != y->journal)
        return x->journal < y->journal ? -1 : 1;
    if (order != 0)
        return order;
    if (x->tuner != y->tuner)
        return x->tuner < y->tuner ? -1 : 1;
    return x->began_ms < y->began_ms ? -1 : x->began_ms > y->began_ms;
}

static struct run find_run(const struct at_report *report, const struct at_report_device *device)
{
    struct run run = {.phases = at_alloc_array(report->phase_count, sizeof *run.phases)};
    const struct at_report_phase *last = NULL;

    for (size_t i = 0; i < report->phase_count; i++) {
        const struct at_report_phase *phase = &report->phases[i];

        if (is_on(phase, device) && (!last || ended_ms(phase) > ended_ms(last)))
            last = phase;
    }
    if (!last)
        return run;
    run.first_ms = last->began_ms;
    run.last_ms = ended_ms(last);
    for (size_t i = 0; i < report->phase_count; i++) {
        const struct at_report_phase *phase = &report->phases[i];

        if (same_gpu(phase, last) && phase->run == last->run && phase->began_ms < run.first_ms)
            run.first_ms = phase->began_ms;
    }
    for (size_t i = 0; i < report->phase_count; i++)
        if (is_on(&report->phases[i], device) && ended_ms(&report->phases[i]) >= run.first_ms)
            run.phases[run.count++] = &report->phases[i];
    qsort(run.phases, run.count, sizeof *run.phases, by_tuner);
    for (size_t i = 0; i < run.count; i++)
        if (run.phases[i]->began_ms < run.first_ms)
            run.first_ms = run.phases[i]->began_ms;
    return run;
}

/* Name each tuner; the caller frees the names and their list. Returns how many. */
static size_t name_tuners(const struct run *run, char ***names)
{
    size_t count = 0, gpu = 0;

    *names = at_alloc_array(run->count, sizeof **names);
    for (size_t i = 0; i < run->count; i++) {
        gpu += i == 0 || !same_gpu(run->phases[i], run->phases[i - 1]);
        if (i == 0 || !same_tuner(run->phases[i], run->phases[i - 1]))
            (*names)[count++] =
                at_format("GPU %zu, tuner %jd", gpu, (intmax_t)run->phases[i]->tuner + 1);
    }
    return count;
}

static void draw_run(const struct run *run, FILE *out)
{
    struct at_plot plot = {.name = "What each tuner did, over time",
                           .x_title = "seconds since the run began",
                           .y_title = ""};
    struct at_layer *layers[AT_PHASES];
    char **names;
    size_t count = name_tuners(run, &names), tuner = 0;

    for (size_t i = 0; i < AT_PHASES; i++)
        layers[i] = at_plot_add(&plot, AT_LAYER_BARS, 0, phases[i].class, phases[i].words);
    for (size_t i = 0; i < run->count; i++) {
        const struct at_report_phase *phase = run->phases[i];
        struct at_layer *layer = layers[phase->phase];

        tuner += i > 0 && !same_tuner(phase, run->phases[i - 1]);
        at_layer_mark(layer, (double)(phase->began_ms - run->first_ms), (double)tuner + 0.5,
                      at_format("%s%s%.2f s; the device worked %.2f s", phase->problem,
                                phase->problem[0] ? ": " : "", (double)phase->took_ms / 1000,
                                (double)phase->gpu_ms / 1000),
                      NULL);
        layer->points[layer->count - 1].to = (double)(ended_ms(phase) - run->first_ms);
    }
    plot.x = at_axis_linear((struct at_range){0, (double)(run->last_ms - run->first_ms)},
                            AT_AXIS_SECONDS);
    plot.y = at_axis_names((const char *const *)names, count);
    at_plot_figure(&plot, out);
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static void tell_work(const struct run *run, FILE *out)
{
    double whole_ms = (double)(run->last_ms - run->first_ms);
    size_t gpu = 0;

    at_put(out, "<p>The run took %.1f s.", whole_ms / 1000);
    for (size_t i = 0, end; i < run->count; i = end) {
        double worked_ms = 0;

        for (end = i; end < run->count && same_gpu(run->phases[i], run->phases[end]); end++)
            worked_ms += (double)run->phases[end]->gpu_ms;
        at_put(out, " GPU %zu worked for %.1f s of it, %.0f %%.", ++gpu, worked_ms / 1000,
               whole_ms > 0 ? 100 * worked_ms / whole_ms : 0);
    }
    at_put(out, "</p>\n");
}

void at_report_tuners(const struct at_report *report, const struct at_report_device *device,
                      FILE *out)
{
    struct run run = find_run(report, device);

    if (run.count > 0) {
        at_put(out, "<h3 id=\"d%zu-tuners\">What the tuners did</h3>\n", device->index);
        tell_work(&run, out);
        draw_run(&run, out);
    }
    free(run.phases);
}
