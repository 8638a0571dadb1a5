/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of every API call: waited for or left behind, on time or too late. */
#include "core/link/api.h"

#include "core/role/role.h"
#include "px_test.h"

#include <semaphore.h>

struct echo {
    struct px_api api;
    pmix_status_t status;
    int *n_finished;
};

static sem_t finished;

static void on_echo(struct px_api *api)
{
    px_api_done(api, PX_CONTAINER_OF(api, struct echo, api)->status);
}

static void on_finish(struct px_api *api)
{
    struct echo *e = PX_CONTAINER_OF(api, struct echo, api);

    e->n_finished[0]++;
    e->n_finished[1] = api->status;
    sem_post(&finished);
}

static void begin(void)
{
    struct px_err err = {0};

    sem_init(&finished, 0, 0);
    px_process_lock();
    ok(px_role_begin(PX_ROLE_CLIENT, NULL, 0, &err));
    px_process_unlock();
    px_process.init_count = 1;
}

static void end(void)
{
    px_process_lock();
    px_process.init_count = 0;
    px_role_end(PX_ROLE_CLIENT);
    px_process_unlock();
}

static pmix_status_t wait_for(pmix_status_t status)
{
    struct echo e = {.api = {.start = on_echo}, .status = status};

    return px_api_wait(&e.api);
}

static pmix_status_t post(pmix_status_t status, int *n_finished)
{
    struct echo e = {.api = {.start = on_echo, .finish = on_finish},
                     .status = status,
                     .n_finished = n_finished};

    return px_api_post(&e.api, sizeof(e));
}

START_TEST(a_call_returns_the_status_it_ended_with)
{
    int got[2] = {0};

    begin();
    ck_assert_int_eq(wait_for(PMIX_ERR_TIMEOUT), PMIX_ERR_TIMEOUT);
    ok(post(PMIX_ERR_NOT_FOUND, got));
    sem_wait(&finished);
    ck_assert_int_eq(got[0], 1);
    ck_assert_int_eq(got[1], PMIX_ERR_NOT_FOUND);
    end();
}
END_TEST

START_TEST(outside_of_init_and_finalize_there_are_no_calls)
{
    int got[2] = {0};

    ck_assert_int_eq(wait_for(PMIX_SUCCESS), PMIX_ERR_INIT);
    ck_assert_int_eq(post(PMIX_SUCCESS, got), PMIX_ERR_INIT);
    begin();
    end();
    ck_assert_int_eq(wait_for(PMIX_SUCCESS), PMIX_ERR_INIT);
    ck_assert_int_eq(post(PMIX_SUCCESS, got), PMIX_ERR_INIT);
    ck_assert_int_eq(got[0], 0);
}
END_TEST

static void take_channel_away(struct px_call *call, void *args)
{
    *(struct px_channel **)args = px_process.channel;
    px_process.channel = NULL;
    px_call_done(call, PMIX_SUCCESS);
}

/* As a call finds it that another thread makes while the last role ends. */
START_TEST(a_call_that_comes_too_late_says_that_there_is_no_library)
{
    struct px_channel *channel = NULL;
    int got[2] = {0};

    begin();
    ok(px_call(px_process.loop, take_channel_away, &channel));
    ck_assert_int_eq(wait_for(PMIX_SUCCESS), PMIX_ERR_INIT);
    ok(post(PMIX_SUCCESS, got));
    sem_wait(&finished);
    ck_assert_int_eq(got[1], PMIX_ERR_INIT);
    px_process.channel = channel;
    end();
}
END_TEST

static void ask_nobody(struct px_api *api)
{
    px_writer w;

    px_channel_begin(px_process.channel, &w, PX_OP_COMMIT);
    px_api_request(api, &w, px_api_status_reply);
}

START_TEST(a_request_without_a_server_is_unreachable)
{
    struct px_api op = {.start = ask_nobody};

    begin();
    px_process.channel->codec = px_codec_default;
    ck_assert_int_eq(px_api_wait(&op), PMIX_ERR_UNREACH);
    end();
}
END_TEST

PX_TEST_MAIN("link/api", a_call_returns_the_status_it_ended_with,
             outside_of_init_and_finalize_there_are_no_calls,
             a_call_that_comes_too_late_says_that_there_is_no_library,
             a_request_without_a_server_is_unreachable)
