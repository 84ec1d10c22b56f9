/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/log.h"

#include "lib/objects.h"
#include "lib/process.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

/* Of the function that gets the lines. */
struct listener {
    autotune_log_function *function; /* NULL: none */
    void *user_data;
    autotune_log_level most;
};

static struct listener listener; /* under the library's lock */
static atomic_int wanted;        /* listener.most, for a look without the lock */

static enum at_status set(void *data, struct at_error *err)
{
    struct at_cleanup lock;

    (void)err;
    autotune_lock_anyway(&lock);
    listener = *(const struct listener *)data;
    wanted = listener.function ? (int)listener.most : AUTOTUNE_LOG_NONE;
    autotune_unlock(&lock);
    return AT_OK;
}

void autotune_set_log(autotune_log_function *function, void *user_data, autotune_log_level most)
{
    struct listener given = {function, user_data, most};

    autotune_call(set, &given, NULL);
}

bool autotune_logs(autotune_log_level level)
{
    return (int)level <= atomic_load_explicit(&wanted, memory_order_relaxed);
}

/* The function runs without the lock, so that it may take its time, and locks of its own. */
void autotune_log(autotune_log_level level, const char *format, ...)
{
    struct at_cleanup lock;
    struct listener to;
    char line[1024];
    va_list args;

    if (!autotune_logs(level))
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    autotune_lock_anyway(&lock);
    to = listener;
    autotune_unlock(&lock);
    if (to.function && level <= to.most)
        to.function(to.user_data, level, line);
}
