/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts which of several configs is fastest on a problem, where nothing tuned is near enough to
 * tell: by neural networks that have learnt from the times of configs on many problems. A small one
 * estimates all configs; of those with the least estimates, the mean of larger ones predicts which
 * is fastest. contrib/library/train-slowdown writes them to results/networks.bin. */
#ifndef AT_LOOKUP_PREDICT_H
#define AT_LOOKUP_PREDICT_H

#include "space/config.h"

enum { AT_NETWORKS_MAX = 5, AT_NETWORK_UNITS_MAX = 256 };

/* What the networks know of a problem and a launch, in the order of the file. Besides, they know a
 * config's family and the values of its parameters, by their names. */
enum at_slowdown_input {
    /* of the problem; all but the axes are logarithms to base 2 */
    AT_IN_ELEMENT_BYTES,
    AT_IN_ELEMENTS,
    AT_IN_AXES,
    AT_IN_WORD_BYTES,
    AT_IN_ROWS,
    AT_IN_COLS,
    AT_IN_MATRICES,
    AT_IN_BATCH,    /* the fastest axis of the batch */
    AT_IN_RUN_ROWS, /* of a matrix of runs, and 1 */
    AT_IN_RUN_COLS,
    AT_IN_SRC_ROW_ALIGN, /* all rows begin at a multiple of as many bytes */
    AT_IN_DST_ROW_ALIGN,
    AT_IN_SRC_STEP_ALIGN, /* all matrices */
    AT_IN_DST_STEP_ALIGN,
    /* of the launch, logarithms as well */
    AT_IN_BLOCKS,
    AT_IN_THREADS,
    AT_IN_SHARED_BYTES,     /* and 1 */
    AT_IN_RESIDENT_THREADS, /* that a multiprocessor holds at once, if registers allow */
    AT_IN_WAVES,            /* how often the blocks fill all multiprocessors */
    AT_IN_BLOCK_BYTES,      /* of the source, per block in the mean */
    AT_IN_RUN_SRC,          /* adjacent bytes of the source in a row of a packed tile, or of a warp
                             * if the family tells; and 1 */
    AT_IN_RUN_DST,          /* the same of the destination */
    AT_IN_EMPTY,            /* what the blocks could move over what there is to move */
    AT_IN_OWN,              /* how many these are */
    AT_IN_OF_PROBLEM = AT_IN_BLOCKS,
};

struct at_slowdown;

/* Read the networks, and find the families' inputs. Families are borrowed. AT_USAGE if the file is
 * missing or damaged. */
enum at_status at_slowdown_open(struct at_slowdown **slowdown, struct at_family *const *families,
                                size_t count, struct at_error *err);
void at_slowdown_close(struct at_slowdown *slowdown);

/* Have the networks learnt from such problems and kernels? Not from many matrices in one launch. */
bool at_slowdown_knows(const struct at_slowdown *slowdown, const struct at_problem *problem,
                       const struct at_family *family);

/* A problem on a device, with what predictions for its configs have in common. */
struct at_slowdown_asked {
    struct at_point point; /* at the last config */
    float inputs[AT_IN_OF_PROBLEM];
    float first[AT_NETWORKS_MAX][AT_NETWORK_UNITS_MAX]; /* sums of their first layers, of
                                                         * these inputs alone */
};

/* Problem and device are borrowed. */
struct at_slowdown_asked at_slowdown_ask(const struct at_slowdown *slowdown,
                                         const struct at_problem *problem,
                                         const struct at_device_info *device);

/* Fill in what the networks know of the problem and of a legal config's launch. */
void at_slowdown_own_inputs(struct at_slowdown_asked *asked, const struct at_config *config,
                            const struct at_launch *launch, float inputs[AT_IN_OWN]);

/* Return the predicted logarithm of the time, less a number that is the same for all configs of a
 * problem. INFINITY for a family that the networks do not know. An estimate takes a small part of
 * a prediction's time, and is less exact. The two cannot be compared. */
float at_slowdown_estimate(const struct at_slowdown *slowdown, struct at_slowdown_asked *asked,
                           const struct at_config *config, const struct at_launch *launch);
float at_slowdown_predict(const struct at_slowdown *slowdown, struct at_slowdown_asked *asked,
                          const struct at_config *config, const struct at_launch *launch);

/* The least estimates of a problem's configs. A config that is not among them is hardly ever
 * the fastest. */
enum { AT_SHORTLIST = 32 };
struct at_shortlist {
    float least[AT_SHORTLIST]; /* ascending */
    size_t count;
};
void at_shortlist_add(struct at_shortlist *list, float estimate);

/* Does a config with this estimate belong to the list, when all are added? */
bool at_shortlist_has(const struct at_shortlist *list, float estimate);

#endif
