/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/group_tables.h"

#include "base/memory.h"
#include "measure/bench.h"
#include "measure/harness.h"

#include <string.h>

/* The tables as the host writes them. */
struct tables {
    struct at_group_lines *lines, *kept_lines;
    unsigned char *numbers, *betas;
    struct at_group_matrix *lists;
    int64_t *offsets;
};

static size_t number_bytes(const struct at_step *step)
{
    return step->given ? 2 * (size_t)at_number_formats[at_step_computes_in(step)].bytes : 0;
}

/* Lay the tables out from `start` on. Returns the end. */
static at_address lay_out(struct at_group_tables *tables, const struct at_problem *problem,
                          int64_t sets, at_address start)
{
    size_t count = (size_t)problem->groups.count, lines = count * sizeof(struct at_group_lines);

    tables->start = start;
    tables->kept_lines = start + lines;
    tables->numbers = tables->kept_lines + lines;
    tables->betas = tables->numbers + count * number_bytes(&problem->step);
    tables->lists = tables->betas + count * number_bytes(&problem->step);
    tables->offsets = tables->lists + (size_t)sets * count * sizeof(struct at_group_matrix);
    return tables->offsets + (count + 2) * sizeof(int64_t);
}

int64_t at_group_tables_bytes(const struct at_problem *problem, int64_t sets)
{
    struct at_group_tables tables;

    return problem->groups.count == 0 ? 0 : (int64_t)lay_out(&tables, problem, sets, 0);
}

static void write_lines(const struct tables *to, const struct at_group *all,
                        const struct at_problem *problem)
{
    const struct at_channels *channels = &problem->step.channels;
    const bool of_rows = channels->run == 1;
    int64_t rows = 0; /* of the groups before */

    for (int64_t i = 0; i < problem->groups.count; rows += all[i++].rows) {
        to->lines[i] = (struct at_group_lines){
            .start = all[i].dst,
            .lines = all[i].cols,
            .ld = all[i].ld_dst ? all[i].ld_dst : 1,
            .length = all[i].rows,
            .padded = all[i].padded_rows,
            .index = all[i].src,
            .line_step = 1,
            .element_step = all[i].ld_src,
            .channel = of_rows && problem->groups.total > 0 ? rows : i * channels->stride,
            .channel_line_step = !of_rows,
            .channel_element_step = of_rows};
        to->kept_lines[i] = (struct at_group_lines){.start = all[i].src,
                                                    .lines = all[i].rows,
                                                    .ld = all[i].ld_src ? all[i].ld_src : 1,
                                                    .length = all[i].cols,
                                                    .padded = all[i].cols,
                                                    .index = all[i].src,
                                                    .line_step = all[i].ld_src,
                                                    .element_step = 1};
    }
}

/* Each group has a number of its own on the device, and here all are the same. */
static void write_numbers(const struct at_buffers *buffers, const double number[2],
                          unsigned char *to)
{
    const struct at_step *step = &buffers->problem.step;
    enum at_number type = at_step_computes_in(step);
    size_t bytes = (size_t)at_number_formats[type].bytes;
    size_t parts = (size_t)at_number_formats[step->to].parts;

    for (int64_t i = 0; step->given && i < buffers->problem.groups.count; i++)
        for (size_t part = 0; part < parts; part++)
            at_number_cast(type, to + ((size_t)i * parts + part) * bytes, AT_F64, &number[part],
                           false);
}

enum at_outcome at_group_tables_make(const struct at_bench *bench, struct at_buffers *buffers,
                                     struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    struct at_group_tables *tables = &buffers->groups;
    int64_t bytes = at_group_tables_bytes(problem, buffers->sets);
    size_t count = (size_t)problem->groups.count;
    struct at_group *all = at_groups_draw(&problem->groups, at_problem_least_bytes(problem));
    unsigned char *host = at_alloc((size_t)bytes);
    at_address start = 0;
    enum at_outcome outcome = bench->ops->allocate(bench->device, bytes, &start, err);
    struct tables to;

    lay_out(tables, problem, buffers->sets, start);
    tables->rows = at_ragged_groups_of(&problem->groups, all);
    tables->rows.offsets = tables->offsets;
    tables->rows.overflow = tables->offsets + (at_address)(count + 1) * sizeof(int64_t);
    to = (struct tables){(void *)host,
                         (void *)(host + (tables->kept_lines - start)),
                         host + (tables->numbers - start),
                         host + (tables->betas - start),
                         (void *)(host + (tables->lists - start)),
                         (void *)(host + (tables->offsets - start))};
    write_lines(&to, all, problem);
    write_numbers(buffers, buffers->operands.number, to.numbers);
    write_numbers(buffers, buffers->operands.beta, to.betas);
    for (int64_t set = 0; set < buffers->sets; set++)
        at_group_list_write(
            problem, all,
            &(struct at_group_sides){
                .dst = at_buffer_of(&buffers->dst, set),
                .src = at_buffer_of(&buffers->src, set),
                .kept = buffers->kept.pitch ? at_buffer_of(&buffers->kept, set) : 0,
                .second = buffers->second.pitch ? at_buffer_of(&buffers->second, set) : 0},
            to.lists + (size_t)set * count);
    at_group_offsets_write(&problem->groups, all, to.offsets);
    if (outcome == AT_CORRECT)
        outcome = bench->ops->write(bench->device, start, host, (size_t)bytes, err);
    at_free(host);
    at_free(all);
    return outcome;
}

void at_group_tables_put_args(struct at_call *call, const struct at_buffers *buffers, int64_t set,
                              const struct at_step_numbers *numbers)
{
    const struct at_problem *problem = &buffers->problem;
    const struct at_group_tables *tables = &buffers->groups;
    const struct at_groups *groups = &problem->groups;
    struct at_step_numbers own = *numbers;
    const struct at_group_list list = {.matrices =
                                           tables->lists + (at_address)(set * groups->count) *
                                                               sizeof(struct at_group_matrix),
                                       .count = groups->count,
                                       .skip = numbers->skip};
    struct at_ragged_groups ragged = tables->rows;
    bool is_list = at_groups_kind(groups) == AT_GROUP_LIST;

    ragged.kept = numbers->kept;
    ragged.second = numbers->second;
    ragged.skip = numbers->skip;
    own.skip = 0; /* of all groups */
    if (own.number.at)
        own.number.at = tables->numbers;
    if (own.beta.at)
        own.beta.at = tables->betas;
    at_group_args(problem, is_list ? 0 : at_buffer_of(&buffers->dst, set),
                  is_list ? 0 : at_buffer_of(&buffers->src, set),
                  is_list ? (const void *)&list : &ragged, is_list ? sizeof list : sizeof ragged,
                  &own, call->args, call->arg_words);
}
