/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/predict.h"

#include "device/info.h"
#include "emulated/machine/machine.h"
#include "emulated/time/occupancy.h"
#include "emulated/time/traffic.h"

#include <math.h>
#include <stdbool.h>

struct model_block {
    const struct at_rates *rates;
    const struct at_traffic *traffic;
    double threads, warps;
    int64_t registers;
    double multiprocessors;
    double most;         /* blocks that a multiprocessor could hold at once */
    double threads_most; /* threads */
    double resident;     /* blocks that a multiprocessor holds at once */
    double each;         /* blocks that a multiprocessor runs one after another, at most */
    double filled;       /* part of a multiprocessor's threads in use */
    double wave;         /* blocks that the device runs at once */
    double held_bytes;   /* at most, per multiprocessor, in registers and shared memory */
    double l1_bytes;     /* room for loads in flight; 0: enough */
    double l2_bytes;
    bool is_even; /* the last wave is a full one */
};

enum { THOUSANDTHS = 1000 };

/* The waves that each multiprocessor runs, at least 1. */
static double block_waves(const struct model_block *b)
{
    return fmax(b->each / b->resident, 1);
}

/* The part of the loads or stores that is streaming. */
static double way_streamed(const struct at_traffic_way *way)
{
    return way->sectors > 0 ? way->streamed / way->sectors : 0;
}

double at_clocked_ns(const struct at_rates *rates, double count, int64_t per_clock)
{
    return count * THOUSANDTHS / (double)per_clock * 1e6 / (double)rates->clock_khz;
}

/* Time of a block's work on its multiprocessor alone, in nanoseconds: L1's look-ups, shared memory,
 * instructions. */
static double block_lines_ns(const struct model_block *b)
{
    return at_clocked_ns(b->rates, b->traffic->load.lines, b->rates->load_lines_per_clock) +
           at_clocked_ns(b->rates, b->traffic->store.lines, b->rates->store_lines_per_clock);
}

static double block_shared_ns(const struct model_block *b, const struct at_traffic_work *work)
{
    return at_clocked_ns(b->rates, work->wavefronts, b->rates->wavefronts_per_clock);
}

/* Shuffles have a pipe of their own. */
static double block_issue_ns(const struct model_block *b, const struct at_traffic_work *work)
{
    return fmax(at_clocked_ns(b->rates, work->slots, b->rates->slots_per_clock),
                at_clocked_ns(b->rates, work->shuffles, b->rates->shuffles_per_clock));
}

enum { SECTOR_BYTES = 32, LINE_SECTORS = 4 };

/* The part of L2 that the data of a wave fill. A fuller L2 evicts data before they are used again.
 */
static double pressure(const struct model_block *b)
{
    double bytes = b->resident * (b->traffic->load.bytes + b->traffic->store.bytes);

    return b->wave / b->resident * fmin(bytes, b->held_bytes) / b->l2_bytes;
}

/* How much too little room L1 has for the loads in flight, from 0 to 1. Each takes room there until
 * its data arrive. Most is lost as soon as room is short, hence the root. */
static double crowded(const struct model_block *b)
{
    double bytes = b->resident * b->traffic->load.bytes / fmax(1, b->traffic->work.load_rounds);

    return bytes > b->l1_bytes && b->l1_bytes > 0 ? sqrt(1 - b->l1_bytes / bytes) : 0;
}

/* How far the pages of a wave are scattered, from 0 to 1: a half with `half` pages. Many pages cost
 * address translations and changes of DRAM rows. */
static double scattered(const struct model_block *b, const struct at_traffic_way *way, int64_t half)
{
    double all = (double)b->traffic->blocks * way->bytes / AT_TRAFFIC_PAGE_BYTES + 1;
    double pages = way->page_bytes > 0 ? fmin(b->wave * way->bytes / way->page_bytes, all) : 0;

    return pages / (pages + (double)half);
}

static double scattered_loads(const struct model_block *b)
{
    return scattered(b, &b->traffic->load, b->rates->load_scatter_pages);
}

static double scattered_stores(const struct model_block *b)
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
static double load_bytes(const struct model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_way *load = &b->traffic->load;
    double more = load->run_bytes > 0 ? fmax(0, (double)rates->run_bytes / load->run_bytes - 1) : 0;
    double percent = more * ((double)rates->load_run_percent +
                             scattered_loads(b) * (double)rates->load_scatter_run_percent) +
                     pieces(load) * (double)rates->load_piece_percent;

    return load->bytes * (1 - b->traffic->overlap * (1 - way_streamed(load))) * (1 + percent / 100);
}

/* Stores that a wave scatters over many pages wait for translations and row changes. So it is
 * mostly best to go down the columns of the source, along the rows of the destination. Short runs
 * and pieces cost little if the wave is in few pages, and much if it is in many, even if
 * neighbouring blocks write the rest of the sectors. */
static double store_bytes(const struct model_block *b)
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
static double merged_bytes(const struct model_block *b)
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
static double mixed(const struct model_block *b)
{
    return b->traffic->work.barriers > 0 ? 0 : 1 - fmin(1, b->wave / (double)b->traffic->blocks);
}

/* L2 makes sure that DRAM moves each sector once, but DRAM is not always at its fastest. L2 evicts
 * streaming loads before stored data. If the stores do not stream, it fills up with data that must
 * be written. */
static double block_dram_ns(const struct model_block *b)
{
    const struct at_rates *rates = b->rates;
    double loads = scattered_loads(b), stores = scattered_stores(b);
    double filling = way_streamed(&b->traffic->load) * (1 - way_streamed(&b->traffic->store));
    double percent =
        pressure(b) * (double)rates->pressure_percent +
        crowded(b) * (double)rates->crowded_percent +
        mixed(b) * ((double)rates->mixed_percent + stores * (double)rates->mixed_scatter_percent) +
        filling * (double)rates->filling_percent -
        loads * stores * (double)rates->both_scatter_percent;
    double bytes = (load_bytes(b) + store_bytes(b)) * (1 + percent / 100);

    return (bytes + merged_bytes(b)) * 1e3 / (double)rates->dram_MB_per_s;
}

enum { REGISTER_BYTES = 4 };

/* Batches of loads: the program's, or more if a batch does not fit the registers of a thread, so
 * the compiler must split it. At least one, even if one thread loads for all. */
static double rounds(const struct model_block *b)
{
    double asked = b->traffic->load.bytes / b->threads / REGISTER_BYTES;

    return fmax(1, fmax(b->traffic->work.load_rounds, asked / (double)b->registers));
}

/* Clocks of a load that L1 has: Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
 * Architecture via Microbenchmarking", 2024. */
enum { L1_CLOCKS = 41 };

/* Return how long a block waits for its rounds of loads. L1 answers the near ones. */
static double wait_ns(const struct at_rates *rates, double all, double near, double far_ns)
{
    return (all - near) * far_ns + near * L1_CLOCKS * 1e6 / (double)rates->clock_khz;
}

static double near_rounds(const struct at_traffic_work *work)
{
    return work->load_rounds - fmax(work->far_rounds, fmin(1, work->load_rounds));
}

/* A load waits behind loads of its own warp and of the other resident warps. Those of the rounds
 * before have arrived. */
static double queue_ns(const struct model_block *b)
{
    const struct at_traffic_work *work = &b->traffic->work;
    double shared = (double)b->rates->request_percent / 100;
    double ahead = work->load_requests - fmax(0, work->load_rounds - 1);

    return (double)b->rates->request_ns * ahead * (1 - shared + shared * b->filled);
}

/* Warps wait for each other at a barrier, longer if other blocks have come and gone: in the first
 * wave all are in step. */
static double barriers_ns(const struct model_block *b)
{
    double later = fmin(1, block_waves(b) - 1);

    return ((double)b->rates->warp_ns + later * (double)b->rates->later_warp_ns) * b->warps *
           b->traffic->work.barriers;
}

/* The lifetime of a block in nanoseconds: the full latency of its loads, and its work that does not
 * overlap them. By Little's law, at most `resident` blocks per multiprocessor end in that time. */
static double block_life_ns(const struct model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *work = &b->traffic->work;
    double busy = block_lines_ns(b) + block_shared_ns(b, work) + block_issue_ns(b, work);

    return (double)rates->block_ns +
           wait_ns(rates, rounds(b), near_rounds(work), (double)rates->dram_latency_ns) +
           queue_ns(b) + barriers_ns(b) + busy * (double)rates->serial_percent / 100;
}

/* A block at the edge does the same as others if it has at most this many times their rounds. */
static const double ALIKE = 1.25;

/* The lifetime of a block at the edge, which may handle its tile element by element. The launch
 * waits for it. Its loads come from L2, because the first ones bring whole sectors there, except
 * streaming loads. If it does the same as others, that holds for its first round only. */
static double block_edge_ns(const struct model_block *b)
{
    const struct at_rates *rates = b->rates;
    const struct at_traffic_work *edge = &b->traffic->edge;
    double near = near_rounds(edge), far = way_streamed(&b->traffic->load);
    double dram = (double)rates->dram_latency_ns;
    double latency = (double)rates->l2_latency_ns * (1 - far) + dram * far;
    bool is_alike = edge->load_rounds - near <= ALIKE * b->traffic->usual_rounds;
    double first = is_alike ? fmin(1, edge->load_rounds) : edge->load_rounds - near;

    return (double)rates->block_ns + first * latency +
           wait_ns(rates, edge->load_rounds - first, near, dram) +
           (block_shared_ns(b, edge) + block_issue_ns(b, edge)) * (double)rates->serial_percent /
               100;
}

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
    [AT_BOUND_ATOMICS] = "atomics",
    [AT_BOUND_LAUNCH] = "launch",
};

/* A block's repeated loads of a sector come from L1, except streaming ones. All stores go to L2. */
static double l2_ns(const struct model_block *b)
{
    const struct at_traffic_way *load = &b->traffic->load, *store = &b->traffic->store;
    double first = fmin(load->bytes / SECTOR_BYTES, load->sectors);
    double loaded = first + (load->sectors - first) * way_streamed(load);

    return loaded * SECTOR_BYTES * 1e3 / (double)b->rates->l2_load_MB_per_s +
           store->sectors * SECTOR_BYTES * 1e3 / (double)b->rates->l2_store_MB_per_s;
}

/* Operations of one address wait for each other, and so do those of a slice of L2. */
static double atomics_ns(const struct model_block *b)
{
    const struct at_atomics *atomics = &b->traffic->atomics;
    double integer_ns = (double)b->rates->atomic_ps / 1e3;
    double float_ns = (double)b->rates->atomic_float_ps / 1e3;

    return fmax(atomics->steps * integer_ns, atomics->operations[AT_ATOMIC_INTEGER] * integer_ns +
                                                 atomics->operations[AT_ATOMIC_FLOAT] * float_ns);
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
 * nothing is loaded at the end; less so if the warps of a block do not wait for each other, which
 * store as soon as their first round of loads is there. The last wave does not fill the GPU. */
static double ends_ns(const struct model_block *b)
{
    const struct at_rates *rates = b->rates;
    double waves = block_waves(b), life = block_life_ns(b);
    double percent = (double)(waves > 1 ? rates->drain_percent : rates->one_wave_percent);
    double empty = b->is_even ? 0 : (ceil(waves) - waves) * (double)rates->tail_percent;

    if (b->traffic->work.barriers == 0)
        percent *= (double)rates->direct_drain_percent / 100 / rounds(b);
    return life * (percent + empty) / 100;
}

static void predict(const struct model_block *b, bool cold, struct at_prediction *prediction)
{
    double blocks = (double)b->traffic->blocks, launch = (double)b->rates->launch_ns;
    double waves = block_waves(b);
    double started = blocks * 1e3 / (double)b->rates->blocks_per_us;
    const double bounds[AT_BOUNDS] = {
        [AT_BOUND_DRAM] = cold ? blocks * block_dram_ns(b) : 0,
        [AT_BOUND_L2] = blocks * l2_ns(b),
        [AT_BOUND_LATENCY] = fmax(waves * block_life_ns(b), block_edge_ns(b)),
        [AT_BOUND_SECTORS] = b->each * block_lines_ns(b),
        [AT_BOUND_SHARED] = b->each * block_shared_ns(b, &b->traffic->work),
        [AT_BOUND_ISSUE] = b->each * block_issue_ns(b, &b->traffic->work),
        [AT_BOUND_ATOMICS] = atomics_ns(b),
    };
    double body = fmax(together(bounds), started), ns = body + ends_ns(b);
    double held = fmin(b->most, fmax(1, blocks / b->multiprocessors));

    prediction->active = held * b->threads / b->threads_most * body / ns;
    prediction->idle = b->traffic->idle_slots / fmax(1, b->traffic->work.slots);
    prediction->idlest = b->traffic->idlest;
    prediction->ns = launch + ns;
    prediction->bound = AT_BOUND_LAUNCH;
    for (int i = 0; i < AT_BOUNDS; i++)
        if (bounds[i] > fmax(prediction->bound == AT_BOUND_LAUNCH ? fmax(launch, started) : 0,
                             bounds[prediction->bound]))
            prediction->bound = (enum at_bound)i;
}

/* Spread the blocks over the multiprocessors. */
static void spread_blocks(struct model_block *b)
{
    double each = (double)b->traffic->blocks / b->multiprocessors;

    b->resident = fmin(b->most, ceil(each));
    /* A grid of less than a wave starts at once: some multiprocessors get one block more. */
    b->each = each < b->most ? ceil(each) : each;
    b->wave = b->resident * b->multiprocessors;
    b->filled = fmin(1, b->resident * b->threads / b->threads_most);
}

/* Fill the block from a sample, which is kept in *traffic. The caller sets its rates. */
static enum at_status sample_block(struct model_block *block, struct at_traffic *traffic,
                                   const struct at_device_info *device,
                                   struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                   const struct at_grid_parts *parts, int64_t registers,
                                   int64_t static_shared_bytes, struct at_error *err)
{
    int64_t threads = at_emu_threads(emu);
    struct at_occupancy occupancy;
    enum at_status status = at_occupancy_of(&occupancy, device, threads, registers,
                                            static_shared_bytes, emu->dynamic_shared_bytes, err);

    if (status == AT_OK && occupancy.blocks < 1)
        status =
            at_fail(err, AT_FAILED, "a multiprocessor of %s cannot hold one block of this kernel",
                    device->name);
    if (status == AT_OK)
        status = at_traffic_sample(traffic, memory, emu, parts,
                                   device->multiprocessors * occupancy.blocks, err);
    if (status != AT_OK)
        return status;
    *block = (struct model_block){
        .traffic = traffic,
        .threads = (double)threads,
        .warps = (double)((threads + AT_WARP - 1) / AT_WARP),
        .registers = registers > 0 ? registers : 1,
        .most = (double)occupancy.blocks,
        .multiprocessors = (double)device->multiprocessors,
        .threads_most = (double)device->max_threads_per_multiprocessor,
        .held_bytes = (double)(device->registers_per_multiprocessor * REGISTER_BYTES +
                               device->shared_bytes_per_multiprocessor),
        .l2_bytes = (double)device->l2_bytes,
    };
    if (emu->carveout_percent > 0)
        block->l1_bytes = L1_LEAST_BYTES + (double)device->shared_bytes_per_multiprocessor *
                                               (double)(100 - emu->carveout_percent) / 100;
    spread_blocks(block);
    return AT_OK;
}

static void repair_way(struct at_traffic_way *way, const struct at_repaired_way *repair,
                       const struct at_rates *rates)
{
    way->requests *= 1 - repair->requests;
    way->bytes *= 1 - repair->bytes;
    way->sectors *= 1 - repair->sectors;
    way->repeated *= 1 - repair->sectors;
    way->streamed *= 1 - repair->sectors;
    way->lines *= 1 - repair->lines;
    if (repair->whole) {
        way->lines = fmin(way->lines, way->sectors / LINE_SECTORS);
        way->run_bytes = fmax(way->run_bytes, (double)rates->run_bytes);
    }
}

static void repair_work(struct at_traffic_work *work, const struct at_repair *repair)
{
    work->load_requests *= 1 - repair->load.requests;
    work->load_rounds *= 1 - repair->load_rounds;
    work->far_rounds *= 1 - repair->load_rounds;
    work->wavefronts *= 1 - repair->wavefronts;
    work->slots = fmax(0, work->slots - repair->slots);
}

static void share_way(struct at_traffic_way *way, double times)
{
    way->requests /= times;
    way->sectors /= times;
    way->streamed /= times;
    way->repeated /= times;
    way->lines /= times;
    way->bytes /= times;
}

static void share_work(struct at_traffic_work *work, double times)
{
    work->slots /= times;
    work->shuffles /= times;
    work->wavefronts /= times;
    work->load_requests /= times;
    work->load_rounds /= times;
    work->far_rounds /= times;
}

/* Divide the work among as many times the blocks. The barriers of each stay. */
static void share(struct at_traffic *traffic, double times)
{
    traffic->blocks = (int64_t)ceil((double)traffic->blocks * times);
    share_way(&traffic->load, times);
    share_way(&traffic->store, times);
    traffic->usual_rounds /= times;
    share_work(&traffic->work, times);
    share_work(&traffic->edge, times);
    traffic->partial_sectors /= times;
    traffic->far_partial_sectors /= times;
}

/* Return the predicted time of a block that is repaired. */
static double repaired_ns(struct model_block block, const struct at_repair *repair, bool cold)
{
    struct at_traffic traffic = *block.traffic;
    struct at_prediction prediction;

    repair_way(&traffic.load, &repair->load, block.rates);
    repair_way(&traffic.store, &repair->store, block.rates);
    if (repair->store.whole)
        traffic.partial_sectors = traffic.far_partial_sectors = 0;
    traffic.usual_rounds *= 1 - repair->load_rounds;
    traffic.work.slots -= repair->idle * traffic.idle_slots;
    repair_work(&traffic.work, repair);
    repair_work(&traffic.edge, repair);
    traffic.atomics.steps *= 1 - repair->atomics;
    for (int i = 0; i < AT_ATOMIC_KINDS; i++)
        traffic.atomics.operations[i] *= 1 - repair->atomics;
    block.traffic = &traffic;
    if (repair->blocks > 0)
        share(&traffic, repair->blocks);
    if (repair->residents > 0)
        block.most *= repair->residents;
    spread_blocks(&block);
    if (repair->even) {
        block.each = (double)traffic.blocks / block.multiprocessors;
        block.is_even = true;
    }
    predict(&block, cold, &prediction);
    return prediction.ns;
}

enum at_status at_predict_repairs(const struct at_device_info *device, const struct at_rates *rates,
                                  struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                  const struct at_grid_parts *parts, int64_t registers,
                                  int64_t static_shared_bytes, bool cold,
                                  struct at_prediction *prediction, const struct at_repair *repairs,
                                  size_t count, double *ns, struct at_error *err)
{
    struct at_traffic traffic;
    struct model_block block;
    enum at_status status = sample_block(&block, &traffic, device, memory, emu, parts, registers,
                                         static_shared_bytes, err);

    if (status != AT_OK)
        return status;
    block.rates = rates;
    predict(&block, cold, prediction);
    for (size_t i = 0; i < count; i++)
        ns[i] = repaired_ns(block, &repairs[i], cold);
    return AT_OK;
}

enum at_status at_predict_launch(const struct at_device_info *device, const struct at_rates *rates,
                                 struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                 const struct at_grid_parts *parts, int64_t registers,
                                 int64_t static_shared_bytes, bool cold,
                                 struct at_prediction *prediction, struct at_error *err)
{
    return at_predict_repairs(device, rates, memory, emu, parts, registers, static_shared_bytes,
                              cold, prediction, NULL, 0, NULL, err);
}
