/* SPDX-License-Identifier: BSD-3-Clause */
/* A system log of a test's own: /dev/log and the journal's socket in a mount namespace of this process, so
 * that nothing reaches the machine's log. */
#ifndef TEST_LOG_SOCKETS_H
#define TEST_LOG_SOCKETS_H

#include <stddef.h>

/* Moves this process, which has one thread, to a mount namespace with a /dev and a /run of its own.
 * Returns the descriptor that receives what is written to /dev/log and to the journal, a datagram for each
 * text; -1: this machine does not allow that. Works once in a process. */
int log_sockets_open(void);
/* Receives a datagram as a string, within 10 s. Returns its length, or -1. */
long log_sockets_receive(int fd, char *text, size_t size);

#endif
