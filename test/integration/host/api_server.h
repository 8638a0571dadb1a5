/* SPDX-License-Identifier: BSD-3-Clause */
/* What the scenarios of api_server share. */
#ifndef TEST_API_SERVER_H
#define TEST_API_SERVER_H

#include "scenario.h"

/* api_server_use.c */
extern const struct scenario api_use[];

/* The command line of a client; good until the next call. */
char **client(const char *name, const char *arg);
/* Wait for so many upcalls, or until it is set; but not for ever. */
void wait_for_count(enum host_upcall which, int n);
void wait_for_flag(volatile int *flag);
/* A server whose host has every slot, and its end. */
void open_server(enum host_answers how);
void close_server(void);

#endif
