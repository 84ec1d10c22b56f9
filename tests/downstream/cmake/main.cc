// SPDX-License-Identifier: Apache-2.0
// The table exported at build time and the library at run time must agree.
#include "tuned.h"

#include <autotune.h>

#include <cstdio>
#include <cstring>
#include <memory>

template <class T, void (*release)(T *)> struct releaser {
    void operator()(T *object) const
    {
        release(object);
    }
};
template <class T, void (*release)(T *)> using owned = std::unique_ptr<T, releaser<T, release>>;

int main()
{
    const autotune_tuned *tuned = autotune_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 0);
    autotune_problem problem = {};
    autotune_profile *profile = nullptr;
    autotune_device *device = nullptr;
    autotune_answer *answer = nullptr;
    autotune_launch launch;

    problem.elem_size = 4;
    problem.rows = problem.cols = 8192;
    if (!tuned || autotune_profile_open(&profile, nullptr, nullptr) != AUTOTUNE_OK)
        return 1;
    owned<autotune_profile, autotune_profile_free> profile_owner(profile);
    if (autotune_device_described(&device, "h200", nullptr) != AUTOTUNE_OK)
        return 2;
    owned<autotune_device, autotune_device_free> device_owner(device);
    if (autotune_lookup(&answer, profile, device, &problem, nullptr, nullptr) != AUTOTUNE_OK)
        return 3;
    owned<autotune_answer, autotune_answer_free> answer_owner(answer);
    if (autotune_answer_launches(answer, &launch, 1) != 1 ||
        std::strcmp(autotune_answer_family(answer), tuned->family) != 0 ||
        launch.grid[0] != tuned->grid[0])
        return 4;
    std::printf("%d problems of %s\n", AUTOTUNE_TUNED_COUNT, AUTOTUNE_TUNED_DEVICE);
    return 0;
}
