/* SPDX-License-Identifier: BSD-3-Clause */
/* A small host for one node: the tasks of a resource manager around PMIx_server_init, for the
 * programs of this folder. The host uses only the public API and compiles with the headers of
 * release 4.2.2, too. */
#ifndef TEST_HOST_H
#define TEST_HOST_H

#include <pmix.h>
#include <pmix_server.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define HOST_MAX_RANKS 1001

/* Time and place of the host's replies to upcalls. HOST_NOTIFY_AT_ONCE in the environment makes
 * the host always reply to events at once, since release 4.2.2 otherwise corrupts its memory. */
enum host_answers {
    HOST_LATER,  /* from a thread of the host */
    HOST_INSIDE, /* by a callback before the upcall returns */
    HOST_AT_ONCE /* by PMIX_OPERATION_SUCCEEDED as return value, for replies without data */
};

enum host_upcall {
    UP_CONNECTED,
    UP_FINALIZED,
    UP_ABORT,
    UP_PUBLISH,
    UP_LOOKUP,
    UP_UNPUBLISH,
    UP_NOTIFY,
    UP_COUNT
};

struct host_job {
    char nspace[PMIX_MAX_NSLEN + 1];
    int size;
    pid_t pids[HOST_MAX_RANKS]; /* 0: not started, or reaped */
    int status[HOST_MAX_RANKS]; /* exit status, 128 + signal; -1: none yet */
};

#define HOST_CHECK(c)                                                             \
    do {                                                                          \
        if (!(c)) {                                                               \
            fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #c); \
            fflush(NULL);                                                         \
            host_kill_job(NULL);                                                  \
            _Exit(98);                                                            \
        }                                                                         \
    } while (0)

#define HOST_EXPECT(call, wanted)                                                      \
    do {                                                                               \
        pmix_status_t rc_ = (call);                                                    \
        if (rc_ != (wanted)) {                                                         \
            fprintf(stderr, "%s:%d: %s: %s, expected %s\n", __FILE__, __LINE__, #call, \
                    PMIx_Error_string(rc_), PMIx_Error_string(wanted));                \
            fflush(NULL);                                                              \
            host_kill_job(NULL);                                                       \
            _Exit(98);                                                                 \
        }                                                                              \
    } while (0)

#define HOST_GOOD(call) HOST_EXPECT(call, PMIX_SUCCESS)

/* Module with all implemented upcalls; tests copy it to change functions. */
extern const pmix_server_module_t host_module;

/* Starts the thread that replies. */
void host_answers(enum host_answers how);
/* Waits until the thread has sent all replies, then ends the thread. */
void host_stop_answering(void);
/* Runs fn(arg) in the replying thread for HOST_LATER, otherwise at once. */
void host_reply(void (*fn)(void *arg), void *arg);
int host_count(enum host_upcall which);
void host_reset_counts(void);
/* Returns the status of the last abort upcall, or -1. */
int host_abort_status(void);

/* Allocates zeroed memory; ends the program on failure. */
void *host_alloc(size_t size);
double host_now_s(void);

/* Calls PMIx_server_init with TMPDIR as the folder of all files. */
pmix_status_t host_init(pmix_server_module_t *module);

/* Blocking forms of calls with a callback; the functions return the callback's status. */
pmix_status_t host_register_client(const char *nspace, pmix_rank_t rank, void *object);
void host_deregister_nspace(const char *nspace);
void host_deregister_client(const char *nspace, pmix_rank_t rank);
/* Returns the launch information of a job as bytes for its nodes, malloc'd. */
pmix_byte_object_t host_setup_application(const char *nspace, pmix_info_t *info,
                                          size_t n);
pmix_status_t host_setup_local_support(const char *nspace, pmix_info_t *info, size_t n);
pmix_status_t host_register_resources(pmix_info_t *info, size_t n);

/* Return infos as bytes, malloc'd, and bytes as infos. host_unpack_infos frees the bytes. */
pmix_byte_object_t host_pack_infos(pmix_info_t *info, size_t n);
pmix_info_t *host_unpack_infos(pmix_byte_object_t bytes, size_t *n);
/* Return an application as bytes, malloc'd, and bytes as an application. host_unpack_app frees the
 * bytes. */
pmix_byte_object_t host_pack_app(const pmix_app_t *app);
pmix_app_t *host_unpack_app(pmix_byte_object_t bytes);

/* Sets the user of clients registered later, and of ranks started later. Only a host of root can set
 * another user. */
void host_owner(uid_t uid, gid_t gid);

/* Nodes and ranks of a job, as texts for PMIx_generate_regex and _ppn. local lists the n_local ranks of
 * this node. parent is the process that spawned the job, or NULL. */
struct host_map {
    const char *nodes, *ranks, *local;
    int n_nodes, n_local, node;
    const pmix_proc_t *parent;
};
/* Registers the namespace of a job of n ranks, without its clients. */
void host_register_map(struct host_job *job, const char *nspace, int n,
                       const struct host_map *map);
/* Registers a job of n ranks on this node, with its clients. */
void host_register_job(struct host_job *job, const char *nspace, int n);
/* Registers a job as host_register_job does, with an object of the host for each client. */
void host_register_job_of(struct host_job *job, const char *nspace, int n,
                          void *object);
/* Starts a registered rank: setup_fork, fork, exec. */
void host_start_rank(struct host_job *job, int rank, char *const argv[]);
void host_start_all(struct host_job *job, char *const argv[]);
/* Starts a rank with only this environment. */
void host_start_with(struct host_job *job, int rank, char *const argv[], char **env);
/* Waits for all started ranks; kills them and ends the program after the deadline. Returns the
 * highest status. */
int host_wait(struct host_job *job, int seconds);
/* Registers, runs and deregisters a job; returns the highest exit status. */
int host_run(const char *nspace, int n, char *const argv[]);
/* Kills the running processes of a job, or of all jobs if nspace is NULL. */
void host_kill_job(const char *nspace);

#endif
