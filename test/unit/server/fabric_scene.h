/* SPDX-License-Identifier: BSD-3-Clause */
/* Two fabric components that do as a test says, in a server in the test's own process. */
#ifndef TEST_FABRIC_SCENE_H
#define TEST_FABRIC_SCENE_H

#include "fake_host.h"
#include "px_test.h"
#include "raw.h"
#include "tenon/pnet.h"

extern struct fake {
    const char *name;
    int priority;
    pmix_status_t status; /* of its operations */
    pmix_status_t (*values)(struct fake *f, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg);
    bool notes_ends;
    const char *plane;           /* of its fabric; NULL: it has none */
    pmix_data_type_t index_type; /* of its number, which is 3; UNDEF: it gives none */
    uint16_t *matrix;            /* while that is registered */
} fakes[2];                      /* "best" and "good" */

extern char calls[4096]; /* of their operations, "name.operation detail\n" each */
/* That was all since the last time. */
void called(const char *wanted);
void fabric_start(void); /* with them alone, under host_module */

#endif
