/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a profile are stale: made with other software, or another kernel, than there is
 * now. */
#ifndef AT_CMD_STALE_H
#define AT_CMD_STALE_H

#include "cmd/run_options.h"

/* What is here of all that a time depends on. */
struct at_here {
    const struct at_session_options *known; /* NULL: nothing is known of here */
    struct at_device_info gpu;              /* the first one; its kind is "" if there is none */
    struct at_environment environment;
    char *header;                   /* text of AT_TEMPLATE_HEADER */
    const struct at_family *family; /* whose hash this is; NULL: none yet */
    char family_hash[AT_HASH_CHARS];
};

enum at_status at_here_find(struct at_here *here, const struct at_profile *profile,
                            const struct at_session_options *known, struct at_error *err);
void at_here_clear(struct at_here *here);

/* Tell why a measured entry is stale: "NVRTC 12.9 then, 13.0 here"; "": it is not. The caller frees
 * it. */
char *at_stale_why(struct at_here *here, const struct at_device_record *record,
                   const struct at_entry *entry);

/* ---- what to tune again ---- */

struct at_stale_request {
    const char *file;           /* the profile */
    struct at_run_options *run; /* with its families */
    const struct at_device_info *devices;
    size_t device_count;
};

struct at_stale_list {
    struct at_problem *problems; /* the caller frees them */
    size_t count, capacity;
    size_t elsewhere; /* stale entries of other devices or policies */
};

/* List the problems whose entries for one of the devices, under the run's policy, are stale: the
 * driver, NVRTC or kernel is another one, or a GPU takes longer than recorded. A note tells why. */
enum at_status at_stale_find(struct at_stale_list *list, const struct at_stale_request *request,
                             struct at_error *err);

#endif
