/* SPDX-License-Identifier: Apache-2.0 */
/* What stands out of a problem: each line is a fact of the profile that may hold it back. */
#include "report/sections.h"

/* Lines about what may hold a problem back. Each is a fact of the profile. */
struct remarks {
    const struct at_report_device *device;
    const struct at_report_row *row;
    FILE *out;
    int count;
};

static void begin_remark(struct remarks *remarks)
{
    fputs(remarks->count++ ? "</li>\n<li>" : "<ul>\n<li>", remarks->out);
}

static void remark_share(struct remarks *remarks)
{
    int64_t permille = remarks->row->entry->winner.of_copy_permille;

    begin_remark(remarks);
    if (permille > 1000)
        fputs("It is faster than the copy that gives the limit: the limit is too low",
              remarks->out);
    else if (permille >= 950)
        fputs("It is within 5 % of the copy limit: there is little left to gain", remarks->out);
    else
        fprintf(remarks->out, "It takes %.2f times as long as the fastest copy of as many bytes",
                1000 / (double)(permille > 0 ? permille : 1));
}

static void remark_size(struct remarks *remarks)
{
    int64_t peak = remarks->device->record->device.peak_bandwidth_MB_per_s;
    int64_t copy = remarks->row->entry->copy.bandwidth_MB_per_s;

    if (peak == 0 || copy * 2 >= peak)
        return;
    begin_remark(remarks);
    fprintf(remarks->out,
            "Even the copy reaches only %.0f&#8239;%% of the memory's peak: with so few bytes the "
            "fixed cost of a launch weighs",
            100 * (double)copy / (double)peak);
}

static void remark_blocks(struct remarks *remarks)
{
    const struct at_result_record *winner = &remarks->row->entry->winner;
    const int64_t *grid = winner->grid.items;
    int64_t multiprocessors = remarks->device->record->device.multiprocessors, blocks = 1;

    for (size_t i = 0; i < winner->grid.count && blocks < multiprocessors; i++)
        blocks *= grid[i] > 0 && grid[i] < 1000000 ? grid[i] : 1000000;
    if (blocks >= multiprocessors)
        return;
    begin_remark(remarks);
    fprintf(remarks->out, "Its grid has %jd blocks for %jd multiprocessors: some have no work",
            (intmax_t)blocks, (intmax_t)multiprocessors);
}

static void remark_alignment(struct remarks *remarks)
{
    const struct at_problem *problem = &remarks->row->problem;
    bool src = problem->rows > 1 && problem->ld_src * problem->elem_size % 32 != 0;
    bool dst = problem->cols > 1 && problem->ld_dst * problem->elem_size % 32 != 0;

    if (!src && !dst)
        return;
    begin_remark(remarks);
    fprintf(
        remarks->out,
        "Rows of the %s begin within a sector of 32 bytes, so accesses share sectors and cannot "
        "always be wide",
        src && dst ? "source and of the destination"
        : src      ? "source"
                   : "destination");
}

static void remark_sides(struct remarks *remarks)
{
    const struct at_problem *problem = &remarks->row->problem;
    int64_t side = problem->rows < problem->cols ? problem->rows : problem->cols;

    if (side >= 32)
        return;
    begin_remark(remarks);
    fprintf(remarks->out, "One side has only %jd element%s, less than a warp has lanes",
            (intmax_t)side, side == 1 ? "" : "s");
}

static void remark_result(struct remarks *remarks)
{
    const struct at_entry *entry = remarks->row->entry;

    if (entry->winner.spill_bytes > 0) {
        begin_remark(remarks);
        fprintf(remarks->out, "Each thread spills %jd bytes of registers",
                (intmax_t)entry->winner.spill_bytes);
    }
    if (entry->from_l2) {
        begin_remark(remarks);
        fputs("Its data stayed in the L2 cache: it is faster than the memory can be", remarks->out);
    }
    if (entry->winner.spread_permille > 30) {
        begin_remark(remarks);
        fprintf(remarks->out, "Its samples spread by %.1f&#8239;%%: the time is uncertain",
                (double)entry->winner.spread_permille / 10);
    }
    if (entry->ended == AT_ENDED_BUDGET || entry->ended == AT_ENDED_INTERRUPTED) {
        begin_remark(remarks);
        fputs("Its search was cut short: a longer one may find a better config", remarks->out);
    }
}

void at_report_remarks(const struct at_report_device *device, const struct at_report_row *row,
                       FILE *out)
{
    struct remarks remarks = {.device = device, .row = row, .out = out};

    remark_share(&remarks);
    remark_size(&remarks);
    remark_sides(&remarks);
    remark_alignment(&remarks);
    remark_blocks(&remarks);
    remark_result(&remarks);
    fputs("</li></ul>\n", out);
}
