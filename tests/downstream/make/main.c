/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up a kernel for an untuned matrix. Without a current CUDA context, creating a plan must be
 * an error, not a crash. */
#include <autotune.h>

#include <stdio.h>

static int fail(autotune_error *error)
{
    fprintf(stderr, "%s\n", autotune_error_message(error));
    autotune_error_free(error);
    return 1;
}

int main(void)
{
    const autotune_problem problem = {.elem_size = 4, .rows = 6000, .cols = 6000};
    autotune_profile *profile;
    autotune_device *device;
    autotune_answer *answer;
    autotune_plan *plan;
    autotune_info info = autotune_info_init();
    autotune_error *error = NULL;

    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK)
        return fail(error);
    if (autotune_device_described(&device, "h200", &error) != AUTOTUNE_OK ||
        autotune_lookup(&answer, profile, device, &problem, NULL, &error) != AUTOTUNE_OK ||
        autotune_answer_info(answer, &info, &error) != AUTOTUNE_OK)
        return fail(error);
    if (autotune_plan_create(&plan, profile, &problem, NULL) != AUTOTUNE_NO_DEVICE)
        return 2;
    printf("%s on %s, after %s\n", info.family, autotune_device_name(device), info.tuned_problem);
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_profile_free(profile);
    return 0;
}
