/* SPDX-License-Identifier: Apache-2.0 */
#include "model/block.h"

#include <math.h>

enum { THOUSANDTHS = 1000 };

double at_block_waves(const struct at_model_block *b)
{
    return fmax(b->each / b->resident, 1);
}

double at_way_streamed(const struct at_traffic_way *way)
{
    return way->sectors > 0 ? way->streamed / way->sectors : 0;
}

/* Nanoseconds for `count` operations at a rate per clock in thousandths. */
static double clocked_ns(const struct at_rates *rates, double count, int64_t per_clock)
{
    return count * THOUSANDTHS / (double)per_clock * 1e6 / (double)rates->clock_khz;
}

double at_block_lines_ns(const struct at_model_block *b)
{
    return clocked_ns(b->rates, b->traffic->load.lines, b->rates->load_lines_per_clock) +
           clocked_ns(b->rates, b->traffic->store.lines, b->rates->store_lines_per_clock);
}

double at_block_shared_ns(const struct at_model_block *b, const struct at_traffic_work *work)
{
    return clocked_ns(b->rates, work->wavefronts, b->rates->wavefronts_per_clock);
}

/* Shuffles have a pipe of their own. */
double at_block_issue_ns(const struct at_model_block *b, const struct at_traffic_work *work)
{
    return fmax(clocked_ns(b->rates, work->slots, b->rates->slots_per_clock),
                clocked_ns(b->rates, work->shuffles, b->rates->shuffles_per_clock));
}
