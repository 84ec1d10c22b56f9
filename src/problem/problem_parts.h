/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read, make and write problems. */
#ifndef AT_PROBLEM_PROBLEM_PARTS_H
#define AT_PROBLEM_PROBLEM_PARTS_H

#include "problem/problem.h"

enum { AT_ELEM_SIZE_MAX = 64, AT_WORD_MAX = 16 };

/* In elements. Alignment repeats before that: accesses have at most 16 bytes, cache lines 128. */
enum { AT_OFFSET_MAX = 255 };

/* ---- type.c ---- */

struct at_type {
    const char *name; /* NULL: an element of several words, which has none */
    int64_t bytes;
};

/* Read the name of a type or a synonym of it, such as float32; b1 to b64 are elements of as many
 * bytes. */
enum at_status at_type_read(struct at_type *type, const char *text, size_t length, const char *spec,
                            struct at_error *err);

/* AT_USAGE if no element has the problem's size. */
enum at_status at_type_check_size(const struct at_problem *problem, const char *spec,
                                  struct at_error *err);

/* Set the type, which has a name, with its size. */
void at_problem_take_type(struct at_problem *problem, const struct at_type *type);

/* Set the type that a step computes with, or the one that is named after the element size, such as
 * "b4". False: there is none. */
bool at_problem_name_type(struct at_problem *problem);

/* ---- step_spec.c ---- */

/* What follows a word's '=': the axis of channels, the type of the second result, and of blocks
 * their sides, the rule of their scales, and the layout of these. */
enum at_step_value {
    AT_VALUE_AXIS,
    AT_VALUE_KEPT,
    AT_VALUE_BLOCKS,
    AT_VALUE_SCALES,
    AT_VALUE_LAYOUT,
    AT_STEP_VALUES_READ
};

/* The type of the destination, the operations and their values, as far as they have been read. */
struct at_step_reading {
    const char *to; /* not terminated; NULL: the source's type */
    size_t to_length;
    unsigned operations;
    struct {
        const char *text; /* not terminated; NULL: none is given */
        size_t length;
    } values[AT_STEP_VALUES_READ];
};

/* Cut "SOURCE:DESTINATION" after the first type. Returns its length. */
size_t at_step_cut_types(struct at_step_reading *read, const char *text, size_t length);

/* Read the name of an operation, which may have a value, as in affine=rows; or of what belongs to
 * one, scales=te. False: it is none. */
bool at_step_read_operation(struct at_step_reading *read, const char *text, size_t length);

/* Make the step that was read, of elements of this type. A cast to the same type without an
 * operation is no step. */
enum at_status at_step_make(struct at_step *step, const struct at_step_reading *read,
                            const struct at_type *source, const char *spec, struct at_error *err);

/* Write ":e4m3" if the destination has another type, or ",scale" and, of channels, ",affine" and
 * `axis`, such as "=rows". Return where the NUL is. */
char *at_step_put_type(char *at, const struct at_step *step);
char *at_step_put_operations(char *at, const struct at_step *step, const char *axis);

/* ---- channels.c ---- */

/* Find where the channels of a step lie, if it has any. A matrix is not canonical yet. The axes of
 * a tensor are the result's. */
enum at_status at_channels_place_matrix(struct at_problem *problem, const char *spec,
                                        struct at_error *err);
enum at_status at_channels_place_groups(struct at_problem *problem, const char *spec,
                                        struct at_error *err);
enum at_status at_channels_place_tensor(struct at_step *step, const struct at_axis *axes,
                                        const int64_t *perm, size_t rank, const char *spec,
                                        struct at_error *err);

/* The channels of at_problem_copy_of. */
struct at_channels at_channels_of_copy(const struct at_problem *problem);

/* Split a problem's axes, none of extent 1, so that one has the channels and nothing else: *axis.
 * Returns their number, at most two more. */
size_t at_channels_split(const struct at_channels *channels, struct at_axis axes[AT_AXES_MAX],
                         size_t count, size_t *axis);

/* ---- groups_spec.c ---- */

/* Read what is before the colon: `length` bytes of the specification. */
enum at_status at_groups_read(struct at_groups *groups, const char *spec, size_t length,
                              struct at_error *err);

/* Write it. Return where the NUL is. */
char *at_groups_put(char *at, const struct at_groups *groups);

/* Read "200x16..31x64", or "64x64" for a single matrix. False: it is none. */
bool at_group_part_read(struct at_group_part *part, const char *text, size_t length);

/* Write it, with a NUL. Return where that is. */
enum { AT_GROUP_PART_CHARS = 64 };
char *at_group_part_put(char *at, const struct at_group_part *part);

/* Complete a problem whose type, step and groups are given, and draw the sizes. */
enum at_status at_problem_draw_groups(struct at_problem *problem, const char *spec,
                                      struct at_error *err);

/* ---- problem_spec.c ---- */

/* Write a number and a NUL. Return where it is. printf takes microseconds, and a profile has
 * thousands of problems. */
char *at_problem_put_number(char *at, int64_t value);

/* ---- problem.c ---- */

/* Check the layout of matrices: bounds, overlap, and in place, that it is one layout. */
enum at_status at_problem_check_layout(const struct at_problem *problem, const char *spec,
                                       struct at_error *err);

/* AT_USAGE if elements overlap on a side where they must not, or it is undecided. */
enum at_status at_problem_check_overlap(const struct at_problem *problem, const char *spec,
                                        struct at_error *err);

/* The bytes of an element on a side: with those of a second source on the destination's, and of a
 * second result on the source's. */
int64_t at_problem_crossing_bytes(enum at_side side, int64_t elem_size, const struct at_step *step);

/* The canonical form of axes that fit 62 bits. */
void at_problem_take_axes(struct at_problem *problem, struct at_axis *axes, size_t count);

/* Fail with AT_USAGE: the specification, unless it is NULL, and a reason. */
enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
