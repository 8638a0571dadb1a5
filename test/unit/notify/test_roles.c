/* SPDX-License-Identifier: BSD-3-Clause */
/* What the roles of a process share, and when it comes and goes. */
#include "core/notify/roles.h"

#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "px_test.h"

static pmix_status_t begin(enum px_role role)
{
    struct px_err err = {0};

    px_process_lock();
    pmix_status_t rc = px_role_begin(role, NULL, 0, &err);
    px_process_unlock();
    return rc;
}

static void end(enum px_role role)
{
    px_process_lock();
    px_role_end(role);
    px_process_unlock();
}

static void assert_nothing_is_left(void)
{
    ck_assert_ptr_null(px_process.model);
    ck_assert_ptr_null(px_process.notify);
    ck_assert_ptr_null(px_process.loop);
    ck_assert_uint_eq(px_process.users, 0);
}

START_TEST(the_first_role_makes_model_and_handlers_and_the_last_takes_them)
{
    for (int client_first = 0; client_first < 2; client_first++) {
        ck_assert_int_eq(begin(PX_ROLE_CLIENT), PMIX_SUCCESS);
        struct px_model *model = px_process.model;
        struct px_notify *notify = px_process.notify;
        ck_assert_ptr_nonnull(model);
        ck_assert_ptr_nonnull(notify);
        ck_assert_int_eq(begin(PX_ROLE_SERVER), PMIX_SUCCESS);
        ck_assert_ptr_eq(px_process.model, model);

        end(client_first ? PX_ROLE_CLIENT : PX_ROLE_SERVER);
        ck_assert_ptr_eq(px_process.model, model);
        ck_assert_ptr_eq(px_process.notify, notify);
        end(client_first ? PX_ROLE_SERVER : PX_ROLE_CLIENT);
        assert_nothing_is_left();
    }
}
END_TEST

START_TEST(a_role_that_cannot_begin_leaves_nothing)
{
    setenv("PMIX_MCA_ptl", "nosuch", 1);
    ck_assert_int_eq(begin(PX_ROLE_CLIENT), PMIX_ERR_BAD_PARAM);
    assert_nothing_is_left();
}
END_TEST

PX_TEST_MAIN("notify/roles",
             the_first_role_makes_model_and_handlers_and_the_last_takes_them,
             a_role_that_cannot_begin_leaves_nothing)
