/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/share.h"

#include "base/integer.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct card {
    struct at_problem problem;
    int64_t bytes;
    char *name; /* owned */
};

static int largest_first(const void *left, const void *right)
{
    const struct card *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return strcmp(a->name, b->name);
}

/* Return which share, from 0, has the card at this place of the sorted list. */
static int64_t owner(int64_t place, int64_t shares)
{
    int64_t within = place % shares;

    return place / shares % 2 == 0 ? within : shares - 1 - within;
}

void at_share_deal(struct at_share share, struct at_problem *problems, size_t *count)
{
    struct card *cards;
    size_t kept = 0;

    if (share.of == 0)
        return;
    cards = at_alloc_array(*count, sizeof *cards);
    for (size_t i = 0; i < *count; i++)
        cards[i] = (struct card){problems[i], at_problem_bytes(&problems[i]),
                                 at_problem_format(&problems[i])};
    qsort(cards, *count, sizeof *cards, largest_first);
    for (size_t i = 0; i < *count; i++) {
        if (owner((int64_t)i, share.of) == share.index - 1)
            problems[kept++] = cards[i].problem;
        free(cards[i].name);
    }
    free(cards);
    *count = kept;
}

/* ---- which share ---- */

/* The variables in which a launcher numbers its processes. Those after `count` are of a job array,
 * whose numbers go from first to last by step; other launchers count from 0. The innermost launcher
 * comes first: mpirun and torchrun may themselves be started by srun, once per node. A launcher is
 * there if its count is. srun's is that of its step: SLURM_NTASKS is also set in a batch script,
 * which runs once. https://slurm.schedmd.com/job_array.html
 *   https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
 *   https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html
 *   https://flux-framework.readthedocs.io/projects/flux-core/en/latest/man7/flux-environment.html
 *   https://pytorch.org/docs/stable/elastic/run.html#environment-variables */
static const struct launcher {
    const char *name, *index, *count, *first, *last, *step;
} launchers[] = {
    {"Slurm's job array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, NULL, NULL},
    {"MPICH or Intel MPI", "PMI_RANK", "PMI_SIZE", NULL, NULL, NULL},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", NULL, NULL, NULL},
    {"torchrun", "RANK", "WORLD_SIZE", NULL, NULL, NULL},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", NULL, NULL, NULL},
};

static enum at_status read_variable(const struct launcher *launcher, const char *name,
                                    int64_t least, int64_t *value, struct at_error *err)
{
    const char *text = getenv(name);

    if (!text)
        return at_fail(err, AT_USAGE, "%s has set %s, but not %s", launcher->name, launcher->count,
                       name);
    if (!at_integer_parse(text, strlen(text), value) || *value < least || *value > INT32_MAX)
        return at_fail(err, AT_USAGE, "%s: %s=%s is no number from %" PRId64 " on", launcher->name,
                       name, text, least);
    return AT_OK;
}

static enum at_status contradict(const struct launcher *launcher, int64_t index, int64_t count,
                                 struct at_error *err)
{
    return at_fail(err, AT_USAGE,
                   "%s: %s=%" PRId64 " and %s=%" PRId64
                   " contradict each other%s; say which share with --shard I/N",
                   launcher->name, launcher->index, index, launcher->count, count,
                   launcher->first ? ", or the array has gaps" : "");
}

/* Read a launcher's variables. An array with gaps has been started in part, and does not tell of
 * how many shares. */
static enum at_status read_share(const struct launcher *launcher, struct at_share *share,
                                 struct at_error *err)
{
    int64_t index = 0, count = 0, first = 0, last = 0, step = 1;
    enum at_status status = read_variable(launcher, launcher->index, 0, &index, err);

    if (status == AT_OK)
        status = read_variable(launcher, launcher->count, 1, &count, err);
    if (status == AT_OK && launcher->first)
        status = read_variable(launcher, launcher->first, 0, &first, err);
    if (status == AT_OK && launcher->last)
        status = read_variable(launcher, launcher->last, 0, &last, err);
    if (status == AT_OK && launcher->step)
        status = read_variable(launcher, launcher->step, 1, &step, err);
    if (status != AT_OK)
        return status;
    if (!launcher->last)
        last = count - 1;
    if (index < first || index > last || (index - first) % step != 0 ||
        (last - first) % step != 0 || (last - first) / step + 1 != count || count > AT_SHARES_MAX)
        return contradict(launcher, index, count, err);
    *share = (struct at_share){(index - first) / step + 1, count};
    return AT_OK;
}

static enum at_status ask_environment(struct at_share *share, const char **name,
                                      struct at_error *err)
{
    const struct launcher *found = NULL;
    struct at_share dealt = {0};

    for (size_t i = 0; i < AT_COUNT(launchers); i++) {
        const struct launcher *launcher = &launchers[i];
        struct at_share inner = {0};
        enum at_status status;

        if ((found && !found->first) || !getenv(launcher->count))
            continue;
        status = read_share(launcher, &inner, err);
        if (status != AT_OK)
            return status;
        if (found && inner.of > 1)
            return at_fail(
                err, AT_USAGE,
                "%s and %s both number this process (%" PRId64 " of %" PRId64 ", and %" PRId64
                " of %" PRId64 "): start one process per task, or say which share with --shard I/N",
                found->name, launcher->name, dealt.index, dealt.of, inner.index, inner.of);
        if (!found) {
            found = launcher;
            dealt = inner;
        }
    }
    if (!found)
        return at_fail(
            err, AT_USAGE,
            "--shard auto: no launcher has numbered this process (Slurm's job array, srun, "
            "mpirun, flux, torchrun); say which share with --shard I/N");
    *share = dealt;
    *name = found->name;
    return AT_OK;
}

enum at_status at_share_parse(struct at_share *share, const char **launcher, const char *text,
                              struct at_error *err)
{
    const char *slash = strchr(text, '/');
    struct at_share read = {0};

    if (strcmp(text, "auto") == 0)
        return ask_environment(share, launcher, err);
    if (!slash || !at_integer_parse(text, (size_t)(slash - text), &read.index) ||
        !at_integer_parse(slash + 1, strlen(slash + 1), &read.of) || read.index < 1 ||
        read.index > read.of || read.of > AT_SHARES_MAX)
        return at_fail(
            err, AT_USAGE,
            "--shard takes I/N like 1/4, with N up to %d and I from 1 to N, or auto, not \"%s\"",
            AT_SHARES_MAX, text);
    *share = read;
    *launcher = NULL;
    return AT_OK;
}
