/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_run.h"

#include "base/memory.h"
#include "kernel/render.h"
#include "model/description.h"
#include "system/interrupt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Blocks of the grid to count. In these kernels all blocks but the last are alike. */
enum { BLOCKS_COUNTED = 64 };

static enum at_status prepare(const struct at_study *study, const char *path,
                              const struct at_device_info *device,
                              const struct at_session_options *options, struct at_study_case *cases,
                              struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++) {
        cases[i].problem = at_study_problem(study, i);
        status = at_kernel_row_config(&rows[i].kernel, path, options->families,
                                      options->family_count, &cases[i].config, err);
        if (status != AT_OK)
            return status;
        status = at_config_require(&cases[i].config, &cases[i].problem, device,
                                   "not legal for its problem", err);
        if (status != AT_OK)
            at_fail_within(err, "%s: %s", path, rows[i].kernel.label);
    }
    return status;
}

/* ---- counting ---- */

static void add_global(struct at_study_global *sums, const struct at_explained_line *line)
{
    sums->requests += line->requests;
    sums->sectors += line->sectors;
    sums->wanted_bytes += line->wanted_bytes;
}

static void add_shared(struct at_study_shared *sums, const struct at_explained_line *line)
{
    sums->requests += line->requests;
    sums->wavefronts += line->wavefronts;
    sums->least_wavefronts += line->least_wavefronts;
}

void at_study_add_up(struct at_study_line *line, const struct at_explanation *explanation)
{
    const struct at_explained_line *accesses = explanation->lines.items;

    for (size_t i = 0; i < explanation->lines.count; i++) {
        if (strcmp(accesses[i].access, "load global") == 0)
            add_global(&line->load, &accesses[i]);
        else if (strcmp(accesses[i].access, "store global") == 0)
            add_global(&line->store, &accesses[i]);
        else if (strcmp(accesses[i].access, "load shared") == 0)
            add_shared(&line->shared_load, &accesses[i]);
        else if (strcmp(accesses[i].access, "store shared") == 0)
            add_shared(&line->shared_store, &accesses[i]);
    }
    line->blocks = explanation->blocks;
    line->blocks_counted = explanation->blocks_counted;
    line->time_ns = explanation->predicted_ns;
    line->occupancy_percent = explanation->occupancy_percent;
    line->caches = explanation->caches;
}

/* Count a case and, if there are rates, predict its time. */
static enum at_status count_case(const struct at_study_case *item, const char *label,
                                 const struct at_device_info *device, const struct at_rates *rates,
                                 const char *header, struct at_study_line *line,
                                 struct at_error *err)
{
    struct at_explanation explanation;
    enum at_status status = at_explain(&item->config, &item->problem, device, rates, header,
                                       BLOCKS_COUNTED, &explanation, err);

    if (status != AT_OK) {
        at_fail_within(err, "%s", label);
        return status;
    }
    memcpy(line->family, explanation.family, sizeof line->family);
    memcpy(line->config, explanation.config, sizeof line->config);
    memcpy(line->problem, explanation.problem, sizeof line->problem);
    snprintf(line->label, sizeof line->label, "%s", label);
    at_study_add_up(line, &explanation);
    at_schema_clear(&at_explanation_schema, &explanation);
    return AT_OK;
}

static enum at_status count(const struct at_study *study, const struct at_study_case *cases,
                            const struct at_device_info *device, const struct at_rates *rates,
                            struct at_study_line *lines, struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    char *header;
    enum at_status status = at_template_read(&header, AT_TEMPLATE_HEADER, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++)
        status = at_interrupt_seen() ? at_fail(err, AT_INTERRUPTED, "interrupted")
                                     : count_case(&cases[i], rows[i].kernel.label, device, rates,
                                                  header, &lines[i], err);
    free(header);
    return status;
}

/* ---- the whole ---- */

static void describe(struct at_study_result *result, const struct at_study *study, const char *name,
                     const struct at_device_info *device)
{
    snprintf(result->study, sizeof result->study, "%s", name);
    snprintf(result->device, sizeof result->device, "%s", device->name);
    snprintf(result->times, sizeof result->times, "%s",
             at_device_is_emulated(device) ? "predicted" : "measured");
    snprintf(result->note, sizeof result->note, "%s",
             at_device_is_emulated(device)
                 ? at_emulated_times(device)
                 : "times are measured, counts are the emulated device's");
    memcpy(result->title, study->title, sizeof result->title);
    result->reading = at_strdup(study->reading);
}

enum at_status at_study_run(const struct at_study *study, const char *name, const char *path,
                            const struct at_device_info *device,
                            const struct at_session_options *options,
                            struct at_study_result *result, struct at_error *err)
{
    size_t rows = study->rows.count;
    bool emulated = at_device_is_emulated(device);
    struct at_study_case *cases = at_alloc_array(rows, sizeof *cases);
    struct at_study_line *lines = at_alloc_array(rows, sizeof *lines);
    struct at_device_info described;
    struct at_rates rates;
    enum at_status status = prepare(study, path, device, options, cases, err);

    if (status == AT_OK && emulated)
        status =
            at_description_read(&described, &rates, device->uuid + strlen(AT_EMULATED_PREFIX), err);
    if (status == AT_OK)
        status = count(study, cases, device, emulated ? &rates : NULL, lines, err);
    if (status == AT_OK && !emulated)
        status = at_study_time(cases, lines, rows, device, options, err);
    if (status == AT_OK) {
        for (size_t i = 0; i < rows; i++)
            lines[i].bandwidth_MB_per_s = (int64_t)((double)at_problem_bytes(&cases[i].problem) *
                                                    1000 / (double)lines[i].time_ns);
        *result = (struct at_study_result){.lines = {lines, rows}};
        describe(result, study, name, device);
        lines = NULL;
    }
    free(lines);
    free(cases);
    return status;
}
