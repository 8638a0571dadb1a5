/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests of how a tool finds its server: what it is told, and what comes of it. */
#ifndef TEST_SEEKER_H
#define TEST_SEEKER_H

#include "core/types/type.h"
#include "tool_server.h"

/* What the last tool was called, and what the next one is told. */
extern pmix_proc_t seeker;
extern px_infos seeker_infos;

/* What PX_TEST_MAIN wants: a folder and a server in it. */
void seeker_setup(void);
void seeker_teardown(void);

void add(const char *key, const void *data, pmix_data_type_t type);
void add_u32(const char *key, uint32_t n);
void add_yes(const char *key);
/* What the server writes into a file; NULL: no version. */
const char *content(const char *version);
/* A tool that is told just that finds the server, or does not and leaves no trace; then what it was
 * told is forgotten. */
void finds_it(void);
void fails_with(pmix_status_t status);

#endif
