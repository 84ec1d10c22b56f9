/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_CMD_SHOW_TOP_H
#define AT_CMD_SHOW_TOP_H

#include "cmd/format.h"
#include "system/progress.h"

/* Print the `most` fastest correct configs of each problem in a journal, by the search's times in
 * the problem's newest run. path is the journal's, or that of the profile it is beside. */
enum at_status at_show_top(const char *path, size_t most, enum at_output_format format,
                           struct at_progress *progress, struct at_error *err);

#endif
