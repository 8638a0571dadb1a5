/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that offers every slot, records what it is called for, and answers as a test says:
 * inside the upcall, from a thread of its own, when the test gets round to it, by the return
 * value, or never. */
#ifndef TEST_FAKE_HOST_H
#define TEST_FAKE_HOST_H

#include "core/types/type.h"
#include "pmix_server.h"

enum host_how {
    HOST_INSIDE, /* the callback is called within the upcall */
    HOST_THREAD, /* from another thread */
    HOST_HELD,   /* by host_answer; until then, or never */
    HOST_DONE,   /* PMIX_OPERATION_SUCCEEDED, no callback */
    HOST_ERROR,  /* host.status is returned, no callback */
    HOST_BOTH,   /* the callback inside, and an error besides, as careless hosts do */
};

struct fake_host {
    enum host_how how, how_connected; /* the latter to a client that connects */
    pmix_status_t status;             /* of every answer */
    /* what answers carry */
    px_infos infos;
    pmix_pdata_t *pdata;
    size_t n_pdata;
    pmix_nspace_t nspace;
    const void *bytes;
    size_t n_bytes;
    void (*within)(void); /* runs inside the upcall, before it answers; may be NULL */

    /* the last call */
    const char *name;
    pmix_proc_t proc;
    void *object;
    pmix_proc_t procs[16];
    size_t n_procs;
    px_infos given;      /* infos or directives */
    px_infos given_data; /* of log */
    char keys[8][64];
    size_t n_keys;
    char *data; /* of a fence: ours to free */
    size_t n_data;
    int code;
    char text[256];
    bool args_lived;   /* proc was the same when the answer was given */
    unsigned released; /* how often release functions were called */
};
extern struct fake_host host;

/* Copy it to leave slots out. */
extern const pmix_server_module_t host_module;
/* Of slots that have an older and a newer form, the one that host_module leaves empty. */
pmix_status_t host_log2(const pmix_proc_t *client, const pmix_info_t data[],
                        size_t n_data, const pmix_info_t directives[], size_t n,
                        pmix_op_cbfunc_t cb, void *cbdata);

/* Waits until the function of that name (as in the module) has been called n times in all. */
void host_await(const char *name, unsigned n);
unsigned host_calls(const char *name);
/* Answers the oldest call held, from this thread; false if there is none. */
bool host_answer(pmix_status_t status);
/* Answers what is still held, waits for the threads, frees what was recorded. */
void host_done(void);
/* raw_teardown, then that: for fixtures. */
void host_end(void);

#endif
