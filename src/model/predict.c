/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predict.h"

#include "model/dram.h"
#include "model/latency.h"
#include "model/occupancy.h"

#include <math.h>

enum { REGISTER_BYTES = 4, SECTOR_BYTES = 32 };

/* The part of combined L1 and shared memory that shared memory cannot use: 192 - 164, 256 - 228 and
 * 128 - 100 KiB (CUDA C++ Programming Guide, "Compute Capabilities" 8.0, 9.0 and 10.0, and 8.9). */
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

/* A block's repeated loads of a sector come from L1, except streaming ones. All stores go to L2. */
static double l2_ns(const struct at_model_block *b)
{
    const struct at_traffic_way *load = &b->traffic->load, *store = &b->traffic->store;
    double first = fmin(load->bytes / SECTOR_BYTES, load->sectors);
    double loaded = first + (load->sectors - first) * at_way_streamed(load);

    return loaded * SECTOR_BYTES * 1e3 / (double)b->rates->l2_load_MB_per_s +
           store->sectors * SECTOR_BYTES * 1e3 / (double)b->rates->l2_store_MB_per_s;
}

static double norm(double a, double b, double order)
{
    return pow(pow(a, order) + pow(b, order), 1 / order);
}

/* Bounds overlap, but not perfectly: two similar ones slow each other down. A norm models that: in
 * the fifth order, two equal bounds give 1.15 times one. DRAM and latency overlap less, since DRAM
 * idles whenever too few loads happen to be in flight: 1.26 times, by the third order. */
static double together(const double *bounds)
{
    double ns = norm(bounds[AT_BOUND_DRAM], bounds[AT_BOUND_LATENCY], 3);

    for (int i = 0; i < AT_BOUNDS; i++)
        if (i != AT_BOUND_DRAM && i != AT_BOUND_LATENCY)
            ns = norm(ns, bounds[i], 5);
    return ns;
}

/* The time that the ends of the grid add. Nothing is stored before the first loads arrive, and
 * nothing is loaded at the end; less so if the warps of a block do not wait for each other. The
 * last wave does not fill the GPU. */
static double ends_ns(const struct at_model_block *b)
{
    const struct at_rates *rates = b->rates;
    double waves = at_block_waves(b);
    double percent = (double)(waves > 1 ? rates->drain_percent : rates->one_wave_percent);

    if (b->traffic->work.barriers == 0)
        percent *= (double)rates->direct_drain_percent / 100;
    return at_block_life_ns(b) * (percent + (ceil(waves) - waves) * (double)rates->tail_percent) /
           100;
}

static void predict(const struct at_model_block *b, bool cold, struct at_prediction *prediction)
{
    double blocks = (double)b->traffic->blocks, launch = (double)b->rates->launch_ns;
    double waves = at_block_waves(b);
    double started = blocks * 1e3 / (double)b->rates->blocks_per_us;
    const double bounds[AT_BOUNDS] = {
        [AT_BOUND_DRAM] = cold ? blocks * at_block_dram_ns(b) : 0,
        [AT_BOUND_L2] = blocks * l2_ns(b),
        [AT_BOUND_LATENCY] = fmax(waves * at_block_life_ns(b), at_block_edge_ns(b)),
        [AT_BOUND_SECTORS] = b->each * at_block_lines_ns(b),
        [AT_BOUND_SHARED] = b->each * at_block_shared_ns(b, &b->traffic->work),
        [AT_BOUND_ISSUE] = b->each * at_block_issue_ns(b, &b->traffic->work),
    };
    double ns = fmax(together(bounds), started) + ends_ns(b);

    prediction->ns = launch + ns;
    prediction->bound = AT_BOUND_LAUNCH;
    for (int i = 0; i < AT_BOUNDS; i++)
        if (bounds[i] > fmax(prediction->bound == AT_BOUND_LAUNCH ? fmax(launch, started) : 0,
                             bounds[prediction->bound]))
            prediction->bound = (enum at_bound)i;
}

/* Fill the block from a sample, which is kept in *traffic. The caller sets its rates. */
static enum at_status sample_block(struct at_model_block *block, struct at_traffic *traffic,
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
        status =
            at_fail(err, AT_FAILED, "a multiprocessor of %s cannot hold one block of this kernel",
                    device->name);
    if (status == AT_OK)
        status = at_traffic_sample(traffic, memory, emu, device->multiprocessors * occupancy.blocks,
                                   err);
    if (status != AT_OK)
        return status;
    each = (double)traffic->blocks / (double)device->multiprocessors;
    *block = (struct at_model_block){
        .traffic = traffic,
        .threads = (double)threads,
        .warps = (double)((threads + AT_WARP - 1) / AT_WARP),
        .registers = registers > 0 ? registers : 1,
        .resident = fmin((double)occupancy.blocks, ceil(each)),
        /* A grid of less than a wave starts at once: some multiprocessors get one block more. */
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
    struct at_model_block block;
    enum at_status status =
        sample_block(&block, &traffic, device, memory, emu, registers, static_shared_bytes, err);

    if (status == AT_OK) {
        block.rates = rates;
        predict(&block, cold, prediction);
    }
    return status;
}
