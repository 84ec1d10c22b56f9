/* SPDX-License-Identifier: Apache-2.0 */
/* What a config does to the memory system, told by running it on the emulated device: for each line
 * of the source its accesses, what they cost and what they would cost at best; and how many blocks
 * a multiprocessor holds. These are counts; a time is predicted from them, and where there is a GPU
 * the measured one can stand beside it. */
#ifndef AT_EXPLAIN_EXPLAIN_H
#define AT_EXPLAIN_EXPLAIN_H

#include "kernel/builder.h"
#include "model/occupancy.h"
#include "model/predict.h"
#include "schema/schema.h"

/* All accesses of one kind at one line. */
struct at_explained_line {
    char file[64];
    int64_t line;
    char access[32]; /* "load global", "store shared", "atomic global"; "copy shared" is what
                        cp.async.cg fills, which the GPU's counters of wavefronts do not see */
    int64_t bytes;   /* a lane */
    int64_t requests;
    int64_t wanted_bytes;                 /* global: different ones in a request */
    int64_t sectors, least_sectors;       /* global */
    int64_t tag_sectors;                  /* global: as the GPU's counter l1tex__t_sectors has it */
    int64_t wavefronts, least_wavefronts; /* shared */
};

struct at_explanation {
    char family[64];
    char config[512]; /* at_config_format */
    char problem[160];
    char device[128];
    char kind[16];                  /* the device's: "emulated", "cuda" */
    char predictions[16];           /* for its model: AT_CALIBRATED, AT_UNCALIBRATED; empty: none */
    int64_t blocks, blocks_counted; /* of the grid; fewer are a sample */
    int64_t threads;                /* a block */
    int64_t registers, spill_bytes;
    int64_t static_shared_bytes, dynamic_shared_bytes;
    int64_t occupancy_blocks, occupancy_percent;
    char occupancy_limiter[64];
    /* By sectors between multiprocessors and L2, of the whole grid, as a sample of blocks tells;
     * and what the elements take each way. */
    int64_t bytes_read, bytes_written, bytes_needed;
    int64_t predicted_ns; /* a launch, data from DRAM; 0: not predicted */
    char bound[32];       /* what it is bound by, of at_bound_names; "": not predicted */
    int64_t measured_ns;  /* the same on the GPU, for the caller to fill in; 0: not measured */
    int64_t measured_spread_permille;
    struct at_list lines; /* of struct at_explained_line, in the order of the source */
};

extern const struct at_schema at_explanation_schema;

/* Counts over at most max_blocks blocks, evenly spread over the grid and with its first and last.
 * rates are NULL where they are not known: then no time is predicted. header is the text of
 * AT_TEMPLATE_HEADER. AT_FAILED: the kernel does not compile, or the emulated device found a fault;
 * the message has it. The caller clears by the schema. */
enum at_status at_explain(const struct at_config *config, const struct at_problem *problem,
                          const struct at_device_info *device, const struct at_rates *rates,
                          const char *header, int64_t max_blocks,
                          struct at_explanation *explanation, struct at_error *err);

#endif
