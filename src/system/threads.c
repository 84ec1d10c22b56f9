/* SPDX-License-Identifier: Apache-2.0 */
#include "system/threads.h"

#include "base/memory.h"
#include "system/cpus.h"

#include <pthread.h>
#include <stdatomic.h>

/* The usual 8 MiB on each of many CPUs would use up a limited memory. */
enum { STACK_BYTES = 1 << 20 };

void at_on_threads(size_t wanted, void *(*work)(void *), void *data)
{
    pthread_t *threads = at_alloc_array(wanted + 1, sizeof *threads);
    pthread_attr_t attributes;
    size_t started = 0;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started + 1 < wanted && pthread_create(&threads[started], &attributes, work, data) == 0)
        started++;
    work(data);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_attr_destroy(&attributes);
    at_free(threads);
}

struct parts {
    void (*part)(void *data, size_t i);
    void *data;
    size_t count;
    atomic_size_t next;
};

static void *do_parts(void *data)
{
    struct parts *parts = data;
    size_t i;

    while ((i = atomic_fetch_add(&parts->next, 1)) < parts->count)
        parts->part(parts->data, i);
    return NULL;
}

void at_for_parts(size_t count, void (*part)(void *data, size_t i), void *data)
{
    struct parts parts = {.part = part, .data = data, .count = count};
    size_t cpus = (size_t)at_usable_cpus();

    at_on_threads(count < cpus ? count : cpus, do_parts, &parts);
}
