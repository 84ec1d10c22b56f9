/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predict.h"

#include "model/occupancy.h"
#include "model/traffic.h"

#include <math.h>

enum { THOUSANDTHS = 1000, REGISTER_BYTES = 4, SECTOR_BYTES = 32 };

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
    double resident; /* blocks a multiprocessor at once */
    double each;     /* blocks that a multiprocessor runs one after another */
    double filled;   /* of a multiprocessor's threads, by the resident blocks */
};

/* Nanoseconds for so many of what a multiprocessor does at a rate a clock in thousandths. */
static double clocked_ns(const struct at_rates *rates, double count, int64_t per_clock)
{
    return count * THOUSANDTHS / (double)per_clock * 1e6 / (double)rates->clock_khz;
}

static double lines_ns(const struct block *b)
{
    return clocked_ns(b->rates, b->traffic->load.lines + b->traffic->store.lines,
                      b->rates->lines_per_clock);
}

static double shared_ns(const struct block *b)
{
    return clocked_ns(b->rates, b->traffic->wavefronts, b->rates->wavefronts_per_clock);
}

static double issue_ns(const struct block *b)
{
    return clocked_ns(b->rates, b->traffic->instructions, b->rates->issue_per_clock);
}

/* Loads in short runs use DRAM's bursts and open rows badly: each run costs the same. */
static double load_bytes(const struct block *b)
{
    const struct at_traffic_way *load = &b->traffic->load;
    double more = load->run_bytes > 0 ? (double)b->rates->run_bytes / load->run_bytes - 1 : 0;

    return load->bytes * (1 + fmax(0, more) * (double)b->rates->load_run_percent / 100);
}

/* Stores that a wave scatters over many pages wait for translations and row changes: the reason why
 * walking down the columns of the source, along the rows of the destination, is mostly best. Short
 * runs cost little where the wave fills the pages that it stores in, and much where it does not,
 * even if neighbouring blocks make whole what is missing of them. */
static double store_bytes(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic *t = b->traffic;
    double scattered = 1 / (1 + t->page_bytes / (double)rates->page_bytes);
    double missing = fmax(0, 1 - t->store.run_bytes / (double)rates->run_bytes);
    double percent =
        missing * (double)rates->store_run_percent +
        scattered * ((double)rates->page_percent + missing * (double)rates->page_run_percent);

    return t->store.bytes * (1 + percent / 100);
}

/* DRAM moves each sector once, L2 sees to that, but not all at its best. A sector that is not
 * written whole must be merged besides, and when the rest comes much later, from another block, it
 * has to be read again. */
static double dram_ns(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    double partial = b->traffic->partial_sectors * (double)rates->partial_bytes +
                     b->traffic->far_partial_sectors * (double)rates->far_partial_bytes;

    return (load_bytes(b) + store_bytes(b) + partial) * 1e3 / (double)rates->dram_mbps;
}

static double l2_ns(const struct block *b)
{
    return (b->traffic->load.sectors + b->traffic->store.sectors) * SECTOR_BYTES * 1e3 /
           (double)b->rates->l2_mbps;
}

/* Batches of loads: those of the program, and more where a batch has more data than a thread has
 * registers to receive them, so that the compiler must make several of it. */
static double rounds(const struct block *b)
{
    double asked = b->traffic->load.bytes / b->threads / REGISTER_BYTES;

    return fmax(b->traffic->load_rounds, asked / (double)b->registers);
}

/* Loads queue up behind those of the same warp, and behind those of the other warps resident. */
static double queue_ns(const struct block *b)
{
    double shared = (double)b->rates->request_percent / 100;

    return (double)b->rates->request_ns * b->traffic->load.requests / b->warps *
           (1 - shared + shared * b->filled);
}

/* How long one block lives, with its loads' latency in full and what of its own work they do not
 * hide. Little's law: at most `resident` blocks a multiprocessor end in that time. */
static double life_ns(const struct block *b)
{
    const struct at_rates *rates = b->rates;
    double work = lines_ns(b) + shared_ns(b) + issue_ns(b);

    return (double)rates->block_ns + rounds(b) * (double)rates->dram_latency_ns + queue_ns(b) +
           (double)rates->warp_ns * b->warps + work * (double)rates->serial_percent / 100;
}

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
    double blocks = (double)b->traffic->blocks, launch = (double)b->rates->launch_ns, ns;
    double waves = fmax(b->each / b->resident, 1);
    const double bounds[AT_BOUNDS] = {
        [AT_BOUND_DRAM] = cold ? blocks * dram_ns(b) : 0,
        [AT_BOUND_L2] = blocks * l2_ns(b),
        [AT_BOUND_LATENCY] = waves * life_ns(b),
        [AT_BOUND_SECTORS] = b->each * lines_ns(b),
        [AT_BOUND_SHARED] = b->each * shared_ns(b),
        [AT_BOUND_ISSUE] = b->each * issue_ns(b),
    };

    ns = together(bounds);
    /* In the last wave multiprocessors run dry, one after the other. */
    if (waves > 1)
        ns *= 1 + (double)b->rates->tail_percent / 100 / waves;
    prediction->ns = launch + ns;
    prediction->bound = AT_BOUND_LAUNCH;
    for (int i = 0; i < AT_BOUNDS; i++)
        if (bounds[i] >
            fmax(prediction->bound == AT_BOUND_LAUNCH ? launch : 0, bounds[prediction->bound]))
            prediction->bound = (enum at_bound)i;
}

enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 int64_t registers, int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err)
{
    int64_t threads = (int64_t)emu->block[0] * emu->block[1] * emu->block[2];
    struct at_occupancy occupancy;
    struct at_traffic traffic;
    enum at_status status = at_occupancy_of(&occupancy, device, threads, registers,
                                            static_shared_bytes, emu->dynamic_shared_bytes, err);

    if (status == AT_OK && occupancy.blocks < 1)
        status = at_fail(err, AT_FAILED,
                         "a multiprocessor of %s does not hold one block of this "
                         "kernel",
                         device->name);
    if (status == AT_OK)
        status = at_traffic_sample(&traffic, memory, emu,
                                   device->multiprocessors * occupancy.blocks, err);
    if (status == AT_OK) {
        double each = (double)traffic.blocks / (double)device->multiprocessors;
        struct block block = {
            .rates = rates,
            .traffic = &traffic,
            .threads = (double)threads,
            .warps = (double)((threads + AT_WARP - 1) / AT_WARP),
            .registers = registers > 0 ? registers : 1,
            .resident = fmin((double)occupancy.blocks, ceil(each)),
            /* A grid of less than a wave is dealt out at once: some have one block more. */
            .each = each < (double)occupancy.blocks ? ceil(each) : each,
        };

        block.filled =
            block.resident * block.threads / (double)device->max_threads_per_multiprocessor;
        predict(&block, cold, prediction);
    }
    return status;
}
