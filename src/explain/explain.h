/* SPDX-License-Identifier: Apache-2.0 */
/* Explains the memory accesses of a config by running it on the emulated device. For each line of
 * the source it counts the accesses, their cost and the lowest possible cost; it also tells the
 * occupancy. A time is predicted from the counts; the caller may add a measured one. */
#ifndef AT_EXPLAIN_EXPLAIN_H
#define AT_EXPLAIN_EXPLAIN_H

#include "device/counters.h"
#include "emulated/time/occupancy.h"
#include "emulated/time/predict.h"
#include "kernel/builder.h"
#include "schema/print.h"
#include "system/progress.h"

/* What the lanes of a warp want in one access: addresses, of shared memory in that of the block. */
struct at_explained_request {
    uint32_t lanes; /* a bit for each that takes part */
    uint64_t address[32];
};

/* The accesses of one kind at one line that cost alike: those of an unrolled loop are one, two
 * different ones on a line are two. */
struct at_explained_line {
    char file[64];
    int64_t line;
    char access[32]; /* "load global", "store shared", "atomic global"; "copy shared": the writes of
                        cp.async.cg, which the GPU's counters of wavefronts do not see */
    int64_t bytes;   /* per lane */
    int64_t requests;
    int64_t wanted_bytes;                 /* global: different bytes per request, summed */
    int64_t sectors, least_sectors;       /* global */
    int64_t tag_sectors;                  /* global: as the GPU counts them in l1tex__t_sectors */
    int64_t wavefronts, least_wavefronts; /* shared */
    /* Sectors of global memory requested from a cache and found there, of the blocks that struct
     * at_explained_caches counts. A load past L1 never hits; stores do not count. */
    int64_t l1_sectors, l1_hits, l2_sectors, l2_hits;
    int64_t share_permille; /* of all lines' costs: at_lines_set_shares; -1: not known */
    /* Not recorded: lines of 128 bytes of global memory, summed; the costliest request of an
     * example; the instructions, such as of an unrolled loop; whether a store is between two of
     * them; how many stores of the kernel stand before the first. */
    int64_t l1_lines;
    struct at_explained_request request;
    int64_t copies;
    bool is_held;
    size_t stores_before;
};

/* The caches and the traffic between them: emulated/caches/count.h. Bytes and sectors are of the
 * whole grid. */
struct at_explained_caches {
    int64_t blocks;                   /* counted; 0: they make too many requests to keep */
    int64_t carveout_bytes, l1_bytes; /* per multiprocessor */
    int64_t l2_bytes;                 /* that data of all multiprocessors can use */
    int64_t l1_sectors, l1_hits, l2_sectors, l2_hits;
    int64_t l2_to_l1_bytes, l1_to_l2_bytes;
    int64_t dram_to_l2_bytes, l2_to_dram_bytes;
    int64_t left_in_l2_bytes;
    int64_t warm_dram_to_l2_bytes;
    /* The used share of each one's peak in the predicted time; -1: no time is predicted. */
    int64_t l1_peak_permille, l2_peak_permille, dram_peak_permille;
};

/* A repair that would make the kernel faster: see explain/advice.h. An explanation has a few. */
enum { AT_ADVICE_MAX = 3 };
struct at_advice {
    char file[64]; /* "": the kernel as a whole */
    int64_t line;
    char repair[16];      /* its kind, such as "coalesce" */
    char text[400];       /* sentences: what is wrong, and what to change */
    int64_t predicted_ns; /* after it */
};

/* One of several launches in a row, in bytes of sectors between multiprocessors and L2. */
struct at_explained_launch {
    int64_t bytes_read, bytes_written;
};

/* Of a kernel that is launched several times in a row, costs are the sums over its launches. */
struct at_explanation {
    /* A config of a family, on a problem; else "". */
    char family[64];
    char config[512]; /* at_config_format */
    char problem[AT_PROBLEM_CHARS];
    /* A kernel of the user's own; else "". */
    char file[64];     /* without folder */
    char entry[128];   /* the kernel's name */
    char launch[1024]; /* as options of the command line */
    char device[128];
    char kind[16];                  /* of the device: "emulated", "cuda" */
    char predictions[16];           /* AT_CALIBRATED or AT_UNCALIBRATED; empty: none */
    int64_t blocks, blocks_counted; /* of the grid; a sample if fewer are counted */
    int64_t threads;                /* per block */
    int64_t registers, spill_bytes;
    int64_t static_shared_bytes, dynamic_shared_bytes;
    int64_t occupancy_blocks, occupancy_percent;
    int64_t achieved_percent; /* of the predicted time; 0: none is predicted */
    char occupancy_limiter[64];
    int64_t wave_blocks; /* that all multiprocessors hold at a time; 0: not known */
    int64_t tail_blocks; /* in the last wave of the grid */
    /* Sectors between multiprocessors and L2, of the whole grid, extrapolated from the counted
     * blocks. needed: the bytes of the elements, each way; 0 for a kernel of the user's own. Of the
     * results: 0 if they are as many. */
    int64_t bytes_read, bytes_written, bytes_needed, result_bytes_needed;
    int64_t local_requests, local_sectors; /* local memory, of the counted blocks */
    int64_t predicted_ns;                  /* of a launch with its data in DRAM; 0: not predicted */
    int64_t predicted_within_percent;      /* so near is it in nine of ten cases, as far as known */
    char bound[32];                        /* its limit, from at_bound_names; "": not predicted */
    int64_t measured_ns; /* the same on a GPU, set by the caller; 0: not measured */
    int64_t measured_spread_permille;
    struct at_counters counters; /* the GPU's own, set by the caller; zeroes: not read */
    struct at_explained_caches caches;
    struct at_list launches; /* of struct at_explained_launch; none if there is only one */
    struct at_list lines;    /* of struct at_explained_line, in the order of the source */
    struct at_list advice;   /* of struct at_advice, the best first */
    /* Not recorded: where lanes idle most because others branched off, and the part of all issue
     * slots that they idle, in percent. */
    struct at_explained_line idlest;
    int64_t idle_percent;
};

extern const struct at_schema at_explanation_schema, at_explained_caches_schema;

/* A compiled kernel and how it is launched. All is borrowed. */
struct at_explained_kernel {
    const char *ptx;
    size_t ptx_size;
    const char *entry;  /* its name in the PTX */
    const char *name;   /* for messages, in place of entry: generated names say nothing to users */
    const char *header; /* the templates', whose code counts for the lines that call it; or NULL */
    struct at_kernel_resources resources;
    struct at_launch launch;
    struct at_emu_memory *memory; /* the data of the arguments; the kernel changes it */
    /* Of each launch arg_words words: of each parameter as many words as it takes. */
    const uint64_t *args;
    size_t arg_count, arg_words;  /* parameters, and their words at most */
    bool as_tuned;                /* predict its time as tuning does: from the middle of the grid */
    struct at_progress *progress; /* shows the steps; NULL: nothing does. The caller erases it */
};

/* Explains a kernel as at_explain does, but sets neither the names of config and problem nor
 * bytes_needed. */
enum at_status at_explain_kernel(const struct at_explained_kernel *kernel,
                                 const struct at_device_info *device, const struct at_rates *rates,
                                 int64_t max_blocks, struct at_explanation *explanation,
                                 struct at_error *err);

/* Run the whole grid of a kernel that is launched once, and count nothing. What it prints is not
 * shown. AT_FAILED: the emulated device found a fault, which the message names. */
enum at_status at_run_kernel(const struct at_explained_kernel *kernel,
                             const struct at_device_info *device, struct at_error *err);

/* Counts at most max_blocks blocks, evenly spread over the grid, with its first and its last one;
 * for the caches, a sample of emulated/caches/count.h. A kernel that is launched several times in a
 * row is counted whole. No time is predicted for it: a few blocks do not stand for a queue of work.
 * rates: NULL if unknown; then no time is predicted. header: the text of AT_TEMPLATE_HEADER.
 * AT_FAILED: the kernel does not compile, or the emulated device found a fault, which the message
 * names. progress: as of at_explained_kernel. The caller clears
 * the explanation by its schema. */
enum at_status at_explain(const struct at_config *config, const struct at_problem *problem,
                          const struct at_device_info *device, const struct at_rates *rates,
                          const char *header, int64_t max_blocks, struct at_progress *progress,
                          struct at_explanation *explanation, struct at_error *err);

/* ---- printing it (table.c, listing.c) ---- */

/* A source file, whose lines the table shows beside their cost. */
struct at_explained_text {
    const char *path, *text; /* borrowed */
};

/* What of it is printed, besides. */
struct at_explained_view {
    bool listing; /* the source, with what each line costs, in place of the accesses' table */
    int64_t draw; /* the line whose requests are drawn; 0: none */
};

/* Print the explanation: for people, as a row per line of the source, or as JSON, which has all
 * but the drawings. AT_USAGE: the line to draw accesses no memory. */
enum at_status at_explanation_print(const struct at_explanation *explanation,
                                    const struct at_explained_text *source,
                                    const struct at_explained_view *view,
                                    enum at_output_format format, struct at_error *err);

/* Print the source around the lines that access memory, each with its rank among them, its share of
 * the cost, its sectors, conflicts and hits. */
void at_explanation_list(const struct at_explanation *explanation,
                         const struct at_explained_text *source, enum at_output_format format);

#endif
