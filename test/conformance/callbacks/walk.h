/* SPDX-License-Identifier: BSD-3-Clause */
/* Walk: calls every function of the library in a callback, with the rows of ../badinput. No call may wait,
 * and no accepted call may be lost. */
#ifndef TEST_WALK_H
#define TEST_WALK_H

#include "../badinput/rows.h"

enum walk_role { WALK_CLIENT, WALK_TOOL, WALK_SERVER };

/* Prepares walks of this process. self: the process that the calls name; NULL: a process of another job. */
void walk_begin(enum walk_role role, const pmix_proc_t *self);

/* cbdata of a callback that walks. The callbacks of `on` then walk once, before they return. */
#define WALK ((void *)(uintptr_t)&on)

/* Handlers that walk once. */
void walk_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                pmix_info_t info[], size_t n, pmix_info_t results[], size_t n_results,
                pmix_event_notification_cbfunc_fn_t cb, void *cbdata);
void walk_iof(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
              pmix_byte_object_t *bytes, pmix_info_t info[], size_t n);
/* Walks once, in the calling function. */
void walk_here(void);

/* Makes the next callback walk. name: of the callback, for messages. */
void walk_arm(const char *name);
/* Waits for the walk, and for the answers to its calls. Returns the number of wrong rows, which this
 * function prints. */
unsigned walk_await(void);

#endif
