/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/compare.h"

#include "base/clock.h"
#include "base/memory.h"
#include "replay/figures.h"
#include "replay/runs.h"
#include "search/warm_start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- recordings with the same spaces ---- */

static bool same_params(const struct at_family *a, const struct at_family *b)
{
    if (a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++) {
        const struct at_param *p = &a->params[i], *q = &b->params[i];

        if (strcmp(p->name, q->name) != 0 || p->value_count != q->value_count ||
            p->default_value != q->default_value ||
            memcmp(p->values, q->values, p->value_count * sizeof *p->values) != 0)
            return false;
    }
    return true;
}

static const struct at_recorded_family *find_family(const struct at_recording *recording,
                                                    const char *name)
{
    for (size_t i = 0; i < recording->family_count; i++)
        if (strcmp(recording->families[i].family->name, name) == 0)
            return &recording->families[i];
    return NULL;
}

static enum at_status check_spaces(const struct at_recording *recordings, char *const *names,
                                   size_t count, struct at_error *err)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < recordings[i].family_count; j++) {
            const struct at_recorded_family *family = &recordings[i].families[j], *other = NULL;
            size_t k = 0;

            for (; k < i && !other; k++)
                other = find_family(&recordings[k], family->family->name);
            if (other && !same_params(other->family, family->family))
                return at_fail(err, AT_USAGE,
                               "%s has another space of family %s than %s: replay them separately",
                               names[i], family->family->name, names[k - 1]);
        }
    return AT_OK;
}

/* ---- searches ---- */

/* A line of the comparison. */
struct contender {
    const struct at_strategy *strategy;
    bool held_out; /* with the numbers that were chosen without this kind of space */
};

static const char held_out_name[] = "held out";

/* How far a comparison is. */
struct advance {
    const struct at_comparison_options *options;
    const struct contender *contenders;
    size_t contender_count;
    const char *problem;
    size_t recording, recordings; /* of which this is the one that is replayed */
    size_t done;                  /* searches on this recording */
    int64_t began_ns, recording_began_ns;
};

/* What is left takes as long as what was done, search by search. */
static void show(const struct advance *advance, const struct at_strategy *strategy)
{
    size_t each = advance->contender_count * advance->options->runs;
    size_t done = advance->recording * each + advance->done;
    int64_t now_ns = at_now_ns();
    struct at_progress_state state = {.index = advance->recording + 1,
                                      .of = advance->recordings,
                                      .done = advance->done,
                                      .total = each,
                                      .total_is_known = true,
                                      .left_s = -1,
                                      .run_left_s = -1};
    char *what;

    if (!advance->options->progress)
        return;
    if (advance->done > 0) {
        state.left_s = (double)(now_ns - advance->recording_began_ns) / 1e9 *
                       (double)(each - advance->done) / (double)advance->done;
        state.run_left_s = (double)(now_ns - advance->began_ns) / 1e9 *
                           (double)(advance->recordings * each - done) / (double)done;
    }
    state.what = what = at_format("%s: %s", advance->problem, strategy->name);
    at_progress_draw(advance->options->progress, &state);
    free(what);
}

static void measure_curves(struct at_strategy_record *record, const struct at_searches *searches,
                           const struct at_comparison_options *options)
{
    record->curve = at_curve_after(searches, options->curve, options->curve_count);
    record->curve_of_time = at_curve_within(searches, options->times_ns, options->time_count);
    if (!options->draw)
        return;
    record->drawn = at_curve_drawn_after(searches);
    record->drawn_of_time = at_curve_drawn_within(searches);
}

/* What the runs of one strategy show as they go on. */
struct watched {
    struct advance *advance;
    const struct at_strategy *strategy;
};

static void count_run(void *data)
{
    const struct watched *watched = data;

    watched->advance->done++;
    show(watched->advance, watched->strategy);
}

static enum at_status run_strategy(struct at_strategy_record *record,
                                   const struct at_recording *recording,
                                   const struct at_baseline *baseline,
                                   const struct at_replay_plan *plan, struct advance *advance,
                                   struct at_error *err)
{
    const struct at_comparison_options *options = advance->options;
    struct at_course *courses = at_alloc_array(options->runs, sizeof *courses);
    struct watched watched = {advance, plan->strategy};
    enum at_status status;

    show(advance, plan->strategy);
    status = at_replay_runs(courses,
                            &(struct at_replay_runs){.recording = recording,
                                                     .plan = plan,
                                                     .count = options->runs,
                                                     .threads = options->threads,
                                                     .done = count_run,
                                                     .data = &watched},
                            err);
    snprintf(record->name, sizeof record->name, "%s", plan->strategy->name);
    if (status == AT_OK) {
        at_figures_of_runs(record, recording, courses, options->runs);
        measure_curves(record, &(struct at_searches){recording, baseline, courses, options->runs},
                       options);
        record->score_permille = llround(1000 * at_score(baseline, courses, options->runs));
    }
    for (size_t i = 0; i < options->runs; i++)
        at_course_clear(&courses[i]);
    free(courses);
    return status;
}

static struct at_list copy_list(const struct at_list *list, size_t size)
{
    void *items = at_alloc_array(list->count, size);

    if (list->count > 0)
        memcpy(items, list->items, list->count * size);
    return (struct at_list){items, list->count};
}

/* The line of numbers that are the same as those of the line above. */
static struct at_strategy_record copy_record(const struct at_strategy_record *from)
{
    struct at_strategy_record record = *from;

    record.reaches = copy_list(&from->reaches, sizeof(struct at_reach_record));
    record.curve = copy_list(&from->curve, sizeof(struct at_curve_record));
    record.curve_of_time = copy_list(&from->curve_of_time, sizeof(struct at_curve_record));
    record.drawn = copy_list(&from->drawn, sizeof(struct at_curve_record));
    record.drawn_of_time = copy_list(&from->drawn_of_time, sizeof(struct at_curve_record));
    return record;
}

static const struct at_numbers *numbers_without(const struct at_recording *recording)
{
    char *kind = at_recording_kind(recording);
    const struct at_numbers *numbers = at_numbers_without(kind);

    free(kind);
    return numbers;
}

/* Run one line on a recording; those before it are known. */
static enum at_status run_contender(struct at_strategy_record *records, size_t place,
                                    const struct at_recording *recording,
                                    const struct at_baseline *baseline, struct at_replay_plan *plan,
                                    struct advance *advance, struct at_error *err)
{
    const struct contender *contender = &advance->contenders[place];
    const struct at_numbers *without = contender->held_out ? numbers_without(recording) : NULL;
    enum at_status status = AT_OK;

    plan->strategy = contender->strategy;
    plan->start.numbers = without ? without : advance->options->numbers;
    if (contender->held_out && (!without || at_numbers_equal(without, &at_numbers_chosen))) {
        records[place] = copy_record(&records[place - 1]);
        advance->done += advance->options->runs;
    } else
        status = run_strategy(&records[place], recording, baseline, plan, advance, err);
    if (contender->held_out)
        snprintf(records[place].name, sizeof records[place].name, held_out_name);
    return status;
}

/* Add the best configs of a recording to the warm start. */
static void add_best(struct at_warm_start *warm_start, const struct at_recording *recording)
{
    const struct at_recorded *results = recording->results;
    bool *taken = at_alloc_array(recording->space.count, sizeof *taken);
    size_t best = recording->best;

    for (int place = 0; place < AT_WINNERS_PER_PROBLEM && best != SIZE_MAX; place++) {
        at_warm_start_add(warm_start,
                          &(struct at_winner){.problem = recording->problem,
                                              .config = recording->space.configs[best]});
        taken[best] = true;
        best = SIZE_MAX;
        for (size_t i = 0; i < recording->space.count; i++)
            if (!taken[i] && results[i].outcome == AT_CORRECT &&
                (best == SIZE_MAX || results[i].time_ns < results[best].time_ns))
                best = i;
    }
    free(taken);
}

static void add_winners(struct at_warm_start *warm_start, const struct at_recording *recordings,
                        size_t count, const struct at_recording *except)
{
    for (size_t i = 0; i < count; i++)
        if (&recordings[i] != except && !recordings[i].kernel && !except->kernel)
            add_best(warm_start, &recordings[i]);
}

static enum at_status compare_on(struct at_compared_recording *compared,
                                 const struct at_recording *recording,
                                 const struct at_warm_start *warm_start, struct advance *advance,
                                 struct at_error *err)
{
    const struct at_comparison_options *options = advance->options;
    size_t *likely, likely_count = at_warm_start_likely(warm_start, &recording->problem,
                                                        &recording->space, &likely);
    struct at_strategy_record *records = at_alloc_array(advance->contender_count, sizeof *records);
    struct at_baseline baseline;
    struct at_replay_plan plan = {
        .start = {.seed = options->seed,
                  .likely = likely,
                  .likely_count = likely_count,
                  .copy_ns = (double)recording->copy_ns},
        .ahead = options->ahead,
        .budget = options->budget,
    };
    enum at_status status = AT_OK;

    compared->problem = at_recording_title(recording);
    advance->problem = compared->problem;
    advance->done = 0;
    advance->recording_began_ns = at_now_ns();
    compared->device = at_strdup(recording->device);
    compared->kind = at_recording_kind(recording);
    compared->configs = (int64_t)recording->space.count;
    compared->evaluation_ns = recording->evaluation_ns;
    compared->optimum_ns = llround(recording->results[recording->best].time_ns);
    compared->strategies = (struct at_list){records, advance->contender_count};
    at_baseline_make(&baseline, recording);
    for (size_t i = 0; i < advance->contender_count && status == AT_OK; i++)
        status = run_contender(records, i, recording, &baseline, &plan, advance, err);
    at_baseline_clear(&baseline);
    free(likely);
    return status;
}

/* ---- all ---- */

/* List the lines: the strategies, and after guided its line of numbers held out, if its numbers
 * were chosen on the kind of one of the recordings. Returns how many. */
static size_t list_contenders(struct contender *contenders,
                              const struct at_comparison_options *options,
                              const struct at_recording *recordings, size_t count)
{
    bool chosen_on = false;
    size_t listed = 0;

    for (size_t i = 0; i < count && !options->numbers; i++)
        chosen_on = chosen_on || numbers_without(&recordings[i]);
    for (size_t i = 0; i < options->strategy_count; i++) {
        contenders[listed++] = (struct contender){options->strategies[i], false};
        if (chosen_on && options->strategies[i] == &at_strategy_guided)
            contenders[listed++] = (struct contender){options->strategies[i], true};
    }
    return listed;
}

enum at_status at_compare(struct at_comparison *comparison, const struct at_recording *recordings,
                          char *const *names, size_t count,
                          const struct at_comparison_options *options, struct at_error *err)
{
    struct at_compared_recording *compared = at_alloc_array(count, sizeof *compared);
    struct contender *contenders = at_alloc_array(2 * options->strategy_count, sizeof *contenders);
    size_t lines = list_contenders(contenders, options, recordings, count);
    struct at_strategy_record *all = at_alloc_array(lines, sizeof *all);
    struct at_comparison made = {{compared, count}, {all, lines}};
    struct advance advance = {.options = options,
                              .contenders = contenders,
                              .contender_count = lines,
                              .recordings = count,
                              .began_ns = at_now_ns()};
    enum at_status status = check_spaces(recordings, names, count, err);

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        struct at_warm_start warm_start = {0};

        if (options->winners_known)
            add_winners(&warm_start, recordings, count, &recordings[i]);
        advance.recording = i;
        status = compare_on(&compared[i], &recordings[i], &warm_start, &advance, err);
        at_warm_start_clear(&warm_start);
    }
    if (options->progress)
        at_progress_clear(options->progress);
    for (size_t i = 0; i < lines && status == AT_OK; i++)
        at_figures_sum_up(&made, i);
    free(contenders);
    if (status == AT_OK)
        *comparison = made;
    else
        at_schema_clear(&at_comparison_schema, &made);
    return status;
}
