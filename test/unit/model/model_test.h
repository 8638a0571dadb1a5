/* SPDX-License-Identifier: BSD-3-Clause */
/* A model without a process around it, over the hash datastore, fed with recorded calls
 * of real hosts. */
#ifndef PX_MODEL_TEST_H
#define PX_MODEL_TEST_H

#include "../wire/wire_test.h"
#include "core/model/jobinfo.h"
#include "px_test.h"

/* The selected components of the datastore: hash, unless a test sets others. */
extern struct px_module model_modules[2];
extern size_t n_model_modules;

#define JOB "1331232770" /* the namespace of most tests */
#define ALL PMIX_RANK_WILDCARD

/* The model and namespace under test, the infos of its next registration, and the
 * qualifiers of its Gets. */
extern struct px_model *model;
extern struct px_nspace *ns;
extern px_infos given, quals;
void model_teardown(void);

/* Makes the model of a process on node `host`: rank `rank` of namespace `name`.
 * PMIX_RANK_UNDEF: a server. */
struct px_model *model_make(const char *host, const char *name, pmix_rank_t rank);
struct px_nspace *nspace_of(struct px_model *m, const char *name);
/* Make the model that of a server on this node, or of rank `rank` of JOB. */
void serve(const char *host);
void be(const char *host, pmix_rank_t rank);

/* Build lists of infos; each asserts success. */
void add_str(px_infos *l, const char *key, const char *s);
void add_num(px_infos *l, const char *key, uint32_t n, pmix_data_type_t type);
void add_flag(px_infos *l, const char *key, bool flag);
void add_array(px_infos *l, const char *key, px_infos *members); /* takes the members */
void add_maps(px_infos *l, const char *nodes, const char *ranks);
/* Adds pmix.pdata of a rank with its app number; members may be added. */
void add_proc(px_infos *l, pmix_rank_t rank, px_infos *members);

/* Recorded calls of PMIx_server_register_nspace. mpirun_job: a spawned job of two
 * ranks. slurm_job: four ranks on n0 and n1, as registered on one of these nodes.
 * realms_job: two nodes, two applications and a session, all in arrays. */
void mpirun_job(px_infos *l);
void slurm_job(px_infos *l, uint32_t node);
void realms_job(px_infos *l);
/* Assert that every recorded Get returns the recorded value. */
void assert_mpirun_gets(void);
void assert_slurm_gets(uint32_t node);
/* Registers l, which must succeed, and empties l. */
void learn(px_infos *l);

/* Returns the result of a Get. */
pmix_status_t get(pmix_rank_t rank, const char *key, pmix_value_t *out);
void assert_num(pmix_rank_t rank, const char *key, pmix_data_type_t type, uint32_t n);
void assert_str(pmix_rank_t rank, const char *key, const char *s);
void assert_flag(pmix_rank_t rank, const char *key, bool flag);
void assert_none(pmix_rank_t rank, const char *key);

/* Pack the reply to a client and read it. */
px_buf pack_answer(struct px_codec c, enum px_job_form form);
pmix_status_t read_answer(struct px_codec c, const px_buf *bytes);
/* Makes the model of rank `rank` of JOB on `host`, from the reply of a server with the
 * job information l. */
void be_client_of(px_infos *l, const char *server_host, const char *host,
                  pmix_rank_t rank, struct px_codec c, enum px_job_form form);

/* Pack pairs in the forms of other servers; be_client_of_bytes takes w and reads them
 * as a client. */
void put_str(px_writer *w, const char *key, const char *s);
void put_num(px_writer *w, const char *key, pmix_data_type_t type, uint32_t n);
void put_array(px_writer *w, const char *key,
               px_infos *members);                             /* takes the members */
void put_blob(px_writer *w, const char *key, px_writer *body); /* takes body */
void be_client_of_bytes(px_writer *w, const char *host, pmix_rank_t rank);

#endif
