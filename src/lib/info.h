/* SPDX-License-Identifier: Apache-2.0 */
/* What answers and plans tell without text: autotune_info. */
#ifndef AT_LIB_INFO_H
#define AT_LIB_INFO_H

#include "lib/objects.h"

/* Tell of an answer, with texts of its own, which autotune_info_clear frees. */
void autotune_tell_own(autotune_info *info, const struct autotune_answer *answer);
void autotune_info_clear(autotune_info *info);

#endif
