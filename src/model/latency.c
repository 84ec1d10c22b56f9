/* SPDX-License-Identifier: Apache-2.0 */
#include "model/latency.h"

#include <math.h>

enum { REGISTER_BYTES = 4 };

/* Batches of loads: the program's, or more if a batch does not fit the registers of a thread, so
 * the compiler must split it. At least one, even if one thread loads for all. */
static double rounds(const struct at_model_block *b)
{
    double asked = b->traffic->load.bytes / b->threads / REGISTER_BYTES;

    return fmax(1, fmax(b->traffic->work.load_rounds, asked / (double)b->registers));
}

/* A load waits behind loads of its own warp and of the other resident warps. */
static double queue_ns(const struct at_model_block *b)
{
    double shared = (double)b->rates->request_percent / 100;

    return (double)b->rates->request_ns * b->traffic->work.load_requests *
           (1 - shared + shared * b->filled);
}

/* Warps wait for each other at a barrier, longer if other blocks have come and gone: in the first
 * wave all are in step. */
static double barriers_ns(const struct at_model_block *b)
{
    double later = fmin(1, at_block_waves(b) - 1);

    return ((double)b->rates->warp_ns + later * (double)b->rates->later_warp_ns) * b->warps *
           b->traffic->work.barriers;
}

double at_block_life_ns(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *work = &b->traffic->work;
    double busy = at_block_lines_ns(b) + at_block_shared_ns(b, work) + at_block_issue_ns(b, work);

    return (double)rates->block_ns + rounds(b) * (double)rates->dram_latency_ns + queue_ns(b) +
           barriers_ns(b) + busy * (double)rates->serial_percent / 100;
}

double at_block_edge_ns(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *edge = &b->traffic->edge;
    double far = at_way_streamed(&b->traffic->load);
    double latency =
        (double)rates->l2_latency_ns * (1 - far) + (double)rates->dram_latency_ns * far;

    return (double)rates->block_ns + edge->load_rounds * latency +
           (at_block_shared_ns(b, edge) + at_block_issue_ns(b, edge)) *
               (double)rates->serial_percent / 100;
}
