/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix of bytes into one of floats, and computes on the way: scales, normalises each
 * channel, and adds a second matrix. With the CUDA Driver API. To build it:
 *   cc step.c $(pkg-config --cflags --libs autotune) -I$CUDA_HOME/include -lcuda -o step */
#include <autotune.h>

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLS = 3000, COUNT = ROWS * COLS };

/* Arrays, of the host or of the device. Each column of the source is a channel. */
struct arrays {
    unsigned char *source;
    float *result, *second, *channel_scale, *channel_shift;
};

/* ---- the steps ---- */

/* Numbers are given by their value, or by the device's address of one: alpha.at. */
static void set_scale(autotune_execution *execution, const struct arrays *device)
{
    (void)device;
    execution->scale.value[0] = 1.0 / 255;
}

static float scaled(const struct arrays *host, int r, int c)
{
    return (float)host->source[r * COLS + c] * (float)(1.0 / 255);
}

static void set_channels(autotune_execution *execution, const struct arrays *device)
{
    execution->channel_scale = device->channel_scale;
    execution->channel_shift = device->channel_shift;
}

static float normalised(const struct arrays *host, int r, int c)
{
    float product = (float)host->source[r * COLS + c] * host->channel_scale[c];

    return product + host->channel_shift[c];
}

static void set_second(autotune_execution *execution, const struct arrays *device)
{
    execution->alpha.value[0] = 0.5;
    execution->beta.value[0] = -2;
    execution->src2 = device->second;
}

static float added(const struct arrays *host, int r, int c)
{
    return 0.5f * (float)host->source[r * COLS + c] - 2 * host->second[c * ROWS + r];
}

static const struct step {
    const char *text;
    void (*set)(autotune_execution *execution, const struct arrays *device);
    float (*result)(const struct arrays *host, int r, int c);
} steps[] = {
    {"u8:f32,scale", set_scale, scaled},
    {"u8:f32,affine=cols", set_channels, normalised},
    {"u8:f32,alpha,beta", set_second, added},
};

/* ---- running them ---- */

static int fail(autotune_error *error)
{
    int status = autotune_error_status(error);

    fprintf(stderr, "%s\n", autotune_error_message(error));
    autotune_error_free(error);
    return status;
}

static int fail_cuda(CUresult result, const char *doing)
{
    const char *name = NULL;

    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", doing, name ? name : "unknown error");
    return AUTOTUNE_NO_DEVICE;
}

static int execute(const struct step *step, const autotune_plan *plan, const struct arrays *device)
{
    autotune_execution execution = autotune_execution_init();
    autotune_error *error = NULL;

    execution.dst = device->result;
    execution.src = device->source;
    step->set(&execution, device);
    return autotune_plan_execute_with(plan, &execution, &error) == AUTOTUNE_OK ? 0 : fail(error);
}

/* Run a step, and print how many of its results are wrong. */
static int run(const struct step *step, const autotune_profile *profile,
               const struct arrays *device, const struct arrays *host)
{
    const autotune_problem problem = {
        .elem_size = 1,
        .rows = ROWS,
        .cols = COLS,
        .struct_size = sizeof problem, /* step is newer than the first members */
        .step = step->text,
    };
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUresult cuda;
    int status, wrong = 0;

    if (autotune_plan_create(&plan, profile, &problem, &error) != AUTOTUNE_OK)
        return fail(error);
    status = execute(step, plan, device);
    autotune_plan_free(plan);
    if (status != 0)
        return status;
    cuda = cuMemcpyDtoH(host->result, (CUdeviceptr)device->result, COUNT * sizeof(float));
    if (cuda != CUDA_SUCCESS)
        return fail_cuda(cuda, "transposing");
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLS; c++)
            wrong += host->result[c * ROWS + r] != step->result(host, r, c);
    printf("%s: %d of %d elements are wrong\n", step->text, wrong, COUNT);
    return wrong > 0;
}

/* Allocate an array on the device, and copy one of the host there. NULL: that fails. */
static void *copied(const void *host, size_t bytes)
{
    CUdeviceptr device;

    if (cuMemAlloc(&device, bytes) != CUDA_SUCCESS ||
        cuMemcpyHtoD(device, host, bytes) != CUDA_SUCCESS)
        return NULL;
    return (void *)device;
}

/* A CUDA context must be current. Its end frees the device's arrays. */
static int run_all(const struct arrays *host)
{
    const struct arrays device = {
        copied(host->source, COUNT),
        copied(host->result, COUNT * sizeof(float)),
        copied(host->second, COUNT * sizeof(float)),
        copied(host->channel_scale, COLS * sizeof(float)),
        copied(host->channel_shift, COLS * sizeof(float)),
    };
    autotune_profile *profile;
    autotune_error *error = NULL;
    int status = 0;

    if (!device.source || !device.result || !device.second || !device.channel_scale ||
        !device.channel_shift)
        return fail_cuda(CUDA_ERROR_OUT_OF_MEMORY, "preparing");
    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status <= 1; i++) {
        int ended = run(&steps[i], profile, &device, host);

        status = ended > status ? ended : status;
    }
    autotune_profile_free(profile);
    return status;
}

int main(void)
{
    struct arrays host = {malloc(COUNT), calloc(COUNT, sizeof(float)),
                          malloc(COUNT * sizeof(float)), malloc(COLS * sizeof(float)),
                          malloc(COLS * sizeof(float))};
    CUdevice device;
    CUcontext context;
    CUresult cuda;
    int status;

    for (int i = 0; i < COUNT; i++) {
        host.source[i] = (unsigned char)(i % 251);
        host.second[i] = (float)(i % 17);
    }
    for (int c = 0; c < COLS; c++) {
        host.channel_scale[c] = 1.0f / (float)(c + 1);
        host.channel_shift[c] = (float)c;
    }
    if ((cuda = cuInit(0)) != CUDA_SUCCESS || (cuda = cuDeviceGet(&device, 0)) != CUDA_SUCCESS ||
        (cuda = cuDevicePrimaryCtxRetain(&context, device)) != CUDA_SUCCESS ||
        (cuda = cuCtxSetCurrent(context)) != CUDA_SUCCESS)
        return fail_cuda(cuda, "opening the GPU");
    status = run_all(&host);
    cuDevicePrimaryCtxRelease(device);
    free(host.source);
    free(host.result);
    free(host.second);
    free(host.channel_scale);
    free(host.channel_shift);
    return status;
}
