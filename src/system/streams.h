/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams that may be closed, or pipes without a reader, when the program starts. */
#ifndef AT_SYSTEM_STREAMS_H
#define AT_SYSTEM_STREAMS_H

#include <stdbool.h>

/* Open any closed descriptor from 0 to 2, so that no file, socket or database gets their
 * numbers. Using them still fails, as on a closed descriptor. Also ignore SIGPIPE: writing to a
 * pipe without a reader fails instead of ending the process. Returns false with errno on failure.
 */
bool at_streams_prepare(void);

/* Is fd a pipe or socket whose other end is closed? */
bool at_streams_reader_is_gone(int fd);

/* The columns of a terminal; 0: fd is none, or does not tell. */
int at_streams_width(int fd);

/* How wide text for people may be that is printed on stdout: `most`, or a narrower terminal. */
int at_streams_text_width(int most);

#endif
