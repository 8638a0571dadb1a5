/* SPDX-License-Identifier: BSD-3-Clause */
/* Events become a queue. An event handler must not block, so nothing is printed
 * there. */
#include "pmixrun.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct news *first, **last = &first;
static int wake_fd = -1;

static void copy_text(char *to, size_t size, const pmix_value_t *v)
{
    if (v->type != PMIX_STRING || !v->data.string)
        return;
    snprintf(to, size, "%s", v->data.string);
    for (; *to; to++) /* it may come from a process, and shall be one line */
        if ((unsigned char)*to < ' ' || *to == 0x7f)
            *to = ' ';
}

static void read_info(struct news *n, const pmix_info_t *i)
{
    const pmix_value_t *v = &i->value;

    if (PMIx_Check_key(i->key, PMIX_NSPACE))
        copy_text(n->job, sizeof(n->job), v);
    else if (PMIx_Check_key(i->key, PMIX_HOSTNAME))
        copy_text(n->host, sizeof(n->host), v);
    else if (PMIx_Check_key(i->key, PMIX_EVENT_TEXT_MESSAGE))
        copy_text(n->text, sizeof(n->text), v);
    else if (PMIx_Check_key(i->key, PMIX_EXIT_CODE) && v->type == PMIX_INT)
        n->exit_code = v->data.integer;
    else if (PMIx_Check_key(i->key, PMIX_PROC_PID) && v->type == PMIX_PID)
        n->pid = v->data.pid;
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n_info, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    const uint64_t one = 1;
    struct news *n = calloc(1, sizeof(*n));

    (void)id;
    (void)results;
    (void)n_results;
    if (n) {
        n->is_end = code == PMIX_EVENT_JOB_END;
        n->rank = source->rank;
        PMIx_Load_nspace(n->job, source->nspace);
        for (size_t i = 0; i < n_info; i++)
            read_info(n, &info[i]);
        pthread_mutex_lock(&lock);
        *last = n;
        last = &n->next;
        pthread_mutex_unlock(&lock);
    }
    /* Only a full counter makes this fail, which wakes, too. */
    while (write(wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
        ;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

pmix_status_t news_subscribe(void)
{
    pmix_status_t codes[] = {PMIX_EVENT_JOB_END, PMIX_ERR_PROC_ABORTED_BY_SIG,
                             PMIX_ERR_EXIT_NONZERO_TERM, PMIX_ERR_PROC_TERM_WO_SYNC,
                             PMIX_ERR_PROC_REQUESTED_ABORT};
    pmix_status_t rc;

    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0)
        return PMIX_ERR_OUT_OF_RESOURCE;
    rc = PMIx_Register_event_handler(codes, sizeof(codes) / sizeof(codes[0]), NULL, 0,
                                     on_event, NULL, NULL);
    return rc < 0 ? rc : PMIX_SUCCESS;
}

int news_fd(void)
{
    return wake_fd;
}

struct news *news_next(void)
{
    uint64_t n;
    struct news *news;

    pthread_mutex_lock(&lock);
    news = first;
    if (news)
        first = news->next;
    if (!first)
        last = &first;
    pthread_mutex_unlock(&lock);
    if (!news && read(wake_fd, &n, sizeof(n)) > 0) /* one may have come in between */
        return news_next();
    return news;
}
