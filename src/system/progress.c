/* SPDX-License-Identifier: Apache-2.0 */
#include "system/progress.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/printable.h"
#include "base/text_stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const int64_t draw_interval_ns = 100000000;

void at_progress_init(struct at_progress *progress, bool quiet)
{
    *progress = (struct at_progress){.quiet = quiet, .terminal = isatty(STDERR_FILENO) == 1};
}

/* Seconds until all configs are done at the current rate, or until the budget ends; -1: unknown. */
static double seconds_left(const struct at_progress_state *state, double rate)
{
    double by_rate = rate > 0 ? (double)(state->total - state->done) / rate : -1;
    double by_budget =
        state->budget_ends_ns ? (double)(state->budget_ends_ns - at_now_ns()) / 1e9 : -1;

    if (by_budget >= 0 && (by_rate < 0 || by_budget < by_rate))
        return by_budget;
    return by_rate;
}

static int terminal_width(void)
{
    struct winsize window;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 80;
}

void at_progress_draw(struct at_progress *progress, const struct at_progress_state *state)
{
    int64_t now_ns = at_now_ns();
    double elapsed_s = (double)(now_ns - state->started_ns) / 1e9;
    double rate = elapsed_s > 0 ? (double)state->done / elapsed_s : 0;
    double left_s = seconds_left(state, rate);
    struct at_text_stream stream;
    char *line;
    size_t size;
    FILE *out;

    if (progress->quiet || !progress->terminal || now_ns < progress->next_draw_ns)
        return;
    progress->next_draw_ns = now_ns + draw_interval_ns;
    progress->line_shown = true;
    out = at_text_open(&stream);
    fprintf(out, "[%zu/%zu] %s  %zu of %zu", state->index, state->of, state->what, state->done,
            state->total);
    if (rate > 0)
        fprintf(out, "  %.0f/s", rate);
    if (state->best_gbps > 0)
        fprintf(out, "  best %.0f GB/s%s", state->best_gbps, state->predicted ? " predicted" : "");
    if (state->best_gbps > 0 && state->of_copy > 0)
        fprintf(out, " (%.1f%% of copy)", 100 * state->of_copy);
    if (left_s >= 0)
        fprintf(out, "  %.0f s left", left_s);
    line = at_text_close(&stream, &size);
    /* A line that wraps could not be redrawn. */
    fprintf(stderr, "\r\033[K%.*s", terminal_width() - 1, line);
    fflush(stderr);
    free(line);
}

void at_progress_clear(struct at_progress *progress)
{
    if (progress->line_shown)
        fputs("\r\033[K", stderr);
    progress->line_shown = false;
    progress->next_draw_ns = 0;
}

__attribute__((format(printf, 3, 0))) static void
say(struct at_progress *progress, const char *prefix, const char *format, va_list args)
{
    char *text = at_vformat(format, args);

    at_progress_clear(progress);
    fprintf(stderr, "autotune: %s", prefix);
    at_print_safely(stderr, text);
    fputc('\n', stderr);
    free(text);
}

void at_note(struct at_progress *progress, const char *format, ...)
{
    va_list args;

    if (progress->quiet)
        return;
    va_start(args, format);
    say(progress, "", format, args);
    va_end(args);
}

void at_warn(struct at_progress *progress, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(progress, "warning: ", format, args);
    va_end(args);
}
