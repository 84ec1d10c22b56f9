/* SPDX-License-Identifier: Apache-2.0 */
/* A recording: every config of a problem's space with its result on a device, in a text file. A
 * search can be replayed against it without a device, even after the families have changed.
 * doc/recording-format.md describes the file. */
#ifndef AT_RECORDING_RECORDING_H
#define AT_RECORDING_RECORDING_H

#include "base/choice.h"
#include "base/outcome.h"
#include "space/space.h"

#include <stdio.h>

/* Limits of a file. */
enum {
    AT_RECORDING_VERSION = 3,
    AT_RECORDING_BYTES_MAX = 64 << 20,
    AT_RECORDING_FAMILIES_MAX = 32,
    AT_RECORDING_SAMPLES_MAX = 64,
    AT_RECORDING_CONFIGS_MAX = 500000,
    AT_RECORDING_TEXT_MAX = 1000, /* bytes of a name, a device, a setting */
    AT_RECORDING_LAUNCHES_MAX = 16,
};

/* A config's result. */
struct at_recorded {
    enum at_outcome outcome;
    double *samples_ns; /* if correct: at least one, each a whole number; else NULL */
    size_t sample_count;
    double time_ns;  /* their median */
    int64_t cost_ns; /* time of the evaluation, compilation included; 0: unknown */
};

struct at_recorded_family {
    struct at_family *family; /* only name, preference and parameters */
    char *hash;               /* of its template and launch */
    int64_t launches;         /* of a config, one after the other */
    size_t config_count;
};

struct at_recording {
    struct at_problem problem;
    char *kernel;    /* NULL; or, in another tuner's file, the kernel: then there is no problem, and
                        the recording can be written in JSON only */
    char *device;    /* name */
    char *setting;   /* all else that the times depend on, as in a journal */
    int64_t copy_ns; /* time of the best copy of as many bytes; 0: unknown */
    int64_t evaluation_ns; /* mean time of an evaluation, compilation included; 0: unknown */
    struct at_recorded_family *families;
    size_t family_count;
    struct at_space space;       /* family by family */
    struct at_recorded *results; /* of space.configs */
    size_t best;                 /* the fastest correct config */
};

/* Read a file in any of the formats below. AT_USAGE, with the place, unless it is a complete
 * recording with at least one correct config. Only a Kernel Tuner cache may be incomplete. */
enum at_status at_recording_read(struct at_recording *recording, const char *path,
                                 struct at_error *err);

/* Write the file, completely or not at all. */
enum at_status at_recording_write(const struct at_recording *recording, const char *path,
                                  struct at_error *err);

/* Return the index of the family of this name; family_count: there is none. */
size_t at_recording_find_family(const struct at_recording *recording, const char *name);

/* Drop all families but the named one. AT_USAGE, with the families that there are, if it has none
 * of this name; also if no config of the family is correct, which spoils the recording. */
enum at_status at_recording_keep_family(struct at_recording *recording, const char *name,
                                        struct at_error *err);

/* Return the time of a config's evaluation: its own, else the mean; 0: unknown. */
int64_t at_recording_cost(const struct at_recording *recording, size_t index);

/* Return the problem or, of another tuner's file, the kernel; the caller frees it. */
char *at_recording_title(const struct at_recording *recording);

/* Return the kind of the space: the kernel, the bytes of an element of a transpose ("b16"), or the
 * device's name if there is no kernel. The caller frees it. */
char *at_recording_kind(const struct at_recording *recording);

/* A format in which recordings are written. AT_USAGE for a recording that it cannot hold. */
struct at_json_reader;
struct json_t;
struct at_recording_format {
    const char *name;
    const char *summary; /* for the manual page; plain text */
    enum at_status (*write)(const struct at_recording *recording, FILE *out, struct at_error *err);
    /* Of a format in JSON: the member that a file's root has, unless it is a list; and how its
     * configs and results are read (recording/json.h). */
    const char *member;
    enum at_status (*read)(struct at_json_reader *reader, const struct json_t *root);
};

extern const struct at_recording_format *const at_recording_formats[]; /* NULL-ended */
at_choice_fn at_recording_choice;

/* Write the recording. AT_USAGE if the format's write refuses it, or for another tuner's kernel in
 * a format that is not JSON. */
enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err);

/* Frees all that a recording holds. */
void at_recording_clear(struct at_recording *recording);

#endif
