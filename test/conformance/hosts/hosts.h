/* SPDX-License-Identifier: BSD-3-Clause */
/* Emulated hosts. Each program makes the calls of one resource manager's daemon, with the same functions,
 * attributes and checks of results. Each program serves a job of four ranks on two nodes, with a server
 * process for each node, and runs on this library and on OpenPMIx. */
#ifndef TEST_HOSTS_H
#define TEST_HOSTS_H

#include "../../integration/host/host.h"

#define HOSTS_N_NODES  2
#define HOSTS_N_RANKS  4 /* 0 and 1 on node 0, 2 and 3 on node 1 */
#define HOSTS_PER_NODE 2
#define HOSTS_NODES    "nodeA,nodeB"
#define HOSTS_RANKS    "0,1;2,3"

/* A value that a client asks for, and its text on each node: a number, a string, true or false.
 * The program's file explains each value that a release of OpenPMIx does not find. */
struct hosts_get {
    pmix_rank_t rank;
    const char *key;
    const char *realm;   /* qualifier that is true; NULL: none */
    const char *text[2]; /* [1] NULL: the same on each node */
    /* Major releases of OpenPMIx that have no such value, of a rank only on the other
     * node: a digit each; NULL: none */
    const char *missing;
};

struct hosts_program {
    pmix_nspace_t nspace;
    void (*serve)(void); /* all of a node, until every rank has ended */
    const struct hosts_get *gets;
    size_t n_gets;
    bool is_local;       /* a fence brings values of the same node only */
    bool refuses_subset; /* a fence of some ranks is PMIX_ERR_NOT_SUPPORTED */
};
extern const struct hosts_program program;

/* This server's node: number, name, and ranks as text. */
extern int hosts_node;
const char *hosts_node_name(int node);
const char *hosts_node_ranks(int node);
static inline int hosts_first_rank(void)
{
    return hosts_node * HOSTS_PER_NODE;
}

/* True on OpenPMIx of one of these major releases: for a difference that is explained. */
bool hosts_is_other(const char *releases);

/* Makes a folder below the temporary one, and returns its path, malloc'd. */
char *hosts_folder(const char *name);
/* Starts a rank. environment is setup_fork's: added to this process's, and freed. */
void hosts_start(int rank, char **environment);
/* Waits for all ranks of this node, each of which must succeed. */
void hosts_wait(void);
/* Returns the data of all nodes in the order of the nodes, malloc'd. Blocks. */
char *hosts_exchange(const void *data, size_t n, size_t *n_all);

/* Answers a fence from a thread, after an exchange unless status is an error. Takes data. */
pmix_status_t hosts_fence(pmix_status_t status, char *data, size_t n,
                          pmix_modex_cbfunc_t cb, void *cbdata);
/* Calls back from a thread of its own, if there is a callback. */
void hosts_later(pmix_op_cbfunc_t cb, void *cbdata);

/* A call's callback, and the wait for its status. */
struct hosts_reply {
    pmix_status_t status;
    int done;
};
void hosts_on_reply(pmix_status_t status, void *reply);
pmix_status_t hosts_await(struct hosts_reply *reply);

/* Infos: a list as by PMIx_Info_list_start, to which an array of members is added. */
void hosts_add(void *list, const char *key, const void *value, pmix_data_type_t type);
void hosts_add_u32(void *list, const char *key, uint32_t n);
void hosts_add_u16(void *list, const char *key, uint16_t n);
void hosts_add_rank(void *list, const char *key, pmix_rank_t rank);
void hosts_add_text(void *list, const char *key, const char *text);
void hosts_add_flag(void *list, const char *key, bool flag);
void hosts_add_array(void *list, const char *key, void *members); /* takes members */
/* The maps of the job by PMIx_generate_regex and _ppn, each a string. */
void hosts_add_maps(void *list);
/* Converts a list to an array, and takes the list. */
pmix_data_array_t hosts_infos(void *list);

#endif
