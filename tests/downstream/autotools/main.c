/* SPDX-License-Identifier: Apache-2.0 */
#include "tuned.h"

#include <autotune.h>
#include <stdio.h>

int main(void)
{
    printf("autotune %s, blocks of %d threads\n", autotune_version(),
           AUTOTUNE_R6000_C6000_B4_LAUNCH_BLOCK_X);
    return AUTOTUNE_TUNED_COUNT == 1 ? 0 : 1;
}
