/* SPDX-License-Identifier: BSD-3-Clause */
/* Two fabric components that a test controls, in a server in the test's own process. */
#ifndef TEST_FABRIC_SCENE_H
#define TEST_FABRIC_SCENE_H

#include "fake_host.h"
#include "px_test.h"
#include "raw.h"
#include "tenon/pnet.h"

extern struct fake {
    const char *name;
    int priority;
    pmix_status_t status; /* result of its operations */
    pmix_status_t (*values)(struct fake *f, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg);
    pmix_status_t (*contribute)(px_pnet_add_fn add, void *arg); /* NULL: adds nothing */
    bool notes_ends;
    const char *plane;           /* plane of its fabric; NULL: no fabric */
    pmix_data_type_t index_type; /* type of the fabric's index 3; UNDEF: no index */
    uint16_t *matrix;            /* allocated while the fabric is registered */
} fakes[2];                      /* "best" and "good" */

extern char calls[4096]; /* log of operations, "name.operation detail\n" each */
/* Checks that exactly these operations were called since the last check. */
void called(const char *wanted);
/* Lets a server call contribute in a child process, as of a vendor's component. */
void fabric_in_children(void);
/* Starts a server with only these components and host_module. */
void fabric_start(void);

#endif
