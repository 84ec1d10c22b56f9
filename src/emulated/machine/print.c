/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels print. */
#include "emulated/machine/print.h"

#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

#include <stdio.h>
#include <stdlib.h>

/* printf and assert in kernels. The compiler makes a call of vprintf with a format and a buffer of
 * arguments, each aligned to its size (CUDA C++ Programming Guide, "Formatted Output"). */

enum {
    STRING_MAX = 4096, /* bytes of a format or a string, and of one conversion */
    FIELD_MAX = 1024,  /* width and precision; a greater one is taken as this */
};

/* The place of a lane's argument or result in its frame. */
static char *in_frame(const struct at_emu_warp *warp, int lane, uint32_t offset)
{
    const struct at_emu_block *block = warp->block;
    size_t thread = warp->first_thread + (uint32_t)lane;

    return block->frames + thread * block->kernel->frame_bytes + offset;
}

static uint64_t argument(const struct at_emu_warp *warp, int lane, uint32_t offset, size_t bytes)
{
    uint64_t value = 0;

    memcpy(&value, in_frame(warp, lane, offset), bytes);
    return value;
}

/* The host's address of `bytes` bytes at a lane's generic address; NULL: there are none. */
static char *host_of(const struct at_emu_warp *warp, int lane, uint64_t address, uint32_t bytes)
{
    const struct at_emu_block *block = warp->block;
    uint32_t local = block->kernel->local_bytes;
    uint64_t offset;

    if (address < AT_EMU_SHARED_WINDOW)
        return at_emu_memory_host(block->memory, address, bytes);
    if (address < AT_EMU_LOCAL_WINDOW) {
        offset = address - AT_EMU_SHARED_WINDOW;
        return block->shared.size >= bytes && offset <= block->shared.size - bytes
                   ? block->shared.bytes + offset
                   : NULL;
    }
    offset = address - AT_EMU_LOCAL_WINDOW;
    return local >= bytes && offset <= local - bytes
               ? block->local + (size_t)(warp->first_thread + (uint32_t)lane) * local + offset
               : NULL;
}

/* Copy at most `most` characters of a string from a generic address. Returns their number. */
static size_t read_string(const struct at_emu_warp *warp, int lane, uint64_t address,
                          char text[STRING_MAX], size_t most)
{
    size_t size = 0;

    while (size < most && size < STRING_MAX - 1) {
        const char *byte = host_of(warp, lane, address + size, 1);

        if (!byte || !*byte)
            break;
        text[size++] = *byte;
    }
    text[size] = '\0';
    return size;
}

/* One call by one lane. Its arguments are taken one after the other. */
struct call {
    struct at_emu_warp *warp;
    int lane;
    uint64_t address, offset;
    int count;      /* of arguments */
    uint64_t steps; /* to pay: one for each byte that is read or made */
};

static bool is_shown(const struct call *call)
{
    const struct at_emu_block *block = call->warp->block;

    return block->launch->printer && block->printed.count < AT_EMU_PRINTED_OF_BLOCK;
}

/* Append at most `size` characters, while the text has fewer than `most`. */
static void push_text(struct at_emu_text *to, const char *text, size_t size, size_t most)
{
    for (size_t i = 0; i < size && to->count < most; i++)
        AT_PUSH(to->items, to->count, to->capacity, text[i]);
}

static void append(struct call *call, const char *text, size_t size)
{
    static const char full[] = "\n... and more: this block prints too much\n";
    struct at_emu_text *printed = &call->warp->block->printed;

    call->steps += size;
    if (!is_shown(call))
        return;
    push_text(printed, text, size, AT_EMU_PRINTED_OF_BLOCK);
    if (printed->count == AT_EMU_PRINTED_OF_BLOCK)
        push_text(printed, full, sizeof full - 1, SIZE_MAX);
}

static uint64_t next_argument(struct call *call, uint32_t bytes)
{
    const char *from;
    uint64_t value = 0;

    call->offset = (call->offset + bytes - 1) / bytes * bytes;
    from = host_of(call->warp, call->lane, call->address + call->offset, bytes);
    if (from)
        memcpy(&value, from, bytes);
    call->offset += bytes;
    call->count++;
    return value;
}

/* The flags, width and precision of a conversion. */
struct field {
    char flags[6];        /* each once */
    int width, precision; /* a negative width aligns left; precision -1: none */
    char length[3];       /* letters */
};

/* Read a number, or take that of an argument for a '*'. */
static const char *read_number(struct call *call, const char *text, int *number)
{
    if (*text == '*') {
        *number = (s32)next_argument(call, 4);
        *number = *number < -FIELD_MAX ? -FIELD_MAX : *number > FIELD_MAX ? FIELD_MAX : *number;
        return text + 1;
    }
    for (*number = 0; *text >= '0' && *text <= '9'; text++)
        *number = *number < FIELD_MAX ? 10 * *number + (*text - '0') : FIELD_MAX;
    *number = *number < FIELD_MAX ? *number : FIELD_MAX;
    return text;
}

/* Read a field after its '%'; returns its letter. */
static const char *read_field(struct call *call, const char *text, struct field *field)
{
    size_t flags = 0, letters = 0;

    *field = (struct field){.precision = -1};
    for (; *text && strchr("-+ #0", *text); text++)
        if (!strchr(field->flags, *text))
            field->flags[flags++] = *text;
    text = read_number(call, text, &field->width);
    if (*text == '.')
        text = read_number(call, text + 1, &field->precision);
    for (; *text && strchr("hlLzjtq", *text); text++)
        if (letters < 2)
            field->length[letters++] = *text;
    return text;
}

/* The value of an integer conversion. */
static long long integer_of(struct call *call, const char *length, bool is_signed)
{
    bool wide =
        strchr(length, 'l') || strchr(length, 'z') || strchr(length, 'j') || strchr(length, 't');
    uint64_t value = next_argument(call, wide ? 8 : 4);

    if (strcmp(length, "hh") == 0)
        return is_signed ? (s8)value : (u8)value;
    if (strcmp(length, "h") == 0)
        return is_signed ? (s16)value : (u16)value;
    return wide ? (long long)value : is_signed ? (s32)value : (long long)(u32)value;
}

/* Formats are the kernel's, taken apart and put together again for one argument each. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void convert(struct call *call, const struct field *f, char letter)
{
    char format[sizeof f->flags + 8], out[STRING_MAX] = "", string[STRING_MAX];
    bool is_integer = letter && strchr("diouxX", letter);

    snprintf(format, sizeof format, "%%%s*.*%s%c", f->flags, is_integer ? "ll" : "", letter);
    if (is_integer) {
        snprintf(out, sizeof out, format, f->width, f->precision,
                 integer_of(call, f->length, letter == 'd' || letter == 'i'));
    } else if (letter && strchr("fFeEgGaA", letter)) {
        snprintf(out, sizeof out, format, f->width, f->precision,
                 at_f64_of(next_argument(call, 8)));
    } else if (letter == 'c') {
        snprintf(out, sizeof out, format, f->width, f->precision, (int)next_argument(call, 4));
    } else if (letter == 'p') {
        snprintf(out, sizeof out, "%#llx", (unsigned long long)next_argument(call, 8));
    } else if (letter == 's') {
        uint64_t address = next_argument(call, 8);
        size_t most = f->precision < 0 ? STRING_MAX : (size_t)f->precision;

        read_string(call->warp, call->lane, address, string, is_shown(call) ? most : 0);
        snprintf(out, sizeof out, format, f->width, f->precision, string);
    } else if (letter == '%') {
        strcpy(out, "%");
    }
    append(call, out, strlen(out));
}

static void print(struct call *call, const char *format)
{
    struct field field;

    while (*format) {
        size_t plain = strcspn(format, "%");

        append(call, format, plain);
        format += plain;
        if (!*format)
            break;
        format = read_field(call, format + 1, &field);
        convert(call, &field, *format);
        format += *format != '\0';
    }
}

/* The lanes print one after the other. The arguments are the addresses of the format and the
 * buffer. */
void at_emu_run_printf(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    char format[STRING_MAX];

    AT_EACH_OF (i, lanes) {
        struct call call = {
            .warp = warp, .lane = i, .address = argument(warp, i, op->call.argument[1], 8)};

        call.steps =
            read_string(warp, i, argument(warp, i, op->call.argument[0], 8), format, STRING_MAX);
        print(&call, format);
        memcpy(in_frame(warp, i, op->call.result), &call.count, sizeof call.count);
        if (!at_emu_pay(op, warp, call.steps))
            return;
    }
}

/* The arguments are the condition's text, the file's name and the line. */
void at_emu_run_assert(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    char condition[STRING_MAX], file[STRING_MAX];
    int lane = __builtin_ctz(lanes);

    read_string(warp, lane, argument(warp, lane, op->call.argument[0], 8), condition, STRING_MAX);
    read_string(warp, lane, argument(warp, lane, op->call.argument[1], 8), file, STRING_MAX);
    at_emu_raise(warp, op, AT_EMU_ASSERTION, lane, 0, "%.*s (%.*s:%d)", AT_QUOTED(condition, 96),
                 AT_QUOTED(file, 96), (int)argument(warp, lane, op->call.argument[2], 4));
}

/* ---- of all blocks ---- */

static int by_turn(const void *left, const void *right)
{
    const struct at_emu_output *a = left, *b = right;

    return (a->turn > b->turn) - (a->turn < b->turn);
}

static void leave_out(struct at_emu_prints *prints, const char *text)
{
    for (; *text; text++)
        prints->left_out += *text == '\n' || !text[1];
}

/* Sort the texts, and drop those beyond the limit. */
static void shorten(struct at_emu_prints *prints)
{
    size_t kept = 0;

    if (prints->count > 0)
        qsort(prints->items, prints->count, sizeof *prints->items, by_turn);
    prints->bytes = 0;
    for (size_t i = 0; i < prints->count; i++) {
        struct at_emu_output *item = &prints->items[i];

        if (prints->bytes < AT_EMU_PRINTED_BYTES) {
            prints->bytes += strlen(item->text);
            prints->items[kept++] = *item;
        } else {
            leave_out(prints, item->text);
            free(item->text);
        }
    }
    prints->count = kept;
}

void at_emu_print_take(struct at_emu_prints *prints, struct at_emu_block *block, uint64_t turn)
{
    struct at_emu_output printed = {.turn = turn};

    if (!block->printed.items)
        return;
    prints->bytes += block->printed.count;
    push_text(&block->printed, "", 1, SIZE_MAX);
    printed.text = block->printed.items;
    AT_PUSH(prints->items, prints->count, prints->capacity, printed);
    block->printed = (struct at_emu_text){0};
    if (prints->bytes > 2 * (size_t)AT_EMU_PRINTED_BYTES)
        shorten(prints);
}

void at_emu_print_all(const struct at_emu_printer *printer, struct at_emu_prints *prints)
{
    struct at_emu_text all = {0};
    size_t lines = 0;

    shorten(prints);
    for (size_t k = 0; k < prints->count; k++) {
        const char *c = prints->items[k].text;

        for (; *c && lines < AT_EMU_PRINTED_LINES && all.count < AT_EMU_PRINTED_BYTES; c++) {
            push_text(&all, c, 1, SIZE_MAX);
            lines += *c == '\n';
        }
        leave_out(prints, c);
        free(prints->items[k].text);
    }
    if (prints->left_out > 0) {
        char *more = at_format("%s... and %zu more lines\n",
                               all.items[all.count - 1] == '\n' ? "" : "\n", prints->left_out);

        push_text(&all, more, strlen(more), SIZE_MAX);
        free(more);
    }
    if (all.count > 0) {
        push_text(&all, "", 1, SIZE_MAX);
        printer->print(printer->context, all.items);
    }
    free(all.items);
    free(prints->items);
}
