/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/tune_spaces.h"

#include "base/memory.h"
#include "schema/table.h"
#include "space/space.h"
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>

struct space_record {
    char *device, *problem;
    int64_t configs, points;
};

struct spaces_record {
    struct at_list spaces; /* of struct space_record */
};

static const struct at_field space_fields[] = {
    AT_WRITTEN(space_record, device, AT_FIELD_TEXT, AT_COLUMN(0, "device")),
    AT_WRITTEN(space_record, problem, AT_FIELD_TEXT, AT_COLUMN(0, "problem")),
    AT_WRITTEN(space_record, configs, AT_FIELD_INT, AT_COLUMN(0, "configs")),
    AT_WRITTEN(space_record, points, AT_FIELD_INT, AT_COLUMN(0, "points")),
};
static const struct at_schema space_schema = AT_SCHEMA("a space", space_record, space_fields);
static const struct at_field spaces_fields[] = {
    AT_WRITTEN(spaces_record, spaces, AT_FIELD_OBJECTS, .object = &space_schema),
};
static const struct at_schema spaces_schema = AT_SCHEMA("spaces", spaces_record, spaces_fields);

static enum at_status count(const struct at_tune_run *run, const struct at_device_info *device,
                            const struct at_problem *problem, struct space_record *record,
                            struct at_error *err)
{
    const struct at_session_options *session = &run->options->run.session;
    struct at_space space = {0};
    enum at_status status = at_space_build(&space, session->tuned, session->tuned_count, problem,
                                           device, AT_SPACE_MAX, err);

    if (status == AT_OK)
        *record = (struct space_record){at_strdup(device->name), at_problem_format(problem),
                                        (int64_t)space.count, space.raw};
    at_space_clear(&space);
    return status;
}

static void print_text(const struct space_record *records, size_t record_count, size_t problems)
{
    for (size_t i = 0; i < record_count; i++) {
        if (i % problems == 0)
            printf("%s\n  %-40s %10s %14s\n", records[i].device, "problem", "configs",
                   "of raw points");
        printf("  %-40s %10jd %14jd\n", records[i].problem, (intmax_t)records[i].configs,
               (intmax_t)records[i].points);
    }
}

enum at_status at_tune_print_spaces(const struct at_tune_run *run, struct at_error *err)
{
    size_t all = run->device_count * run->problem_count, made = 0;
    struct space_record *records = at_alloc_array(all, sizeof *records);
    const struct spaces_record document = {{records, all}};
    enum at_output_format format = run->options->format;
    enum at_status status = AT_OK;

    for (; made < all && status == AT_OK; made++)
        status = count(run, &run->devices[made / run->problem_count],
                       &run->problems[made % run->problem_count], &records[made], err);
    if (status == AT_OK && format == AT_FORMAT_TABLE)
        print_text(records, all, run->problem_count);
    else if (status == AT_OK)
        status = at_print(&spaces_schema, &document, format, stdout, err);
    for (size_t i = 0; i < made; i++) {
        free(records[i].device);
        free(records[i].problem);
    }
    free(records);
    return status;
}
