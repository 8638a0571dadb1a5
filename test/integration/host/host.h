/* SPDX-License-Identifier: BSD-3-Clause */
/* A small host for one node: everything a resource manager does around
 * PMIx_server_init, for the programs of this folder. It knows the public API only,
 * and compiles with the headers of release 4.2.2 too. */
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

#define HOST_MAX_RANKS 64

/* When and where the host answers an upcall. HOST_NOTIFY_AT_ONCE in the environment:
 * events at once whatever is said here, because release 4.2.2 corrupts its memory
 * otherwise. */
enum host_answers {
    HOST_LATER,  /* from a thread of its own */
    HOST_INSIDE, /* by calling back before the upcall returns */
    HOST_AT_ONCE /* by returning PMIX_OPERATION_SUCCEEDED, if that is all there is */
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

#define HOST_CHECK(c)                                                       \
    do {                                                                    \
        if (!(c)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #c); \
            fflush(NULL);                                                   \
            host_kill_job(NULL);                                            \
            _Exit(98);                                                      \
        }                                                                   \
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

/* Every upcall that is implemented; copy it to leave some out. */
extern const pmix_server_module_t host_module;

/* Starts the thread that answers. */
void host_answers(enum host_answers how);
/* Waits until every answer that is due has been given, then ends the thread. */
void host_stop_answering(void);
/* Runs fn(arg) in the answering thread, or at once, as told above. */
void host_reply(void (*fn)(void *arg), void *arg);
int host_count(enum host_upcall which);
void host_reset_counts(void);
/* What the abort upcall was given last; -1: nothing. */
int host_abort_status(void);

/* calloc that does not fail. */
void *host_alloc(size_t size);
double host_now_s(void);

/* PMIx_server_init with TMPDIR as the place for all files. */
pmix_status_t host_init(pmix_server_module_t *module);

/* Synchronous forms of calls that take a callback: the status the callback got. */
pmix_status_t host_register_client(const char *nspace, pmix_rank_t rank, void *object);
void host_deregister_nspace(const char *nspace);
void host_deregister_client(const char *nspace, pmix_rank_t rank);
/* What goes along with the launch of a job, as bytes for its nodes; malloc'd. */
pmix_byte_object_t host_setup_application(const char *nspace, pmix_info_t *info,
                                          size_t n);
pmix_status_t host_setup_local_support(const char *nspace, pmix_info_t *info, size_t n);
pmix_status_t host_register_resources(pmix_info_t *info, size_t n);

/* Infos as bytes, malloc'd, and back; these are taken. */
pmix_byte_object_t host_pack_infos(pmix_info_t *info, size_t n);
pmix_info_t *host_unpack_infos(pmix_byte_object_t bytes, size_t *n);

/* Clients that are registered from now on are this user's, and ranks that are started become
 * him, which only a host of root's can do for others. */
void host_owner(uid_t uid, gid_t gid);

/* Where the ranks of a job are, in the words of PMIx_generate_regex and _ppn; those of this node are
 * "local", n_local of them. */
struct host_map {
    const char *nodes, *ranks, *local;
    int n_nodes, n_local, node;
};
/* The namespace of a job of n ranks, without its clients. */
void host_register_map(struct host_job *job, const char *nspace, int n,
                       const struct host_map *map);
/* A job of n ranks, all on this node: registered as hosts do. */
void host_register_job(struct host_job *job, const char *nspace, int n);
/* The same, with an object of the host's for each client. */
void host_register_job_of(struct host_job *job, const char *nspace, int n,
                          void *object);
/* Starts a registered rank: setup_fork, fork, exec. */
void host_start_rank(struct host_job *job, int rank, char *const argv[]);
void host_start_all(struct host_job *job, char *const argv[]);
/* Starts a rank with this environment alone. */
void host_start_with(struct host_job *job, int rank, char *const argv[], char **env);
/* Waits for all that were started; past the deadline they are killed. Returns the
 * highest status. */
int host_wait(struct host_job *job, int seconds);
/* Registers, runs and deregisters a job; returns the highest exit status. */
int host_run(const char *nspace, int n, char *const argv[]);
/* All processes of that job that still run; NULL: of all jobs. */
void host_kill_job(const char *nspace);

#endif
