/* SPDX-License-Identifier: BSD-3-Clause */
/* Host that offers every slot, records its calls, and answers as a test selects: inside the upcall,
 * from a thread of its own, later, by the return value, or never. */
#ifndef TEST_FAKE_HOST_H
#define TEST_FAKE_HOST_H

#include "core/types/type.h"
#include "pmix_server.h"

enum host_how {
    HOST_INSIDE, /* callback within the upcall */
    HOST_THREAD, /* callback from another thread */
    HOST_HELD,   /* callback by host_answer, or never */
    HOST_DONE,   /* PMIX_OPERATION_SUCCEEDED, no callback */
    HOST_ERROR,  /* returns host.status, no callback */
    HOST_BOTH, /* callback within the upcall, and also an error, as careless hosts do */
};

struct fake_host {
    enum host_how how, how_connected; /* how_connected: for clients that connect */
    pmix_status_t status;             /* status of every answer */
    /* contents of answers */
    px_infos infos;
    pmix_pdata_t *pdata;
    size_t n_pdata;
    pmix_nspace_t nspace;
    const void *bytes;
    size_t n_bytes;
    void (*within)(void); /* runs inside the upcall, before the answer; may be NULL */

    /* record of the last call */
    const char *name;
    pmix_proc_t proc;
    void *object;
    pmix_proc_t procs[16];
    size_t n_procs;
    px_infos given;      /* infos or directives */
    px_infos given_data; /* data of log or monitor */
    char keys[8][64];
    size_t n_keys;
    char *data; /* data of a fence; host_done frees it */
    size_t n_data;
    int code;
    char text[256];
    bool args_lived;   /* proc was unchanged at the time of the answer */
    unsigned released; /* calls of release functions */
};
extern struct fake_host host;

/* Module with all slots. Tests copy the module to leave slots out. */
extern const pmix_server_module_t host_module;
/* Newer form of log. host_module leaves this slot empty, as the older form is set. */
pmix_status_t host_log2(const pmix_proc_t *client, const pmix_info_t data[],
                        size_t n_data, const pmix_info_t directives[], size_t n,
                        pmix_op_cbfunc_t cb, void *cbdata);

/* Waits until the function with this name (as in the module) has been called n times in all. */
void host_await(const char *name, unsigned n);
unsigned host_calls(const char *name);
/* Answers the oldest held call from this thread. Returns false if no call is held. */
bool host_answer(pmix_status_t status);
/* Answers all held calls, waits for the threads, and frees the records. */
void host_done(void);
/* Calls raw_teardown and host_done. For fixtures. */
void host_end(void);

#endif
