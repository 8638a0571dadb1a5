/* SPDX-License-Identifier: BSD-3-Clause */
/* A model without a process around it: over the hash datastore, with the calls that real
 * hosts have been recorded to make. */
#ifndef PX_MODEL_TEST_H
#define PX_MODEL_TEST_H

#include "core/model/jobinfo.h"
#include "px_test.h"

/* The datastore's components that were selected: hash, unless a test puts others there. */
extern struct px_module model_modules[2];
extern size_t n_model_modules;

#define JOB "1331232770" /* the namespace most tests are about */
#define ALL PMIX_RANK_WILDCARD

/* Of the test at hand. Gets ask this model of this namespace, with these qualifiers. */
extern struct px_model *model;
extern struct px_nspace *ns;
extern px_infos quals;
void model_teardown(void);

/* A process of node `host`: its model, and namespace `name` with rank `rank` as itself
 * (PMIX_RANK_UNDEF: a server, which is nobody there). */
struct px_model *model_make(const char *host, const char *name, pmix_rank_t rank);
struct px_nspace *nspace_of(struct px_model *m, const char *name);
/* The model becomes that of a server on this node, of rank `rank` of JOB. */
void serve(const char *host);
void be(const char *host, pmix_rank_t rank);

/* Builders of info lists; all assert success. */
void add_str(px_infos *l, const char *key, const char *s);
void add_num(px_infos *l, const char *key, uint32_t n, pmix_data_type_t type);
void add_flag(px_infos *l, const char *key, bool flag);
void add_array(px_infos *l, const char *key, px_infos *members); /* takes members */
void add_maps(px_infos *l, const char *nodes, const char *ranks);
/* pmix.pdata of one rank with its app number, to which members may be added. */
void add_proc(px_infos *l, pmix_rank_t rank, px_infos *members);

/* PMIx_server_register_nspace as recorded: mpirun's for its spawned job of two ranks, and
 * Slurm's for four ranks on n0 and n1, on the given one of these nodes; and one of two
 * nodes, two applications and a session, all in arrays. */
void mpirun_job(px_infos *l);
void slurm_job(px_infos *l, uint32_t node);
void realms_job(px_infos *l);
/* That every recorded Get of such a job gives the recorded answer. */
void assert_mpirun_gets(void);
void assert_slurm_gets(uint32_t node);
/* Registers l, which must succeed, and empties it. */
void learn(px_infos *l);

/* What a Get returns. */
pmix_status_t get(pmix_rank_t rank, const char *key, pmix_value_t *out);
void assert_num(pmix_rank_t rank, const char *key, pmix_data_type_t type, uint32_t n);
void assert_str(pmix_rank_t rank, const char *key, const char *s);
void assert_flag(pmix_rank_t rank, const char *key, bool flag);
void assert_none(pmix_rank_t rank, const char *key);

/* The answer to a client and its way back in. */
struct px_codec codec(const char *dialect, bool described);
px_buf pack_answer(struct px_codec c, enum px_job_form form);
pmix_status_t read_answer(struct px_codec c, const px_buf *bytes);
/* Rank `rank` of JOB on `host`, told by a server that was told l. */
void be_client_of(px_infos *l, const char *server_host, const char *host,
                  pmix_rank_t rank, struct px_codec c, enum px_job_form form);

/* Pairs as some server might write them, and a client that reads them; takes w. */
void put_str(px_writer *w, const char *key, const char *s);
void put_num(px_writer *w, const char *key, pmix_data_type_t type, uint32_t n);
void put_array(px_writer *w, const char *key, px_infos *members); /* takes members */
void put_blob(px_writer *w, const char *key, px_writer *body);    /* takes body */
void be_client_of_bytes(px_writer *w, const char *host, pmix_rank_t rank);

#endif
