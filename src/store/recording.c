/* SPDX-License-Identifier: Apache-2.0 */
#include "store/recording.h"

#include "base/file.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];

        fprintf(out, "param\t%s\t%" PRId64, param->name, param->default_value);
        for (size_t j = 0; j < param->value_count; j++)
            fprintf(out, "%c%" PRId64, j == 0 ? '\t' : ' ', param->values[j]);
        fputc('\n', out);
    }
}

static void write_row(FILE *out, const struct at_config *config, const struct at_recorded *result)
{
    for (size_t i = 0; i < config->family->param_count; i++)
        fprintf(out, "%s%" PRId32, i == 0 ? "" : " ", config->values[i]);
    if (result->outcome != AT_CORRECT)
        fprintf(out, "\t%s", at_outcome_names[result->outcome]);
    /* A sample below half a nanosecond is none; the reader would refuse it. */
    for (size_t i = 0; i < result->sample_count; i++)
        fprintf(out, "%c%" PRId64, i == 0 ? '\t' : ' ',
                result->samples_ns[i] < 1 ? 1 : (int64_t)(result->samples_ns[i] + 0.5));
    fputc('\n', out);
}

enum at_status at_recording_write(const struct at_recording *recording, const char *path,
                                  struct at_error *err)
{
    char *text;
    size_t size, row = 0;
    FILE *out = at_text_stream(&text, &size);
    enum at_status status;

    write_head(out, recording);
    for (size_t i = 0; i < recording->family_count; i++) {
        write_family(out, &recording->families[i]);
        for (size_t j = 0; j < recording->families[i].config_count; j++, row++)
            write_row(out, &recording->space.configs[row], &recording->results[row]);
    }
    fclose(out);
    status = at_file_replace(path, text, size, err);
    free(text);
    return status;
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
    free(recording->device);
    free(recording->setting);
    at_space_clear(&recording->space);
    *recording = (struct at_recording){0};
}
