/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/caches.h"

#include "base/memory.h"
#include "ptx/ptx.h"

static void take(struct at_explained_caches *caches, const struct at_cache_counts *counts)
{
    *caches = (struct at_explained_caches){
        .blocks = counts->blocks,
        .carveout_bytes = caches->carveout_bytes,
        .l1_bytes = counts->shape.l1_bytes,
        .l2_bytes = counts->shape.l2_bytes / counts->shape.l2_halves,
        .l1_sectors = counts->l1_sectors,
        .l1_hits = counts->l1_hits,
        .l2_sectors = counts->l2_sectors,
        .l2_hits = counts->l2_hits,
        .l2_to_l1_bytes = counts->l2_to_l1_bytes,
        .l1_to_l2_bytes = counts->l1_to_l2_bytes,
        .dram_to_l2_bytes = counts->dram_to_l2_bytes,
        .l2_to_dram_bytes = counts->l2_to_dram_bytes,
        .left_in_l2_bytes = counts->left_in_l2_bytes,
        .warm_dram_to_l2_bytes = counts->warm_dram_to_l2_bytes,
    };
}

enum at_status at_explain_caches(struct at_explanation *e, struct at_cache_hits **hits,
                                 const struct at_device_info *device, struct at_emu_memory *memory,
                                 const struct at_emu_launch *launch, int64_t max_blocks,
                                 struct at_error *err)
{
    struct at_cache_shape shape;
    struct at_cache_counts counts;
    enum at_status status = at_cache_shape_of(
        &shape, &e->caches.carveout_bytes, device, e->occupancy_blocks,
        e->static_shared_bytes + e->dynamic_shared_bytes, launch->carveout_percent, err);

    if (status == AT_OK)
        status = at_cache_count(&counts, &shape, memory, launch, max_blocks, err);
    if (status == AT_NO_MEMORY) { /* no figure is better than one of a part of the requests */
        e->caches = (struct at_explained_caches){.warm_dram_to_l2_bytes = -1};
        *hits = at_alloc_array(at_ptx_kernel_instructions(launch->kernel), sizeof **hits);
        return AT_OK;
    }
    if (status != AT_OK)
        return status;
    take(&e->caches, &counts);
    *hits = counts.instructions;
    return AT_OK;
}

/* Bytes that a multiprocessor's L1 takes or gives in a clock (NVIDIA, "Nsight Compute
 * Documentation", "L1/TEX Cache": a line). */
enum { L1_BYTES_PER_CLOCK = 128 };

static int64_t permille(double ns, int64_t of_ns)
{
    return (int64_t)(1000 * ns / (double)of_ns + 0.5);
}

void at_explain_peaks(struct at_explanation *e, const struct at_device_info *device,
                      const struct at_rates *rates)
{
    struct at_explained_caches *c = &e->caches;
    double l1_bytes = (double)(AT_CACHE_SECTOR_BYTES * c->l1_sectors + c->l1_to_l2_bytes);
    double dram_bytes = (double)(c->dram_to_l2_bytes + c->l2_to_dram_bytes);

    c->l1_peak_permille = c->l2_peak_permille = c->dram_peak_permille = -1;
    if (!rates || e->predicted_ns <= 0 || c->blocks == 0)
        return;
    c->l1_peak_permille = permille(
        l1_bytes * 1e6 / (double)(L1_BYTES_PER_CLOCK * device->multiprocessors * rates->clock_khz),
        e->predicted_ns);
    c->l2_peak_permille =
        permille((double)c->l2_to_l1_bytes * 1e3 / (double)rates->l2_load_MB_per_s +
                     (double)c->l1_to_l2_bytes * 1e3 / (double)rates->l2_store_MB_per_s,
                 e->predicted_ns);
    c->dram_peak_permille =
        permille(dram_bytes * 1e3 / (double)rates->dram_MB_per_s, e->predicted_ns);
}
