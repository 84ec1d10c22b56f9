/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/counters.h"
#include "cache/level.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the model counts, of the whole grid. */
struct modelled {
    double load_requests, load_sectors, store_requests, store_sectors;
    double load_conflicts, store_conflicts;
};

static void add_line(struct modelled *sums, const struct at_explained_line *line, double scale)
{
    double conflicts = scale * (double)(line->wavefronts - line->least_wavefronts);

    if (strcmp(line->access, "load global") == 0) {
        sums->load_requests += scale * (double)line->requests;
        sums->load_sectors += scale * (double)line->tag_sectors;
    } else if (strcmp(line->access, "store global") == 0) {
        sums->store_requests += scale * (double)line->requests;
        sums->store_sectors += scale * (double)line->tag_sectors;
    } else if (strcmp(line->access, "load shared") == 0) {
        sums->load_conflicts += conflicts;
    } else if (strcmp(line->access, "store shared") == 0) {
        sums->store_conflicts += conflicts;
    }
}

static void print_counts(const char *what, double model, int64_t gpu)
{
    printf("  %-32s %16.0f %16jd\n", what, model, (intmax_t)gpu);
}

static void print_share(const char *what, int64_t part, int64_t whole, int64_t gpu_part,
                        int64_t gpu_whole)
{
    printf("  %-32s %15.1f%% %15.1f%%\n", what, whole > 0 ? 100 * (double)part / (double)whole : 0,
           gpu_whole > 0 ? 100 * (double)gpu_part / (double)gpu_whole : 0);
}

static void print_megabytes(const char *what, int64_t model, int64_t gpu)
{
    printf("  %-32s %13.2f MB %13.2f MB\n", what, (double)model / 1e6, (double)gpu / 1e6);
}

static void print_caches(const struct at_explained_caches *model, const struct at_counters *gpu)
{
    print_share("L1: sectors of loads found there", model->l1_hits, model->l1_sectors, gpu->l1_hits,
                gpu->load_sectors);
    print_share("L2: sectors found there", model->l2_hits, model->l2_sectors, gpu->l2_hits,
                gpu->l2_hits + gpu->l2_misses);
    print_megabytes("L2 to L1", model->l2_to_l1_bytes,
                    AT_CACHE_SECTOR_BYTES * gpu->l2_to_l1_sectors);
    print_megabytes("L1 to L2", model->l1_to_l2_bytes,
                    AT_CACHE_SECTOR_BYTES * gpu->l1_to_l2_sectors);
    print_megabytes("DRAM to L2", model->dram_to_l2_bytes, gpu->dram_to_l2_bytes);
    print_megabytes("L2 to DRAM", model->l2_to_dram_bytes, gpu->l2_to_dram_bytes);
}

void at_explain_print_counters(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    const struct at_counters *gpu = &e->counters;
    struct modelled sums = {0};
    char predicted[32] = "-";

    if (gpu->launches == 0)
        return;
    for (size_t i = 0; i < e->lines.count; i++)
        add_line(&sums, &lines[i], (double)e->blocks / (double)e->blocks_counted);
    printf("\n  %-32s %16s %16s\n", "counters of the whole grid", "model", "GPU");
    print_counts("global loads: requests", sums.load_requests, gpu->load_requests);
    print_counts("global loads: sectors", sums.load_sectors, gpu->load_sectors);
    print_counts("global stores: requests", sums.store_requests, gpu->store_requests);
    print_counts("global stores: sectors", sums.store_sectors, gpu->store_sectors);
    print_counts("shared loads: bank conflicts", sums.load_conflicts, gpu->load_conflicts);
    print_counts("shared stores: bank conflicts", sums.store_conflicts, gpu->store_conflicts);
    print_caches(&e->caches, gpu);
    if (e->predicted_ns > 0)
        snprintf(predicted, sizeof predicted, "%.2f us", (double)e->predicted_ns / 1e3);
    printf("  %-32s %16s %13.2f us\n", "duration", predicted, (double)gpu->duration_ns / 1e3);
    printf(
        "  the GPU's: of %jd launches, each after a kernel has read so much that L1 and L2 held\n"
        "    none of their data; its bank conflicts include some that addresses do not cause\n",
        (intmax_t)gpu->launches);
    if (e->blocks_counted < e->blocks)
        puts("  the model's requests, sectors and conflicts are scaled from the blocks counted;\n"
             "    --blocks 1000000 counts all");
}
