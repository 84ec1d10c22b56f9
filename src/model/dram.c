/* SPDX-License-Identifier: Apache-2.0 */
#include "model/dram.h"

#include <math.h>

enum { SECTOR_BYTES = 32, LINE_SECTORS = 4 };

/* The part of L2 that the data of a wave fill. A fuller L2 evicts data before they are used again.
 */
static double pressure(const struct at_model_block *b)
{
    double bytes = b->resident * (b->traffic->load.bytes + b->traffic->store.bytes);

    return b->wave / b->resident * fmin(bytes, b->held_bytes) / b->l2_bytes;
}

/* How much too little room L1 has for the loads in flight, from 0 to 1. Each takes room there until
 * its data arrive. Most is lost as soon as room is short, hence the root. */
static double crowded(const struct at_model_block *b)
{
    double bytes = b->resident * b->traffic->load.bytes / fmax(1, b->traffic->work.load_rounds);

    return bytes > b->l1_bytes && b->l1_bytes > 0 ? sqrt(1 - b->l1_bytes / bytes) : 0;
}

/* How far the pages of a wave are scattered, from 0 to 1: a half with `half` pages. Many pages cost
 * address translations and changes of DRAM rows. */
static double scattered(const struct at_model_block *b, const struct at_traffic_way *way,
                        int64_t half)
{
    double all = (double)b->traffic->blocks * way->bytes / AT_TRAFFIC_PAGE_BYTES + 1;
    double pages = way->page_bytes > 0 ? fmin(b->wave * way->bytes / way->page_bytes, all) : 0;

    return pages / (pages + (double)half);
}

static double scattered_loads(const struct at_model_block *b)
{
    return scattered(b, &b->traffic->load, b->rates->load_scatter_pages);
}

static double scattered_stores(const struct at_model_block *b)
{
    return scattered(b, &b->traffic->store, b->rates->store_scatter_pages);
}

/* The part of the lines' sectors that requests leave out: 0 if they read full lines. The rest of a
 * line is read later, when DRAM may have closed its row. */
static double pieces(const struct at_traffic_way *way)
{
    return way->lines > 0 ? 1 - way->sectors / way->lines / LINE_SECTORS : 0;
}

/* Loads in short runs use DRAM's bursts and open rows badly: each run costs the same. So do runs
 * that are loaded piece by piece. Bytes that a neighbour loads too come from L2. */
static double load_bytes(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_way *load = &b->traffic->load;
    double more = load->run_bytes > 0 ? fmax(0, (double)rates->run_bytes / load->run_bytes - 1) : 0;
    double percent = more * ((double)rates->load_run_percent +
                             scattered_loads(b) * (double)rates->load_scatter_run_percent) +
                     pieces(load) * (double)rates->load_piece_percent;

    return load->bytes * (1 - b->traffic->overlap * (1 - at_way_streamed(load))) *
           (1 + percent / 100);
}

/* Stores that a wave scatters over many pages wait for translations and row changes. So it is
 * mostly best to go down the columns of the source, along the rows of the destination. Short runs
 * and pieces cost little if the wave is in few pages, and much if it is in many, even if
 * neighbouring blocks write the rest of the sectors. */
static double store_bytes(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_way *store = &b->traffic->store;
    double missing = fmax(0, 1 - store->run_bytes / (double)rates->run_bytes);
    double percent =
        missing * (double)rates->store_run_percent +
        scattered_stores(b) * ((double)rates->store_scatter_percent +
                               missing * (double)rates->store_scatter_run_percent +
                               pieces(store) * (double)rates->store_scatter_piece_percent);

    return store->bytes * (1 + percent / 100);
}

/* A sector that is only partly written must be merged with its old bytes in DRAM, unless the rest
 * is written before L2 evicts it. A rest from a block far away always comes too late. A sector that
 * a block writes in several requests costs something too, unless these follow each other at once.
 */
static double merged_bytes(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic *t = b->traffic;
    double lost = pressure(b) * (double)rates->lost_partial_percent / 100;
    double again = fmax(0, t->store.sectors - t->store.repeated - t->store.bytes / SECTOR_BYTES);

    return t->partial_sectors * (double)rates->partial_bytes * (1 + lost) +
           t->far_partial_sectors * (double)rates->far_partial_bytes * scattered_stores(b) +
           (t->work.barriers > 0 ? 0 : again * (double)rates->again_bytes);
}

/* How often DRAM has to switch between reads and writes, from 0 to 1. It switches more often if no
 * barrier separates a block's reads from its writes, unless the whole grid is one wave, which reads
 * first and writes last. */
static double mixed(const struct at_model_block *b)
{
    return b->traffic->work.barriers > 0 ? 0 : 1 - fmin(1, b->wave / (double)b->traffic->blocks);
}

/* L2 makes sure that DRAM moves each sector once, but DRAM is not always at its fastest. L2 evicts
 * streaming loads before stored data. If the stores do not stream, it fills up with data that must
 * be written. */
double at_block_dram_ns(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    double loads = scattered_loads(b), stores = scattered_stores(b);
    double filling = at_way_streamed(&b->traffic->load) * (1 - at_way_streamed(&b->traffic->store));
    double percent =
        pressure(b) * (double)rates->pressure_percent +
        crowded(b) * (double)rates->crowded_percent +
        mixed(b) * ((double)rates->mixed_percent + stores * (double)rates->mixed_scatter_percent) +
        filling * (double)rates->filling_percent -
        loads * stores * (double)rates->both_scatter_percent;
    double bytes = (load_bytes(b) + store_bytes(b)) * (1 + percent / 100);

    return (bytes + merged_bytes(b)) * 1e3 / (double)rates->dram_MB_per_s;
}
