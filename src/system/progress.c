/* SPDX-License-Identifier: Apache-2.0 */
#include "system/progress.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/flow.h"
#include "base/memory.h"
#include "base/text_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool at_streams_prepare(void)
{
    /* The opposite mode of each stream, so that using it fails. Workers inherit them. */
    static const int modes[] = {O_WRONLY, O_RDONLY, O_RDONLY};

    signal(SIGPIPE, SIG_IGN);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd)
            return false; /* open returns the lowest free number, and all below fd are open */
    return true;
}

bool at_streams_reader_is_gone(int fd)
{
    struct pollfd end = {.fd = fd}; /* poll always reports POLLERR and POLLHUP */

    return poll(&end, 1, 0) == 1 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

int at_streams_width(int fd)
{
    struct winsize window;

    return ioctl(fd, TIOCGWINSZ, &window) == 0 && window.ws_col > 1 ? window.ws_col : 0;
}

int at_streams_text_width(int most)
{
    int width = at_streams_width(STDOUT_FILENO);

    return width > 0 && width < most ? width : most;
}

static const int64_t draw_interval_ns = 100000000;

void at_progress_init(struct at_progress *progress)
{
    const char *term = getenv("TERM");
    bool can_erase = term && *term && strcmp(term, "dumb") != 0;

    *progress = (struct at_progress){.terminal = can_erase && isatty(STDERR_FILENO) == 1};
}

/* The time left, no longer than until the budget ends. Negative: unknown. */
static double within_budget(double left_s, int64_t ends_ns, int64_t now_ns)
{
    double budget_s = (double)(ends_ns - now_ns) / 1e9;

    if (ends_ns == 0 || (left_s >= 0 && left_s < budget_s))
        return left_s;
    return budget_s > 0 ? budget_s : 0;
}

/* The last seconds depend on a few launches: no forecast of
 * them is right within a factor of two. */
void at_print_duration(FILE *out, double seconds)
{
    if (seconds < 5)
        fputs("under 5 s", out);
    else if (seconds < 100)
        fprintf(out, "%.0f s", seconds);
    else if (seconds < 100 * 60)
        fprintf(out, "%.0f min", seconds / 60);
    else
        fprintf(out, "%.1f h", seconds / 3600);
}

static void print_left(FILE *out, const struct at_progress_state *state, int64_t now_ns)
{
    double left_s = within_budget(state->left_s, state->budget_ends_ns, now_ns);
    double run_left_s = within_budget(state->run_left_s, state->run_ends_ns, now_ns);
    const char *between = "  ";

    if (run_left_s >= 0 && left_s > run_left_s)
        left_s = run_left_s;
    if (left_s >= 0) {
        fputs("  ", out);
        at_print_duration(out, left_s);
        between = ", run ";
    }
    if (run_left_s >= 0 && state->of > 1) {
        fputs(between, out);
        at_print_duration(out, run_left_s);
    }
    if (left_s >= 0 || (run_left_s >= 0 && state->of > 1))
        fputs(" left", out);
}

/* The parts that are left out to save columns, one after the other. */
enum { DETAIL_ALL, DETAIL_NO_GBPS, DETAIL_NO_SHARE, DETAIL_LEAST };

static char *format_line(const struct at_progress_state *state, int detail, int64_t now_ns)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    size_t whole = strlen(state->what), shape = strcspn(state->what, ",");
    bool shortened = detail >= DETAIL_LEAST && shape < whole;

    fprintf(out, "[%zu/%zu] %.*s%s", state->index, state->of, (int)(shortened ? shape : whole),
            state->what, shortened ? ",.." : "");
    if (state->total > 0)
        fprintf(out, "  %zu of %s%zu", state->done, state->total_is_known ? "" : "~", state->total);
    if (state->best_gbps > 0 &&
        (detail == DETAIL_ALL || (detail < DETAIL_LEAST && state->of_copy <= 0)))
        fprintf(out, "  best %.0f GB/s%s", state->best_gbps, state->predicted ? " predicted" : "");
    if (state->best_gbps > 0 && state->of_copy > 0 && detail == DETAIL_ALL)
        fprintf(out, " (%.1f%% of copy)", 100 * state->of_copy);
    else if (state->best_gbps > 0 && state->of_copy > 0 && detail == DETAIL_NO_GBPS)
        fprintf(out, "  %.1f%% of copy%s", 100 * state->of_copy,
                state->predicted ? ", predicted" : "");
    print_left(out, state, now_ns);
    return at_text_close(&stream, NULL);
}

char *at_progress_line(const struct at_progress_state *state, int width, int64_t now_ns)
{
    char *line = format_line(state, DETAIL_ALL, now_ns);

    for (int detail = DETAIL_ALL + 1; detail <= DETAIL_LEAST && (int)strlen(line) > width;
         detail++) {
        at_free(line);
        line = format_line(state, detail, now_ns);
    }
    if ((int)strlen(line) > width)
        line[width > 0 ? width : 0] = '\0';
    return line;
}

void at_progress_draw(struct at_progress *progress, const struct at_progress_state *state)
{
    int64_t now_ns = at_now_ns();
    int width = at_streams_width(STDERR_FILENO);
    char *line;

    if (progress->quiet || !progress->terminal || now_ns < progress->next_draw_ns)
        return;
    progress->next_draw_ns = now_ns + draw_interval_ns;
    progress->line_shown = true;
    if (progress->draw) {
        progress->draw(progress->draw_data, state);
        return;
    }
    line =
        at_progress_line(state, (width > 0 ? width : 80) - 1, now_ns); /* a line that wraps stays */
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
    at_free(line);
}

void at_progress_step(struct at_progress *progress, const char *what, size_t done, size_t of)
{
    int64_t now_ns = at_now_ns();
    double past_s;

    if (done == 0)
        progress->steps_began_ns = now_ns;
    past_s = (double)(now_ns - progress->steps_began_ns) / 1e9;
    progress->next_draw_ns = 0; /* the step may take long */
    at_progress_draw(progress,
                     &(struct at_progress_state){
                         .what = what,
                         .index = done + 1,
                         .of = of,
                         .left_s = -1,
                         .run_ends_ns = done > 0 ? progress->steps_end_ns : 0,
                         .run_left_s = done > 0 ? past_s * (double)(of - done) / (double)done : -1,
                     });
}

void at_progress_clear(struct at_progress *progress)
{
    bool may_be_shown = progress->terminal && progress->draw; /* by the other process */

    if (progress->line_shown || may_be_shown)
        fputs("\r\033[K", stderr);
    progress->line_shown = false;
    progress->next_draw_ns = 0;
}

void at_print_message(const char *kind, const char *text)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    int width = at_streams_width(STDERR_FILENO);
    char *line;

    fprintf(out, "autotune: %s", kind);
    at_print_safely(out, text);
    line = at_text_close(&stream, NULL);
    if (width > 0 && at_text_columns(line) > width)
        at_flow_words(stderr, width, 2, line);
    else
        fprintf(stderr, "%s\n", line);
    at_free(line);
}

void at_say(struct at_progress *progress, enum at_importance importance, const char *format, ...)
{
    char *text;
    va_list args;

    if ((importance == AT_DETAIL && !progress->verbose) ||
        (importance == AT_NOTE && progress->quiet))
        return;
    va_start(args, format);
    text = at_vformat(format, args);
    va_end(args);
    at_progress_clear(progress);
    at_print_message(importance == AT_WARNING ? "warning: " : "", text);
    at_free(text);
}
