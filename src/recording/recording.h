/* SPDX-License-Identifier: Apache-2.0 */
/* A recording: every config of a problem's space with what came of it on a device, in a text file
 * that needs nothing else to be understood, so that a search can be run against it where there is
 * no device, and when the space is long another one. doc/recording-format.md describes the file. */
#ifndef AT_RECORDING_RECORDING_H
#define AT_RECORDING_RECORDING_H

#include "base/choice.h"
#include "base/outcome.h"
#include "space/space.h"

#include <stdio.h>

/* Of a file; what is beyond these is refused. */
enum {
    AT_RECORDING_VERSION = 1,
    AT_RECORDING_BYTES_MAX = 64 << 20,
    AT_RECORDING_FAMILIES_MAX = 32,
    AT_RECORDING_SAMPLES_MAX = 64,
    AT_RECORDING_CONFIGS_MAX = 500000,
    AT_RECORDING_TEXT_MAX = 1000, /* bytes of a name, a device, a setting */
};

/* A config's result. */
struct at_recorded {
    enum at_outcome outcome;
    double *samples_ns; /* if correct: at least one, each a whole number; else NULL */
    size_t sample_count;
    double time_ns; /* their median */
};

struct at_recorded_family {
    struct at_family *family; /* name, preference, parameters; nothing else of it is recorded */
    char *hash;               /* of its template and launch */
    size_t config_count;
};

struct at_recording {
    struct at_problem problem;
    char *kernel;    /* NULL; or what else was tuned, of another tuner's file: then there is no
                        problem, and the recording can be replayed and not written */
    char *device;    /* name */
    char *setting;   /* all else that the times depend on, as a journal has it */
    int64_t copy_ns; /* the best copy of as many bytes; 0: not known */
    int64_t evaluation_ns; /* what an evaluation took, compilation included; 0: not known */
    struct at_recorded_family *families;
    size_t family_count;
    struct at_space space;       /* family by family */
    struct at_recorded *results; /* of space.configs */
    size_t best;                 /* the fastest correct config */
};

/* Reads a file in any of the formats below. AT_USAGE with the place at fault, if it is anything but
 * a whole recording with at least one correct config; only a Kernel Tuner cache need not be whole.
 */
enum at_status at_recording_read(struct at_recording *recording, const char *path,
                                 struct at_error *err);

/* Writes the file, whole or not at all. raw and best are not written. */
enum at_status at_recording_write(const struct at_recording *recording, const char *path,
                                  struct at_error *err);

/* What is recorded: the problem, or the other kernel; the caller frees it. */
char *at_recording_title(const struct at_recording *recording);

/* A form in which recordings are written. AT_USAGE for what cannot be said in it. */
struct at_recording_format {
    const char *name;
    const char *summary; /* for the manual page; plain text */
    enum at_status (*write)(const struct at_recording *recording, FILE *out, struct at_error *err);
};

extern const struct at_recording_format *const at_recording_formats[]; /* NULL-ended */
at_choice_fn at_recording_choice;

enum at_status at_recording_format_find(const struct at_recording_format **format, const char *name,
                                        struct at_error *err);

/* Writes the recording. A recording of another kernel is AT_USAGE, and so is what the format's
 * write refuses. */
enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err);

/* Frees all that a recording holds. */
void at_recording_clear(struct at_recording *recording);

#endif
