/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "recording/parts.h"
#include "system/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_head(FILE *out, const struct at_recording *recording)
{
    char *problem = at_problem_format(&recording->problem);

    fprintf(out, "autotune recording\t%d\n", AT_RECORDING_VERSION);
    fprintf(out, "problem\t%s\n", problem);
    fprintf(out, "device\t%s\n", recording->device);
    fprintf(out, "setting\t%s\n", recording->setting);
    fprintf(out, "copy_ns\t%" PRId64 "\n", recording->copy_ns);
    fprintf(out, "evaluation_ns\t%" PRId64 "\n", recording->evaluation_ns);
    free(problem);
}

static void write_family(FILE *out, const struct at_recorded_family *recorded)
{
    const struct at_family *family = recorded->family;

    fprintf(out, "family\t%s\t%" PRId64 "\t%s\t%zu\t%zu\n", family->name, family->preference,
            recorded->hash, family->param_count, recorded->config_count);
    if (recorded->launches > 1)
        fprintf(out, "launches\t%" PRId64 "\n", recorded->launches);
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];

        fprintf(out, "param\t%s\t%" PRId64, param->name, param->default_value);
        for (size_t j = 0; j < param->value_count; j++)
            fprintf(out, "%c%" PRId64, j == 0 ? '\t' : ' ', param->values[j]);
        if (param->has_neutral)
            fprintf(out, "\t%" PRId64, param->neutral);
        fputc('\n', out);
    }
}

static void write_row(FILE *out, const struct at_config *config, const struct at_recorded *result)
{
    for (size_t i = 0; i < config->family->param_count; i++)
        fprintf(out, "%s%" PRId32, i == 0 ? "" : " ", config->values[i]);
    if (result->outcome != AT_CORRECT)
        fprintf(out, "\t%s", at_outcome_names[result->outcome]);
    /* At least 1: the reader refuses a sample of 0, and times above its limit. */
    for (size_t i = 0; i < result->sample_count; i++)
        fprintf(out, "%c%" PRId64, i == 0 ? '\t' : ' ',
                result->samples_ns[i] < 1 ? 1 : (int64_t)(result->samples_ns[i] + 0.5));
    if (result->cost_ns > 0)
        fprintf(out, "\t%" PRId64,
                result->cost_ns < AT_RECORDING_NS_MAX ? result->cost_ns : AT_RECORDING_NS_MAX);
    fputc('\n', out);
}

static enum at_status write(const struct at_recording *recording, FILE *out, struct at_error *err)
{
    size_t row = 0;

    (void)err;
    write_head(out, recording);
    for (size_t i = 0; i < recording->family_count; i++) {
        write_family(out, &recording->families[i]);
        for (size_t j = 0; j < recording->families[i].config_count; j++, row++)
            write_row(out, &recording->space.configs[row], &recording->results[row]);
    }
    return AT_OK;
}

const struct at_recording_format at_recording_text = {
    .name = "recording",
    .summary = "autotune's own format",
    .write = write,
};

enum at_status at_recording_write(const struct at_recording *recording, const char *path,
                                  struct at_error *err)
{
    struct at_text_stream stream;
    enum at_status written = write(recording, at_text_open(&stream), err);

    return at_output_replace_text(path, &stream, written, err);
}

/* ---- for both readers ---- */

bool at_recording_text_fits(const char *text)
{
    size_t size = strnlen(text, AT_RECORDING_TEXT_MAX + 1);

    return size >= 1 && size <= AT_RECORDING_TEXT_MAX && at_text_is_printable(text, size);
}

bool at_recording_find_best(struct at_recording *recording)
{
    bool found = false;

    for (size_t i = 0; i < recording->space.count; i++) {
        if (recording->results[i].outcome != AT_CORRECT)
            continue;
        if (!found || recording->results[i].time_ns < recording->results[recording->best].time_ns)
            recording->best = i;
        found = true;
    }
    return found;
}

int64_t at_recording_cost(const struct at_recording *recording, size_t index)
{
    int64_t cost_ns = recording->results[index].cost_ns;

    return cost_ns > 0 ? cost_ns : recording->evaluation_ns;
}

char *at_recording_title(const struct at_recording *recording)
{
    return recording->kernel ? at_strdup(recording->kernel)
                             : at_problem_format(&recording->problem);
}

char *at_recording_kind(const struct at_recording *recording)
{
    if (recording->kernel)
        return at_strndup(recording->kernel, strcspn(recording->kernel, " "));
    if (strcmp(recording->setting, "synthetic") == 0) /* tests/bench/make-spaces */
        return at_strdup(recording->device);
    return at_format("b%d", (int)recording->problem.elem_size);
}

void at_recording_clear(struct at_recording *recording)
{
    for (size_t i = 0; i < recording->space.count; i++)
        free(recording->results[i].samples_ns);
    for (size_t i = 0; i < recording->family_count; i++) {
        at_family_free(recording->families[i].family);
        free(recording->families[i].hash);
    }
    free(recording->families);
    free(recording->results);
    free(recording->kernel);
    free(recording->device);
    free(recording->setting);
    at_space_clear(&recording->space);
    *recording = (struct at_recording){0};
}

/* ---- one family ---- */

static enum at_status fail_unknown(const struct at_recording *recording, const char *name,
                                   struct at_error *err)
{
    const char *known[AT_RECORDING_FAMILIES_MAX];

    for (size_t i = 0; i < recording->family_count; i++)
        known[i] = recording->families[i].family->name;
    return at_fail_unknown(err, AT_USAGE, "the recording has no family", name, known,
                           recording->family_count);
}

/* Free the results [first, end). */
static void drop_results(struct at_recording *recording, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        free(recording->results[i].samples_ns);
}

static void drop_family(struct at_recorded_family *recorded)
{
    at_family_free(recorded->family);
    free(recorded->hash);
}

size_t at_recording_find_family(const struct at_recording *recording, const char *name)
{
    size_t i = 0;

    while (i < recording->family_count && strcmp(recording->families[i].family->name, name) != 0)
        i++;
    return i;
}

enum at_status at_recording_keep_family(struct at_recording *recording, const char *name,
                                        struct at_error *err)
{
    struct at_recorded_family *families = recording->families;
    size_t kept = at_recording_find_family(recording, name), first = 0, count;

    if (kept == recording->family_count)
        return fail_unknown(recording, name, err);
    for (size_t i = 0; i < kept; i++)
        first += families[i].config_count;
    count = families[kept].config_count;
    drop_results(recording, 0, first);
    drop_results(recording, first + count, recording->space.count);
    memmove(recording->results, recording->results + first, count * sizeof *recording->results);
    memmove(recording->space.configs, recording->space.configs + first,
            count * sizeof *recording->space.configs);
    recording->space.count = count;
    for (size_t i = 0; i < recording->family_count; i++)
        if (i != kept)
            drop_family(&families[i]);
    families[0] = families[kept];
    recording->family_count = 1;
    return at_recording_find_best(recording)
               ? AT_OK
               : at_fail(err, AT_USAGE, "no config of family %s is correct", name);
}
