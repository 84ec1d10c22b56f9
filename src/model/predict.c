/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predict.h"

#include "model/occupancy.h"
#include "model/traffic.h"

#include <math.h>

enum { THOUSANDTHS = 1000, REGISTER_BYTES = 4, SECTOR_BYTES = 32 };

/* Of what L1 and shared memory have together, that shared memory never gets: 192 of which 164,
 * 256 of which 228, 128 of which 100 KiB can be shared (CUDA C++ Programming Guide, "Compute
 * Capabilities" 8.0, 9.0, 10.0, and 8.9). */
enum { L1_LEAST_BYTES = 28 << 10 };

const char *const at_bound_names[AT_BOUNDS] = {
    [AT_BOUND_DRAM] = "DRAM",
    [AT_BOUND_L2] = "L2",
    [AT_BOUND_LATENCY] = "latency",
    [AT_BOUND_SECTORS] = "uncoalesced accesses",
    [AT_BOUND_SHARED] = "shared memory",
    [AT_BOUND_ISSUE] = "instructions",
    [AT_BOUND_LAUNCH] = "launch",
};

/* What the times are made of; all of a block. */
struct block {
    const struct at_rates *rates;
    const struct at_traffic *traffic;
    double threads, warps;
    int64_t registers;
    double resident;   /* blocks a multiprocessor at once */
    double each;       /* blocks that a multiprocessor runs one after another */
    double filled;     /* of a multiprocessor's threads, by the resident blocks */
    double wave;       /* blocks that the device runs at once */
    double held_bytes; /* at most, by a multiprocessor, in registers and shared memory */
    double l1_bytes;   /* room for loads under way; 0: enough */
    double l2_bytes;
};

/* Nanoseconds for so many of what a multiprocessor does at a rate a clock in thousandths. */
static double clocked_ns(const struct at_rates *rates, double count, int64_t per_clock)
{
    return count * THOUSANDTHS / (double)per_clock * 1e6 / (double)rates->clock_khz;
}

static double lines_ns(const struct block *b)
{
    return clocked_ns(b->rates, b->traffic->load.lines, b->rates->load_lines_per_clock) +
           clocked_ns(b->rates, b->traffic->store.lines, b->rates->store_lines_per_clock);
}

static double shared_ns(const struct block *b, const struct at_traffic_work *work)
{
    return clocked_ns(b->rates, work->wavefronts, b->rates->wavefronts_per_clock);
}

/* Exchanges have a pipe of their own. */
static double issue_ns(const struct block *b, const struct at_traffic_work *work)
{
    return fmax(clocked_ns(b->rates, work->slots, b->rates->slots_per_clock),
                clocked_ns(b->rates, work->shuffles, b->rates->shuffles_per_clock));
}

/* ---- DRAM ---- */

/* Of L2, by what a wave has in hand: what is to meet there may be gone before it does. */
static double pressure(const struct block *b)
{
    double bytes = b->resident * (b->traffic->load.bytes + b->traffic->store.bytes);

    return b->wave / b->resident * fmin(bytes, b->held_bytes) / b->l2_bytes;
}

/* Which part of the loads that are under way at once L1 has no room for: each takes a place there
 * until it has come. */
static double crowded(const struct block *b)
{
    double bytes = b->resident * b->traffic->load.bytes / fmax(1, b->traffic->work.load_rounds);

    return bytes > b->l1_bytes && b->l1_bytes > 0 ? 1 - b->l1_bytes / bytes : 0;
}

/* What is lost where a wave is in many pages at once, from none (0) to all (1): translations, and
 * rows of DRAM that are changed for little. */
static double scattered(const struct block *b, const struct at_traffic_way *way)
{
    double all = (double)b->traffic->blocks * way->bytes / AT_TRAFFIC_PAGE_BYTES + 1;
    double pages = way->page_bytes > 0 ? fmin(b->wave * way->bytes / way->page_bytes, all) : 0;

    return pages / (pages + (double)b->rates->scatter_pages);
}

static double streamed(const struct at_traffic_way *way)
{
    return way->sectors > 0 ? way->streamed / way->sectors : 0;
}

/* Loads in short runs use DRAM's bursts and open rows badly: each run costs the same. What a
 * neighbour loads too is found in L2. */
static double load_bytes(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_way *load = &b->traffic->load;
    double more = load->run_bytes > 0 ? fmax(0, (double)rates->run_bytes / load->run_bytes - 1) : 0;
    double percent = more * ((double)rates->load_run_percent +
                             scattered(b, load) * (double)rates->load_scatter_run_percent);

    return load->bytes * (1 - b->traffic->overlap * (1 - streamed(load))) * (1 + percent / 100);
}

/* Stores that a wave scatters over many pages wait for translations and row changes: the reason why
 * walking down the columns of the source, along the rows of the destination, is mostly best. Short
 * runs cost little where the wave is in few pages, and much where it is in many, even if
 * neighbouring blocks make whole what is missing of them. */
static double store_bytes(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_way *store = &b->traffic->store;
    double missing = fmax(0, 1 - store->run_bytes / (double)rates->run_bytes);
    double percent = missing * (double)rates->store_run_percent +
                     scattered(b, store) * ((double)rates->store_scatter_percent +
                                            missing * (double)rates->store_scatter_run_percent);

    return store->bytes * (1 + percent / 100);
}

/* A sector that is not written whole must be merged with what is there; the longer the rest is in
 * coming, the more often after the part has left L2, and from a block far away always. A sector
 * that a block writes in several requests is not merged for nothing either. */
static double merged_bytes(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic *t = b->traffic;
    double lost = pressure(b) * (double)rates->lost_partial_percent / 100;
    double again = fmax(0, t->store.sectors - t->store.bytes / SECTOR_BYTES);

    return t->partial_sectors * (double)rates->partial_bytes * (1 + lost) +
           t->far_partial_sectors * (double)rates->far_partial_bytes * scattered(b, &t->store) +
           (t->work.barriers > 0 ? 0 : again * (double)rates->again_bytes);
}

/* DRAM moves each sector once, L2 sees to that, but not all at its best. It has to turn around
 * between reads and writes, more often where blocks do not separate theirs by a barrier, unless
 * all of them read at first and write in the end. */
static double dram_ns(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    double mixed =
        b->traffic->work.barriers > 0 ? 0 : 1 - fmin(1, b->wave / (double)b->traffic->blocks);
    double percent = pressure(b) * (double)rates->pressure_percent +
                     crowded(b) * (double)rates->crowded_percent +
                     mixed * (double)rates->mixed_percent;
    double bytes = (load_bytes(b) + store_bytes(b)) * (1 + percent / 100);

    return (bytes + merged_bytes(b)) * 1e3 / (double)rates->dram_mbps;
}

/* ---- L2 ---- */

/* What a block loads again comes from L1, unless it asks L1 not to keep it; stores all go through.
 */
static double l2_ns(const struct block *b)
{
    const struct at_traffic_way *load = &b->traffic->load, *store = &b->traffic->store;
    double first = fmin(load->bytes / SECTOR_BYTES, load->sectors);
    double loaded = first + (load->sectors - first) * streamed(load);

    return loaded * SECTOR_BYTES * 1e3 / (double)b->rates->l2_load_mbps +
           store->sectors * SECTOR_BYTES * 1e3 / (double)b->rates->l2_store_mbps;
}

/* ---- latency ---- */

/* Batches of loads: those of the program, and more where a batch has more data than a thread has
 * registers to receive them, so that the compiler must make several of it. */
static double rounds(const struct block *b)
{
    double asked = b->traffic->load.bytes / b->threads / REGISTER_BYTES;

    return fmax(b->traffic->work.load_rounds, asked / (double)b->registers);
}

/* Loads queue up behind those of the same warp, and behind those of the other warps resident. */
static double queue_ns(const struct block *b)
{
    double shared = (double)b->rates->request_percent / 100;

    return (double)b->rates->request_ns * b->traffic->work.load_requests *
           (1 - shared + shared * b->filled);
}

/* How long one block lives, with its loads' latency in full and what of its own work they do not
 * hide. Little's law: at most `resident` blocks a multiprocessor end in that time. */
static double life_ns(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *work = &b->traffic->work;
    double busy = lines_ns(b) + shared_ns(b, work) + issue_ns(b, work);

    return (double)rates->block_ns + rounds(b) * (double)rates->dram_latency_ns + queue_ns(b) +
           (double)rates->warp_ns * b->warps * work->barriers +
           busy * (double)rates->serial_percent / 100;
}

/* A block at the edge may go through its tile element by element, and nothing is done before it
 * has. Its loads come from L2, to which the first of them bring whole sectors, unless they are
 * streamed. */
static double edge_ns(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *edge = &b->traffic->edge;
    double far = streamed(&b->traffic->load);
    double latency =
        (double)rates->l2_latency_ns * (1 - far) + (double)rates->dram_latency_ns * far;

    return (double)rates->block_ns + edge->load_rounds * latency +
           (shared_ns(b, edge) + issue_ns(b, edge)) * (double)rates->serial_percent / 100;
}

/* ---- the whole ---- */

/* Bounds overlap, but not perfectly: two that are equally near slow each other down. The norm of
 * fourth order says so: two equal ones make 1.19 of one, one of half the time 1.016. */
static double together(const double *bounds)
{
    double sum = 0;

    for (int i = 0; i < AT_BOUNDS; i++)
        sum += pow(bounds[i], 4);
    return pow(sum, 0.25);
}

static void predict(const struct block *b, bool cold, struct at_prediction *prediction)
{
    double blocks = (double)b->traffic->blocks, launch = (double)b->rates->launch_ns;
    double waves = fmax(b->each / b->resident, 1);
    double started = blocks * 1e3 / (double)b->rates->blocks_per_us; /* one after the other */
    const double bounds[AT_BOUNDS] = {
        [AT_BOUND_DRAM] = cold ? blocks * dram_ns(b) : 0,
        [AT_BOUND_L2] = blocks * l2_ns(b),
        [AT_BOUND_LATENCY] = fmax(waves * life_ns(b), edge_ns(b)),
        [AT_BOUND_SECTORS] = b->each * lines_ns(b),
        [AT_BOUND_SHARED] = b->each * shared_ns(b, &b->traffic->work),
        [AT_BOUND_ISSUE] = b->each * issue_ns(b, &b->traffic->work),
    };
    double ns = fmax(together(bounds), started);

    /* Before the first wave has loaded nothing is stored, and in the end nothing is loaded. */
    ns += life_ns(b) * (double)(waves > 1 ? b->rates->drain_percent : b->rates->one_wave_percent) /
          100;
    prediction->ns = launch + ns;
    prediction->bound = AT_BOUND_LAUNCH;
    for (int i = 0; i < AT_BOUNDS; i++)
        if (bounds[i] > fmax(prediction->bound == AT_BOUND_LAUNCH ? fmax(launch, started) : 0,
                             bounds[prediction->bound]))
            prediction->bound = (enum at_bound)i;
}

/* The block of a launch, by a sample that is kept in *traffic; its rates are for the caller. */
static enum at_status sample_block(struct block *block, struct at_traffic *traffic,
                                   const struct at_device_info *device,
                                   struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                   int64_t registers, int64_t static_shared_bytes,
                                   struct at_error *err)
{
    int64_t threads = (int64_t)emu->block[0] * emu->block[1] * emu->block[2];
    struct at_occupancy occupancy;
    enum at_status status = at_occupancy_of(&occupancy, device, threads, registers,
                                            static_shared_bytes, emu->dynamic_shared_bytes, err);
    double each;

    if (status == AT_OK && occupancy.blocks < 1)
        status = at_fail(err, AT_FAILED,
                         "a multiprocessor of %s does not hold one block of this "
                         "kernel",
                         device->name);
    if (status == AT_OK)
        status = at_traffic_sample(traffic, memory, emu, device->multiprocessors * occupancy.blocks,
                                   err);
    if (status != AT_OK)
        return status;
    each = (double)traffic->blocks / (double)device->multiprocessors;
    *block = (struct block){
        .traffic = traffic,
        .threads = (double)threads,
        .warps = (double)((threads + AT_WARP - 1) / AT_WARP),
        .registers = registers > 0 ? registers : 1,
        .resident = fmin((double)occupancy.blocks, ceil(each)),
        /* A grid of less than a wave is dealt out at once: some have one block more. */
        .each = each < (double)occupancy.blocks ? ceil(each) : each,
        .held_bytes = (double)(device->registers_per_multiprocessor * REGISTER_BYTES +
                               device->shared_bytes_per_multiprocessor),
        .l2_bytes = (double)device->l2_bytes,
    };
    if (emu->carveout_percent > 0)
        block->l1_bytes = L1_LEAST_BYTES + (double)device->shared_bytes_per_multiprocessor *
                                               (double)(100 - emu->carveout_percent) / 100;
    block->wave = block->resident * (double)device->multiprocessors;
    block->filled =
        block->resident * block->threads / (double)device->max_threads_per_multiprocessor;
    return AT_OK;
}

enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 int64_t registers, int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err)
{
    struct at_traffic traffic;
    struct block block;
    enum at_status status =
        sample_block(&block, &traffic, device, memory, emu, registers, static_shared_bytes, err);

    if (status == AT_OK) {
        block.rates = rates;
        predict(&block, cold, prediction);
    }
    return status;
}
