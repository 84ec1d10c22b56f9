/* SPDX-License-Identifier: Apache-2.0 */
/* Tuned kernels in formats that a build can use. Each format is a file that ends in one const
 * struct; formats.c lists them. The same answers give the same bytes.
 *
 * No text of a profile is copied into an output unchecked. Numbers are written from their values,
 * names are identifiers, and other text (a device's name) goes through at_export_plain. */
#ifndef AT_EXPORT_EXPORT_H
#define AT_EXPORT_EXPORT_H

#include "base/choice.h"
#include "lookup/lookup.h"
#include "problem/arguments.h"

enum { AT_EXPORT_KEY_CHARS = 256, AT_EXPORT_PREFIX_CHARS = 33 };

/* A problem with the config that lookup chose for it on a device. */
struct at_export_item {
    struct at_problem problem;
    struct at_answer answer;
    const struct at_target *target;
    char *told;                     /* the device's name, if it is one of several; else NULL */
    char *spec;                     /* the problem as at_problem_format has it */
    char key[AT_EXPORT_KEY_CHARS];  /* "R8192_C8192_B4": a unique identifier of the problem */
    char name[AT_EXPORT_KEY_CHARS]; /* of the item: the key, and what tells it from its variants */
    char *defines;                  /* the macros of its kernel, "-DELEM_SIZE=4 -DTILE_COLS=64" */
    size_t kernel;                  /* the first item with the same kernel */
    /* The addresses that it takes on each side: `offset` bytes behind a multiple of `align`. */
    int64_t align[AT_SIDES], offset[AT_SIDES];
    bool for_any_address; /* besides the one that lookup chose */
};

/* The arguments of an item's kernel after dst and src. The words of one follow those of another. */
struct at_export_arguments {
    uint64_t words[AT_CALL_WORDS];
    uint8_t word_counts[AT_CALL_ARGS]; /* of each argument */
    size_t count, word_count;
};

struct at_export {
    const struct at_target *targets; /* by compute capability, which differs */
    size_t target_count;
    const char *policy;
    /* With any_address, each problem whose kernel needs aligned addresses has another kernel, the
     * default one of these families. */
    bool any_address;
    struct at_family *const *families;
    size_t family_count;
    char prefix[AT_EXPORT_PREFIX_CHARS]; /* of functions and types, and in capitals of macros */
    char macro_prefix[AT_EXPORT_PREFIX_CHARS];
    struct at_export_item *items; /* variants of a problem follow each other: by target */
    size_t count;
    struct at_progress *progress; /* of compiling; borrowed */
};

struct at_export_format {
    const char *name;
    const char *summary; /* for the manual page; plain text */
    bool has_names;      /* that begin with the prefix */
    bool one_device;     /* it cannot tell of several */
    enum at_status (*write)(const struct at_export *export, FILE *out, struct at_error *err);
    /* Instead of write: writes several files into an existing folder. */
    enum at_status (*write_folder)(const struct at_export *export, const char *folder,
                                   struct at_error *err);
};

extern const struct at_export_format *const at_export_formats[]; /* NULL-ended */
at_choice_fn at_export_choice;

/* Set the prefix, "autotune" if there is none. AT_USAGE unless it is an identifier of lower-case
 * letters, digits and single underscores: two of these also differ in capitals. */
enum at_status at_export_set_prefix(struct at_export *export, const char *prefix,
                                    struct at_error *err);

/* Look up each problem for each target, equal ones once. The caller clears the export. */
enum at_status at_export_make(struct at_export *export, const struct at_lookup *lookup,
                              const struct at_problem *problems, size_t count,
                              struct at_error *err);
void at_export_clear(struct at_export *export);

/* ---- shared by formats ---- */

/* Make the key of a problem: sizes and strides, and of a step its types and operations. */
void at_export_make_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem);

/* The number of items that are variants of the same problem, from this one on. */
size_t at_export_variants(const struct at_export *export, size_t item);

/* Is this the first variant of its problem? */
bool at_export_is_problem(const struct at_export *export, size_t item);

/* Is it launched several times in a row? Then it takes scratch memory. */
bool at_export_is_many(const struct at_export_item *item);

struct at_export_arguments at_export_arguments(const struct at_export_item *item);

/* What the first argument is: the number of the struct of groups.h.in, or AT_NO_GROUPS. */
enum at_groups_kind at_export_groups(const struct at_export_item *item);

/* Is the kernel's last argument the struct of numbers.h.in? Its words stand for the number 1,
 * and for a beta of 0. */
bool at_export_takes_numbers(const struct at_export_item *item);

/* The words in hexadecimal, with `separator` between them. The caller frees it. */
char *at_export_words(const struct at_export_arguments *arguments, const char *separator);

/* The list of word_counts, of int64_t; the caller frees its items. */
struct at_list at_export_word_counts(const struct at_export_arguments *arguments);

/* The bytes of the scales of blocks, of the result and of the second one; 0: there are none. The
 * caller frees the items, of int64_t. */
struct at_list at_export_scale_bytes(const struct at_export_item *item);

/* The bytes of scratch memory that a launch needs for a largest magnitude and sums, or that several
 * launches share. */
int64_t at_export_scratch_bytes(const struct at_export_item *item);

/* Write "8192LL, 8192LL, ...": rows, cols, ld_src, ld_dst, batch, stride_src and stride_dst. All
 * are 0 if it is no matrix, has a step or an offset, is many, or takes scratch memory, so that no
 * search by sizes finds it. */
void at_export_write_sizes(const struct at_export_item *item, FILE *out);

/* Write "7, {1, 1, 1, 1, 3, 2, 2}": how many arguments, and the words of each. */
void at_export_write_word_counts(const struct at_export_arguments *arguments, FILE *out);

/* What writes the lines for a mark that stands alone on a line of a text. */
struct at_export_lines {
    char mark;
    void (*write)(const struct at_export *export, FILE *out);
    const char *text; /* instead of write */
};

/* Write a text with marks: @p, the prefix; @P, the same in capitals; @D, the device's name, or
 * several; @C, the compute capability of the first; @N, the number of items; @I, 32 bits that two
 * exports are unlikely to share. Alone on a line: @O, the lines of at_export_write_origin; @S, the
 * structs of numbers.h.in and groups.h.in, if a kernel takes them; @W, the words of all items, an
 * item a line; and the marks of `lines`, whose last one is 0. */
void at_export_write_text(const struct at_export *export, const char *text,
                          const struct at_export_lines *lines, FILE *out);

/* Write the header that has the table of all items (header.c). */
void at_export_write_table(const struct at_export *export, FILE *out);

/* tuned.h.in and others, embedded when the program is built: see assets.awk. */
extern const char at_asset_numbers_h[], at_asset_groups_h[], at_asset_tuned_h[],
    at_asset_prototypes_h[], at_asset_launchers_h[], at_asset_launchers_cu[],
    at_asset_group_launchers_cu[];

/* Copy text for comments and strings of any language: everything but letters, digits, blanks and
 * "._+()-" becomes '_'. The caller frees it. */
char *at_export_plain(const char *text);

/* Write the names of the devices, safe in any language: "NVIDIA A100 + NVIDIA H200". */
void at_export_write_devices(const struct at_export *export, FILE *out);

/* Tell why an item's kernel is a guess: lookup chose it, and it was not measured for its problem on
 * this model of device. "640x640:f32: tier 2 of 6, shape, from 512x512:f32"; NULL: it was. The
 * caller frees it.
 */
char *at_export_guess(const struct at_export_item *item);

/* Write "Generated by autotune 0.1.0: ... kernels for NVIDIA H200 ..., cold.", how to change it,
 * and which kernels are guesses, each line after `prefix`. */
void at_export_write_origin(const struct at_export *export, const char *prefix, FILE *out);

/* Is this the first item with its kernel? */
bool at_export_is_kernel(const struct at_export *export, size_t item);

#endif
