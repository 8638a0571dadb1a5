/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of plog: channels, and for each channel either a target or a service. */
#include "contract.h"
#include "core/base/attr.h"
#include "core/base/fd.h"
#include "log_sockets.h"
#include "tenon/plog.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

enum { LONG_B = 4000 }; /* of a text that every service takes whole */

static const struct px_plog_ops *ops(void)
{
    return contract.component->ops;
}

static pmix_status_t query(void)
{
    struct px_query answer = {0};

    return contract.component->query(contract.self, &answer);
}

PX_TEST(channels_are_keys_and_none_is_there_twice)
{
    const char *const *c = ops()->channels;

    ck_assert_ptr_nonnull(c[0]);
    for (; *c; c++) {
        ck_assert_uint_gt(strlen(*c), 0);
        ck_assert_uint_le(strlen(*c), PMIX_MAX_KEYLEN);
        for (const char *const *next = c + 1; *next; next++)
            ck_assert_str_ne(*c, *next);
    }
}

PX_TEST(has_a_target_or_writes_itself)
{
    ck_assert_int_ne(ops()->target != NULL, ops()->write != NULL);
}

/* ---- targets ------------------------------------------------------------------------------- */

static struct px_piof_target target_of(const char *channel)
{
    struct px_piof_target t = {.size = sizeof(t), .fd = -1, .mode = 0600, .keep = true};

    ok(ops()->target(contract.self, channel, &t));
    return t;
}

PX_TEST(a_target_is_a_descriptor_or_a_path_and_stays)
{
    PX_TEST_NEEDS(ops()->target, "a component with targets");

    if (contract_has_param("path"))
        ok(contract_reopen("path", px_test_path("log")));
    ok(query());
    for (const char *const *c = ops()->channels; *c; c++) {
        const struct px_piof_target first = target_of(*c), again = target_of(*c);

        ck_assert_int_ne(first.fd >= 0, first.path != NULL);
        ck_assert(first.path ? first.path[0] == '/' : fcntl(first.fd, F_GETFL) >= 0);
        ck_assert_int_eq(first.fd, again.fd);
        ck_assert_ptr_eq(first.path, again.path);
        ck_assert(!first.path || (first.keep && (first.mode & 022) == 0));
    }
}

/* ---- services ------------------------------------------------------------------------------ */

/* Writes a text in a child process, as the core does. Returns the status. */
static pmix_status_t write_text(const char *channel, const char *string, int priority,
                                time_t stamp)
{
    pmix_proc_t source;
    pmix_status_t rc = PMIX_ERROR;
    int ends[2];

    PMIx_Load_procid(&source, "the.job", 7);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        const struct px_plog_text text = {.size = sizeof(text),
                                          .channel = channel,
                                          .text = string,
                                          .priority = priority,
                                          .stamp = stamp,
                                          .source = &source};

        rc = ops()->write(contract.self, &text);
        _exit(px_fd_write_all(ends[1], &rc, sizeof(rc), 0) ? 1 : 0);
    }
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &rc, sizeof(rc)), sizeof(rc));
    close(ends[0]);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    return rc;
}

PX_TEST(a_text_without_its_service_is_refused)
{
    PX_TEST_NEEDS(ops()->write, "a component with a service");
    PX_TEST_NEEDS(query() != PMIX_SUCCESS, "a machine without the service");

    for (const char *const *c = ops()->channels; *c; c++)
        ck_assert_int_eq(write_text(*c, "text", -1, 0), PMIX_ERR_NOT_AVAILABLE);
}

PX_TEST(a_text_reaches_its_service_unchanged)
{
    static char all[4 * LONG_B], longest[LONG_B + 1];
    const char *const texts[] = {"a text", "%s%n %d", "two\nlines", "", longest};
    int fd = ops()->write ? log_sockets_open() : -1;

    PX_TEST_NEEDS(fd >= 0, "a service, and a mount namespace");
    memset(longest, 'x', LONG_B);
    ok(query());
    for (const char *const *c = ops()->channels; *c; c++)
        for (size_t i = 0; i < PX_COUNT(texts); i++) {
            ok(write_text(*c, texts[i], LOG_WARNING, 0));
            ck_assert_int_gt(log_sockets_receive(fd, all, sizeof(all)), 0);
            ck_assert_msg(memmem(all, sizeof(all), texts[i], strlen(texts[i])), "%s",
                          all);
            ck_assert_ptr_nonnull(memmem(all, sizeof(all), "the.job", 7));
        }
    close(fd);
}

PX_TEST(a_priority_counts_and_a_stamp_is_shown)
{
    static const struct {
        const char *setting;
        int priority;
        const char *prefix, *fields[2];
    } rows[] = {
        {NULL, -1, "<11>", {"PRIORITY=3", "SYSLOG_FACILITY=1"}},
        {NULL, LOG_DEBUG, "<15>", {"PRIORITY=7", "SYSLOG_FACILITY=1"}},
        {NULL, LOG_LOCAL3 | LOG_CRIT, "<154>", {"PRIORITY=2", "SYSLOG_FACILITY=19"}},
        {"daemon", LOG_INFO, "<30>", {"PRIORITY=6", "SYSLOG_FACILITY=3"}},
    };
    static char all[8192];
    int fd = ops()->write ? log_sockets_open() : -1;

    PX_TEST_NEEDS(fd >= 0, "a service, and a mount namespace");
    PX_TEST_NEEDS(contract_has_param("facility"), "a parameter for facilities");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].setting)
            ok(contract_reopen("facility", rows[i].setting));
        ok(write_text(ops()->channels[0], "stamped", rows[i].priority, 1000000000));
        ck_assert_int_gt(log_sockets_receive(fd, all, sizeof(all)), 0);
        ck_assert_msg(
            strncmp(all, rows[i].prefix, strlen(rows[i].prefix)) == 0 ||
                (strstr(all, rows[i].fields[0]) && strstr(all, rows[i].fields[1])),
            "%s", all);
        ck_assert_ptr_nonnull(strstr(all, "2001-09-0"));
    }
    close(fd);
}
