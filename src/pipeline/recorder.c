/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/recorder.h"

#include "base/clock.h"
#include "base/memory.h"
#include "recording/recording.h"
#include "system/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum at_status at_recorder_prepare(const char *dir, struct at_error *err)
{
    char *path = at_format("%s/any.recording", dir);
    enum at_status status = AT_OK;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        status = at_fail(err, AT_USAGE, "cannot make the folder %s: %s", dir, strerror(errno));
    if (status == AT_OK)
        status = at_output_check(path, err);
    free(path);
    return status;
}

void at_recorder_begin(struct at_search *search)
{
    search->recorded = at_alloc_array(search->space.count, sizeof *search->recorded);
    search->recorded_ns = at_now_ns();
}

void at_recorder_take(struct at_search *search, size_t index,
                      const struct at_measurement *measurement)
{
    int64_t now_ns = at_now_ns();
    struct at_recorded *recorded;

    if (!search->recorded)
        return;
    recorded = &search->recorded[index];
    /* Results from a journal took no time. */
    if (!search->session->options.resume)
        recorded->cost_ns += now_ns - search->recorded_ns;
    search->recorded_ns = now_ns;
    recorded->outcome = measurement->outcome;
    free(recorded->samples_ns); /* of an earlier measurement */
    recorded->samples_ns = NULL;
    recorded->sample_count = 0;
    if (measurement->outcome != AT_CORRECT)
        return;
    recorded->sample_count = measurement->sample_count < AT_RECORDING_SAMPLES_MAX
                                 ? measurement->sample_count
                                 : AT_RECORDING_SAMPLES_MAX;
    recorded->samples_ns =
        at_memdup(measurement->samples_ns, recorded->sample_count * sizeof(double));
}

void at_recorder_clear(struct at_search *search)
{
    for (size_t i = 0; search->recorded && i < search->space.count; i++)
        free(search->recorded[i].samples_ns);
    free(search->recorded);
    search->recorded = NULL;
}

/* "NVIDIA H200" and "8192x8192:f32,ld_src=8200" become h200-8192x8192-f32-ld_src-8200. */
static char *name_file(const char *dir, const char *device, const char *problem)
{
    static const char maker[] = "NVIDIA ";
    char *name = at_format(
        "%s-%s", strncmp(device, maker, strlen(maker)) == 0 ? device + strlen(maker) : device,
        problem);
    char *path;

    for (char *c = name; *c; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (!(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9') && *c != '_')
            *c = '-';
    }
    path = at_format("%s/%s.recording", dir, name);
    free(name);
    return path;
}

/* The space's families, in its order; borrowed but for the array. */
static size_t list_families(const struct at_search *search, struct at_recorded_family **list)
{
    const struct at_session *session = search->session;
    size_t count = 0, capacity = 0;

    *list = NULL;
    for (size_t i = 0; i < search->space.count; i++) {
        const struct at_family *family = search->space.configs[i].family;

        if (count == 0 || (*list)[count - 1].family != family) {
            struct at_recorded_family added = {
                .family = (struct at_family *)family,
                .hash = (char *)at_session_family_hash(session, family),
                .launches = 1,
            };

            AT_PUSH(*list, count, capacity, added);
        }
        (*list)[count - 1].config_count++;
    }
    return count;
}

enum at_status at_recorder_write(const struct at_search *search, const char *dir,
                                 int64_t duration_ns, struct at_error *err)
{
    const struct at_session *session = search->session;
    const struct at_device_info *info = at_gpu_info(session->gpu);
    bool emulated = at_device_is_emulated(info);
    struct at_recording recording = {
        .problem = search->problem,
        .setting = session->setting,
        .copy_ns = (int64_t)(search->copy_ns + 0.5),
        .evaluation_ns = session->options.resume ? 0 : duration_ns / (int64_t)search->space.count,
        .space = search->space,
        .results = search->recorded,
    };
    char *path;
    enum at_status status;

    if (!search->complete) {
        at_warn(session->options.progress, "%s: not recorded: the search was cut short",
                search->progress.what);
        return AT_OK;
    }
    /* Predicted times must not pass for a GPU's. */
    recording.device = at_format("%s%s", emulated ? "emulated " : "", info->name);
    recording.family_count = list_families(search, &recording.families);
    path = name_file(dir, recording.device, search->progress.what);
    status = at_recording_write(&recording, path, err);
    free(path);
    free(recording.families);
    free(recording.device);
    return status;
}
