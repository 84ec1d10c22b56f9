/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams, as whoever started the program has left them: closed, or pipes without a
 * reader. */
#ifndef AT_SYSTEM_STREAMS_H
#define AT_SYSTEM_STREAMS_H

#include <stdbool.h>

/* Opens what is closed of descriptors 0 to 2, so that no file, socket or database gets these
 * numbers. Reading and writing fail as they would on a closed one. Ignores SIGPIPE: a write to a
 * reader that is gone fails, and does not end the process. False with errno: it cannot be done. */
bool at_streams_prepare(void);

/* Is fd a pipe or a socket, at whose other end there is nobody any more? */
bool at_streams_reader_is_gone(int fd);

#endif
