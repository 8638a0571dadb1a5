/* SPDX-License-Identifier: BSD-3-Clause */
/* Output in forms and files: the library of pmixrun writes it, as for a job of this
 * node. */
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <pmix_server.h>
#include <pmix_tool.h>

/* Attributes of a job, and those of PMIx_IOF_pull with the same effect. */
static const struct form {
    const char *asked, *pulled;
} forms[] = {
    {PMIX_TAG_OUTPUT, PMIX_IOF_TAG_OUTPUT},
    {PMIX_TIMESTAMP_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT},
    {PMIX_MERGE_STDERR_STDOUT, PMIX_IOF_MERGE_STDERR_STDOUT},
    {PMIX_OUTPUT_TO_DIRECTORY, PMIX_IOF_OUTPUT_TO_DIRECTORY},
    {PMIX_OUTPUT_NOCOPY, PMIX_IOF_FILE_ONLY},
    {PMIX_IOF_TAG_OUTPUT, PMIX_IOF_TAG_OUTPUT},
    {PMIX_IOF_TAG_DETAILED_OUTPUT, PMIX_IOF_TAG_DETAILED_OUTPUT},
    {PMIX_IOF_TAG_FULLNAME_OUTPUT, PMIX_IOF_TAG_FULLNAME_OUTPUT},
    {PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT},
    {PMIX_IOF_RANK_OUTPUT, PMIX_IOF_RANK_OUTPUT},
    {PMIX_IOF_XML_OUTPUT, PMIX_IOF_XML_OUTPUT},
    {TENON_IOF_JSON_OUTPUT, TENON_IOF_JSON_OUTPUT},
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, PMIX_IOF_OUTPUT_TO_DIRECTORY},
    {PMIX_IOF_OUTPUT_TO_FILE, PMIX_IOF_OUTPUT_TO_FILE},
    {PMIX_IOF_FILE_PATTERN, PMIX_IOF_FILE_PATTERN},
    {PMIX_IOF_FILE_ONLY, PMIX_IOF_FILE_ONLY},
    {PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_IOF_MERGE_STDERR_STDOUT},
};

static pmix_proc_t job;  /* the processes, by a name of pmixrun's */
static int done_fd = -1; /* an eventfd: number of completed deliveries */
static uint64_t n_given; /* deliveries under way */

static const char *pulled_key(const pmix_info_t *info)
{
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (PMIx_Check_key(info->key, forms[i].asked))
            return forms[i].pulled;
    return NULL;
}

bool engine_output_is_shaped(const struct options *options)
{
    for (size_t i = 0; i < options->n_asked; i++)
        if (pulled_key(&options->asked[i]))
            return true;
    return false;
}

static pmix_status_t pull(const struct options *o)
{
    pmix_info_t *info = PMIx_Info_create(o->n_asked);
    pmix_status_t rc = info ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    size_t n = 0;

    for (size_t i = 0; !rc && i < o->n_asked; i++) {
        const char *key = pulled_key(&o->asked[i]);

        if (!key)
            continue;
        PMIx_Load_key(info[n].key, key);
        rc = PMIx_Value_xfer(&info[n++].value, &o->asked[i].value);
    }
    if (!rc)
        rc = PMIx_IOF_pull(&job, 1, info, n,
                           PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, NULL,
                           NULL, NULL);
    PMIx_Info_free(info, o->n_asked);
    return rc < 0 ? rc : PMIX_SUCCESS;
}

/* Accepts each request for output: engine_output_give is its source. */
static pmix_status_t accept_pull(const pmix_proc_t procs[], size_t n_procs,
                                 const pmix_info_t info[], size_t n_info,
                                 pmix_iof_channel_t channels, pmix_op_cbfunc_t done,
                                 void *cbdata)
{
    (void)procs;
    (void)n_procs;
    (void)info;
    (void)n_info;
    (void)channels;
    (void)done;
    (void)cbdata;
    return PMIX_OPERATION_SUCCEEDED;
}

bool engine_output_begin(const struct options *o)
{
    static pmix_server_module_t host = {.iof_pull = accept_pull};
    pmix_status_t rc = PMIX_ERR_OUT_OF_RESOURCE;
    pmix_nspace_t name;

    snprintf(name, sizeof(name), "tenon-%ld-1", (long)getpid());
    PMIx_Load_procid(&job, name, PMIX_RANK_WILDCARD);
    if (PMIx_server_init(&host, o->params, o->n_params))
        return false;
    done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (done_fd >= 0)
        rc = PMIx_server_register_nspace(name, 0, NULL, 0, NULL, NULL);
    if (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED)
        rc = pull(o);
    if (rc)
        complain("cannot shape the output: %s", PMIx_Error_string(rc));
    return rc == PMIX_SUCCESS;
}

int engine_output_ready(void)
{
    return done_fd;
}

static void on_delivered(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    if (status < 0)
        complain("cannot write output: %s", PMIx_Error_string(status));
    if (write(done_fd, &(const uint64_t){1}, sizeof(uint64_t)) < 0) /* not expected */
        complain("cannot count output: %s", strerror(errno));
}

void engine_output_give(long rank, bool is_stderr, const char *bytes, size_t n)
{
    const pmix_byte_object_t piece = {(char *)bytes, n};
    pmix_proc_t source = job;
    pmix_status_t rc;

    source.rank = (pmix_rank_t)rank;
    rc = PMIx_server_IOF_deliver(
        &source, is_stderr ? PMIX_FWD_STDERR_CHANNEL : PMIX_FWD_STDOUT_CHANNEL, &piece,
        NULL, 0, on_delivered, NULL);
    n_given += rc == PMIX_SUCCESS;
    if (rc < 0)
        complain("cannot write output: %s", PMIx_Error_string(rc));
}

bool engine_output_is_free(void)
{
    uint64_t n;

    if (n_given > 0 && read(done_fd, &n, sizeof(n)) == (ssize_t)sizeof(n))
        n_given -= n;
    return n_given == 0;
}

void engine_output_end(void)
{
    PMIx_server_finalize();
}
