/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_cupti.h"
#include "fake_cuda.h"

#include "device/cuda/cupti.h"

#include <stdlib.h>
#include <string.h>

#if __has_include(<cupti_range_profiler.h>)
#include <cupti_range_profiler.h>
#include <cupti_target.h>

/* The records are those of CUPTI's headers. (That of the host's functions is C++.) */
#define SAME(ours, last, theirs, their_last)                                                       \
    _Static_assert(AT_CUPTI_SIZE(ours, last) ==                                                    \
                           offsetof(theirs, their_last) + sizeof(((theirs *)0)->their_last) &&     \
                       offsetof(struct ours, last) == offsetof(theirs, their_last),                \
                   "the record differs")
SAME(at_cupti_initialize, none, CUpti_Profiler_Initialize_Params, pPriv);
SAME(at_cupti_chip_name, name, CUpti_Device_GetChipName_Params, pChipName);
SAME(at_cupti_availability, image, CUpti_Profiler_GetCounterAvailability_Params,
     pCounterAvailabilityImage);
SAME(at_cupti_enable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME(at_cupti_profiler, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME(at_cupti_data_size, data_size, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME(at_cupti_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, pCounterData);
SAME(at_cupti_set_config, level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME(at_cupti_stop, all, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME(at_cupti_decode, dropped, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
_Static_assert((int)AT_CUPTI_AUTO_RANGE == (int)CUPTI_AutoRange &&
                   (int)AT_CUPTI_USER_REPLAY == (int)CUPTI_UserReplay,
               "the numbers differ");
#endif

const char *fake_cupti_fails;
int fake_cupti_result, fake_cupti_passes = 3, fake_cupti_held, fake_cupti_ranges;
size_t fake_cupti_dropped;
double fake_cupti_first = 100;
char fake_cupti_names[4096];
int fake_cupti_launches_inside;

/* The real header, if it is there, has declared the functions with its own types. */
#define NAMED(name)            __asm__(#name)
#define FUNCTION(name, params) int fake_##name(params *p) NAMED(name);
AT_CUPTI_FUNCTIONS(FUNCTION)
int fake_result_string(int result, const char **text) NAMED(cuptiGetResultString);

static int passed, launches_before;

/* Every record tells its true size. */
static int answer(const char *function, size_t size, size_t wanted)
{
    if (size != wanted)
        abort();
    return fake_cupti_fails && strcmp(fake_cupti_fails, function) == 0 ? fake_cupti_result : 0;
}

#define ANSWER(name, record, last) answer(#name, p->size, AT_CUPTI_SIZE(record, last))

int fake_result_string(int result, const char **text)
{
    (void)result;
    *text = "FAKE_RESULT";
    return 0;
}

int fake_cuptiProfilerInitialize(struct at_cupti_initialize *p)
{
    return ANSWER(cuptiProfilerInitialize, at_cupti_initialize, none);
}

int fake_cuptiDeviceGetChipName(struct at_cupti_chip_name *p)
{
    p->name = "GH100";
    return ANSWER(cuptiDeviceGetChipName, at_cupti_chip_name, name);
}

int fake_cuptiProfilerGetCounterAvailability(struct at_cupti_availability *p)
{
    if (p->image)
        memset(p->image, 7, p->image_size);
    else
        p->image_size = 64;
    return ANSWER(cuptiProfilerGetCounterAvailability, at_cupti_availability, image);
}

static int hold(int result, void **object)
{
    if (result == 0) {
        fake_cupti_held++;
        *object = &fake_cupti_held;
    }
    return result;
}

int fake_cuptiProfilerHostInitialize(struct at_cupti_host *p)
{
    if (!p->chip || strcmp(p->chip, "GH100") != 0 || p->profiler != 0 || p->availability[0] != 7)
        abort();
    return hold(ANSWER(cuptiProfilerHostInitialize, at_cupti_host, host), &p->host);
}

int fake_cuptiProfilerHostDeinitialize(struct at_cupti_host_end *p)
{
    fake_cupti_held--;
    return ANSWER(cuptiProfilerHostDeinitialize, at_cupti_host_end, host);
}

int fake_cuptiProfilerHostConfigAddMetrics(struct at_cupti_metrics *p)
{
    fake_cupti_names[0] = '\0';
    for (size_t i = 0; i < p->count; i++)
        strcat(strcat(fake_cupti_names, p->names[i]), " ");
    return ANSWER(cuptiProfilerHostConfigAddMetrics, at_cupti_metrics, count);
}

int fake_cuptiProfilerHostGetConfigImageSize(struct at_cupti_config_size *p)
{
    p->image_size = 48;
    return ANSWER(cuptiProfilerHostGetConfigImageSize, at_cupti_config_size, image_size);
}

int fake_cuptiProfilerHostGetConfigImage(struct at_cupti_config *p)
{
    memset(p->image, 5, p->image_size);
    return ANSWER(cuptiProfilerHostGetConfigImage, at_cupti_config, image);
}

int fake_cuptiProfilerHostEvaluateToGpuValues(struct at_cupti_values *p)
{
    if (p->data_size != 96 || p->data[0] != 3 || p->range != 0)
        abort();
    for (size_t i = 0; i < p->count; i++)
        p->values[i] = fake_cupti_first + (double)i;
    return ANSWER(cuptiProfilerHostEvaluateToGpuValues, at_cupti_values, values);
}

int fake_cuptiRangeProfilerEnable(struct at_cupti_enable *p)
{
    passed = 0;
    return hold(ANSWER(cuptiRangeProfilerEnable, at_cupti_enable, profiler), &p->profiler);
}

int fake_cuptiRangeProfilerDisable(struct at_cupti_profiler *p)
{
    fake_cupti_held--;
    return ANSWER(cuptiRangeProfilerDisable, at_cupti_profiler, profiler);
}

int fake_cuptiRangeProfilerGetCounterDataSize(struct at_cupti_data_size *p)
{
    if (p->ranges != 1 || p->nodes < 1 || p->count == 0)
        abort();
    p->data_size = 96;
    return ANSWER(cuptiRangeProfilerGetCounterDataSize, at_cupti_data_size, data_size);
}

int fake_cuptiRangeProfilerCounterDataImageInitialize(struct at_cupti_data *p)
{
    memset(p->data, 1, p->data_size);
    return ANSWER(cuptiRangeProfilerCounterDataImageInitialize, at_cupti_data, data);
}

static unsigned char *data;

int fake_cuptiRangeProfilerSetConfig(struct at_cupti_set_config *p)
{
    if (p->config_size != 48 || p->config[47] != 5 || p->data_size != 96 || p->data[95] != 1 ||
        p->ranges != 1 || p->levels != 1)
        abort();
    data = p->data;
    return ANSWER(cuptiRangeProfilerSetConfig, at_cupti_set_config, level);
}

int fake_cuptiRangeProfilerStart(struct at_cupti_profiler *p)
{
    launches_before = fake_cuda_launches;
    return ANSWER(cuptiRangeProfilerStart, at_cupti_profiler, profiler);
}

int fake_cuptiRangeProfilerStop(struct at_cupti_stop *p)
{
    int inside = fake_cuda_launches - launches_before;

    if (passed > 0 && inside != fake_cupti_launches_inside)
        inside = -1;
    fake_cupti_launches_inside = inside;
    p->all = ++passed == fake_cupti_passes;
    fake_cupti_ranges++;
    return ANSWER(cuptiRangeProfilerStop, at_cupti_stop, all);
}

int fake_cuptiRangeProfilerDecodeData(struct at_cupti_decode *p)
{
    memset(data, 3, 96);
    p->dropped = fake_cupti_dropped;
    return ANSWER(cuptiRangeProfilerDecodeData, at_cupti_decode, dropped);
}
