/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that request monitors by protocol messages. Time passes by calls of
 * px_monitors_check, and never by waiting. */
#ifndef TEST_MONITOR_SCENE_H
#define TEST_MONITOR_SCENE_H

#include "fake_host.h"
#include "raw.h"

#define ALERT    PMIX_MONITOR_HEARTBEAT_ALERT
#define PERIOD_S 1000u /* longer than any test */

extern pmix_server_module_t module; /* the fake host without a monitor function */
extern uint64_t monitor_ahead_ms;   /* of the clock */
extern int monitor_newest_fd;       /* connection that speaks the newest dialect */

/* Fixtures: a server with three clients over TCP. */
void monitor_setup(void);
void monitor_teardown(void);

/* Sends a request and returns the reply's status. results may be NULL. */
pmix_status_t monitor(int fd, const pmix_info_t *what, pmix_status_t code,
                      const px_infos *how, px_infos *results);
pmix_status_t monitor_as(int fd, const char *key, const void *value,
                         pmix_data_type_t type, const px_infos *how, px_infos *results);
void add_u32(px_infos *how, const char *key, uint32_t value);
/* Asks for a heartbeat in each period; drops of them may be missed. id may be NULL. */
pmix_status_t watch_beats(int fd, const char *id, uint32_t drops);
pmix_status_t cancel(int fd, const char *id);
/* Checks the monitors, and waits for the check. */
void monitor_check(void);
/* Has periods pass, with a check after each. */
void pass(unsigned periods);
/* Registers for an event. */
void want(int fd, pmix_status_t code);
size_t n_monitors(void);

#endif
