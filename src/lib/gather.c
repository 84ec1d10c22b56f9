/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/gather.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/memory.h"
#include "kernel/compile_process.h"
#include "kernel/cubin_cache.h"
#include "system/cpus.h"
#include "system/paths.h"

#include <string.h>

/* Each loads NVRTC, which takes a hundred megabytes. */
enum { HANDS_MAX = 16 };

/* A compile worker with the kernel that it compiles. */
struct hand {
    struct at_compile_process process;
    struct at_batch *batch; /* with one job */
    struct at_job job;
    struct autotune_wanted *wanted; /* NULL: idle */
};

struct gathering {
    struct autotune_wanted *wanted;
    size_t count;
    size_t next; /* of `wanted`: those before it are found or given out */
    struct at_compiler compiler;
    struct at_cubin_cache *cache; /* NULL: none */
    struct hand hands[HANDS_MAX];
    size_t hand_count;
    char *program;
    int64_t deadline_ns;
};

static void release(void *data)
{
    struct gathering *gathering = data;

    for (size_t i = 0; i < gathering->hand_count; i++) {
        at_compile_process_stop(&gathering->hands[i].process);
        at_batch_free(gathering->hands[i].batch);
    }
    gathering->hand_count = 0;
    at_cubin_cache_close(gathering->cache);
}

/* ---- the cache ---- */

static enum at_status find_compiler(struct gathering *gathering, int64_t compute_capability,
                                    struct at_error *err)
{
    struct at_nvrtc *nvrtc;
    enum at_status status;

    if (!at_nvrtc_is_loaded() &&
        at_nvrtc_recall(&gathering->compiler, compute_capability, gathering->cache))
        return AT_OK;
    status = autotune_nvrtc_open(&nvrtc, compute_capability, gathering->cache, err);
    if (status != AT_OK)
        return status;
    gathering->compiler = *at_nvrtc_compiler(nvrtc);
    at_nvrtc_close(nvrtc);
    return AT_OK;
}

static void find_cached(struct gathering *gathering, const char *header)
{
    for (size_t i = 0; i < gathering->count; i++) {
        struct autotune_wanted *wanted = &gathering->wanted[i];

        at_kernel_key(wanted->key, &gathering->compiler, header, wanted->config, wanted->kind);
        autotune_image_find(&wanted->image, &wanted->resources, gathering->cache, wanted->key);
    }
}

/* ---- the compile workers ---- */

static struct autotune_wanted *next_missing(struct gathering *gathering)
{
    while (gathering->next < gathering->count && gathering->wanted[gathering->next].image.bytes)
        gathering->next++;
    return gathering->next < gathering->count ? &gathering->wanted[gathering->next] : NULL;
}

/* Give an idle worker the next kernel, if any is missing. */
static void give(struct gathering *gathering, struct hand *hand)
{
    struct autotune_wanted *wanted = hand->wanted ? NULL : next_missing(gathering);

    if (!wanted)
        return;
    gathering->next++;
    hand->wanted = wanted;
    hand->job = (struct at_job){.config = *wanted->config};
    hand->job.rendering = (struct at_rendering){.config = wanted->config, .kind = wanted->kind};
    at_kernel_entry(hand->job.rendering.entry, wanted->key);
    hand->batch->count = 1;
    hand->batch->jobs[0] = &hand->job;
    at_compile_process_give(&hand->process, hand->batch);
}

static bool same_compiler(const struct at_compiler *a, const struct at_compiler *b)
{
    return strcmp(a->identity, b->identity) == 0 && strcmp(a->version, b->version) == 0 &&
           strcmp(a->options, b->options) == 0 && a->ptx == b->ptx;
}

/* Take what a worker has said. Whatever went wrong, its kernel is not measured; if there is no
 * worker, none is asked again. */
static void take(struct gathering *gathering, struct hand *hand)
{
    struct at_compile_reply reply;
    struct autotune_wanted *wanted = hand->wanted;

    if (!at_compile_process_take(&hand->process, &reply))
        return; /* its answer to the hello */
    hand->wanted = NULL;
    if (reply.end == AT_NO_COMPILER)
        gathering->next = gathering->count;
    if (reply.end != AT_COMPILED)
        return;
    if (!same_compiler(&hand->process.compiler, &gathering->compiler)) {
        at_free(reply.image);
        return;
    }
    wanted->image = (struct autotune_image){.bytes = reply.image, .size = reply.size};
    memcpy(wanted->image.entry, hand->job.rendering.entry, sizeof wanted->image.entry);
    wanted->resources = hand->job.built.resources;
    autotune_image_keep(&wanted->image, &wanted->resources, gathering->cache, wanted->key);
}

/* Wait until a worker says something, or time is over. Returns whether any works. */
static bool wait_for_any(const struct gathering *gathering)
{
    struct pollfd fds[HANDS_MAX];
    nfds_t count = 0;
    int64_t left_ns = gathering->deadline_ns - at_now_ns();

    for (size_t i = 0; i < gathering->hand_count; i++)
        if (gathering->hands[i].wanted)
            fds[count++] = (struct pollfd){
                .fd = gathering->hands[i].process.worker.pid ? gathering->hands[i].process.worker.fd
                                                             : -1,
                .events = POLLIN,
            };
    if (count == 0 || left_ns <= 0)
        return false;
    for (nfds_t i = 0; i < count; i++)
        if (fds[i].fd < 0) /* it did not start, which is an answer */
            return true;
    poll(fds, count, (int)(left_ns / 1000000 + 1));
    return at_now_ns() < gathering->deadline_ns;
}

static void compile_missing(struct gathering *gathering, int64_t compute_capability,
                            const char *header)
{
    int cpus = at_usable_cpus();
    size_t most = cpus < HANDS_MAX ? (size_t)cpus : HANDS_MAX, missing = 0;

    for (size_t i = 0; i < gathering->count; i++)
        missing += !gathering->wanted[i].image.bytes;
    gathering->program = missing > 0 ? at_path_program() : NULL;
    if (!gathering->program)
        return;
    for (size_t i = 0; i < most && i < missing; i++) {
        gathering->hands[i].batch = at_batch_new(1);
        gathering->hands[i].process = (struct at_compile_process){
            .compute_capability = compute_capability,
            .image = AT_IMAGE_CUBIN,
            .header = header,
            .program = gathering->program,
            .idle_limit_ns = gathering->deadline_ns - at_now_ns(),
        };
        gathering->hand_count++;
    }
    do {
        for (size_t i = 0; i < gathering->hand_count; i++) {
            struct hand *hand = &gathering->hands[i];

            if (hand->wanted && at_compile_process_ready(&hand->process))
                take(gathering, hand);
            give(gathering, hand);
        }
    } while (wait_for_any(gathering));
    at_free(gathering->program);
}

enum at_status autotune_gather(struct autotune_wanted *wanted, size_t count,
                               int64_t compute_capability, const char *header, int64_t deadline_ns,
                               struct at_compiler *compiler, struct at_error *err)
{
    struct gathering *gathering = at_alloc(sizeof *gathering);
    struct at_cleanup cleanup;
    enum at_status status;

    gathering->wanted = wanted;
    gathering->count = count;
    gathering->deadline_ns = deadline_ns;
    (void)at_cubin_cache_open(&gathering->cache, NULL, NULL);
    at_cleanup_push(&cleanup, release, gathering);
    status = find_compiler(gathering, compute_capability, err);
    if (status == AT_OK) {
        find_cached(gathering, header);
        if (at_now_ns() < deadline_ns)
            compile_missing(gathering, compute_capability, header);
        *compiler = gathering->compiler;
    }
    at_cleanup_pop(&cleanup);
    release(gathering);
    at_free(gathering);
    return status;
}
