// SPDX-License-Identifier: Apache-2.0
// The table exported at build time and the library at run time must agree.
#include "tuned.h"

#include <autotune.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main()
{
    const autotune_tuned *tuned = autotune_tuned_find(4, 8192, 8192, 8192, 8192, 1, 0, 0, 0);
    const autotune::profile profile;
    const autotune::device device = autotune::device::described("h200");
    const autotune::answer answer =
        autotune::lookup(profile, device, autotune::matrix<float>(8192, 8192));
    const std::vector<autotune_launch> launches = answer.launches();

    if (!tuned || launches.size() != 1 || std::string(answer.info().family) != tuned->family ||
        launches[0].grid[0] != tuned->grid[0])
        return 1;
    std::printf("%d problems of %s\n", AUTOTUNE_TUNED_COUNT, AUTOTUNE_TUNED_DEVICE);
    return 0;
}
